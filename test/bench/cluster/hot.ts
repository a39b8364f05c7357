// Customers of a node at a fixed pace: alone, beside one hot customer of that node, and beside the
// same load spread over many customers. The last case shows what is due to the hot customer and
// what to a busy processor.
import type { Closers } from '../../support/closers.ts';
import { Histogram } from '../histogram.ts';
import { generate } from '../measure.ts';
import { outcomeOf, type Pace, planOf } from './load.ts';
import { type Bed, Nodes } from './nodes.ts';

const OTHERS_PER_SECOND = 300;
const OTHERS_CONNECTIONS = 64;
const HOT_CONNECTIONS = 64;
/** So that one request more or less does not decide the 99.9th percentile. */
const MEASURE_TIMES = 2;

export const BESIDE = ['nobody', 'hot', 'many'] as const;

export type Beside = {
  readonly beside: (typeof BESIDE)[number];
  /** Over all rounds, from the scheduled time. */
  readonly latency: Histogram;
  /** By round, in microseconds. */
  readonly p99Micros: readonly number[];
  readonly errors: number;
  readonly samples: readonly string[];
  /** The load beside them, by round. */
  readonly besidePerSecond: readonly number[];
};

export async function runHot(
  bed: Bed,
  closers: Closers,
  { rounds, ...pace }: Pace & { readonly rounds: number },
): Promise<Beside[]> {
  bed.say('hot: starting 2 nodes');
  const nodes = await Nodes.open(bed, closers, 2);
  const [hot = 0, ...own] = await nodes.customersOf(0);
  const [others, many] = [own.slice(0, own.length / 2), own.slice(own.length / 2)];
  const ports = nodes.ports.slice(0, 1);
  const measureMs = pace.measureMs * MEASURE_TIMES;
  const asked = {
    shape: 'mixed',
    ports,
    customers: others,
    connections: OTHERS_CONNECTIONS,
    ratePerSecond: OTHERS_PER_SECOND,
    warmUpMs: pace.warmUpMs,
    measureMs,
  } as const;
  const hard = {
    ...asked,
    shape: 'track',
    connections: HOT_CONNECTIONS,
    ratePerSecond: null,
  } as const;
  const results = BESIDE.map((beside) => ({ beside, ...nothing() }));
  for (let round = -1; round < rounds; round += 1) {
    for (const result of results) {
      const { beside } = result;
      const customers = beside === 'hot' ? [hot] : many;
      const [theirs, its] = await Promise.all([
        generate(planOf(nodes, asked), bed.signal),
        // It begins before them and ends after them.
        beside === 'nobody'
          ? null
          : generate(planOf(nodes, { ...hard, customers, measureMs: measureMs + 300 }), bed.signal),
      ]);
      const { latency, errors, samples } = outcomeOf(theirs);
      const [p99, rate] = [
        latency.percentile(0.99),
        its === null ? 0 : outcomeOf(its).requestsPerSecond,
      ];
      bed.say(`hot: beside ${beside}: p99 ${p99} us, ${Math.round(rate)}/s beside them`);
      // The first round only compiles the code.
      if (round < 0) continue;
      result.latency.add(latency.encode());
      result.p99Micros.push(p99);
      if (its !== null) result.besidePerSecond.push(rate);
      result.errors += errors + (its?.errors ?? 0);
      result.samples.push(...samples, ...(its?.samples ?? []));
    }
  }
  return results;
}

const nothing = () => ({
  latency: new Histogram(),
  p99Micros: [] as number[],
  besidePerSecond: [] as number[],
  samples: [] as string[],
  errors: 0,
});
