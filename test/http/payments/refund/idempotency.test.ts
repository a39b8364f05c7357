// A key is one refund for ever (docs/spec/conventions.md#idempotency-key): a retry gets the bytes
// of the first answer, and moves nothing.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { Redis } from 'ioredis';
import { PATIENCE_MS, Shop } from '../../../payments/shop.ts';
import { refundedOf } from '../../../support/bank.ts';
import type { Reply } from '../../../support/server.ts';
import { redisDatabase } from '../../../support/services.ts';
import { TEST_SETTINGS } from '../../../support/settings.ts';

setDefaultTimeout(PATIENCE_MS);

let shop: Shop;
beforeAll(async () => {
  // Each refund is counted there, and the limit is far.
  const limits = { ...TEST_SETTINGS.limits, refundsPerPayment: 100_000 };
  shop = await Shop.open({ redisUrl: redisDatabase(11), settings: { limits } });
});
afterAll(() => shop.close());

let count = 0;
const newKey = (): string => `key ${(count += 1)}`;

const isReplay = ({ headers }: Reply): boolean => headers.get('idempotency-replayed') === 'true';

test('a refund sent again with its key is replayed to the byte', async () => {
  const { id } = await shop.buy();
  const key = newKey();
  const first = await shop.refundWithKey(key, id, { amount: '10' });
  expect([first.status, isReplay(first)]).toEqual([200, false]);
  for (let retry = 0; retry < 3; retry += 1) {
    const again = await shop.refundWithKey(key, id, { amount: '10' });
    expect([again.status, again.text, isReplay(again)]).toEqual([200, first.text, true]);
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
  }
  expect((await shop.payment(id)).amount_refunded).toBe('10.00');
  await shop.events(id, 2);
});

test('a refund sent again without a key is another refund', async () => {
  const { id } = await shop.buy();
  const [one, two] = [
    await shop.refund(id, { amount: '10' }),
    await shop.refund(id, { amount: '10' }),
  ];
  expect(one.json.id).not.toBe(two.json.id);
  expect((await shop.payment(id)).amount_refunded).toBe('20.00');
});

describe("a refund's key with the same request in other words is replayed", () => {
  test.each<[unknown, unknown]>([
    [{ amount: '10' }, { amount: '10.00' }],
    [{ amount: '10' }, { reason: 'requested_by_customer', amount: '010.0' }],
    [undefined, {}],
    [{}, { reason: 'requested_by_customer' }],
  ])('%p, then %p', async (one, other) => {
    const { id } = await shop.buy();
    const key = newKey();
    const first = await shop.refundWithKey(key, id, one);
    const again = await shop.refundWithKey(key, id.toUpperCase(), other);
    expect([again.status, again.text, isReplay(again)]).toEqual([200, first.text, true]);
  });
});

describe("a refund's key with another request is refused", () => {
  test.each<[unknown, unknown]>([
    [{ amount: '10' }, { amount: '10.01' }],
    [{ amount: '10' }, {}],
    [{}, { amount: '100' }],
    [{ amount: '10' }, { amount: '10', reason: 'duplicate' }],
  ])('%p, then %p', async (one, other) => {
    const { id } = await shop.buy();
    const key = newKey();
    const first = await shop.refundWithKey(key, id, one);
    const again = await shop.refundWithKey(key, id, other);
    expect([again.status, again.json.error.type, isReplay(again)]).toEqual([
      422,
      'idempotency_key_reused',
      false,
    ]);
    expect((await shop.payment(id)).amount_refunded).toBe(first.json.amount);
  });

  test('for another payment', async () => {
    const [one, two] = [await shop.buy(), await shop.buy()];
    const key = newKey();
    await shop.refundWithKey(key, one.id, { amount: '10' });
    for (let retry = 0; retry < 2; retry += 1) {
      const again = await shop.refundWithKey(key, two.id, { amount: '10' });
      expect([again.status, again.json.error.type]).toEqual([422, 'idempotency_key_reused']);
    }
    expect((await shop.payment(two.id)).amount_refunded).toBe('0.00');
  });
});

test('a refused refund is replayed under its key, even when it would succeed later', async () => {
  const { id } = await shop.buy({ means: 'refundFailsLate' });
  const { json: all } = await shop.refund(id);
  const key = newKey();
  const first = await shop.refundWithKey(key, id, { amount: '10' });
  expect([first.status, first.json.error.type, isReplay(first)]).toEqual([
    400,
    'validation_error',
    false,
  ]);
  await shop.refundThatIs('failed', all.id);
  const again = await shop.refundWithKey(key, id, { amount: '10' });
  expect([again.status, again.text, isReplay(again)]).toEqual([400, first.text, true]);
  const other = await shop.refundWithKey(key, id, { amount: '11' });
  expect([other.status, other.json.error.type]).toEqual([422, 'idempotency_key_reused']);
  const { json } = await shop.refundWithKey(newKey(), id, { amount: '10' });
  expect(json.amount).toBe('10.00');
  await shop.refundThatIs('failed', json.id);
});

