// A real Chromium, from the system's packages. A test without one fails; it is never skipped.
import { type Browser, chromium } from 'playwright-core';
import { run } from '../../src/platform/embedded/run-command.ts';
import { IS_SHARED } from '../support/reused.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const INSTALL = ['install', '-y', '-q', '--no-install-recommends', 'chromium'];

/** The one of this worker, for files that it runs one after the other. */
let shared: Promise<Browser> | undefined;

/**
 * Where it is shared, closing it closes all that was opened in it.
 * @throws Error that says what to install, where no browser can be had
 */
export async function openBrowser(): Promise<Browser> {
  if (!IS_SHARED) return launch();
  shared ??= launch();
  const browser = await shared;
  const close = async (): Promise<void> => {
    await Promise.all(browser.contexts().map((context) => context.close()));
  };
  return new Proxy(browser, {
    get(target, name) {
      if (name === 'close') return close;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

async function launch(): Promise<Browser> {
  const executablePath = find() ?? (await install());
  // Chromium refuses its sandbox to root, and a container's /dev/shm is too small for it. A frame of
  // another site stays in its page's process: between two of them a click is lost now and then,
  // where the frame has just moved.
  const args = [
    '--disable-dev-shm-usage',
    '--disable-features=IsolateOrigins,site-per-process',
    '--disable-site-isolation-trials',
    ...(isRoot() ? ['--no-sandbox'] : []),
  ];
  return chromium.launch({ executablePath, args, chromiumSandbox: !isRoot() });
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

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
