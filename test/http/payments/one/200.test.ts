import { afterAll, beforeAll, expect, test } from 'bun:test';
import { BUYER } from '../../../support/shop.ts';
import { Shop } from '../../../payments/shop.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
});
afterAll(() => shop.close());

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const UUID = expect.stringMatching(/^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/);

test('GET of a paid payment answers every field', async () => {
  const session = await shop.checkout({
    external_customer_id: 'u1',
    client_reference_id: 'order 7',
    metadata: { a: 'b' },
  });
  await shop.pay(session, { currency: 'JPY', total: '10000' });
  const { id } = await shop.lastOf(session);
  expect(await shop.payment(id)).toEqual({
    id: UUID,
    status: 'succeeded',
    amount: '10000',
    currency: 'JPY',
    amount_refunded: '0',
    amount_refund_pending: '0',
    refundable_amount: '10000',
    transaction_type: 'PURCHASE',
    payment_method: { type: 'card', brand: 'visa', last4: '4242' },
    checkout_id: session.id,
    subscription_id: null,
    invoice_id: UUID,
    customer_id: UUID,
    customer_email: BUYER,
    external_customer_id: 'u1',
    client_reference_id: 'order 7',
    metadata: { a: 'b' },
    product_id: shop.productId,
    failure_code: null,
    failure_message: null,
    created_at: TIME,
    paid_at: TIME,
  });
});

test('GET of a declined payment answers every field', async () => {
  await shop.buy();
  const payment = await shop.buy({ means: 'declined' });
  expect(await shop.payment(payment.id)).toEqual({
    id: UUID,
    status: 'failed',
    amount: '100.00',
    currency: 'USD',
    amount_refunded: '0.00',
    amount_refund_pending: '0.00',
    refundable_amount: '0.00',
    transaction_type: 'PURCHASE',
    payment_method: { type: 'card', brand: 'visa', last4: '0002' },
    checkout_id: UUID,
    subscription_id: null,
    invoice_id: null,
    // Of the payment before, whose e-mail address it has.
    customer_id: UUID,
    customer_email: BUYER,
    external_customer_id: null,
    client_reference_id: null,
    metadata: {},
    product_id: shop.productId,
    failure_code: 'card_declined',
    failure_message: expect.stringContaining('card was declined'),
    created_at: TIME,
    paid_at: null,
  });
});

test('a payment by bank debit keeps its type and last four, and no brand', async () => {
  const { payment_method } = await shop.buy({ means: 'iban' });
  expect(payment_method).toEqual({ type: 'bank_debit', brand: null, last4: '3000' });
});
