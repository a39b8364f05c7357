// Each no leaves a row: what was asked, on what balance, and how often.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { countDenials } from '../../../src/records/denials.ts';
import { type Fields, Setting, times } from '../metering/setting.ts';

const NODES = Number(process.env['TEST_NODES'] ?? 1);

let setting: Setting;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('api', { scale: 2 });
});
afterAll(() => setting.stop());

const withId = (id: string) => ({ headers: { 'x-request-id': id } });

/**
 * The rows of a customer, when what was denied until now is written. By value: two nodes may have
 * written in the same millisecond.
 */
async function rowsOf(customer: string): Promise<Fields[]> {
  await setting.server.flush();
  return setting.server.sql<Fields[]>`
    select d.*, m.slug from denials d join meters m on m.id = d.meter_id
    where customer_id = ${customer} order by d.value, d.id`;
}

async function customerWith(amount: number): Promise<string> {
  const customer = await setting.customer();
  await setting.grant(customer, 'api', { amount });
  return customer;
}

test('a denied check is a row with its question, balance and time', async () => {
  const customer = await customerWith(10);
  await setting.track(customer, 'api', { value: 7.5 });
  const before = Date.now();
  const { json } = await setting.check(customer, 'api', { value: 3 }, withId('seen-1'));
  expect(json).toMatchObject({ allowed: false, balance: 2.5 });
  const [row, ...more] = await rowsOf(customer);
  expect(more).toEqual([]);
  expect(row).toMatchObject({
    organisation_id: setting.server.organisation.id,
    mode: 'test',
    slug: 'api',
    kind: 'check',
    reason: 'insufficient_balance',
    count: 1,
    value: 300n,
    limit: 1000n,
    consumed: 750n,
    reserved: 0n,
    request_ids: ['seen-1'],
    transfer_id: null,
    replayed: false,
    period_end: null,
  });
  const at = (row!['at'] as Date).getTime();
  expect(at).toBeGreaterThanOrEqual(before);
  expect(at).toBeLessThanOrEqual(Date.now());
  expect(row!['last_at']).toEqual(row!['at']);
});

test('an allowed check leaves no row of a denial', async () => {
  const customer = await customerWith(10);
  expect((await setting.check(customer, 'api')).json.allowed).toBe(true);
  expect((await setting.check(customer, 'api', { consume: true })).json.allowed).toBe(true);
  const { status } = await setting.track(customer, 'api', { overage: 'reject' });
  expect(status).toBe(200);
  expect(await rowsOf(customer)).toEqual([]);
});

test('the same check denied again is one row with a count', async () => {
  const customer = await customerWith(1);
  await setting.server.flush();
  await times(9, (n) => setting.check(customer, 'api', { value: 2 }, withId(`again-${n}`)));
  await setting.check(customer, 'api', { value: 3 });
  const rows = await rowsOf(customer);
  // A second may end in between, and each node has a row of its own.
  const counted = rows.filter((row) => row['value'] === 200n);
  expect(counted.reduce((sum, row) => sum + (row['count'] as number), 0)).toBe(9);
  expect(counted.length).toBeLessThanOrEqual(2 * NODES);
  for (const row of counted) {
    expect((row['request_ids'] as string[]).length).toBe(Math.min(5, row['count'] as number));
  }
  expect(rows.filter((row) => row['value'] === 300n)).toHaveLength(1);
});

test('a denied check that consumes is a row, with a key and without one', async () => {
  const customer = await customerWith(1);
  await setting.check(customer, 'api', { value: 2, consume: true });
  const keyed = { value: 3, consume: true, idempotency_key: 'k-1' };
  await setting.check(customer, 'api', keyed);
  const rows = await rowsOf(customer);
  expect(rows.map(({ kind, value, replayed }) => [kind, value, replayed])).toEqual([
    ['consume', 200n, false],
    ['consume', 300n, false],
  ]);
  const [first, second] = rows;
  expect(first!['transfer_id']).toBeNull();
  const [transfer] = await setting.server.sql<Fields[]>`
    select kind, value from transfers where id = ${second!['transfer_id'] as string}`;
  expect(transfer).toEqual({ kind: 'refused', value: 300n });
  // Repeated, it is denied again by the decision of before.
  await setting.grant(customer, 'api', { amount: 50 });
  const again = await setting.check(customer, 'api', keyed);
  expect(again.json.allowed).toBe(false);
  const third = (await rowsOf(customer)).filter(({ replayed }) => replayed === true);
  expect(third.map((row) => row['transfer_id'])).toEqual([second!['transfer_id']]);
});

