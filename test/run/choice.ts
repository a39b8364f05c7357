// The files that a call of the test command runs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';
import { byStripe, isByStripe, withoutSandboxOnly } from './by-stripe.ts';
import { changedFiles } from './changed.ts';
import { Graph, ROOT } from './graph.ts';
import { LOADED_ONCE, PROCESSORS, type Suite } from './suite.ts';

/** It runs for long, or needs the machine for itself. */
const LONG = '.long.test.ts';

/** Files that start PostgreSQL and Redis, and files that use the started ones. */
const SERVICES = ['src/platform/embedded/services.ts', 'test/support/services.ts'];

/** What starts Chromium, and what starts a program: no rule takes that long. */
const BROWSER = 'test/pages/browser.ts';
const STARTS = /\bBun\.spawn\b|'node:child_process'/;

/** Every test depends on these. */
const EVERYWHERE = ['package.json', 'bun.lock', 'bunfig.toml', 'tsconfig.json'];

/** Run by one node, and in the long run by three nodes as well. */
const BY_THREE_NODES = /^test\/(contract|http|payments)\//;

/**
 * Of these, what is refused before it is known whose it is, what any node reads alike, and what
 * starts its own nodes whatever TEST_NODES says.
 */
const BY_ONE_NODE = new RegExp(
  [
    '^test/http/(?:people|audit-log|reports|annotations)/',
    '^test/http/(?:admin|csv|documented|documents|openapi|processor-page)\\.',
    '^test/http/(?:api-keys|checkouts|customers|discounts|entitlements|events|invoices|meters|organization)/40[04]\\.',
    '^test/http/(?:payments/list|payments/one|products|spend-cap|usage-prices|webhook-endpoints)/40[04]\\.',
    '^test/http/(?:alerts/durable|api-keys/told|decisions/nodes|edge/revocation|invoices/meetings|metrics)\\.',
    '^test/http/(?:events/stream-(?:drain|many|slow)|spend-cap/(?:durable|pending)|webhook-endpoints/replay)\\.',
    '^test/http/metering/(?:former-keys|hints|track-batch/restart|usage-events-again)\\.',
    '^test/payments/(?:challenge|dead-letter)\\.',
    '^test/http/edge/(?:answers|every-post|forms|hostile-strings|json|lenient|metadata|times|without-fields)\\.',
  ].join('|'),
);

/** Flags of `bun test` whose value is the next argument. */
const WITH_VALUE = new Set(['-t', '--test-name-pattern']);

/** Long files that hold on a busy machine, and those that mostly wait: several at once. */
const BESIDE_OTHERS = new RegExp(
  [
    '^test/(?:simulation|dashboard|client|reconciliation)/',
    '/(?:relay-)?planted\\.',
    '^test/chaos/(?:client-kills|prepaid|stripe-away|usage-bins|usage-sales|webhooks)\\.',
    '^test/http/test-clock/',
  ].join('|'),
);

/** Relative to the root. */
type Files = readonly string[];

export interface Choice {
  readonly suites: readonly Suite[];
  /** For `bun test`. */
  readonly flags: readonly string[];
  readonly needsServices: boolean;
}

type Mode =
  | { readonly kind: 'short' }
  | { readonly kind: 'unit' }
  | { readonly kind: 'long' }
  | { readonly kind: 'changed'; readonly since: string | undefined }
  | { readonly kind: 'paths'; readonly paths: readonly string[] };

/** @throws Error in one line for an invalid choice */
export function choose(args: readonly string[]): Choice {
  const { mode, flags } = parse(args);
  const graph = new Graph();
  const suites = suitesOf(mode, graph).filter(({ files }) => files.length > 0);
  const needsServices = suites.some(({ files }) => files.some((file) => needs(graph, file)));
  return { suites, flags, needsServices };
}

function parse(args: readonly string[]): { mode: Mode; flags: readonly string[] } {
  const modes: Mode[] = [];
  const [paths, flags]: [string[], string[]] = [[], []];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at]!;
    const [name, value] = arg.split('=', 2);
    if (name === '--unit') modes.push({ kind: 'unit' });
    else if (name === '--long') modes.push({ kind: 'long' });
    else if (name === '--changed') modes.push({ kind: 'changed', since: value });
    else if (WITH_VALUE.has(arg)) flags.push(arg, args[(at += 1)] ?? '');
    else if (arg.startsWith('-')) flags.push(arg);
    else paths.push(arg);
  }
  if (paths.length > 0) modes.push({ kind: 'paths', paths });
  if (modes.length > 1) throw new Error('one of PATH..., --changed, --unit and --long');
  return { mode: modes[0] ?? { kind: 'short' }, flags };
}

function suitesOf(mode: Mode, graph: Graph): readonly Suite[] {
  const all = [...new Glob('test/**/*.test.ts').scanSync(ROOT)].toSorted();
  const short = all.filter((file) => !file.endsWith(LONG));
  if (mode.kind === 'long') return longOf(all);
  const files = filesOf(mode, { all, short, graph });
  // One file runs by itself, so that nothing but it can make it fail; and so do long ones.
  const isByItself = files.length === 1 || files.some((file) => file.endsWith(LONG));
  const suite = { files, workers: PROCESSORS, ...(isByItself ? {} : LOADED_ONCE) };
  return [isByStripe() ? withoutSandboxOnly(suite) : suite];
}

function filesOf(
  mode: Exclude<Mode, { kind: 'long' }>,
  { all, short, graph }: { readonly all: Files; readonly short: Files; readonly graph: Graph },
): Files {
  if (mode.kind === 'short') return short;
  if (mode.kind === 'unit') return short.filter((file) => isUnit(graph, file));
  if (mode.kind === 'changed') return dependentsOf(short, graph, changedFiles(mode.since));
  return [...new Set(mode.paths.flatMap((path) => filesIn(path, all)))];
}

function isUnit(graph: Graph, file: string): boolean {
  if (needs(graph, file) || graph.reach(file).has(BROWSER)) return false;
  return !STARTS.test(readFileSync(join(ROOT, file), 'utf8'));
}

function needs(graph: Graph, file: string): boolean {
  const reached = graph.reach(file);
  return SERVICES.some((services) => reached.has(services));
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

function longOf(all: Files): readonly Suite[] {
  const long = all.filter((file) => file.endsWith(LONG));
  return [
    {
      files: all.filter((file) => BY_THREE_NODES.test(file) && !BY_ONE_NODE.test(file)),
      // A file keeps more than one processor busy by itself.
      workers: PROCESSORS,
      ...LOADED_ONCE,
      env: { ...LOADED_ONCE.env, TEST_NODES: '3' },
    },
    withoutSandboxOnly(byStripe(all.filter((file) => !file.endsWith(LONG)))),
    { files: long.filter((file) => BESIDE_OTHERS.test(file)), workers: PROCESSORS },
    // One at a time: they start processes of their own, and some have time bounds.
    { files: long.filter((file) => !BESIDE_OTHERS.test(file)), workers: 1 },
  ];
}
