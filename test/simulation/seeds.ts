import { simulate } from './run.ts';

/** Enough to find at once a fault in what each seed does. */
export const SEEDS_OF_A_SHORT_RUN = 100;
export const SEEDS_OF_A_LONG_RUN = 1500;

/** What is wrong, one line for each failing seed; the first five of them. */
export function failuresOf(first: number, last: number): string[] {
  const failed: string[] = [];
  for (let seed = first; seed <= last && failed.length < 5; seed += 1) {
    const { problems, faults } = simulate(seed);
    if (problems.length === 0) continue;
    failed.push(`SEED=${seed} (${faults.join(', ')}): ${problems.slice(0, 3).join('; ')}`);
  }
  return failed;
}
