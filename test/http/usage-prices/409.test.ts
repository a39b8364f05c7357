import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Reply, startServer, type TestServer } from '../../support/server.ts';
import { attach, makeMeter, makeProduct } from '../entitlements/setting.ts';
import { archive, listed, PER_CALL, price } from './setting.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await makeMeter(server, 'calls');
});
afterAll(() => server.stop());

test('a second active usage price for a feature and currency is 409, also at once', async () => {
  const product = await makeProduct(server);
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      price(server, product, { ...PER_CALL, unit_amount: `0.00${n}` }),
    ),
  );
  const made = replies.filter(({ status }) => status === 201);
  expect(made).toHaveLength(1);
  const message = 'the product has an active usage price for this feature in USD';
  for (const { status, json } of replies.filter((reply) => reply !== made[0])) {
    expect([status, json]).toEqual([409, { error: { type: 'conflict', message } }]);
  }
  expect((await listed(server, product)).data).toEqual([made[0]!.json]);
});

type Renewal = readonly [interval: string, interval_count?: number];

// prettier-ignore
const ALLOWANCES: [reset: string, renewal: Renewal, isFine: boolean][] = [
  // given every   under a price that renews every
  ['month',        ['month'],      true],
  ['never',        ['month'],      false],
  ['never',        ['year', 3],    false],
  ['year',         ['month'],      false],
  ['quarter',      ['month', 2],   false],
  ['quarter',      ['month', 3],   true],
  ['year',         ['month', 11],  false],
  ['year',         ['month', 12],  true],
  ['quarter',      ['year'],       true],
  ['week',         ['day', 6],     false],
  ['week',         ['day', 7],     true],
  ['day',          ['week'],       true],
  ['month',        ['week', 4],    false],
  ['month',        ['day', 30],    false],
  ['month',        ['day', 31],    true],
  ['quarter',      ['day', 91],    false],
  ['quarter',      ['day', 92],    true],
  ['year',         ['day', 364],   false],
  ['year',         ['day', 365],   true],
  ['week',         ['month'],      true],
  ['hour',         ['month'],      true],
  ['hour',         ['day', 41],    true],
  // More than a thousand times.
  ['hour',         ['day', 42],    false],
  ['hour',         ['month', 2],   false],
  ['hour',         ['year'],       false],
  ['day',          ['year', 2],    true],
  ['day',          ['year', 3],    false],
];

const CONFLICT = [409, 'conflict'];
const CREATED = [201, undefined];
const codeOf = ({ status, json }: Reply) => [status, json.error?.type];
const statusesOf = (replies: readonly Reply[]) =>
  replies.map(({ status }) => status).toSorted((a, b) => a - b);

describe.each(ALLOWANCES)('an allowance each %s, renewed every %p', (reset, renewal, isFine) => {
  const limited = { feature_key: 'calls', limit: 5, reset_interval: reset };
  const recurring = { interval: renewal[0], interval_count: renewal[1] ?? 1 };
  const expected = isFine ? CREATED : CONFLICT;

  test('is fine or a conflict with a usage price that is added', async () => {
    const product = await makeProduct(server, [recurring, {}]);
    expect(codeOf(await attach(server, product, limited))).toEqual(CREATED);
    expect(codeOf(await price(server, product, PER_CALL))).toEqual(expected);
    expect((await listed(server, product)).data).toHaveLength(isFine ? 1 : 0);
  });

  test('is fine or a conflict when added to a product that sells its usage', async () => {
    const product = await makeProduct(server, [recurring]);
    expect(codeOf(await price(server, product, PER_CALL))).toEqual(CREATED);
    expect(codeOf(await attach(server, product, limited))).toEqual(expected);
  });

  test('is fine or a conflict with a recurring price that is added', async () => {
    const product = await makeProduct(server);
    const body = { amount: '10', currency: 'EUR', ...recurring };
    const sold = [attach(server, product, limited), price(server, product, PER_CALL)];
    // What is given once is never sold, whatever renews.
    const isSold = (await Promise.all(sold)).every(({ status }) => status === 201);
    expect(isSold).toBe(reset !== 'never');
    const added = await server.call('POST', `/products/${product}/prices`, { body });
    expect(codeOf(added)).toEqual(isSold ? expected : CREATED);
  });
});

test('a usage price of a feature without a limit is 409, from either side', async () => {
  const body = { feature_key: 'calls', limit: null };
  const product = await makeProduct(server);
  await attach(server, product, body);
  expect(codeOf(await price(server, product, PER_CALL))).toEqual(CONFLICT);
  const other = await makeProduct(server);
  await price(server, other, PER_CALL);
  expect(codeOf(await attach(server, other, body))).toEqual(CONFLICT);
});

