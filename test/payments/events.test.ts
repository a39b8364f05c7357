// The outbox events on each path of a payment, field by field (docs/spec/events.md#payloads).
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Session } from '../support/shop.ts';
import { type Envelope, type Fields, PATIENCE_MS, type Payment, Shop } from './shop.ts';
import { UNHURRIED } from '../support/settling.ts';

setDefaultTimeout(PATIENCE_MS);

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open({ settings: UNHURRIED });
});
afterAll(() => shop.close());

/** Values that a merchant sends to get back, all of them hostile. */
const SENT = {
  customer_email: 'Grüße+zoë@exämple.com',
  customer_name: 'Zoë “Z” 山田 <b>',
  external_customer_id: 'ext/ü 1',
  client_reference_id: '注文 №7 \u{1F6D2} "\\\'',
  metadata: {
    emoji: '\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}',
    'clé é': 'e\u0301 is not é',
    __proto__x: 'constructor',
    empty: '',
    rtl: 'مرحبا\u202E',
    lines: 'a\nb\tc\r\n\u2028',
    html: '<script>alert(1)</script>',
    long: 'ß'.repeat(500),
    ['k'.repeat(40)]: '0',
  },
};

async function buy(wish: Parameters<Shop['pay']>[1]): Promise<[Payment, Session]> {
  const session = await shop.checkout(SENT);
  await shop.pay(session, wish);
  return [await shop.lastOf(session), session];
}

/** The fields of all payment events. */
function common(payment: Payment, { id, token }: Session): Fields {
  return {
    objectType: 'PAYMENT',
    objectId: payment.id,
    organizationId: shop.server.organisation.id,
    mode: 'test',
    paymentId: payment.id,
    subscriptionId: null,
    currency: 'USD',
    paymentLinkId: id,
    paymentLinkToken: token,
    productId: shop.productId,
    customerEmail: SENT.customer_email,
    externalCustomerId: SENT.external_customer_id,
    clientReferenceId: SENT.client_reference_id,
    metadata: SENT.metadata,
  };
}

const UUID = expect.stringMatching(/^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/);

/** The event's data without the fields that `events` has compared with its envelope. */
function dataOf({ data }: Envelope): Fields {
  const { id: _id, eventType: _type, timestamp: _timestamp, sequence: _sequence, ...rest } = data;
  return rest;
}

test('payment.succeeded has its fields and is written once', async () => {
  const [payment, session] = await buy({});
  const [event] = await shop.events(payment.id, 1);
  expect(event.type).toBe('payment.succeeded');
  expect(dataOf(event)).toEqual({
    ...common(payment, session),
    accountId: payment.customer_id,
    transactionId: UUID,
    invoiceId: payment.invoice_id,
    amount: '100.00',
    transactionType: 'PURCHASE',
  });
  expect(payment).toMatchObject({
    customer_email: SENT.customer_email,
    external_customer_id: SENT.external_customer_id,
    client_reference_id: SENT.client_reference_id,
    metadata: SENT.metadata,
  });
});

describe('the event of a payment that fails', () => {
  // prettier-ignore
  const ROWS: ['declined' | 'error', string, Fields][] = [
    ['declined', 'payment.failed',  { failureCode: 'card_declined', failureMessage: expect.stringContaining('card was declined') }],
    ['error',    'payment.errored', {
      failureCode: 'processing_error', retryable: true,
      failureMessage: 'The payment could not be processed. Try again in a moment.',
    }],
  ];
  test.each(ROWS)('with %s writes %s', async (means, type, failure) => {
    const session = await shop.checkout(SENT);
    for (const attempt of [1, 2]) {
      await shop.pay(session, { means });
      const payment = await shop.lastOf(session);
      const [event] = await shop.events(payment.id, 1);
      expect(event.type).toBe(type);
      expect(dataOf(event)).toEqual({
        ...common(payment, session),
        // The customer of these ids is known once a payment was made with them.
        accountId: payment.customer_id,
        transactionId: null,
        invoiceId: null,
        amount: '100.00',
        transactionType: 'PURCHASE',
        attempt,
        nextAttemptAt: null,
        ...failure,
      });
    }
  });
});

/** The fields of a refund's events. */
const refunding = (payment: Payment, session: Session, refund: Payment): Fields => ({
  ...common(payment, session),
  accountId: payment.customer_id,
  invoiceId: payment.invoice_id,
  refundId: refund.id,
  transactionId: UUID,
  transactionType: 'REFUND',
  amount: refund.amount,
  reason: refund.reason,
});

