// Refunds a minute, for one payment and for one mode of an organisation. A retry with the same key
// does not count again.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS, Shop } from '../../../payments/shop.ts';
import type { Reply } from '../../../support/server.ts';
import { TEST_SETTINGS } from '../../../support/settings.ts';

const PER_PAYMENT = 3;
const PER_ORGANISATION = 5;

// Each on a database of its own, so that each organisation is new to Redis.
setDefaultTimeout(PATIENCE_MS);

let shop: Shop;
beforeEach(async () => {
  const { limits } = TEST_SETTINGS;
  const refunds = { refundsPerPayment: PER_PAYMENT, refundsPerOrg: PER_ORGANISATION };
  shop = await Shop.open({ settings: { limits: { ...limits, ...refunds } } });
});
afterEach(() => shop.close());

function expectLimited({ status, json, headers }: Reply, limit: number): void {
  expect([status, json.error.type, json.error.issues]).toEqual([429, 'rate_limited', undefined]);
  const wait = Number(headers.get('retry-after'));
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(60);
  expect(headers.get('ratelimit-limit')).toBe(String(limit));
  expect(headers.get('ratelimit-remaining')).toBe('0');
  expect(headers.get('ratelimit-reset')).toBe(String(wait));
}

test('refunds of one payment beyond the rate limit are 429', async () => {
  const [one, two] = [await shop.buy(), await shop.buy()];
  const replies = await Promise.all(
    Array.from({ length: PER_PAYMENT + 2 }, () => shop.refund(one.id, { amount: '1' })),
  );
  const refused = replies.filter(({ status }) => status !== 200);
  expect(refused).toHaveLength(2);
  for (const reply of refused) expectLimited(reply, PER_PAYMENT);
  expect((await shop.payment(one.id)).amount_refunded).toBe('3.00');
  // The other payment has its own limit.
  expect((await shop.refund(two.id, { amount: '1' })).status).toBe(200);
});

test('refunds of an organisation, over all its payments, beyond the rate limit are 429', async () => {
  const payments = await Promise.all(Array.from({ length: 7 }, () => shop.buy()));
  const replies = await Promise.all(payments.map(({ id }) => shop.refund(id)));
  const refused = replies.filter(({ status }) => status !== 200);
  expect(refused).toHaveLength(2);
  for (const reply of refused) expectLimited(reply, PER_ORGANISATION);
  expect(
    await shop.server
      .sql`select 1 from refunds where organisation_id = ${shop.server.organisation.id}`,
  ).toHaveLength(PER_ORGANISATION);
});

test('a repeated refund is replayed beyond the rate limit, and does not count', async () => {
  const { id } = await shop.buy();
  const send = () => shop.refundWithKey('k', id, { amount: '1' });
  const first = await send();
  for (let retry = 0; retry < 2 * PER_ORGANISATION; retry += 1) {
    const again = await send();
    expect([again.status, again.text]).toEqual([200, first.text]);
  }
  for (let more = 1; more < PER_PAYMENT; more += 1) {
    expect((await shop.refund(id, { amount: '1' })).status).toBe(200);
  }
  expectLimited(await shop.refund(id, { amount: '1' }), PER_PAYMENT);
  expect((await send()).text).toBe(first.text);
  // A key reused with another body is refused as such, and does not count either.
  expect((await shop.refundWithKey('k', id, { amount: '2' })).status).toBe(422);
});

test('a 429 of a refund is not kept under its key', async () => {
  const [one, two] = [await shop.buy(), await shop.buy()];
  for (let count = 0; count < PER_PAYMENT; count += 1) await shop.refund(one.id, { amount: '1' });
  expectLimited(await shop.refundWithKey('k', one.id, { amount: '1' }), PER_PAYMENT);
  const reply = await shop.refundWithKey('k', two.id, { amount: '1' });
  expect([reply.status, reply.headers.get('idempotency-replayed')]).toEqual([200, null]);
});

test('a refund that is 404 or 400 does not count to the rate limit, one that is 409 does', async () => {
  const { id } = await shop.buy();
  const { other } = shop.server;
  for (let count = 0; count < 2 * PER_ORGANISATION; count += 1) {
    expect((await shop.refund(id, { amount: '1.001' })).status).toBe(400);
    expect((await shop.refund(id, {}, { key: other.testKey })).status).toBe(404);
  }
  for (let count = 0; count < PER_PAYMENT; count += 1) {
    expect((await shop.refund(id, { amount: '101' })).json.error.type).toBe('validation_error');
  }
  expectLimited(await shop.refund(id, { amount: '1' }), PER_PAYMENT);
});

test('GET of refunds is not limited', async () => {
  const { id } = await shop.buy();
  for (let count = 0; count <= PER_PAYMENT; count += 1) await shop.refund(id, { amount: '1' });
  for (let count = 0; count < 4 * PER_ORGANISATION; count += 1) await shop.payment(id);
});
