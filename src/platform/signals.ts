// When a process is to end: told by a signal, or left alone by whoever started it.
import { clock } from './clock.ts';

const PARENT_CHECK_MS = 1000;
const SAME_SIGNAL_MS = 1000;

/** Resolves with the first signal; the second one ends the process at once. */
export function untilTold(): Promise<string> {
  return new Promise((resolve) => {
    let toldAt: number | null = null;
    const tell = (signal: string): void => {
      const now = clock.monotonic();
      // One Ctrl-C comes twice: from the terminal, and passed on by npx.
      if (toldAt !== null && now - toldAt > SAME_SIGNAL_MS) process.exit(1);
      toldAt ??= now;
      resolve(signal);
    };
    process.on('SIGINT', tell);
    process.on('SIGTERM', tell);
    // A runner such as npx does not pass a SIGTERM on: what it started finds itself with another parent.
    const parent = process.ppid;
    setInterval(() => {
      if (process.ppid !== parent && toldAt === null) tell('the end of its parent');
    }, PARENT_CHECK_MS).unref();
  });
}
