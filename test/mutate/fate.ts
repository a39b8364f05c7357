// The fate of a mutant: the tests that run its line are run on it, one file after the other.
import { join } from 'node:path';
import { type Mutant, planted } from './mutants.ts';
import { reaching, type Reach } from './reach.ts';
import { runTests } from './tests.ts';

/**
 * `seen`: a test fails. `endless`: a test does not end. `survived`: all pass. `unreached`: no test
 * runs the line.
 */
export type Fate = 'seen' | 'endless' | 'survived' | 'unreached';

/** A test that is this many times slower than without the fault counts as endless. */
const TIMES_SLOWER = 10;
const SLOWER_MS = 10_000;

/** Plants it in the copy, runs one test file after the other, and removes it again. */
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
