import { breathe, type Timers } from '../ports.ts';

/**
 * What is done of a long list before everybody else is answered: some 3 ms for rows that are read.
 */
const SLICE = 2000;

/** Does it for each, in slices. `step` returns how many rows it took; without that, one. */
export async function inSlices<T>(
  timers: Timers,
  items: Iterable<T>,
  step: (item: T) => number | void,
): Promise<void> {
  let rows = 0;
  for (const item of items) {
    rows += step(item) ?? 1;
    if (rows < SLICE) continue;
    rows = 0;
    await breathe(timers);
  }
}
