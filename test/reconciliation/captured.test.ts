// What the merchant does at Stripe by hand with a charge of ours: a hold that is captured in part,
// and a dispute of more than refunds have left. Both sides' books say the same.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Payment } from '../payments/shop.ts';
import { Bed } from './bed.ts';

setDefaultTimeout(60_000);

let bed: Bed;
beforeAll(async () => {
  bed = await Bed.open();
});
// It audits.
afterAll(() => bed.close());

/** A buyer agrees at Stripe, and the merchant captures 60.00 of 100.00 there, before we do. */
async function capturedInPart(fields: object = {}): Promise<Payment> {
  const session = await bed.shop.checkout({ ...fields });
  const outcome = await bed.shop.pay(session, { instrument: null });
  if (outcome.kind !== 'requires_action') throw new Error(outcome.kind);
  await bed.fake.buyer.pays(outcome.url, '4242424242424242');
  const { id } = await bed.shop.lastOf(session);
  const charge = bed.chargeOf({ id });
  await bed.stripe.paymentIntents.capture(bed.intentOf({ id }), { amount_to_capture: 6000 });
  expect(charge.amount).toBe(10_000);
  await bed.shop.server.payments.refresh(id);
  return bed.shop.payment(id);
}

const differences = async (): Promise<unknown> => {
  await bed.night();
  return bed.shop.server.sql`
    select subject, kind, ours, theirs from reconciliation_differences where resolved_at is null`;
};

test('of a hold that is captured in part, the part is what was paid and can be refunded', async () => {
  const payment = await capturedInPart();
  expect(payment).toMatchObject({
    status: 'succeeded',
    amount: '100.00',
    refundable_amount: '60.00',
  });
  const [paid] = await bed.shop.events(payment.id, 1);
  expect([paid.type, paid.data.amount]).toEqual(['payment.succeeded', '60.00']);
  expect(await bed.shop.read(`/invoices/${payment.invoice_id}`)).toMatchObject({
    status: 'paid',
    subtotal: '100.00',
    discount_total: '40.00',
    total: '60.00',
    amount_paid: '60.00',
    amount_due: '0.00',
  });
  expect(await differences()).toEqual([]);
  const tooMuch = await bed.shop.refund(payment.id, { amount: '60.01' });
  expect([tooMuch.status, tooMuch.json.error.type]).toEqual([400, 'validation_error']);
  expect(await bed.refund(payment, '60.00')).toMatchObject({ status: 'succeeded' });
  expect(await bed.shop.payment(payment.id)).toMatchObject({
    status: 'refunded',
    amount_refunded: '60.00',
    refundable_amount: '0.00',
  });
  expect(await differences()).toEqual([]);
});

test('of a signup that is captured in part, a change of plan credits no more than the part', async () => {
  const { server } = bed.shop;
  const price = { currency: 'USD', type: 'recurring', interval: 'month' };
  const prices = [
    { ...price, amount: '100.00' },
    { ...price, amount: '10.00' },
  ];
  const { json: product } = await server.call('POST', '/products', {
    body: { name: 'Pro', prices },
  });
  const payment = await capturedInPart({ product_id: product.id });
  expect(payment).toMatchObject({ amount: '100.00', refundable_amount: '60.00' });
  const path = `/subscriptions/${payment.subscription_id}`;
  const body = { price_id: product.prices[1].id };
  const preview = await server.call('POST', `${path}/change/preview`, { body });
  // At once: 60.00 back, less 10.00.
  expect(Number(preview.json.credited)).toBeWithin(49.9, 50.1);
  await server.call('POST', `${path}/cancel`, { body: { mode: 'immediate' } });
  expect(await differences()).toEqual([]);
});

test('a dispute of more than refunds have left is recorded whole, and takes what is left', async () => {
  const payment = await bed.buy();
  await bed.refund(payment, '60.00');
  const dispute = bed.fake.dispute(bed.intentOf(payment));
  const looked = async () => {
    const { payments, organisation } = bed.shop.server;
    await payments.pollDisputes({ organisationId: organisation.id, mode: 'test' }, payment.id);
    return bed.shop.payment(payment.id);
  };
  expect(await looked()).toMatchObject({
    refundable_amount: '0.00',
    disputes: [{ status: 'opened', amount: '100.00', amount_held: '40.00' }],
  });
  bed.fake.closeDispute(dispute, 'lost');
  expect(await looked()).toMatchObject({
    amount_refunded: '60.00',
    refundable_amount: '0.00',
    disputes: [{ status: 'lost', amount: '100.00', amount_charged_back: '40.00' }],
  });
  expect(await differences()).toEqual([]);
});
