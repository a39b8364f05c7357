// A node hands over after it can no longer write: waiting callers are answered once another node
// has its seat, not when it can write again.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { type Nodes, startNodes } from './nodes.ts';

const LEASE_MS = 1000;

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes(2, { leaseMs: LEASE_MS });
  await nodes.all[0]!.call('POST', '/meters', { body: { slug: 'calls' } });
}, 60_000);
afterAll(() => nodes.stop());

test('calls delayed by a stuck handover get a 503, and count once at the next owner', async () => {
  const [heir, stuck] = nodes.all;
  const customers = await Promise.all(
    Array.from({ length: 40 }, () => heir!.call('POST', '/customers', { body: {} })),
  );
  const bodies = customers.map(({ json }) => ({
    feature_key: 'calls',
    customer_id: json.id as string,
    idempotency_key: `once ${json.id}`,
  }));
  const trackAll = (node = heir) =>
    Promise.all(bodies.map((body) => node!.call('POST', '/track', { body })));
  stuck!.journal.freeze();
  const held = trackAll(stuck);
  stuck!.ledger.leave();
  // It is frozen for as long as this takes.
  const statuses = (await held).map(({ status }) => status);
  for (const status of statuses) expect([200, 503]).toContain(status);
  expect(statuses).toContain(503);
  stuck!.journal.thaw();
  stuck!.journal.cut();
  for (const { status, json } of await trackAll()) {
    expect(status).toBe(200);
    expect(json.consumed).toBe(1);
  }
  expect(await audit(heir!.sql)).toEqual([]);
}, 60_000);
