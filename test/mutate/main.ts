// Plants faults in the program, one at a time in a copy of the tree, and runs the tests that should
// see them. Prints the survivors, and fails below the score of report.ts.
//
//     bun run mutate [PATH ...] [--sample COUNT] [--seed TEXT] [--workers COUNT] [--nearest COUNT]
//
// Without a path: the rules in the score, which need nothing but arguments. `ledger/actor` and
// `ledger/cluster` are shown to the simulator, too, which takes hours for all of it: use --sample.
// So do `src` and `workers`, whose tests need PostgreSQL and Redis. `--nearest 40` shows each fault
// to the 40 nearest files alone: what they do not see, others may.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Graph, ROOT } from '../run/graph.ts';
import { chosen, isRule, testsOf, testsOfRules } from './chosen.ts';
import { type Copy, copyOfAll, copyOfRules, inCopies } from './copies.ts';
import { type Fate, fateAmongMany, fateOf } from './fate.ts';
import { keptReachOf } from './kept.ts';
import { type Mutant, mutantsOf, sampleOf } from './mutants.ts';
import { nearestFirst, reaching, reachOf } from './reach.ts';
import { isEnough, lineOf, type Outcome, reportOf } from './report.ts';
import { stopTests } from './tests.ts';

const { values, positionals } = parseArgs({
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: String(availableParallelism()) },
    nearest: { type: 'string', default: 'Infinity' },
  },
  allowPositionals: true,
});

async function drawn(): Promise<readonly Mutant[]> {
  const all = await mutantsOf(ROOT, chosen(ROOT, positionals));
  const mutants =
    values.sample === undefined ? all : sampleOf(all, Number(values.sample), values.seed);
  if (mutants.length === 0) throw new Error(`nothing to plant in ${positionals.join(', ')}`);
  return mutants;
}

type Judge = (copy: Copy, mutant: Mutant) => Promise<Fate>;

async function judgeOfRules(files: readonly string[]): Promise<Judge> {
  const reaches = await inCopies(copies, testsOfRules(ROOT, files), reachOf);
  return (copy, mutant) => fateOf(copy, mutant, reaching(reaches, mutant));
}

async function judgeOfAll(drawnFiles: readonly string[]): Promise<Judge> {
  const graph = new Graph();
  const files = new Set(drawnFiles);
  const tests = testsOf(ROOT, files, graph);
  console.error(`what ${tests.length} test files run`);
  const measured = await inCopies(copies, tests, (copy, test) =>
    keptReachOf(copy, test, { graph, files }),
  );
  const reaches = measured.filter((reach) => reach !== null);
  const most = Number(values.nearest);
  return (copy, mutant) => {
    const near = nearestFirst(reaching(reaches, mutant), mutant);
    return fateAmongMany(copy, mutant, near.slice(0, most));
  };
}

async function run(mutants: readonly Mutant[]): Promise<number> {
  const files = [...new Set(mutants.map(({ file }) => file))];
  const judge = await (files.every(isRule) ? judgeOfRules(files) : judgeOfAll(files));
  let done = 0;
  const outcomes = await inCopies(copies, mutants, async (copy, mutant) => {
    const outcome: Outcome = { mutant, fate: await judge(copy, mutant) };
    done += 1;
    console.error(`${done} of ${mutants.length}: ${lineOf(outcome)}`);
    return outcome;
  });
  console.log(reportOf(outcomes));
  return isEnough(outcomes) ? 0 : 1;
}

const copies: Copy[] = [];
let stopping: Promise<unknown> | undefined;
/**
 * A signal stops the tests, and the run that fails for it must wait for the servers to stop, too.
 */
function stop(): Promise<unknown> {
  stopTests();
  stopping ??= Promise.all(copies.map((copy) => copy.stop()));
  return stopping;
}
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.on(signal, () => void stop().then(() => process.exit(code)));
}
try {
  const mutants = await drawn();
  const isOfRules = mutants.every(({ file }) => isRule(file));
  for (let at = 0; at < Number(values.workers); at += 1) {
    copies.push(isOfRules ? copyOfRules() : await copyOfAll());
  }
  process.exitCode = await run(mutants);
} finally {
  await stop();
}