test('a track that is refused is a row under the request id of the refusal', async () => {
  const customer = await customerWith(1);
  const reply = await setting.track(customer, 'api', { value: 5, overage: 'reject' });
  expect(reply.status).toBe(402);
  const [row] = await rowsOf(customer);
  expect(row).toMatchObject({ kind: 'track', value: 500n, limit: 100n, consumed: 0n });
  expect(row!['request_ids']).toEqual([reply.headers.get('x-request-id')!]);
});

test('a batch of checks is denied: each denied item is a row under the request id of its call', async () => {
  const customer = await customerWith(1);
  const item = { customer_id: customer, feature_key: 'api' };
  const checks = [{ ...item }, { ...item, value: 2 }, { ...item, value: 3 }];
  await setting.post('/check/batch', { checks }, withId('batch-1'));
  const tracks = [{ ...item }, { ...item, value: 4, overage: 'reject' }];
  await setting.post('/track/batch', { tracks }, withId('batch-2'));
  const rows = await rowsOf(customer);
  expect(rows.map(({ kind, value, request_ids: ids }) => [kind, value, ids])).toEqual([
    ['check', 200n, ['batch-1']],
    ['check', 300n, ['batch-1']],
    ['track', 400n, ['batch-2']],
  ]);
});

test('a denial whose caller sent no valid request id is a row under the id that the answer has', async () => {
  const customer = await customerWith(1);
  const replies = [
    await setting.check(customer, 'api', { value: 2 }),
    await setting.check(customer, 'api', { value: 3 }, withId('a b')),
    await setting.check(customer, 'api', { value: 4, consume: true }, withId('x'.repeat(129))),
  ];
  const ids = replies.map(({ headers }) => headers.get('x-request-id')!);
  expect(ids).not.toContain('a b');
  // Each node writes rows of its own: their order is not that of the calls.
  const kept = (await rowsOf(customer)).map((row) => row['request_ids'] as string[]);
  expect(kept.map(({ length }) => length)).toEqual([1, 1, 1]);
  expect(kept.flat().toSorted()).toEqual(ids.toSorted());
  const allowed = await setting.check(customer, 'api', { value: 1 });
  expect(allowed.headers.get('x-request-id')).toBeNull();
});

test('a flood of denials of one organisation leaves the others their rows, and is counted', async () => {
  const { server } = setting;
  const key = server.other.testKey;
  await setting.meter('api', {}, { key });
  const checks = Array.from({ length: 500 }, (_, n) => ({
    external_customer_id: `flood-${n}`,
    feature_key: 'api',
  }));
  await Promise.all(
    checks.map(({ external_customer_id: id }) =>
      setting.customer({ external_customer_id: id }, { key }),
    ),
  );
  await server.flush();
  const customer = await setting.customer();
  const flood = () => setting.post('/check/batch', { checks }, { key });
  const [denied] = await Promise.all([
    flood().then(() => setting.check(customer, 'api')),
    ...Array.from({ length: 5 }, flood),
  ]);
  expect(denied.json.reason).toBe('not_entitled');
  expect(await rowsOf(customer)).toHaveLength(1);
  const [kept] = await server.sql<{ rows: number; seconds: number; denials: number }[]>`
    select count(*) filter (where customer_id is not null)::int as rows, sum(count)::int as denials,
      count(distinct date_trunc('second', recorded_at))::int as seconds
    from denials where organisation_id = ${server.other.id}`;
  expect(kept!.denials).toBe(3000);
  expect(kept!.rows).toBeGreaterThan(0);
  expect(kept!.rows).toBeLessThanOrEqual(100 * NODES * (kept!.seconds + 1));
  const hour = 3_600_000;
  const now = Math.floor(Date.now() / hour) * hour;
  const from = new Date(now - hour);
  const counts = await countDenials(
    server.sql,
    { organisationId: server.other.id, mode: 'test' },
    { from, to: new Date(now + hour) },
  );
  expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(3000);
  expect(new Set(counts.map(({ featureKey }) => featureKey))).toEqual(new Set(['api']));
});

test('a customer with many denied questions leaves the other customers of its organisation their rows', async () => {
  const [greedy, other] = [await setting.customer(), await setting.customer()];
  await setting.server.flush();
  const checks = Array.from({ length: 400 }, (_, n) => ({
    customer_id: greedy,
    feature_key: 'api',
    value: n + 1,
  }));
  await setting.post('/check/batch', { checks });
  await setting.check(other, 'api');
  expect(await rowsOf(other)).toHaveLength(1);
  expect((await rowsOf(greedy)).length).toBeLessThanOrEqual(20);
});
