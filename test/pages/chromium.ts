// Chromium from the system's packages. The test command installs it before the first file that
// needs it: within a test, the time of the download would be the test's.
import { run } from '../../src/platform/embedded/run-command.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const INSTALL = ['install', '-y', '-q', '--no-install-recommends', 'chromium'];

/** @throws Error that says what to install, where no browser can be had */
export async function chromiumPath(): Promise<string> {
  return find() ?? (await install());
}

function find(): string | null {
  for (const name of NAMES) {
    const path = Bun.which(name);
    if (path !== null) return path;
  }
  return null;
}

async function install(): Promise<string> {
  if (!isRoot() || Bun.which('apt-get') === null) {
    throw new Error('the tests of the pages need a browser: install the package chromium');
  }
  console.error('chromium is not installed: installing it with apt-get');
  let said = '';
  // The package lists of a fresh container are empty: they are fetched only then, or when they are
  // old.
  for (const isUpdated of [false, true]) {
    if (isUpdated) await apt(['update', '-q']);
    said = (await apt(INSTALL)).lastLine;
    const found = find();
    if (found !== null) return found;
  }
  throw new Error(`apt-get could not install chromium: ${said}`);
}

function apt(args: readonly string[]) {
  return run(['env', 'DEBIAN_FRONTEND=noninteractive', 'LC_ALL=C', 'apt-get', ...args]);
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}
