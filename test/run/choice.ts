// Which files a call of the test command runs.
import { Glob } from 'bun';
import { Graph, ROOT } from './graph.ts';
import { WORKERS, type Suite } from './suite.ts';

/** Wants minutes, or a machine of its own. */
const LONG = '.long.test.ts';

/** What starts PostgreSQL and Redis, and what asks for those that were started. */
const SERVICES = ['src/platform/embedded/services.ts', 'test/support/services.ts'];

/** Run by one node, and in the long run by three nodes as well. */
const BY_THREE_NODES = /^test\/(contract|http|payments)\//;

/** Flags of `bun test` whose value is the next argument. */
const WITH_VALUE = new Set(['-t', '--test-name-pattern']);

export interface Choice {
  readonly suites: readonly Suite[];
  /** For `bun test`. */
  readonly flags: readonly string[];
  readonly needsServices: boolean;
}

/** @throws Error in one line where nothing can be chosen so */
export function choose(args: readonly string[]): Choice {
  const { mode, paths, flags } = parse(args);
  const all = [...new Glob('test/**/*.test.ts').scanSync(ROOT)].toSorted();
  const short = all.filter((file) => !file.endsWith(LONG));
  if (mode === '--unit') return { suites: suitesOf(unitOf(short)), flags, needsServices: false };
  return { suites: suites(), flags, needsServices: true };

  function suites(): readonly Suite[] {
    if (mode === '--long') return longOf(all);
    return suitesOf(paths.length === 0 ? short : paths.flatMap((path) => filesIn(path, all)));
  }
}

function parse(args: readonly string[]) {
  const [modes, paths, flags]: [string[], string[], string[]] = [[], [], []];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at]!;
    if (arg === '--unit' || arg === '--long') modes.push(arg);
    else if (WITH_VALUE.has(arg)) flags.push(arg, args[(at += 1)] ?? '');
    else if (arg.startsWith('-')) flags.push(arg);
    else paths.push(arg);
  }
  const [mode] = modes;
  if (modes.length > 1 || (mode !== undefined && paths.length > 0)) {
    throw new Error(`these do not go together: ${[...modes, ...paths].join(' ')}`);
  }
  return { mode, paths, flags };
}

/** Those whose path contains it, as `bun test` has it. */
function filesIn(path: string, all: readonly string[]): readonly string[] {
  const part = path.replace(/^\.\//, '');
  const found = all.filter((file) => file.includes(part));
  if (found.length === 0) throw new Error(`no test file has a path like ${path}`);
  return found;
}

function unitOf(short: readonly string[]): readonly string[] {
  const graph = new Graph();
  return short.filter((file) => SERVICES.every((services) => !graph.reach(file).has(services)));
}

function longOf(all: readonly string[]): readonly Suite[] {
  return [
    {
      files: all.filter((file) => BY_THREE_NODES.test(file)),
      workers: WORKERS,
      env: { TEST_NODES: '3' },
    },
    // One at a time: they start processes of their own, and some have bounds on time.
    { files: all.filter((file) => file.endsWith(LONG)), workers: 1 },
  ];
}

function suitesOf(files: readonly string[]): readonly Suite[] {
  return [{ files: [...new Set(files)], workers: WORKERS }];
}