test('a boolean feature is 400 for a usage price, and 409 for the entitlement', async () => {
  const body = { feature_key: 'calls', type: 'boolean' };
  const product = await makeProduct(server);
  await attach(server, product, body);
  const { status, json } = await price(server, product, PER_CALL);
  expect([status, json.error.issues]).toEqual([
    400,
    [{ path: ['feature_key'], message: 'is a boolean feature of the product' }],
  ]);
  const other = await makeProduct(server);
  await price(server, other, PER_CALL);
  expect(codeOf(await attach(server, other, body))).toEqual(CONFLICT);
});

test('a usage price is 409 where one renewal would bill too many hourly allowances', async () => {
  const product = await makeProduct(server, [{ interval: 'month' }]);
  const statuses: number[] = [];
  for (let nth = 0; nth < 7; nth += 1) {
    const feature_key = await makeMeter(server, `hourly${nth}`);
    await attach(server, product, { feature_key, limit: 1, reset_interval: 'hour' });
    statuses.push((await price(server, product, { ...PER_CALL, feature_key })).status);
  }
  expect(statuses).toEqual([201, 201, 201, 201, 201, 201, 409]);
  // As often, by a longer renewal.
  const body = { amount: '10', currency: 'USD', interval: 'day', interval_count: 40 };
  const added = await server.call('POST', `/products/${product}/prices`, { body });
  expect(codeOf(added)).toEqual(CONFLICT);
});

test('an archived price conflicts with a usage price, an archived usage price does not', async () => {
  const product = await makeProduct(server, [{ interval: 'month' }, { interval: 'year' }]);
  const { prices } = (await server.call('GET', `/products/${product}`)).json;
  const monthly = prices.find(({ interval }: { interval: string }) => interval === 'month');
  await server.call('POST', `/products/${product}/prices/${monthly.id}/archive`);
  const yearly = { feature_key: 'calls', limit: 5, reset_interval: 'year' };
  const sold = await price(server, product, PER_CALL);
  expect(codeOf(await attach(server, product, yearly))).toEqual(CONFLICT);
  await archive(server, product, sold.json.id);
  expect(codeOf(await attach(server, product, yearly))).toEqual(CREATED);
  expect(codeOf(await price(server, product, PER_CALL))).toEqual(CONFLICT);
});

test('an entitlement can be detached while its usage is sold', async () => {
  const product = await makeProduct(server, [{ interval: 'month' }]);
  const { json } = await attach(server, product, { feature_key: 'calls', limit: 5 });
  await price(server, product, PER_CALL);
  const path = `/products/${product}/entitlements/${json.id}`;
  expect((await server.call('DELETE', path)).status).toBe(204);
});

test('DELETE of a meter whose usage a product sells is 409', async () => {
  const product = await makeProduct(server);
  const feature_key = await makeMeter(server, 'sold');
  const { json } = await price(server, product, { ...PER_CALL, feature_key });
  expect(codeOf(await server.call('DELETE', '/meters/sold'))).toEqual(CONFLICT);
  await archive(server, product, json.id);
  expect((await server.call('DELETE', '/meters/sold')).status).toBe(204);
});

test('of two conflicting usage prices and entitlements sent at once, one is refused', async () => {
  for (let round = 0; round < 8; round += 1) {
    const product = await makeProduct(server, [{ interval: 'month' }]);
    const yearly = { feature_key: 'calls', limit: 5, reset_interval: 'year' };
    const replies = await Promise.all([
      attach(server, product, yearly),
      price(server, product, PER_CALL),
    ]);
    expect(statusesOf(replies)).toEqual([201, 409]);
  }
  for (let round = 0; round < 8; round += 1) {
    const product = await makeProduct(server);
    await attach(server, product, { feature_key: 'calls', limit: 5, reset_interval: 'year' });
    const body = { amount: '10', currency: 'USD', interval: 'month' };
    const replies = await Promise.all([
      server.call('POST', `/products/${product}/prices`, { body }),
      price(server, product, PER_CALL),
    ]);
    expect(statusesOf(replies)).toEqual([201, 409]);
  }
});

test('a meter that is deleted while its usage is priced is one or the other', async () => {
  for (let round = 0; round < 8; round += 1) {
    const product = await makeProduct(server);
    const feature_key = await makeMeter(server, `race${round}`);
    const [priced, deleted] = await Promise.all([
      price(server, product, { ...PER_CALL, feature_key }),
      server.call('DELETE', `/meters/${feature_key}`),
    ]);
    expect([
      [201, 409],
      [404, 204],
    ]).toContainEqual([priced.status, deleted.status]);
  }
});
