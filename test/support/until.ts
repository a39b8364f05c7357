const POLL_MS = 5;
/**
 * What takes long is asked less often: each question takes the processor from what it waits for.
 */
const POLL_PART = 1 / 40;
const POLL_MS_MAX = 50;
/** Shorter than a test may take, and long enough on a machine that is busy. */
const WITHIN_MS = 45_000;

/** Polls until it holds. @throws Error that names what did not happen in time */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = WITHIN_MS,
): Promise<void> {
  const began = performance.now();
  while (!(await holds())) {
    const waited = performance.now() - began;
    if (waited > withinMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await Bun.sleep(Math.min(POLL_MS_MAX, Math.max(POLL_MS, waited * POLL_PART)));
  }
}

/** Until it accepts calls. @throws Error where that takes too long */
export function untilReady(server: Asked, withinMs?: number): Promise<void> {
  const isReady = async () => (await server.call('GET', '/ready')).status === 200;
  return until('the node is ready', isReady, withinMs);
}

type Asked = { call(method: string, path: string): Promise<{ readonly status: number }> };
