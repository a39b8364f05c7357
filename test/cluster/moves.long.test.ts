// Nodes join and leave under load: no call is refused, and nothing is lost or counted twice.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { TestServer } from '../support/server.ts';
import { type Nodes, startNodes } from './nodes.ts';

const CUSTOMERS = 60;
const CALLERS = 24;

let nodes: Nodes;
const customers: string[] = [];
beforeAll(async () => {
  nodes = await startNodes(1);
  const [first] = nodes.all;
  await first!.call('POST', '/meters', { body: { slug: 'calls', event_name: 'call' } });
  for (let i = 0; i < CUSTOMERS; i += 1) {
    const { json } = await first!.call('POST', '/customers', { body: {} });
    customers.push(json.id);
  }
}, 60_000);
afterAll(() => nodes.stop());

/** Callers that never retry, each at a node that stays. */
function startCallers(targets: readonly TestServer[]) {
  const recorded = new Map<string, number>();
  const failed: string[] = [];
  const run = { isOver: false };
  const caller = async (number: number): Promise<void> => {
    for (let call = number; !run.isOver; call += 1) {
      const id = customers[(call * 7) % CUSTOMERS]!;
      const target = targets[call % targets.length]!;
      const body = { feature_key: 'calls', customer_id: id };
      const before = recorded.get(id) ?? 0;
      const [path, sent] = call % 3 === 0 ? ['/check', body] : ['/track', { ...body, value: 1 }];
      const answer = await target.call('POST', path, { body: sent });
      if (answer.status !== 200) failed.push(`${answer.status} ${answer.text}`);
      else if (path === '/track') recorded.set(id, (recorded.get(id) ?? 0) + 1);
      // Each answer includes what was acknowledged before its request.
      if (answer.status === 200 && answer.json.consumed < before)
        failed.push(`${path} forgot: ${answer.json.consumed} of ${before}`);
    }
  };
  const callers = Array.from({ length: CALLERS }).map((_, i) => caller(i));
  return {
    failed,
    async stop(): Promise<ReadonlyMap<string, number>> {
      run.isOver = true;
      await Promise.all(callers);
      return recorded;
    },
  };
}

test('nodes join and leave the cluster, and no call fails', async () => {
  const [stays] = nodes.all;
  const second = await nodes.join();
  const load = startCallers([stays!]);
  const third = await nodes.join();
  await nodes.leave(second);
  const fourth = await nodes.join();
  await nodes.leave(third);
  const counted = await load.stop();
  expect(load.failed).toEqual([]);
  expect([...counted.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(100);
  for (const node of [stays!, fourth]) {
    for (const [id, count] of counted) {
      const body = { feature_key: 'calls', customer_id: id };
      expect((await node.call('POST', '/check', { body })).json.consumed).toBe(count);
    }
  }
}, 60_000);
