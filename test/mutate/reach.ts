// Which tests run which lines, and how long they take: a mutant is tested only with the tests that
// run its line.
import { join } from 'node:path';
import type { Copy } from './copies.ts';
import type { Mutant } from './mutants.ts';
import { runTests } from './tests.ts';

export type Reach = {
  readonly test: string;
  readonly ms: number;
  /** By file: how often each line ran. A missing line is no code, or the middle of a statement. */
  readonly lines: ReadonlyMap<string, ReadonlyMap<number, number>>;
};

export type Measured = { readonly ms: number; readonly lcov: string };

/** Runs one test file unchanged; it must pass. */
export async function measure(copy: Copy, test: string): Promise<Measured> {
  const report = join(copy.folder, 'coverage', test);
  const began = performance.now();
  const ran = await runTests(copy, [test], {
    args: ['--coverage', '--coverage-reporter=lcov', `--coverage-dir=${report}`],
    msMax: 600_000,
  });
  if (ran.kind !== 'passed') throw new Error(`${test} fails without a fault: ${ran.output}`);
  const ms = performance.now() - began;
  return { ms, lcov: await Bun.file(join(report, 'lcov.info')).text() };
}

/** Of the files alone, where they are given: hundreds of whole reports are gigabytes. */
export function reachFrom(
  test: string,
  { ms, lcov }: Measured,
  files?: ReadonlySet<string>,
): Reach {
  const lines = [...readLcov(lcov)].filter(([file]) => files?.has(file) ?? true);
  return { test, ms, lines: new Map(lines) };
}

export async function reachOf(copy: Copy, test: string): Promise<Reach> {
  return reachFrom(test, await measure(copy, test));
}

/** The tests that may find it, the quickest first. */
export function reaching(reaches: readonly Reach[], mutant: Mutant): readonly Reach[] {
  return reaches.filter((reach) => runs(reach, mutant)).toSorted((a, b) => a.ms - b.ms);
}

/**
 * The files first whose path has words of the mutant's that few others have: where hundreds run a
 * line, those are about it. The order of the others stays.
 */
export function nearestFirst(reaches: readonly Reach[], { file }: Mutant): readonly Reach[] {
  const words = wordsOf(file);
  const shared = reaches.map((reach) => [...wordsOf(reach.test).intersection(words)]);
  const counts = Map.groupBy(shared.flat(), (word) => word);
  const near = (at: number): number =>
    shared[at]!.reduce((sum, word) => sum + 1 / counts.get(word)!.length, 0);
  const order = reaches.map((reach, at) => ({ reach, near: near(at) }));
  return order.toSorted((a, b) => b.near - a.near).map(({ reach }) => reach);
}

/** Without the plural, as a folder of tests and a file may differ in it. */
function wordsOf(path: string): Set<string> {
  return new Set(path.split(/\W/).map((word) => word.replace(/s$/, '')));
}

function runs({ lines }: Reach, { file, line: first, lastLine }: Mutant): boolean {
  const hits = lines.get(file);
  if (hits === undefined) return false;
  let isKnown = false;
  for (let line = first; line <= lastLine; line += 1) {
    const count = hits.get(line);
    if (count !== undefined && count > 0) return true;
    isKnown ||= count !== undefined;
  }
  return !isKnown;
}

function readLcov(text: string): Map<string, Map<number, number>> {
  const files = new Map<string, Map<number, number>>();
  let hits = new Map<number, number>();
  for (const row of text.split('\n')) {
    if (row.startsWith('SF:')) {
      hits = new Map();
      files.set(row.slice(3), hits);
    }
    if (!row.startsWith('DA:')) continue;
    const [line, count] = row.slice(3).split(',').map(Number);
    hits.set(line!, count!);
  }
  return files;
}
