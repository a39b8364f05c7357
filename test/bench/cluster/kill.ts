// SIGKILL of one of three nodes, and how long its customers wait for the takeover: a few dozen of
// them are tried at another node until they are answered. The lease is the default one.
import type { Closers } from '../../support/closers.ts';
import { customerName, FEATURE_KEY } from '../generator/workload.ts';
import { type Bed, Nodes } from './nodes.ts';

const NODES = 3;
const ASKED_AFTER = 48;
const SERVED_MS_MAX = 30_000;
const PAUSE_MS = 10;

export type Killed = {
  /** From the kill until the first and the last of them was served. */
  readonly firstMs: number;
  readonly allMs: number;
};

export async function runKill(
  bed: Bed,
  closers: Closers,
  { rounds }: { readonly rounds: number },
): Promise<Killed[]> {
  bed.say(`kill: starting ${NODES} nodes`);
  const nodes = await Nodes.open(bed, closers, NODES);
  const results: Killed[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const [victim, witness] = [round % NODES, (round + 1) % NODES];
    const customers = (await nodes.customersOf(victim)).slice(0, ASKED_AFTER);
    const port = nodes.ports[witness] ?? 0;
    nodes.kill(victim);
    const from = performance.now();
    const served = await Promise.all(
      customers.map(async (customer) => {
        await untilServed(bed, { port, customer });
        return performance.now() - from;
      }),
    );
    results.push({ firstMs: Math.min(...served), allMs: Math.max(...served) });
    bed.say(`kill: all served after ${Math.round(Math.max(...served))} ms`);
    if (round + 1 === rounds) break;
    await nodes.start(victim);
    await nodes.shared();
  }
  return results;
}

/** By /track: a node that can write for a customer owns it. */
async function untilServed(
  { authorization, signal }: Bed,
  { port, customer }: { readonly port: number; readonly customer: number },
): Promise<void> {
  const body = JSON.stringify({
    feature_key: FEATURE_KEY,
    external_customer_id: customerName(customer),
    value: 1,
  });
  for (const deadline = performance.now() + SERVED_MS_MAX; performance.now() < deadline;) {
    const answer = await fetch(`http://127.0.0.1:${port}/track`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body,
      signal,
    });
    await answer.arrayBuffer();
    if (answer.ok) return;
    await Bun.sleep(PAUSE_MS);
  }
  throw new Error(`customer ${customer} is served by nobody`);
}
