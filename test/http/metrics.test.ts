// /metrics: who may read it, and that its numbers follow what happens.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ids } from '../../src/platform/ids.ts';
import { newNetwork } from '../support/network.ts';
import { type Call, startServer, type TestServer } from '../support/server.ts';
import { TEST_SETTINGS } from '../support/settings.ts';

const TOKEN = 'operators-only-0123';

type Numbers = Readonly<Record<string, number>>;

/** By name with labels; comments left out. */
async function scrape(server: TestServer, call: Call = { key: null }): Promise<Numbers> {
  const { status, text } = await server.call('GET', '/metrics', call);
  expect(status).toBe(200);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at).replace('tollhouse_', ''), Number(line.slice(at + 1))];
    }),
  );
}

describe('GET /metrics', () => {
  let open: TestServer;
  let guarded: TestServer;
  let proxied: TestServer;
  beforeAll(async () => {
    [open, guarded, proxied] = await Promise.all([
      startServer(),
      startServer({ settings: { metricsToken: TOKEN } }),
      startServer({ settings: { proxyHops: 1 } }),
    ]);
  });
  afterAll(() => Promise.all([open.stop(), guarded.stop(), proxied.stop()]));

  test('without a token is open to this machine', async () => {
    const { status, headers } = await open.call('GET', '/metrics', { key: null });
    expect([status, headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
  });

  test.each(['x-forwarded-for', 'x-real-ip', 'forwarded', 'via'])(
    'without a token is refused to every caller behind a proxy of this machine (%s)',
    async (name) => {
      const { status, json } = await open.call('GET', '/metrics', { headers: { [name]: '::1' } });
      expect([status, json.error]).toEqual([404, { type: 'not_found', message: 'no such route' }]);
    },
  );

  test('without a token is refused behind a proxy and without an address', async () => {
    expect((await proxied.call('GET', '/metrics')).status).toBe(404);
    const request = new Request('http://127.0.0.1/metrics');
    expect((await open.app.handle(request)).status).toBe(404);
  });

  // prettier-ignore
  const SENT: [string, Record<string, string>, number][] = [
    ['nothing',              {},                                                401],
    ['another token',        { authorization: 'Bearer operators-only-0124' },  401],
    ['the token alone',      { authorization: TOKEN },                          401],
    ['more than the token',  { authorization: `Bearer ${TOKEN}x` },             401],
    ['the token',            { authorization: `Bearer ${TOKEN}` },              200],
  ];
  test.each(SENT)('with a token, sent %s: %p', async (_what, headers, status) => {
    expect((await guarded.call('GET', '/metrics', { key: null, headers })).status).toBe(status);
    const forwarded = { ...headers, 'x-forwarded-for': '203.0.113.7' };
    const reply = await guarded.call('GET', '/metrics', { key: null, headers: forwarded });
    expect(reply.status).toBe(status);
  });

  test('with a token is refused to an API key', async () => {
    const { status, json } = await guarded.call('GET', '/metrics');
    expect([status, json.error.type]).toEqual([401, 'unauthorized']);
  });
});

test("has the ledger's writes, its size and its lease", async () => {
  // A long lease: its renewal is also written as a unit, and this test counts units.
  const leaseMs = 60_000;
  const server = await startServer({ alone: true, leaseMs });
  await server.call('POST', '/meters', { body: { slug: 'calls' } });
  await server.call('POST', '/customers', { body: { external_customer_id: 'u' } });
  const before = await scrape(server);
  const body = { feature_key: 'calls', external_customer_id: 'u' };
  for (let n = 0; n < 3; n += 1) await server.call('POST', '/track', { body });
  const after = await scrape(server);
  const grown = (name: string) => after[name]! - before[name]!;
  expect(grown('ledger_flushed_transfers_total')).toBe(3);
  expect(grown('ledger_flushed_units_total')).toBe(3);
  expect(grown('ledger_flush_transfers_bucket{le="1"}')).toBeGreaterThanOrEqual(3);
  expect(grown('ledger_flush_seconds_count')).toBe(grown('ledger_flushes_total'));
  expect(grown('ledger_flush_seconds_sum')).toBeGreaterThan(0);
  expect([before['ledger_customer_actors'], after['ledger_customer_actors']]).toEqual([0, 1]);
  expect(after).toMatchObject({
    ledger_lease_valid: 1,
    ledger_queued_units: 0,
    ledger_queued_rows: 0,
    ledger_queued_bytes: 0,
    ledger_queue_share: 0,
    ledger_failed_slow_units_total: 0,
    ledger_failed_units_total: 0,
    ledger_loading_calls: 0,
    ledger_overloaded_total: 0,
    ledger_evicted_actors_total: 0,
    ledger_payment_actors: 0,
    ledger_slots: 1024,
    ledger_live_nodes: 1,
    ledger_leaving: 0,
    ledger_stopped_for_good: 0,
    ledger_forwarded_calls_total: 0,
    database_up: 1,
  });
  expect(after['ledger_lease_seconds']).toBeWithin(0.5, leaseMs / 1000);
  expect(after['process_resident_memory_bytes']).toBeGreaterThan(1e7);
  expect(after['process_cpu_seconds_total']).toBeGreaterThan(before['process_cpu_seconds_total']!);
  await server.ledger.close();
  const closed = await scrape(server);
  expect(closed).toMatchObject({ ledger_lease_valid: 0, ledger_lease_seconds: 0 });
  await server.stop();
});

const LIMITS = { ...TEST_SETTINGS.limits, buyLinks: 2 };

test("has the rate limits' allowed and refused requests", async () => {
  const settings = { limits: LIMITS, metricsToken: TOKEN, proxyHops: 1 };
  const server = await startServer({ alone: true, settings });
  const { json: product } = await server.call('POST', '/products', {
    body: { name: 'Lamp', prices: [{ amount: '1', currency: 'USD' }] },
  });
  const path = `/buy-links/${product.id}/checkout`;
  const statuses: number[] = [];
  const call = { key: null, headers: { 'x-forwarded-for': newNetwork()(1) } };
  for (let n = 0; n < 5; n += 1) statuses.push((await server.call('POST', path, call)).status);
  expect(statuses).toEqual([200, 200, 429, 429, 429]);
  const numbers = await scrape(server, { key: TOKEN });
  const taken = Object.entries(numbers).filter(([name]) => name.includes('takes'));
  expect(taken.map(([name, count]) => [name.split('result=')[1], count])).toEqual([
    ['"allowed"}', 2],
    ['"refused"}', 3],
  ]);
  await server.stop();
});

describe('metrics of the database', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ alone: true });
    // No other node does what is due now.
    await server.ledger.close();
  });
  afterAll(() => server.stop());

  test('are ages of 0 where nothing is late', async () => {
    expect(await scrape(server)).toMatchObject({
      database_up: 1,
      alarms_customers_overdue_seconds: 0,
      alarms_payments_overdue_seconds: 0,
      refunds_pending: 0,
      refunds_pending_oldest_seconds: 0,
      followups_oldest_seconds: 0,
      followups_failing: 0,
      followups_dead: 0,
      processors_failing: 0,
      deliveries_due_oldest_seconds: 0,
      deliveries_paused_oldest_seconds: 0,
      deliveries_in_flight: 0,
      deliveries_held: 0,
      endpoints_enabled: 0,
      endpoints_breaker_open: 0,
      endpoints_disabled_by_us: 0,
    });
  });

  test('tell what is late, open and owed', async () => {
    const { sql, organisation } = server;
    const ago = (seconds: number): Date => new Date(Date.now() - seconds * 1000);
    const alarm = (kind: string, seconds: number) => sql`
      insert into alarms (slot, actor_id, subject_id, due_at, kind, organisation_id, mode)
      values (1, ${ids.next()}, ${ids.next()}, ${ago(seconds)}, ${kind}, ${organisation.id}, 'live')`;
    await alarm('meter', 20);
    await alarm('meter', -20);
    await alarm('subscription', 45);
    await alarm('payment', 300);
    await alarm('payment', 30);
    await sql`
      insert into refunds (slot, id, payment_id, organisation_id, mode, amount, currency, status, reason, asks, ask_at, created_at)
      values (1, ${ids.next()}, ${ids.next()}, ${organisation.id}, 'test', 1, 'USD', 'pending', 'duplicate', 0, ${ago(1)}, ${ago(70)})`;
    await sql`
      insert into followups (slot, id, kind, payment_id, data, at, written_at)
      values (1, ${ids.next()}, 'payment_settled', ${ids.next()}, '{}', ${ago(40)}, ${ago(40)})`;
    const endpoint = async (fields: object): Promise<string> => {
      const id = ids.next();
      const row = {
        id,
        organisation_id: organisation.id,
        mode: 'test',
        url: 'https://example.com',
        event_types: ['*'],
        status: 'enabled',
        secret: Buffer.from('x'),
        created_at: ago(0),
        updated_at: ago(0),
        ...fields,
      };
      await sql`insert into webhook_endpoints ${sql(row)}`;
      return id;
    };
    const owe = (endpointId: string, fields: object) => {
      const row = {
        id: ids.next(),
        endpoint_id: endpointId,
        event_id: ids.next(),
        event_type: 'x',
        status: 'pending',
        next_at: ago(0),
        created_at: ago(0),
        ...fields,
      };
      return sql`insert into deliveries ${sql(row)}`;
    };
    const well = await endpoint({});
    const failing = await endpoint({ paused_until: ago(-60) });
    const gone = await endpoint({ status: 'disabled', disabled_reason: 'gone' });
    await endpoint({ deleted_at: ago(0) });
    await owe(well, { next_at: ago(500), worker: ids.next() });
    await owe(well, { next_at: ago(50) });
    await owe(well, { next_at: ago(-50) });
    await owe(well, { next_at: ago(900), status: 'delivered' });
    await owe(failing, { next_at: ago(100) });
    await owe(gone, { next_at: ago(800), status: 'held' });
    await owe(gone, { next_at: ago(800), status: 'held' });

    const numbers = await scrape(server);
    const ages = {
      alarms_customers_overdue_seconds: 45,
      alarms_payments_overdue_seconds: 300,
      refunds_pending_oldest_seconds: 70,
      followups_oldest_seconds: 40,
      deliveries_due_oldest_seconds: 50,
      deliveries_paused_oldest_seconds: 100,
    };
    for (const [name, seconds] of Object.entries(ages)) {
      expect([name, Math.floor(numbers[name]! / 5) * 5]).toEqual([name, seconds]);
    }
    expect(numbers).toMatchObject({
      refunds_pending: 1,
      deliveries_in_flight: 1,
      deliveries_held: 2,
      endpoints_enabled: 2,
      endpoints_breaker_open: 1,
      endpoints_disabled_by_us: 1,
    });
  });

  test('have NaN for a gauge whose query is slow, and all concurrent callers get the rest', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const lock = server.sql.begin(async (transaction) => {
      await transaction`lock table refunds in access exclusive mode`;
      locked.resolve();
      await released;
    });
    await locked.promise;
    const all = await Promise.all(Array.from({ length: 20 }, () => scrape(server)));
    release();
    await lock;
    for (const numbers of all) {
      expect(numbers).toMatchObject({ database_up: 0, refunds_pending: NaN, deliveries_held: 2 });
    }
    expect(await scrape(server)).toMatchObject({ database_up: 1, refunds_pending: 1 });
  });
});
