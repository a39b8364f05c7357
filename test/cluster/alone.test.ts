// A node without an address beside nodes with one: they cannot share a database, so it waits, and
// says so.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../support/server.ts';
import { untilReady } from '../support/until.ts';
import { type Nodes, startNodes } from './nodes.ts';

const LEASE_MS = 1000;

let nodes: Nodes;
let alone: TestServer;
beforeAll(async () => {
  nodes = await startNodes(2, { leaseMs: LEASE_MS });
  alone = await startServer({ beside: nodes.all[0]!, leaseMs: LEASE_MS });
}, 60_000);
afterAll(async () => {
  await alone.stop();
  await nodes.stop();
});

test('a node started alone answers 503 while its peers live, and serves when they are gone', async () => {
  const [first, second] = nodes.all;
  await first!.call('POST', '/meters', { body: { slug: 'calls' } });
  const { json } = await first!.call('POST', '/customers', { body: {} });
  const body = { feature_key: 'calls', customer_id: json.id };
  const asked = ['/check', '/track'] as const;
  for (const path of asked) {
    const { status, json: refused } = await alone.call('POST', path, { body });
    expect([status, refused.error.type]).toEqual([503, 'service_unavailable']);
    expect((await first!.call('POST', path, { body })).status).toBe(200);
  }
  expect((await alone.call('GET', '/ready')).status).toBe(503);
  for (const node of [first!, second!]) await node.ledger.close();
  await untilReady(alone);
  for (const path of asked) {
    expect((await alone.call('POST', path, { body })).status).toBe(200);
    expect((await first!.call('POST', path, { body })).status).toBe(503);
  }
}, 60_000);
