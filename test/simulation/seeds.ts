import { simulate } from './run.ts';

/** Enough to find at once a fault in what each seed does. */
export const SEEDS_OF_A_SHORT_RUN = 20;
export const SEEDS_OF_A_LONG_RUN = 150;
export const SEEDS_OF_A_NIGHT = 5000;

/** SEED=17 asks for one seed, in place of any others. */
export const ONE = process.env['SEED'];

type Runs = {
  /** What is wrong, one line for each failing seed; the first five of them. */
  readonly failed: readonly string[];
  /** Balances beside those of the reference, and how many of them after something late. */
  readonly compared: number;
  readonly late: number;
};

export function runsOf(first: number, last: number): Runs {
  const failed: string[] = [];
  let [compared, late] = [0, 0];
  const [from, to] = ONE === undefined ? [first, last] : [Number(ONE), Number(ONE)];
  for (let seed = from; seed <= to && failed.length < 5; seed += 1) {
    const { problems, faults, settled } = simulate(seed);
    compared += settled?.compared ?? 0;
    late += settled?.late ?? 0;
    if (problems.length === 0) continue;
    failed.push(`SEED=${seed} (${faults.join(', ')}): ${problems.slice(0, 3).join('; ')}`);
  }
  return { failed, compared, late };
}
