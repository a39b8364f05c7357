// The files in which faults are planted, and the test files that may see them.
import { type Graph } from '../run/graph.ts';
import { type Kind, Kinds } from '../run/kinds.ts';
import { isLong } from '../run/long.ts';
import { isNight } from '../run/night.ts';

const PROGRAM = ['ledger/**/*.ts', 'src/**/*.ts', 'workers/**/*.ts'];
const LEDGER = /^ledger\//;
/** What needs PostgreSQL, and the chosen bounds. */
const LEFT_OUT = /^ledger\/(?:store\/|limits\.ts$)/;
/** They need other nodes, timers and a database to show what they do. */
const SIMULATED = /^ledger\/(?:actor\/|cluster\/|ledger\.ts$)/;
const SIMULATION = 'test/simulation/simulation.test.ts';
const RULES_TESTS = 'test/ledger/**/*.test.ts';
/** Too dear to run for each fault. */
const DEAR: readonly Kind[] = ['browser', 'processes'];
/** It plants faults itself. */
const ITSELF = 'test/mutate/';

/** Without a path: the rules in the score, which need nothing but arguments. */
export function chosen(root: string, paths: readonly string[]): readonly string[] {
  const files = PROGRAM.flatMap((pattern) => scan(root, pattern)).filter(
    (file) => !LEFT_OUT.test(file),
  );
  if (paths.length === 0) return files.filter((file) => isRule(file) && !SIMULATED.test(file));
  return files.filter((file) =>
    paths.some((path) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`)),
  );
}

export function isRule(file: string): boolean {
  return LEDGER.test(file);
}

/** Of faults in the rules alone. */
export function testsOfRules(root: string, files: readonly string[]): readonly string[] {
  const isSimulated = files.some((file) => SIMULATED.test(file));
  return [...scan(root, RULES_TESTS), ...(isSimulated ? [SIMULATION] : [])];
}

/** The short ones that import one of the files. */
export function testsOf(root: string, files: ReadonlySet<string>, graph: Graph): readonly string[] {
  const kinds = new Kinds(graph);
  return scan(root, 'test/**/*.test.ts').filter(
    (test) =>
      !isLong(test) &&
      !isNight(test) &&
      !test.startsWith(ITSELF) &&
      !DEAR.includes(kinds.of(test)) &&
      !graph.reach(test).isDisjointFrom(files),
  );
}

function scan(root: string, pattern: string): string[] {
  return [...new Bun.Glob(pattern).scanSync({ cwd: root })].toSorted();
}