test.each([['challenge'], ['declined']] as const)(
  'a refused refund of a payment with %s is replayed under its key',
  async (means) => {
    const { id } = await shop.buy({ means });
    const key = newKey();
    const first = await shop.refundWithKey(key, id);
    const again = await shop.refundWithKey(key, id);
    expect([first.status, again.status, again.text]).toEqual([400, 400, first.text]);
    expect([isReplay(first), isReplay(again)]).toEqual([false, true]);
  },
);

test('a refund with an invalid body does not use up its key', async () => {
  const { id } = await shop.buy();
  const key = newKey();
  for (const amount of ['0', '1.001', 'x']) {
    expect((await shop.refundWithKey(key, id, { amount })).status).toBe(400);
  }
  const { status, headers } = await shop.refundWithKey(key, id, { amount: '1' });
  expect([status, headers.get('idempotency-replayed')]).toEqual([200, null]);
});

test('a slow refund sent again replays its first answer, and GET shows what became of it', async () => {
  const { id } = await shop.buy({ means: 'refundPends' });
  const key = newKey();
  const first = await shop.refundWithKey(key, id, { amount: '10' });
  await shop.refundThatIs('succeeded', first.json.id);
  const again = await shop.refundWithKey(key, id, { amount: '10' });
  expect([again.text, isReplay(again)]).toEqual([first.text, true]);
  expect(again.json.status).toBe('pending');
});

test('a refund that fails late, sent again, replays that it succeeded', async () => {
  const { id } = await shop.buy({ means: 'refundFailsLate' });
  const key = newKey();
  const first = await shop.refundWithKey(key, id, { amount: '10' });
  await shop.refundThatIs('failed', first.json.id);
  const again = await shop.refundWithKey(key, id, { amount: '10' });
  expect([again.text, isReplay(again)]).toEqual([first.text, true]);
  expect(again.json.status).toBe('succeeded');
});

test('a hundred refunds at once with one key are one', async () => {
  const { id } = await shop.buy();
  const key = newKey();
  const send = () => shop.refundWithKey(key, id, { amount: '10' });
  const replies = await Promise.all(Array.from({ length: 100 }, send));
  const bodies = new Set<string>();
  for (const reply of replies) {
    if (reply.status === 200) {
      bodies.add(reply.text);
    } else {
      expect([reply.status, reply.json.error.type]).toEqual([409, 'idempotency_in_progress']);
      expect(reply.headers.get('retry-after')).toBe('1');
    }
  }
  expect(bodies.size).toBe(1);
  expect(replies.filter((reply) => reply.status === 200 && !isReplay(reply))).toHaveLength(1);
  expect(bodies).toContain((await send()).text);
  expect((await shop.payment(id)).amount_refunded).toBe('10.00');
  expect(await refundedOf(shop.server, id)).toHaveLength(1);
});

test('one key on refunds of two payments at once refunds one of them', async () => {
  const [one, two] = [await shop.buy(), await shop.buy()];
  const key = newKey();
  const replies = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      shop.refundWithKey(key, index % 2 === 0 ? one.id : two.id, { amount: '10' }),
    ),
  );
  expect(new Set(replies.filter(({ status }) => status === 200).map(({ text }) => text)).size).toBe(
    1,
  );
  const refunded = [await shop.payment(one.id), await shop.payment(two.id)].map(
    (payment) => payment.amount_refunded,
  );
  expect(new Set(refunded)).toEqual(new Set(['0.00', '10.00']));
});

test("a refund's key of another organisation is another key", async () => {
  const { server } = shop;
  const { testKey } = server.other;
  const { json: product } = await server.call('POST', '/products', {
    key: testKey,
    body: { name: 'Theirs', prices: [{ amount: '100', currency: 'USD' }] },
  });
  const session = await shop.checkout({ product_id: product.id }, { key: testKey });
  await shop.pay(session);
  const [theirs] = (await shop.read(`/payments?checkout_id=${session.id}`, { key: testKey })).data;
  const key = newKey();
  const { id } = await shop.buy();
  const ours = await shop.refundWithKey(key, id, { amount: '10' });
  const reply = await shop.refundWithKey(key, theirs.id, { amount: '10' }, { key: testKey });
  expect([reply.status, isReplay(reply)]).toEqual([200, false]);
  expect(reply.json.id).not.toBe(ours.json.id);
});

test("a refund's key of another operation is another key", async () => {
  const key = newKey();
  const headers = { 'idempotency-key': key };
  await shop.server.call('POST', '/customers', { body: {}, headers });
  const session = await shop.checkout({}, { headers });
  await shop.pay(session);
  const { id } = await shop.lastOf(session);
  const reply = await shop.refundWithKey(key, id, { amount: '10' });
  expect([reply.status, isReplay(reply)]).toEqual([200, false]);
});

test("a refund's key is known when Redis has lost everything", async () => {
  const { id } = await shop.buy();
  const key = newKey();
  const first = await shop.refundWithKey(key, id, { amount: '10' });
  const redis = new Redis(redisDatabase(11));
  expect(await redis.dbsize()).toBeGreaterThan(0);
  await redis.flushdb();
  redis.disconnect();
  const again = await shop.refundWithKey(key, id, { amount: '10' });
  expect([again.text, isReplay(again)]).toEqual([first.text, true]);
});
