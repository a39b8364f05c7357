// When a process has to end: a signal arrives, or the runner that started it is gone.
import { clock } from './clock.ts';
import { watchRunner } from './runner.ts';

const RUNNER_CHECK_MS = 500;
const SAME_SIGNAL_MS = 1000;

/** Resolves with the first signal; the second one ends the process at once. */
export function untilTold(): Promise<string> {
  return new Promise((resolve) => {
    let toldAt: number | null = null;
    const tell = (signal: string): void => {
      const now = clock.monotonic();
      // One Ctrl-C arrives twice: from the terminal, and forwarded by npx.
      if (toldAt !== null && now - toldAt > SAME_SIGNAL_MS) process.exit(1);
      toldAt ??= now;
      resolve(signal);
    };
    process.on('SIGINT', tell);
    process.on('SIGTERM', tell);
    const isThere = watchRunner();
    if (isThere === null) return;
    const checking = setInterval(() => {
      if (isThere()) return;
      clearInterval(checking);
      if (toldAt === null) tell('the end of its runner');
    }, RUNNER_CHECK_MS).unref();
  });
}
