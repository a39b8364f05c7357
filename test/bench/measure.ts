// One load on one server: what came back, and what it cost.
//
// Rate and latency are those of the measured time. Costs are counted from before the warm-up until
// the last answer is in, divided by the number of answers. Nothing is in flight when they are read,
// so rows, commits and bytes are exact.
import type { Spent, Target } from './bed/target.ts';
import { type Case, isOfMoney, type WayName } from './cases.ts';
import type { LoadPlan, LoadResult } from './generator/plan.ts';
import type { Footprint } from './probes/database.ts';
import { busySeconds } from './probes/processor-time.ts';

const GENERATOR = Bun.fileURLToPath(import.meta.resolve('./generator.ts'));

/** Processor time of the generator before it begins to count, and of this process meanwhile. */
const START_SECONDS = 0.1;

export interface Measured {
  readonly way: WayName;
  readonly requestsPerSecond: number;
  readonly load: LoadResult;
  /** Events acknowledged, from the first request to the last. */
  readonly events: number;
  /** Seconds of processor time. */
  readonly spent: Spent;
  /** Of the server, after the load. */
  readonly memoryBytes: number;
  /** From the last answer until all deferred work was done. */
  readonly settleMs: number;
  /** Processors that other programs kept busy. */
  readonly othersProcessors: number;
  /** What was added to PostgreSQL. */
  readonly footprint: Footprint | undefined;
  readonly problems: readonly string[];
}

export interface LoadOptions {
  readonly warmUpMs: number;
  readonly measureMs: number;
  readonly ratePerSecond: number | null;
  readonly run: number;
  readonly signal: AbortSignal;
}

export async function measure(
  target: Target,
  item: Case,
  { signal, ...options }: LoadOptions,
): Promise<Measured> {
  const { shape, spread: customers, connections, events } = item;
  const { authorization } = target;
  const ports = [target.portFor(item)];
  await target.reset();
  const before = await target.footprint?.(item);
  const [spentBefore, busy] = [target.spent(), busySeconds()];
  const startedAt = performance.now();
  const ids = target.idsFor(item);
  const plan: LoadPlan = { ports, authorization, shape, customers, ids, connections, ...options };
  const load = await generate(plan, signal);
  const answeredAt = performance.now();
  await target.settled(item);
  const settleMs = isOfMoney(item) ? performance.now() - answeredAt : 0;
  const spent = since(spentBefore, target.spent());
  const ours = spent.server + spent.postgres + spent.redis + load.cpuSeconds;
  const othersSeconds = busySeconds() - busy - ours - START_SECONDS;
  const tookSeconds = (performance.now() - startedAt) / 1000;
  const after = await target.footprint?.(item);
  const footprint = before && after ? grown(before, after) : undefined;
  // Of two alternating shapes the first is a check.
  const acknowledged = Math.floor(load.succeeded * events);
  return {
    way: target.name,
    // Work deferred until after the answer counts too.
    requestsPerSecond: load.completed / ((load.measuredMs + settleMs) / 1000),
    load,
    events: acknowledged,
    spent,
    memoryBytes: target.memoryBytes(),
    settleMs,
    othersProcessors: Math.max(othersSeconds / tookSeconds, 0),
    footprint,
    problems: problemsOf(load, acknowledged, footprint),
  };
}

export async function generate(plan: LoadPlan, signal: AbortSignal): Promise<LoadResult> {
  signal.throwIfAborted();
  const child = Bun.spawn([process.execPath, GENERATOR], {
    stdio: [new Blob([JSON.stringify(plan)]), 'pipe', 'inherit'],
  });
  const kill = (): void => child.kill('SIGKILL');
  signal.addEventListener('abort', kill);
  const output = await new Response(child.stdout).text();
  await child.exited;
  signal.removeEventListener('abort', kill);
  signal.throwIfAborted();
  if (child.exitCode !== 0) throw new Error('the generator died');
  return JSON.parse(output) as LoadResult;
}

function problemsOf(
  load: LoadResult,
  acknowledged: number,
  footprint: Footprint | undefined,
): readonly string[] {
  const problems: string[] = [];
  if (load.errors > 0) problems.push(`${load.errors} errors, such as`, ...load.samples);
  if (load.completed === 0) problems.push('nothing was answered');
  // The server may have counted a failed request all the same; without failures, each event is one
  // row.
  const rows = footprint?.rows ?? null;
  if (rows !== null && load.errors === 0 && rows !== acknowledged) {
    problems.push(`${acknowledged} events were acknowledged, ${rows} rows were added`);
  }
  return problems;
}

function since(before: Spent, after: Spent): Spent {
  return {
    server: after.server - before.server,
    postgres: after.postgres - before.postgres,
    redis: after.redis - before.redis,
  };
}

function grown(before: Footprint, after: Footprint): Footprint {
  return {
    walBytes: after.walBytes - before.walBytes,
    tableBytes: after.tableBytes - before.tableBytes,
    rows: after.rows === null || before.rows === null ? null : after.rows - before.rows,
    flushes: after.flushes - before.flushes,
  };
}
