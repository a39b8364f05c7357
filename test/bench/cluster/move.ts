// Callers at a fixed pace on three nodes while one of them leaves by SIGTERM and joins again, as in
// a deploy. A connection that it closes reconnects to another node, as through a load balancer;
// nothing is sent twice.
import type { Closers } from '../../support/closers.ts';
import type { Histogram } from '../histogram.ts';
import { generate } from '../measure.ts';
import { outcomeOf, planOf } from './load.ts';
import { type Bed, Nodes } from './nodes.ts';

const NODES = 3;
const PER_SECOND = 400;
const CONNECTIONS = 64;
const STEADY_MS = 4000;
/** Leaving takes the time in which a load balancer notices; joining takes a start. */
const MOVING_MS = 16_000;
const BEFORE_MS = 1000;

export type Moved = {
  readonly during: 'steady' | 'moves';
  readonly latency: Histogram;
  readonly succeeded: number;
  readonly errors: number;
  readonly samples: readonly string[];
  /** Until the node had ended, and until it served its share again. */
  readonly tookMs: { readonly leaving: number; readonly joining: number } | null;
};

export async function runMove(
  bed: Bed,
  closers: Closers,
  { rounds }: { readonly rounds: number },
): Promise<Moved[]> {
  bed.say(`move: starting ${NODES} nodes`);
  const nodes = await Nodes.open(bed, closers, NODES);
  const callers = (measureMs: number) =>
    generate(
      planOf(nodes, {
        shape: 'mixed',
        connections: CONNECTIONS,
        ratePerSecond: PER_SECOND,
        warmUpMs: 0,
        measureMs,
      }),
      bed.signal,
    );
  await callers(STEADY_MS / 2);
  const results: Moved[] = [];
  for (let round = 0; round < rounds; round += 1) {
    results.push({ during: 'steady', ...outcomeOf(await callers(STEADY_MS)), tookMs: null });
    const calling = callers(MOVING_MS);
    await Bun.sleep(BEFORE_MS);
    const tookMs = await leaveAndJoin(nodes, round % NODES);
    const outcome = outcomeOf(await calling);
    bed.say(
      `move: left in ${Math.round(tookMs.leaving)} ms, joined in ${Math.round(tookMs.joining)}, ${outcome.errors} errors, ` +
        `longest ${Math.round(outcome.latency.maxMicros / 1000)} ms`,
    );
    results.push({ during: 'moves', ...outcome, tookMs });
  }
  return results;
}

async function leaveAndJoin(nodes: Nodes, at: number) {
  const from = performance.now();
  await nodes.leave(at);
  const left = performance.now();
  await nodes.start(at);
  await nodes.shared();
  return { leaving: left - from, joining: performance.now() - left };
}
