// Successful refunds: the answer, and what payment, invoice and refund show afterwards.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Fields, PATIENCE_MS, type Payment, Shop } from '../../../payments/shop.ts';
import { UNHURRIED } from '../../../support/settling.ts';

setDefaultTimeout(PATIENCE_MS);

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open({ settings: UNHURRIED });
});
afterAll(() => shop.close());

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const UUID = expect.stringMatching(/^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/);

/** The payment's amounts. */
const moneyOf = ({
  status,
  amount_refunded,
  amount_refund_pending,
  refundable_amount,
}: Payment) => [status, amount_refunded, amount_refund_pending, refundable_amount];

describe('a refund of all that is left', () => {
  test.each<[string, Fields | undefined]>([
    ['without a body', undefined],
    ['with an empty object', {}],
    ['with a reason alone', { reason: 'fraudulent' }],
    ['with its amount', { amount: '100' }],
  ])('is made %s', async (_what, body) => {
    const { id } = await shop.buy();
    const { status, json } = await shop.refund(id, body);
    expect(status).toBe(200);
    expect(json).toEqual({
      id: UUID,
      payment_id: id,
      amount: '100.00',
      currency: 'USD',
      status: 'succeeded',
      reason: body?.['reason'] ?? 'requested_by_customer',
      failure_reason: null,
      created_at: TIME,
      settled_at: TIME,
    });
    expect(moneyOf(await shop.payment(id))).toEqual(['refunded', '100.00', '0.00', '0.00']);
    expect(await shop.read(`/refunds/${json.id}`)).toEqual(json);
    expect((await shop.read(`/payments/${id}/refunds`)).data).toEqual([json]);
  });

  test('is made after a refund of a part', async () => {
    const { id } = await shop.buy();
    await shop.refund(id, { amount: '33.34' });
    expect(moneyOf(await shop.payment(id))).toEqual([
      'partially_refunded',
      '33.34',
      '0.00',
      '66.66',
    ]);
    const { json } = await shop.refund(id);
    expect(json.amount).toBe('66.66');
    expect(moneyOf(await shop.payment(id))).toEqual(['refunded', '100.00', '0.00', '0.00']);
  });
});

test.each([['duplicate'], ['fraudulent'], ['requested_by_customer']])(
  'a refund has the reason %s',
  async (reason) => {
    const { id } = await shop.buy();
    const { json } = await shop.refund(id, { amount: '1', reason });
    expect([json.reason, json.amount]).toEqual([reason, '1.00']);
  },
);

test.each([['1'], ['1.0'], ['1.00'], ['01.00'], ['000000000001']])(
  'a refund takes an amount of "%s"',
  async (amount) => {
    const { id } = await shop.buy();
    expect((await shop.refund(id, { amount })).json.amount).toBe('1.00');
  },
);

test('a refund takes the id of its payment in upper case', async () => {
  const { id } = await shop.buy();
  const { status, json } = await shop.refund(id.toUpperCase(), { amount: '1' });
  expect([status, json.payment_id]).toEqual([200, id]);
  expect((await shop.read(`/payments/${id.toUpperCase()}`)).id).toBe(id);
});

test('a slow refund is reserved at once, and counts as refunded until it is settled', async () => {
  const { id, invoice_id } = await shop.buy({ means: 'refundPends' });
  const { status, json } = await shop.refund(id, { amount: '60' });
  expect([status, json.status, json.settled_at]).toEqual([200, 'pending', null]);
  // It does not change the payment's status.
  expect(moneyOf(await shop.payment(id))).toEqual(['succeeded', '0.00', '60.00', '40.00']);
  const more = await shop.refund(id, { amount: '40.01' });
  expect([more.status, more.json.error.type]).toEqual([400, 'validation_error']);
  await shop.settle();
  expect(await shop.refundThatIs('succeeded', json.id)).toEqual({
    ...json,
    status: 'succeeded',
    settled_at: TIME,
  });
  expect(moneyOf(await shop.payment(id))).toEqual(['partially_refunded', '60.00', '0.00', '40.00']);
  const rest = await shop.refund(id);
  expect(rest.json).toMatchObject({ status: 'pending', amount: '40.00' });
  expect((await shop.refund(id)).status).toBe(400);
  await shop.settle();
  await shop.refundThatIs('succeeded', rest.json.id);
  expect(moneyOf(await shop.payment(id))).toEqual(['refunded', '100.00', '0.00', '0.00']);
  await shop.events(id, 3);
  await shop.events(invoice_id, 3);
});

test('a refund that fails late gives its amount back, and can be made again', async () => {
  const { id, invoice_id } = await shop.buy({ means: 'refundFailsLate' });
  const { json: first } = await shop.refund(id);
  expect(first.status).toBe('succeeded');
  expect(moneyOf(await shop.payment(id))).toEqual(['refunded', '100.00', '0.00', '0.00']);
  await shop.settle();
  expect(await shop.refundThatIs('failed', first.id)).toEqual({
    ...first,
    status: 'failed',
    failure_reason: 'expired_or_canceled_card',
    settled_at: TIME,
  });
  expect(moneyOf(await shop.payment(id))).toEqual(['succeeded', '0.00', '0.00', '100.00']);
  const { status, json } = await shop.refund(id, { amount: '99' });
  expect([status, json.amount]).toEqual([200, '99.00']);
  await shop.events(invoice_id, 4);
  await shop.settle();
  await shop.refundThatIs('failed', json.id);
});

test('of several refunds one fails late, and the others stay', async () => {
  const { id } = await shop.buy({ means: 'refundFailsLate' });
  const { json: one } = await shop.refund(id, { amount: '10' });
  await shop.settle();
  await shop.refundThatIs('failed', one.id);
  const { json: two } = await shop.refund(id, { amount: '20' });
  expect(moneyOf(await shop.payment(id))).toEqual(['partially_refunded', '20.00', '0.00', '80.00']);
  await shop.settle();
  await shop.refundThatIs('failed', two.id);
  const list: Payment[] = (await shop.read(`/payments/${id}/refunds`)).data;
  expect(list.map(({ amount, status }) => [amount, status])).toEqual([
    ['20.00', 'failed'],
    ['10.00', 'failed'],
  ]);
  await shop.events(id, 5);
});

test('a bank debit can be refunded once it has settled', async () => {
  const { id } = await shop.buy({ means: 'iban' });
  expect((await shop.refund(id)).status).toBe(400);
  await shop.settle();
  await shop.paymentThatIs('succeeded', id);
  expect((await shop.refund(id)).json).toMatchObject({ status: 'succeeded', amount: '100.00' });
});
