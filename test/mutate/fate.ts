// What becomes of a mutant: the tests that run its line are shown it, one file after the other.
import { join } from 'node:path';
import { type Mutant, planted } from './mutants.ts';
import { reaching, type Reach } from './reach.ts';
import { runTests } from './tests.ts';

/** `seen`: a test fails. `endless`: it does not end. `survived`: all pass. `unreached`: no test runs the line. */
export type Fate = 'seen' | 'endless' | 'survived' | 'unreached';

/** What is so much slower than the same test without the fault does not end. */
const TIMES_SLOWER = 10;
const SLOWER_MS = 10_000;

/** Plants it in the copy, shows it to one file of tests after the other, and takes it out again. */
export async function fateOf(
  folder: string,
  mutant: Mutant,
  reaches: readonly Reach[],
): Promise<Fate> {
  const path = join(folder, mutant.file);
  const tests = reaching(reaches, mutant);
  if (tests.length === 0) return 'unreached';
  await Bun.write(path, planted(mutant));
  try {
    for (const { test, ms } of tests) {
      const msMax = SLOWER_MS + TIMES_SLOWER * ms;
      const { kind } = await runTests(folder, test, { args: ['--bail'], msMax });
      if (kind !== 'passed') return kind === 'late' ? 'endless' : 'seen';
    }
    return 'survived';
  } finally {
    await Bun.write(path, mutant.text);
  }
}