test('payment.refunded is written for a part, then for the rest', async () => {
  const [payment, session] = await buy({});
  const first = (await shop.refund(payment.id, { amount: '30', reason: 'duplicate' })).json;
  const rest = (await shop.refund(payment.id)).json;
  const events = await shop.events(payment.id, 3);
  expect(events.slice(1).map(dataOf)).toEqual([
    {
      ...refunding(payment, session, first),
      status: 'succeeded',
      partial: true,
      amountRefundedTotal: '30.00',
      refundableAmount: '70.00',
    },
    {
      ...refunding(payment, session, rest),
      status: 'succeeded',
      partial: true,
      amountRefundedTotal: '100.00',
      refundableAmount: '0.00',
    },
  ]);
  expect(events.map(({ type }) => type)).toEqual([
    'payment.succeeded',
    'payment.refunded',
    'payment.refunded',
  ]);
});

test('payment.refunded of a slow refund is written once, when it has settled', async () => {
  const [payment, session] = await buy({ means: 'refundPends' });
  const { json: refund } = await shop.refund(payment.id);
  expect(refund.status).toBe('pending');
  expect(await shop.events(payment.id)).toHaveLength(1);
  await shop.settle();
  const [, event] = await shop.events(payment.id, 2);
  expect(dataOf(event)).toEqual({
    ...refunding(payment, session, refund),
    status: 'succeeded',
    partial: false,
    amountRefundedTotal: '100.00',
    refundableAmount: '0.00',
  });
});

test('payment.refund_failed of a refund that fails late follows payment.refunded', async () => {
  const [payment, session] = await buy({ means: 'refundFailsLate' });
  const { json: refund } = await shop.refund(payment.id, { amount: '40' });
  await shop.settle();
  const events = await shop.events(payment.id, 3);
  expect(events.map(({ type }) => type)).toEqual([
    'payment.succeeded',
    'payment.refunded',
    'payment.refund_failed',
  ]);
  expect(dataOf(events[2])).toEqual({
    ...refunding(payment, session, refund),
    status: 'failed',
    partial: true,
    amountRefundedTotal: '0.00',
    refundableAmount: '100.00',
    failureReason: 'expired_or_canceled_card',
    paymentStatus: 'succeeded',
  });
  expect(dataOf(events[1]).transactionId).not.toBe(dataOf(events[2]).transactionId as string);
});

test('a payment writes customer.created, invoice.created and invoice.updated', async () => {
  const sent = { ...SENT, external_customer_id: 'somebody new' };
  const session = await shop.checkout(sent);
  await shop.pay(session, { means: 'refundFailsLate' });
  const payment = await shop.lastOf(session);
  const { json: refund } = await shop.refund(payment.id, { amount: '0.01' });
  await shop.settle();
  const [customer] = await shop.events(payment.customer_id, 1);
  const own = { organizationId: shop.server.organisation.id, mode: 'test' };
  expect([customer.type, dataOf(customer)]).toEqual([
    'customer.created',
    {
      ...own,
      objectType: 'CUSTOMER',
      objectId: payment.customer_id,
      accountId: payment.customer_id,
      externalCustomerId: sent.external_customer_id,
      email: sent.customer_email,
      name: sent.customer_name,
      // The event of the new customer: the checkout's fields go to the objects that it began.
      metadata: {},
    },
  ]);
  const invoice = await shop.read(`/invoices/${payment.invoice_id}`);
  const events = await shop.events(payment.invoice_id, 3);
  const about = {
    ...own,
    objectType: 'INVOICE',
    objectId: payment.invoice_id,
    accountId: payment.customer_id,
    invoiceId: payment.invoice_id,
    number: invoice.number,
    status: 'paid',
    subscriptionId: null,
    amount: '100.00',
    amountDue: '0.00',
    taxTotal: '0.00',
    currency: 'USD',
    billingReason: 'purchase',
    periodStart: null,
    periodEnd: null,
    dueAt: payment.paid_at,
    customerEmail: sent.customer_email,
    externalCustomerId: sent.external_customer_id,
    metadata: SENT.metadata,
  };
  const moved = { ...about, creditNoteId: null, refundId: refund.id, disputeId: null };
  expect(events.map((event) => [event.type, dataOf(event)])).toEqual([
    ['invoice.created', about],
    ['invoice.updated', { ...moved, change: 'refunded', amountDelta: '0.01' }],
    ['invoice.updated', { ...moved, change: 'adjusted', amountDelta: '-0.01' }],
  ]);
  expect((await shop.read(`/invoices/${payment.invoice_id}`)).amount_refunded).toBe('0.00');
});
