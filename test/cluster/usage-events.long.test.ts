// A node dies while an endpoint subscribes to `usage.recorded`. Its heir does not remember the keys
// that it recorded, and the database has their events, too.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import type { Reply } from '../support/server.ts';
import { until } from '../support/until.ts';
import { type Nodes, startNodes } from './nodes.ts';

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes(3, { leaseMs: 2000 });
  const [node] = nodes.all;
  await node!.call('POST', '/meters', { body: { slug: 'calls' } });
  const body = { url: 'https://hooks.example.com/', event_types: ['usage.recorded'] };
  expect((await node!.call('POST', '/webhook-endpoints', { body })).status).toBe(201);
}, 60_000);
afterAll(() => nodes.stop());

const usage = (id: string, key: string) => ({
  customer_id: id,
  feature_key: 'calls',
  idempotency_key: `${key} ${id}`,
});
const event = (id: string, key: string) => ({
  customer_id: id,
  name: 'calls',
  external_id: `${key} ${id}`,
});

/** Retries until no part of it waits for the heir. */
async function insist(ask: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const answer = await ask();
    if (answer.status !== 503 && !answer.text.includes('service_unavailable')) return answer;
  }
}

test('after a takeover the heir knows recorded usage events, alone and among new ones', async () => {
  const [node] = nodes.all;
  const made = await Promise.all(
    Array.from({ length: 12 }, () => node!.call('POST', '/customers', { body: {} })),
  );
  const ids = made.map(({ json }) => json.id as string);
  const lost = await nodes.ownerOf(ids[0]!);
  const [other] = nodes.all.filter((one) => one !== lost);
  const keys = ['track', 'batch', 'event'];
  const consume = (id: string) => ({ ...usage(id, 'check'), consume: true });
  for (const id of ids) {
    const grant = { feature_key: 'calls', amount: 10 };
    await other!.call('POST', `/customers/${id}/grants`, { body: grant });
    const tracks = keys.map((key) => usage(id, key));
    expect((await other!.call('POST', '/track/batch', { body: { tracks } })).status).toBe(200);
    expect((await other!.call('POST', '/check', { body: consume(id) })).json.consumed).toBe(4);
  }
  lost.journal.freeze();
  await until('it has an heir', async () => (await nodes.ownerOf(ids[0]!)) !== lost);
  const ask = (path: string, body: object) => insist(() => other!.call('POST', path, { body }));
  for (const id of ids) {
    const tracked = await ask('/track', usage(id, 'track'));
    expect([tracked.status, tracked.json.duplicate]).toEqual([200, true]);
    expect((await ask('/check', consume(id))).json.consumed).toBe(4);
  }
  const tracks = ids.flatMap((id) => [usage(id, 'batch'), usage(id, 'new batch')]);
  const batch = await ask('/track/batch', { tracks });
  expect(batch.json.results.map((one: { duplicate: boolean }) => one.duplicate)).toEqual(
    ids.flatMap(() => [true, false]),
  );
  const events = ids.flatMap((id) => [event(id, 'event'), event(id, 'new event')]);
  const ingested = await ask('/events/ingest', { events });
  expect(ingested.json).toMatchObject({ inserted: ids.length, duplicates: ids.length });
  lost.journal.thaw();
  lost.journal.cut();
  expect(await audit(node!.sql)).toEqual([]);
}, 60_000);
