const POLL_MS = 5;

/** Asks until it is so. @throws Error that says what did not come about in time */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = 15_000,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await Bun.sleep(POLL_MS);
  }
}
