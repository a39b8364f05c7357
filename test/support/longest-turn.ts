import { threadCpuMs } from './cpu.ts';

/**
 * The longest turn of the event loop in milliseconds while `task` runs, as processor time of this
 * thread: other programs do not count. A system may account for that some milliseconds late, so it
 * is at most the time that passed.
 */
export async function longestTurn<T>(
  task: () => Promise<T>,
): Promise<{ readonly turn: number; readonly reply: T }> {
  let longest = 0;
  let last = { cpu: threadCpuMs(), wall: performance.now() };
  let isOver = false;
  const turn = (): void => {
    const now = { cpu: threadCpuMs(), wall: performance.now() };
    longest = Math.max(longest, Math.min(now.cpu - last.cpu, now.wall - last.wall));
    last = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const reply = await task();
  isOver = true;
  // The one that ends with it.
  turn();
  return { turn: longest, reply };
}

/** The median of so many tries, all of which it prints. The first ones compile the code. */
export async function medianTurn(
  what: string,
  tries: number,
  task: () => Promise<unknown>,
): Promise<number> {
  const turns: number[] = [];
  for (let n = 0; n < tries; n += 1) turns.push((await longestTurn(task)).turn);
  console.log(`${what}: ${turns.map((ms) => Math.round(ms)).join(', ')} ms`);
  return turns.toSorted((a, b) => a - b)[Math.floor(tries / 2)] ?? Infinity;
}
