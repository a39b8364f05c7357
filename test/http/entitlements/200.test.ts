import { afterAll, beforeAll, expect, test } from 'bun:test';
import { listEntitlements } from '../../../src/records/entitlements.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { attach, listed, makeMeter, makeProduct } from './setting.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  for (const slug of ['calls', 'seats', 'gold']) await makeMeter(server, slug);
  await makeMeter(server, 'hours', 2);
});
afterAll(() => server.stop());

const FILLED = {
  type: 'metered',
  limit: 10_000,
  reset_interval: 'month',
  overage_allowed: false,
  rollover: null,
  priority: 100,
};
const PLAIN = { ...FILLED, type: 'boolean', limit: null, reset_interval: 'never' };

// prettier-ignore
const BODIES: [string, object, object][] = [
  // what                      body                                                      answer
  ['a limit alone',            { feature_key: 'calls', limit: 10_000 },                  FILLED],
  ['no limit',                 { feature_key: 'calls', limit: null },                    { ...FILLED, limit: null }],
  ['nothing but overage',      { feature_key: 'calls', limit: 0, overage_allowed: true }, { ...FILLED, limit: 0, overage_allowed: true }],
  ['a decimal string',         { feature_key: 'hours', limit: '7.25' },                  { ...FILLED, limit: 7.25 }],
  ['the last decimal',         { feature_key: 'hours', limit: 0.01 },                    { ...FILLED, limit: 0.01 }],
  ['never reset',              { feature_key: 'calls', limit: 1, reset_interval: 'never' }, { ...FILLED, limit: 1, reset_interval: 'never' }],
  ['by the hour',              { feature_key: 'calls', limit: 1, reset_interval: 'hour' }, { ...FILLED, limit: 1, reset_interval: 'hour' }],
  ['rollover of null',         { feature_key: 'calls', limit: 1, rollover: null },       { ...FILLED, limit: 1 }],
  ['rollover',                 { feature_key: 'hours', limit: 5, rollover: { max: '2.5', expires_after_periods: 3 } },
                               { ...FILLED, limit: 5, rollover: { max: 2.5, expires_after_periods: 3 } }],
  ['a priority',               { feature_key: 'calls', limit: 1, priority: 0 },          { ...FILLED, limit: 1, priority: 0 }],
  ['a boolean feature',        { feature_key: 'gold', type: 'boolean' },                 PLAIN],
  ['a boolean one that says of itself what it lacks',
    { feature_key: 'gold', type: 'boolean', limit: null, overage_allowed: false, rollover: null }, PLAIN],
];

test.each(BODIES)('POST of an entitlement with %s', async (_what, body, answer) => {
  const product = await makeProduct(server);
  const { status, json } = await attach(server, product, body);
  expect([status, json]).toEqual([
    201,
    {
      ...body,
      ...answer,
      id: json.id,
      product_id: product,
      meter_id: json.meter_id,
      created_at: json.created_at,
    },
  ]);
  const { id } = (await server.call('GET', `/meters/${json.feature_key}`)).json;
  expect(json.meter_id).toBe(id);
  expect(await listed(server, product)).toEqual({
    data: [json],
    limit: 50,
    offset: 0,
    has_more: false,
  });
});

// prettier-ignore
const INTERVALS: [string, { interval?: string; interval_count?: number }[], string][] = [
  // prices                     of the product                                   reset
  ['no price',                  [],                                              'month'],
  ['a one-time price',          [{}],                                            'month'],
  ['a daily price',             [{ interval: 'day' }],                           'day'],
  ['a weekly price',            [{ interval: 'week', interval_count: 2 }],       'week'],
  ['a yearly price',            [{ interval: 'year' }],                          'year'],
  ['two yearly prices',         [{ interval: 'year' }, { interval: 'year' }, {}], 'year'],
  ['a monthly and a yearly one', [{ interval: 'year' }, { interval: 'month' }],  'month'],
];

test.each(INTERVALS)(
  'an entitlement without a reset_interval, on a product with %s, resets with its price',
  async (_what, prices, reset) => {
    const product = await makeProduct(server, prices);
    const { json } = await attach(server, product, { feature_key: 'calls', limit: 1 });
    expect(json.reset_interval).toBe(reset);
  },
);

test('the default reset_interval of an entitlement follows no archived price', async () => {
  const product = await makeProduct(server, [{ interval: 'year' }, { interval: 'day' }]);
  const { prices } = (await server.call('GET', `/products/${product}`)).json;
  const yearly = prices.find(({ interval }: { interval: string }) => interval === 'year');
  await server.call('POST', `/products/${product}/prices/${yearly.id}/archive`);
  const { json } = await attach(server, product, { feature_key: 'calls', limit: 1 });
  expect(json.reset_interval).toBe('day');
});

test("GET lists a product's entitlements in the order in which they were attached, in pages", async () => {
  const product = await makeProduct(server);
  const keys = ['seats', 'calls', 'gold'];
  for (const key of keys) await attach(server, product, { feature_key: key, limit: 1 });
  const keysOf = (list: { data: { feature_key: string }[] }) =>
    list.data.map(({ feature_key: key }) => key);
  expect(keysOf(await listed(server, product))).toEqual(keys);
  const first = await listed(server, product, '?limit=2');
  expect([keysOf(first), first.has_more]).toEqual([['seats', 'calls'], true]);
  const last = await listed(server, product, '?limit=2&offset=2');
  expect([keysOf(last), last.has_more]).toEqual([['gold'], false]);
});

test('DELETE of an entitlement, after which it may be attached again', async () => {
  const product = await makeProduct(server);
  const { json } = await attach(server, product, { feature_key: 'calls', limit: 1 });
  const path = `/products/${product}/entitlements/${json.id}`;
  const gone = await server.call('DELETE', path);
  expect([gone.status, gone.text]).toEqual([204, '']);
  expect((await listed(server, product)).data).toEqual([]);
  expect((await server.call('DELETE', path)).status).toBe(404);
  const again = await attach(server, product, { feature_key: 'calls', limit: 2 });
  expect([again.status, again.json.id === json.id]).toEqual([201, false]);
});

test('POST of an entitlement again with its Idempotency-Key attaches it once', async () => {
  const product = await makeProduct(server);
  const body = { feature_key: 'calls', limit: 1 };
  const first = await attach(server, product, body, 'once');
  const again = await attach(server, product, body, 'once');
  expect([again.status, again.text]).toEqual([201, first.text]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  const other = await attach(server, await makeProduct(server), body, 'once');
  expect([other.status, other.json.error.type]).toEqual([422, 'idempotency_key_reused']);
});

test('the ledger gets each entitlement with its whole meter, scaled', async () => {
  const product = await makeProduct(server, [{ interval: 'month' }]);
  const rollover = { max: 1.5, expires_after_periods: 2 };
  await attach(server, product, { feature_key: 'hours', limit: '12.5', rollover, priority: 7 });
  const scope = { organisationId: server.organisation.id, mode: 'test' } as const;
  const [found] = await listEntitlements(server.sql, scope, product);
  const { id, aggregation, slug, scale } = (await server.call('GET', '/meters/hours')).json;
  expect(found).toMatchObject({
    productId: product,
    meter: { id, slug, aggregation, scale, ...scope },
    limit: 1250n,
    rollover: { max: 150n, expiresAfterPeriods: 2 },
    resetInterval: 'month',
    priority: 7,
  });
  const others = { ...scope, mode: 'live' } as const;
  expect(await listEntitlements(server.sql, others, product)).toEqual([]);
});
