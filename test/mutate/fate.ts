// The fate of a mutant: the tests that run its line are run on it until one fails.
import { join } from 'node:path';
import { LOADED_ONCE } from '../run/suite.ts';
import type { Copy } from './copies.ts';
import { type Mutant, planted } from './mutants.ts';
import type { Reach } from './reach.ts';
import { runTests } from './tests.ts';

/**
 * `seen`: a test fails. `endless`: a test does not end. `survived`: all pass. `unreached`: no test
 * runs the line.
 */
export type Fate = {
  readonly kind: 'seen' | 'endless' | 'survived' | 'unreached';
  /** The test file that saw it. */
  readonly by?: string;
};

/** A test that is this many times slower than without the fault counts as endless. */
const TIMES_SLOWER = 10;
const SLOWER_MS = 10_000;

/** Plants it in the copy, runs one test file after the other, and removes it again. */
export function fateOf(copy: Copy, mutant: Mutant, tests: readonly Reach[]): Promise<Fate> {
  return whilePlanted(copy, mutant, tests, () => firstToSee(copy, tests));
}

/** Files that load the program once, as in the test command. */
const AT_ONCE = 20;
const SHARED_ARGS = ['--bail', '--timeout=60000', ...LOADED_ONCE.flags];
/** The file of the failed test, which `--bail` makes the last one. */
const LAST_FILE = /^(test\/\S+\.test\.ts):$(?![^]*^test\/\S+\.test\.ts:$)/m;

/**
 * For tests with a server, of which many run most lines. A file that fails among others runs once
 * more by itself: what passes then has not seen the fault.
 */
export function fateAmongMany(copy: Copy, mutant: Mutant, tests: readonly Reach[]): Promise<Fate> {
  const shared = { ...copy, env: { ...copy.env, ...LOADED_ONCE.env } };
  return whilePlanted(copy, mutant, tests, async () => {
    let waiting = [...tests];
    while (waiting.length > 0) {
      const some = waiting.slice(0, AT_ONCE);
      const names = some.map(({ test }) => test);
      const ran = await runTests(shared, names, { args: SHARED_ARGS, msMax: msMaxOf(some) });
      const at = ran.kind === 'passed' ? -1 : names.indexOf(LAST_FILE.exec(ran.output)?.[1] ?? '');
      // What ends before its first test may be due to any of them.
      const suspects = ran.kind === 'passed' ? [] : at === -1 ? some : [some[at]!];
      const fate = await firstToSee(copy, suspects);
      if (fate.kind !== 'survived') return fate;
      waiting = waiting.slice(at === -1 ? some.length : at + 1);
    }
    return { kind: 'survived' };
  });
}

async function firstToSee(copy: Copy, tests: readonly Reach[]): Promise<Fate> {
  for (const reach of tests) {
    const { test: by } = reach;
    const { kind } = await runTests(copy, [by], { args: ['--bail'], msMax: msMaxOf([reach]) });
    if (kind !== 'passed') return { kind: kind === 'late' ? 'endless' : 'seen', by };
  }
  return { kind: 'survived' };
}

function msMaxOf(tests: readonly Reach[]): number {
  return SLOWER_MS + TIMES_SLOWER * tests.reduce((sum, { ms }) => sum + ms, 0);
}

async function whilePlanted(
  { folder }: Copy,
  mutant: Mutant,
  tests: readonly Reach[],
  work: () => Promise<Fate>,
): Promise<Fate> {
  if (tests.length === 0) return { kind: 'unreached' };
  const path = join(folder, mutant.file);
  await Bun.write(path, planted(mutant));
  try {
    return await work();
  } finally {
    await Bun.write(path, mutant.text);
  }
}
