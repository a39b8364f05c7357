// What one organisation may cost the others: each of these loads was once enough to stop all of
// them.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { clock } from '../../src/platform/clock.ts';
import { recordHealth } from '../../workers/health.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

setDefaultTimeout(60_000);

const URL_OF_NOBODY = 'http://localhost:65000/';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ own: true });
});
afterAll(() => server.stop());

const register = (event_types: string[]) =>
  server.call('POST', '/webhook-endpoints', { body: { url: URL_OF_NOBODY, event_types } });

/** Deliveries that are due at an endpoint, without the API. */
async function owe(endpointId: string, count: number): Promise<void> {
  await server.sql`
    insert into deliveries (id, endpoint_id, event_id, event_type, status, next_at, created_at)
    select uuidv7(), ${endpointId}, uuidv7(), 'tag.created', 'pending', now() + interval '1 hour', now()
    from generate_series(1, ${count})`;
}

async function statuses(endpointId: string): Promise<Record<string, number>> {
  const rows = await server.sql<{ status: string; count: number }[]>`
    select case when next_at <= now() then status || ' now' else status end as status, count(*)::int from deliveries
    where endpoint_id = ${endpointId} group by 1`;
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

test('an owner has at most fifty webhook endpoints, and each event so many deliveries', async () => {
  const replies = await Promise.all(Array.from({ length: 50 }, () => register(['tag.created'])));
  expect(replies.every(({ status }) => status === 201)).toBe(true);
  const one = await register(['tag.created']);
  expect([one.status, one.json.error.type]).toEqual([409, 'conflict']);
  const [gone] = replies;
  await server.call('DELETE', `/webhook-endpoints/${gone!.json.id}`);
  expect((await register(['tag.created'])).status).toBe(201);
});

/** The transfers of each flush, by its transaction. */
async function flushes(): Promise<ReadonlyMap<string, number>> {
  const rows = await server.sql<{ xmin: string; count: number }[]>`
    select xmin::text, count(*)::int as count from transfers group by 1`;
  return new Map(rows.map(({ xmin, count }) => [xmin, count]));
}

const EVENTS = 500;

/** More than one turn decides. */
const CALLS = 8;

async function ingestTogether(key: string): Promise<void> {
  const who = Array.from({ length: EVENTS }, (_, n) => `k${n}`);
  const events = who.map((external) => ({ name: 'calls', external_customer_id: external }));
  const ingest = () => server.call('POST', '/events/ingest', { key, body: { events } });
  // While the journal cannot write, all that comes is queued for the next flush.
  server.journal.freeze();
  const replies = Array.from({ length: CALLS }, ingest);
  await until('others wait', () => (server.ledger.stats['queuedUnits'] ?? 0) > 0);
  server.journal.thaw();
  for (const { status } of await Promise.all(replies)) expect(status).toBe(200);
}

test('a flush has fewer rows when its events have many deliveries', async () => {
  const key = server.other.testKey;
  await server.call('POST', '/meters', { key, body: { slug: 'calls' } });
  const ids = Array.from({ length: EVENTS }, (_, n) => `k${n}`);
  await Promise.all(
    ids.map((external_customer_id) =>
      server.call('POST', '/customers', { key, body: { external_customer_id } }),
    ),
  );
  // Without a subscriber calls share a flush, as many as are decided in a turn: more where code is
  // warm.
  let alone = await flushes();
  for (let n = 0; Math.max(0, ...alone.values()) <= EVENTS; n += 1) {
    expect(n).toBeLessThan(50);
    await ingestTogether(key);
    alone = await flushes();
  }
  const body = { url: URL_OF_NOBODY, event_types: ['usage.recorded'] };
  await server.call('POST', '/webhook-endpoints', { key, body });
  for (let n = 0; n < 3; n += 1) await ingestTogether(key);
  const heard = [...(await flushes())].filter(([xmin]) => !alone.has(xmin));
  expect(Math.max(...heard.map(([, count]) => count))).toBe(EVENTS);
});

test('one delivery result changes a bounded number of rows, whether its endpoint is gone or back', async () => {
  const key = server.group.testKey;
  const made = async () => {
    const { json } = await server.call('POST', '/partner/webhook-endpoints', {
      key,
      body: { url: URL_OF_NOBODY },
    });
    await owe(json.id, 5000);
    return json.id as string;
  };
  const tally = { failures: 0, exhausted: 0, url: URL_OF_NOBODY, at: clock.now() };
  const gone = await made();
  await recordHealth(server.sql, { ...tally, endpointId: gone, successes: 0, isGone: true });
  expect(await statuses(gone)).toEqual({ held: 2000, pending: 3000 });
  const back = await made();
  await server.sql`
    update webhook_endpoints set failures = 9, failing_since = now() - interval '1 hour' where id = ${back}`;
  await recordHealth(server.sql, { ...tally, endpointId: back, successes: 1, isGone: false });
  expect(await statuses(back)).toEqual({ 'pending now': 2000, pending: 3000 });
});

test('a delivery shows its last fifty attempts', async () => {
  const [{ id: endpointId }] = (await server.call('GET', '/webhook-endpoints')).json.data;
  await owe(endpointId, 1);
  const [row] = await server.sql<{ id: string }[]>`
    select id from deliveries where endpoint_id = ${endpointId}`;
  await server.sql`
    insert into delivery_attempts (delivery_id, at, status_code, duration_ms)
    select ${row!.id}, to_timestamp(n), 500, n from generate_series(1, 60) as n`;
  const { json } = await server.call('GET', `/deliveries/${row!.id}`);
  const shown = (json.attempts as { duration_ms: number }[]).map(({ duration_ms: ms }) => ms);
  expect(shown).toEqual(Array.from({ length: 50 }, (_, n) => n + 11));
});
