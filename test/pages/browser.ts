// A real Chromium, from the system's packages. A test without one fails; it is never skipped.
import { type Browser, chromium } from 'playwright-core';
import { IS_SHARED } from '../support/reused.ts';
import { chromiumPath, isRoot } from './chromium.ts';

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
  const executablePath = await chromiumPath();
  // Chromium refuses its sandbox to root, and a container's /dev/shm is too small for it. A frame
  // of another site stays in its page's process: between two of them a click is lost now and then,
  // where the frame has just moved.
  const args = [
    '--disable-dev-shm-usage',
    '--disable-features=IsolateOrigins,site-per-process',
    '--disable-site-isolation-trials',
    ...(isRoot() ? ['--no-sandbox'] : []),
  ];
  return chromium.launch({ executablePath, args, chromiumSandbox: !isRoot() });
}
