// A processor that fails or does not answer. What is pending stays pending and reserved until it
// answers; nothing moves twice.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { until } from '../support/until.ts';
import { PATIENCE_MS, Shop } from './shop.ts';

setDefaultTimeout(PATIENCE_MS);

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
});
afterAll(() => shop.close());

/** Runs `task` while every statement on that table of the sandbox fails. */
async function without<T>(table: string, task: () => Promise<T>): Promise<T> {
  const { sql } = shop.server;
  await sql.unsafe(`alter table ${table} rename to ${table}_gone`);
  try {
    return await task();
  } finally {
    await sql.unsafe(`alter table ${table}_gone rename to ${table}`);
  }
}

const failures = () =>
  shop.server.logged.filter((line) => line.includes('the processor failed')).length;

/** The processor call failed, and will be retried. */
async function untilAskedAgain(): Promise<void> {
  const before = failures();
  await until('it is asked again', () => failures() > before);
}

test('a refund without an answer from the processor is reserved and pending, then made once', async () => {
  const { id, invoice_id } = await shop.buy();
  const { json } = await without('sandbox_refunds', async () => {
    const reply = await shop.refundWithKey('silent', id, { amount: '60' });
    expect([reply.status, reply.json.status]).toEqual([200, 'pending']);
    expect(await shop.payment(id)).toMatchObject({
      status: 'succeeded',
      amount_refunded: '0.00',
      amount_refund_pending: '60.00',
      refundable_amount: '40.00',
    });
    expect((await shop.refund(id, { amount: '40.01' })).status).toBe(400);
    await untilAskedAgain();
    expect((await shop.payment(id)).refundable_amount).toBe('40.00');
    return reply;
  });
  await shop.refundThatIs('succeeded', json.id);
  await shop.events(id, 2);
  await shop.events(invoice_id, 2);
  const again = await shop.refundWithKey('silent', id, { amount: '60' });
  expect([again.json, again.headers.get('idempotency-replayed')]).toEqual([json, 'true']);
  const rows = await shop.server.sql`select 1 from sandbox_refunds where charge_key = ${id}`;
  expect(rows).toHaveLength(1);
});

test('an abandoned charge without an answer charges nothing, and the buyer may try again', async () => {
  const session = await shop.checkout();
  const first = await without('sandbox_charges', async () => {
    await shop.pay(session);
    const payment = await shop.lastOf(session);
    expect(payment.status).toBe('processing');
    expect(await shop.pay(session)).toEqual({ kind: 'not_open' });
    await untilAskedAgain();
    expect((await shop.payment(payment.id)).status).toBe('processing');
    return payment;
  });
  await shop.paymentThatIs('errored', first.id);
  const [event] = await shop.events(first.id, 1);
  expect(event.type).toBe('payment.errored');
  expect((await shop.checkoutAfter(session)).status).toBe('active');
  // The first call, should it still arrive.
  const late = await shop.bank.charge({
    key: first.id,
    amount: 10_000n,
    currency: 'USD',
    instrument: { type: 'card', number: '4242424242424242', expiry: '12/34', cvc: '123' },
    save: false,
    returnUrl: 'http://localhost',
  });
  expect(late.kind).toBe('not_attempted');
  await shop.pay(session);
  expect((await shop.lastOf(session)).status).toBe('succeeded');
});

test('a refund that the processor refuses fails at once, and frees its amount', async () => {
  const { id } = await shop.buy();
  // As if a refund had been made at the processor, without us.
  await shop.server.sql`update sandbox_charges set refunded = amount where key = ${id}`;
  const { status, json, text } = await shop.refundWithKey('refused there', id, { amount: '60' });
  expect([status, json.status, json.failure_reason]).toEqual([200, 'failed', 'declined']);
  expect(json.settled_at).not.toBeNull();
  expect(await shop.payment(id)).toMatchObject({
    status: 'succeeded',
    amount_refunded: '0.00',
    amount_refund_pending: '0.00',
    refundable_amount: '100.00',
  });
  const [, event] = await shop.events(id, 2);
  expect(event).toMatchObject({
    type: 'payment.refund_failed',
    data: {
      status: 'failed',
      failureReason: 'declined',
      amount: '60.00',
      refundableAmount: '100.00',
    },
  });
  expect((await shop.refundWithKey('refused there', id, { amount: '60' })).text).toBe(text);
  // A refund that never happened was never on the invoice.
  const { invoice_id } = await shop.payment(id);
  await shop.events(invoice_id, 1);
  expect((await shop.read(`/invoices/${invoice_id}`)).amount_refunded).toBe('0.00');
  await shop.server.sql`update sandbox_charges set refunded = 0 where key = ${id}`;
  expect((await shop.refund(id)).json.status).toBe('succeeded');
});
