// The files that a call of the test command runs.
import { Glob } from 'bun';
import { isByStripe, withoutSandboxOnly } from './by-stripe.ts';
import { changedFiles } from './changed.ts';
import { Graph, ROOT } from './graph.ts';
import { Kinds } from './kinds.ts';
import { isLong, longSuites } from './long.ts';
import { isNight, NIGHT_COMMANDS } from './night.ts';
import { AT_ONCE, LOADED_ONCE, PROCESSORS, type Suite } from './suite.ts';

/** Every test depends on these. */
const EVERYWHERE = ['package.json', 'bun.lock', 'bunfig.toml', 'tsconfig.json'];

/** Flags of `bun test` whose value is the next argument. */
const WITH_VALUE = new Set(['-t', '--test-name-pattern']);

/** Relative to the root. */
type Files = readonly string[];

export interface Choice {
  readonly suites: readonly Suite[];
  /** For `bun test`. */
  readonly flags: readonly string[];
  readonly needsServices: boolean;
  readonly needsBrowser: boolean;
  readonly kinds: Kinds;
  /** Run after the suites. */
  readonly commands: readonly (readonly string[])[];
}

type Mode =
  | { readonly kind: 'short' }
  | { readonly kind: 'unit' }
  | { readonly kind: 'long' }
  | { readonly kind: 'night' }
  | { readonly kind: 'changed'; readonly since: string | undefined }
  | { readonly kind: 'paths'; readonly paths: readonly string[] };

/** @throws Error in one line for an invalid choice */
export function choose(args: readonly string[]): Choice {
  const { mode, flags } = parse(args);
  const graph = new Graph();
  const kinds = new Kinds(graph);
  const suites = suitesOf(mode, { graph, kinds }).filter(({ files }) => files.length > 0);
  const files = suites.flatMap((suite) => suite.files);
  const needsServices = files.some((file) => kinds.needsServices(file));
  const needsBrowser = files.some((file) => kinds.of(file) === 'browser');
  const commands = mode.kind === 'night' ? NIGHT_COMMANDS : [];
  return { suites, flags, needsServices, needsBrowser, kinds, commands };
}

function parse(args: readonly string[]): { mode: Mode; flags: readonly string[] } {
  const modes: Mode[] = [];
  const [paths, flags]: [string[], string[]] = [[], []];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at]!;
    const [name, value] = arg.split('=', 2);
    if (name === '--unit') modes.push({ kind: 'unit' });
    else if (name === '--long') modes.push({ kind: 'long' });
    else if (name === '--night') modes.push({ kind: 'night' });
    else if (name === '--changed') modes.push({ kind: 'changed', since: value });
    else if (WITH_VALUE.has(arg)) flags.push(arg, args[(at += 1)] ?? '');
    else if (arg.startsWith('-')) flags.push(arg);
    else paths.push(arg);
  }
  if (paths.length > 0) modes.push({ kind: 'paths', paths });
  if (modes.length > 1) throw new Error('one of PATH..., --changed, --unit, --long and --night');
  return { mode: modes[0] ?? { kind: 'short' }, flags };
}

interface Known {
  readonly graph: Graph;
  readonly kinds: Kinds;
}

function suitesOf(mode: Mode, known: Known): readonly Suite[] {
  const all = [...new Glob('test/**/*.test.ts').scanSync(ROOT)].toSorted();
  const short = all.filter((file) => !isLong(file) && !isNight(file));
  if (mode.kind === 'long') return longSuites({ short, long: all.filter(isLong) }, known.graph);
  if (mode.kind === 'night') {
    return [{ name: 'night', files: all.filter(isNight), workers: PROCESSORS }];
  }
  const files = filesOf(mode, { all, short, ...known });
  // One file runs by itself, so that nothing but it can make it fail; and so do long ones.
  const isByItself = files.length === 1 || files.some((file) => isLong(file) || isNight(file));
  const shared = isByItself ? {} : LOADED_ONCE;
  const suite = { name: mode.kind, files, workers: AT_ONCE, ...shared };
  return [isByStripe() ? withoutSandboxOnly(suite) : suite];
}

function filesOf(
  mode: Exclude<Mode, { kind: 'long' | 'night' }>,
  { all, short, graph, kinds }: Known & { readonly all: Files; readonly short: Files },
): Files {
  if (mode.kind === 'short') return short;
  if (mode.kind === 'unit') return short.filter((file) => isUnit(kinds, file));
  if (mode.kind === 'changed') return dependentsOf(short, graph, changedFiles(mode.since));
  return [...new Set(mode.paths.flatMap((path) => filesIn(path, all)))];
}

function isUnit(kinds: Kinds, file: string): boolean {
  const kind = kinds.of(file);
  return (kind === 'pure' || kind === 'simulation') && !kinds.needsServices(file);
}

function dependentsOf(files: Files, graph: Graph, changed: Files): Files {
  const found = changed.some((path) => EVERYWHERE.includes(path))
    ? files
    : files.filter((file) => {
        const reached = graph.reach(file);
        return changed.some((path) => reached.has(path));
      });
  console.log(`${found.length} of ${files.length} files depend on the ${changed.length} changed`);
  return found;
}

/** Those whose path contains it, as `bun test` does. */
function filesIn(path: string, all: Files): Files {
  const part = path.replace(/^\.\//, '');
  const found = all.filter((file) => file.includes(part));
  if (found.length === 0) throw new Error(`no test file has a path like ${path}`);
  return found;
}
