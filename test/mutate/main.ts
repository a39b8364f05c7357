// Plants faults in the rules, one at a time in a copy of the tree, and runs the tests that should
// see them. Prints the survivors, and fails below the score of report.ts.
//
//     bun run mutate [PATH ...] [--sample COUNT] [--seed TEXT] [--workers COUNT]
//
// Without a path: the rules in the score, which need nothing but arguments. `ledger/actor` and
// `ledger/cluster` are shown to the simulator, too, which takes hours for all of it: use --sample.
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { copyTree } from '../support/planted-tree.ts';
import { type Mutant, mutantsOf, sampleOf } from './mutants.ts';
import { reachOf } from './reach.ts';
import { isEnough, type Outcome, reportOf } from './report.ts';
import { fateOf } from './fate.ts';
import { stopTests } from './tests.ts';

const RULES = 'ledger/**/*.ts';
const RULES_TESTS = 'test/ledger/**/*.test.ts';
/** What needs PostgreSQL, and the chosen bounds. */
const LEFT_OUT = /^ledger\/(?:store\/|limits\.ts$)/;
/** They need other nodes, timers and a database to show what they do. */
const SIMULATED = /^ledger\/(?:actor\/|cluster\/|ledger\.ts$)/;
const SIMULATION = 'test/simulation/simulation.test.ts';

const { values, positionals } = parseArgs({
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: String(availableParallelism()) },
  },
  allowPositionals: true,
});

/** Does it for each item, in a copy of the tree that nothing else uses meanwhile. */
async function inCopies<T, R>(
  copies: readonly string[],
  items: readonly T[],
  work: (copy: string, item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = [...items.entries()];
  const drain = async (copy: string): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [index, item] = next;
      results[index] = await work(copy, item);
    }
  };
  await Promise.all(copies.map(drain));
  return results;
}

function scan(root: string, pattern: string): string[] {
  return [...new Bun.Glob(pattern).scanSync({ cwd: root })].toSorted();
}

function chosen(root: string): string[] {
  const files = scan(root, RULES).filter((file) => !LEFT_OUT.test(file));
  if (positionals.length === 0) return files.filter((file) => !SIMULATED.test(file));
  return files.filter((file) =>
    positionals.some((path) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`)),
  );
}

async function run(copies: readonly string[]): Promise<number> {
  const root = copies[0]!;
  const files = chosen(root);
  const all = await mutantsOf(root, files);
  const mutants =
    values.sample === undefined ? all : sampleOf(all, Number(values.sample), values.seed);
  if (mutants.length === 0) throw new Error(`nothing to plant in ${positionals.join(', ')}`);
  const tests = scan(root, RULES_TESTS);
  if (files.some((file) => SIMULATED.test(file))) tests.push(SIMULATION);
  const reaches = await inCopies(copies, tests, reachOf);
  let done = 0;
  const outcomes = await inCopies(copies, mutants, async (copy, mutant: Mutant) => {
    const fate = await fateOf(copy, mutant, reaches);
    done += 1;
    if (done % 100 === 0) console.error(`${done} of ${mutants.length}`);
    return { mutant, fate } satisfies Outcome;
  });
  console.log(reportOf(outcomes));
  return isEnough(outcomes) ? 0 : 1;
}

const copies = Array.from({ length: Number(values.workers) }, () => copyTree());
process.on('exit', () => {
  stopTests();
  for (const copy of copies) rmSync(copy, { recursive: true, force: true });
});
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));
process.exitCode = await run(copies);
