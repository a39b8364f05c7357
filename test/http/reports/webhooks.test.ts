// GET /reports/webhooks: which deliveries count where, how many are read, and whose they are.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import postgres from 'postgres';
import { ids } from '../../../src/platform/ids.ts';
import { weekOf } from '../../../src/http/wire/webhook-health.ts';
import { DELIVERIES_READ_MAX, listWebhookHealth } from '../../../src/records/webhook-health.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { endpointOf } from '../webhook-endpoints/owed.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ edited: true });
});
afterAll(() => server.stop());

const HOUR = 3_600_000;
const NONE = { delivered: 0, pending: 0, retrying: 0, held: 0, exhausted: 0 };

type Made = { status?: string; attempts?: number; at?: number; many?: number };

async function deliver(endpointId: string, made: Made = {}): Promise<void> {
  const { status = 'delivered', attempts = 1, at = Date.now(), many = 1 } = made;
  await server.sql`
    insert into deliveries (id, endpoint_id, event_id, event_type, status, attempts, next_at, created_at)
    select uuidv7(), ${endpointId}, uuidv7(), 'tag.created', ${status}, ${attempts}, now(), ${new Date(at)}
    from generate_series(1, ${many})`;
}

const read = async (query = '', key = server.organisation.testKey) => {
  const { status, json } = await server.call('GET', `/reports/webhooks${query}`, { key });
  expect([status, json.error]).toEqual([200, undefined]);
  return json.data;
};

const healthOf = async (id: string) => (await read(`?endpoint_id=${id}`))[0];

test('the webhook report counts each delivery by its outcome, on the day it was made', async () => {
  const { id } = await endpointOf(server);
  const { today, week } = weekOf(Date.now(), 'UTC');
  await deliver(id, { many: 4 });
  await deliver(id, { status: 'exhausted', attempts: 19 });
  await deliver(id, { status: 'pending', attempts: 0 });
  await deliver(id, { status: 'pending', attempts: 2, many: 2 });
  await deliver(id, { status: 'held', attempts: 0 });
  await deliver(id, { at: today.getTime() - 1, many: 3 });
  await deliver(id, { at: week.getTime() });
  await deliver(id, { at: week.getTime() - 1 });
  const counts = { ...NONE, delivered: 4, pending: 1, retrying: 2, held: 1, exhausted: 1 };
  expect(await healthOf(id)).toEqual({
    id,
    today: counts,
    week: { ...counts, delivered: 8 },
    complete: true,
  });
});

test('the webhook report has zeros for an endpoint without deliveries', async () => {
  const { id } = await endpointOf(server);
  expect(await healthOf(id)).toEqual({ id, today: NONE, week: NONE, complete: true });
});

test('the webhook report of very many deliveries counts the newest, and says so', async () => {
  const { id } = await endpointOf(server);
  await deliver(id, { status: 'exhausted', at: Date.now() - 24 * HOUR, many: 5 });
  await deliver(id, { many: DELIVERIES_READ_MAX });
  const delivered = DELIVERIES_READ_MAX;
  expect(await healthOf(id)).toMatchObject({
    week: { delivered, exhausted: 0 },
    complete: false,
  });
  const old = await endpointOf(server);
  await deliver(old.id, { at: Date.now() - 30 * 24 * HOUR, many: DELIVERIES_READ_MAX });
  expect(await healthOf(old.id)).toMatchObject({ week: NONE, complete: true });
});

test("the webhook report's days begin at midnight of the organisation, one of 23 hours too", () => {
  const now = Date.UTC(2026, 2, 30, 1);
  expect(weekOf(now, 'Europe/Berlin')).toEqual({
    today: new Date('2026-03-29T22:00:00.000Z'),
    week: new Date('2026-03-23T23:00:00.000Z'),
  });
  expect(weekOf(now, 'America/New_York').today).toEqual(new Date('2026-03-29T04:00:00.000Z'));
});

test('the webhook report lists no endpoint of another organisation or mode, nor a deleted one', async () => {
  const { other, organisation } = server;
  const { id } = await endpointOf(server, {}, other.testKey);
  expect(await healthOf(id)).toBeUndefined();
  expect(await read(`?endpoint_id=${ids.next()}`)).toEqual([]);
  expect(await read('', organisation.liveKey)).toEqual([]);
  const gone = await endpointOf(server);
  await server.call('DELETE', `/webhook-endpoints/${gone.id}`);
  expect(await healthOf(gone.id)).toBeUndefined();
});

test('the webhook report reads a bounded number of deliveries of each endpoint', async () => {
  const { id } = await endpointOf(server);
  await deliver(id, { many: 5 * DELIVERIES_READ_MAX });
  await server.sql`analyze deliveries`;
  let asked: { query: string; parameters: unknown[] } = { query: '', parameters: [] };
  const sql = postgres(server.databaseUrl, {
    max: 1,
    types: { bigint: postgres.BigInt },
    debug: (_connection, query, parameters) => (asked = { query, parameters }),
  });
  const { organisation } = server;
  const owner = { kind: 'organisation', organisationId: organisation.id, mode: 'test' } as const;
  const page = { limit: 1, offset: 0, endpointId: id, ...weekOf(Date.now(), 'UTC') };
  await listWebhookHealth(sql, owner, page);
  const [row] = await sql.unsafe(
    `explain (analyze, format json) ${asked.query}`,
    asked.parameters as string[],
  );
  await sql.end();
  const text = JSON.stringify(row);
  expect(text).toContain('deliveries_listed');
  const scans = [...text.matchAll(/"Relation Name":"deliveries".*?"Actual Rows":(\d+)/g)];
  expect(scans.map(([, rows]) => Number(rows))).toEqual([DELIVERIES_READ_MAX]);
});
