// One load on nodes: what came back, and what it cost each process.
import { Histogram } from '../histogram.ts';
import type { LoadPlan, LoadResult } from '../generator/plan.ts';
import { CUSTOMERS } from '../generator/workload.ts';
import { generate } from '../measure.ts';
import { footprintOf } from '../probes/database.ts';
import { busySeconds, secondsOf, secondsOfTree } from '../probes/processor-time.ts';
import type { Nodes } from './nodes.ts';

/** Processor time of the generator before it begins to count, and of this process meanwhile. */
const START_SECONDS = 0.1;
const OTHERS_PROCESSORS_MAX = 0.2;
const ATTEMPTS_MAX = 3;

export type Pace = { readonly warmUpMs: number; readonly measureMs: number };

export type Asked = Partial<LoadPlan> & Pick<LoadPlan, 'shape' | 'connections'> & Pace;

export type Loaded = {
  readonly requestsPerSecond: number;
  readonly succeeded: number;
  readonly errors: number;
  readonly samples: readonly string[];
  readonly latency: Histogram;
  /** Microseconds of processor time for each answered request. */
  readonly cpuUs: {
    readonly nodes: readonly number[];
    readonly database: number;
    readonly generator: number;
  };
  /** null: nothing was written. */
  readonly rowsPerFlush: number | null;
  readonly othersProcessors: number;
};

/** Of new processes: until their hot code is compiled and their customers are in memory. */
export const WARM_UP = { connections: 128, warmUpMs: 0, measureMs: 4000 } as const;

let runs = 1000;

export function planOf({ bed, ports }: Nodes, asked: Asked): LoadPlan {
  return {
    ports,
    authorization: bed.authorization,
    customers: CUSTOMERS,
    ids: [],
    ratePerSecond: null,
    // Four digits in all: every key has the same length.
    run: (runs += 1),
    ...asked,
  };
}

/** Measures again where other programs used the processors. Nothing else decides that. */
export async function loadInPeace(nodes: Nodes, asked: Asked): Promise<Loaded> {
  for (let attempt = 1; ; attempt += 1) {
    const loaded = await load(nodes, asked);
    const { othersProcessors, errors } = loaded;
    nodes.bed.say(lineOf(asked, loaded));
    if (othersProcessors <= OTHERS_PROCESSORS_MAX || errors > 0 || attempt === ATTEMPTS_MAX) {
      return loaded;
    }
  }
}

async function load(nodes: Nodes, asked: Asked): Promise<Loaded> {
  const { bed, pids } = nodes;
  const footprint = () => footprintOf(nodes.sql, { rows: null, flushed: true });
  const read = () => ({
    at: performance.now(),
    nodes: pids.map(secondsOf),
    database: secondsOfTree(bed.postmaster),
    busy: busySeconds(),
  });
  const { flushes: flushesBefore } = await footprint();
  const before = read();
  const result = await generate(planOf(nodes, asked), bed.signal);
  const after = read();
  const { flushes: flushesAfter } = await footprint();
  const perNode = after.nodes.map((seconds, at) => seconds - (before.nodes[at] ?? 0));
  const database = after.database - before.database;
  const ours = perNode.reduce((so, seconds) => so + seconds, database + result.cpuSeconds);
  const others = after.busy - before.busy - ours - START_SECONDS;
  const micros = (seconds: number): number => (seconds / result.succeeded) * 1_000_000;
  const flushes = flushesAfter - flushesBefore;
  return {
    ...outcomeOf(result),
    cpuUs: {
      nodes: perNode.map(micros),
      database: micros(database),
      generator: micros(result.cpuSeconds),
    },
    rowsPerFlush: asked.shape !== 'track' ? null : result.succeeded / flushes,
    othersProcessors: Math.max(others / ((after.at - before.at) / 1000), 0),
  };
}

export function outcomeOf(result: LoadResult) {
  const latency = new Histogram();
  latency.add(result.latency);
  const { succeeded, errors, samples, completed, measuredMs } = result;
  return {
    requestsPerSecond: completed / (measuredMs / 1000),
    succeeded,
    errors,
    samples,
    latency,
  };
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function lineOf({ shape, connections }: Asked, loaded: Loaded): string {
  const { requestsPerSecond, cpuUs, othersProcessors, errors, samples } = loaded;
  const [rate, us] = [requestsPerSecond, sum(cpuUs.nodes)].map(Math.round);
  const others = othersProcessors.toFixed(2);
  const line = `${shape}, ${connections} connections: ${rate}/s, ${us} us in nodes, others used ${others} processors`;
  return errors > 0 ? [line, ...samples].join('\n  ') : line;
}
