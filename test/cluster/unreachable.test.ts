// A node that no peer can reach keeps its lease in the database, but gets no slots: nobody could
// call it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { newPlace } from '../support/new-place.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { type Nodes, startNodes } from './nodes.ts';

const LEASE_MS = 1000;

let nodes: Nodes;
let stranger: TestServer;
beforeAll(async () => {
  nodes = await startNodes(2, { leaseMs: LEASE_MS });
  const node = await newPlace('a secret that no other node has');
  stranger = await startServer({ beside: nodes.all[0]!, leaseMs: LEASE_MS, node });
}, 60_000);
afterAll(async () => {
  await stranger.stop();
  await nodes.stop();
});

test('a node that no other can reach takes a seat, and gets no slot', async () => {
  const [first] = nodes.all;
  await first!.call('POST', '/meters', { body: { slug: 'calls' } });
  const live = () => nodes.all.map(({ ledger }) => ledger.stats['liveNodes']);
  await until('all see three nodes', () => live().every((count) => count === 3));
  // Each has looked many times when it has renewed its lease three times.
  const flushes = () => nodes.all.map(({ ledger }) => ledger.stats['flushes'] ?? 0);
  const before = flushes();
  const isRenewed = () => flushes().every((count, index) => count >= before[index]! + 3);
  await until('each has renewed its lease thrice', isRenewed);
  expect(stranger.ledger.stats['slots']).toBe(0);
  for (let i = 0; i < 40; i += 1) {
    const { json } = await first!.call('POST', '/customers', { body: {} });
    const body = { feature_key: 'calls', customer_id: json.id };
    for (const node of nodes.all) {
      expect((await node.call('POST', '/track', { body })).status).toBe(200);
    }
  }
}, 60_000);
