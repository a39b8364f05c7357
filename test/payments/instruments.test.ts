// Every card and account of the sandbox, from the page to the records
// (docs/spec/payments.md#the-sandbox).
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Means, NUMBERS } from '../support/means.ts';
import { PATIENCE_MS, Shop } from './shop.ts';
import { UNHURRIED } from '../support/settling.ts';

setDefaultTimeout(PATIENCE_MS);

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open({ settings: UNHURRIED });
});
afterAll(() => shop.close());

const VISA = (last4: string) => ({ type: 'card', brand: 'visa', last4 });
const DEBIT = (last4: string) => ({ type: 'bank_debit', brand: null, last4 });

type Row = [Means, atOnce: string, atLast: string, failure: string | null, type: string];
// prettier-ignore
const MEANS: Row[] = [
  // to                 at once            at last       failure                    announced as
  ['good',              'succeeded',       'succeeded',  null,                      'payment.succeeded'],
  ['renewalFails',      'succeeded',       'succeeded',  null,                      'payment.succeeded'],
  ['refundPends',       'succeeded',       'succeeded',  null,                      'payment.succeeded'],
  ['refundFailsLate',   'succeeded',       'succeeded',  null,                      'payment.succeeded'],
  ['declined',          'failed',          'failed',     'card_declined',           'payment.failed'],
  ['insufficient',      'failed',          'failed',     'insufficient_funds',      'payment.failed'],
  ['error',             'errored',         'errored',    'processing_error',        'payment.errored'],
  ['answerLost',        'processing',      'succeeded',  null,                      'payment.succeeded'],
  ['requestLost',       'processing',      'errored',    'canceled',                'payment.errored'],
  ['iban',              'processing',      'succeeded',  null,                      'payment.succeeded'],
  ['ibanFails',         'processing',      'failed',     'insufficient_funds',      'payment.failed'],
];

describe('a payment by a sandbox instrument', () => {
  test.each(MEANS)('%s is %s at once, %s at last', async (means, atOnce, atLast, failure, type) => {
    const session = await shop.checkout();
    expect(await shop.pay(session, { means })).toEqual({ kind: 'attempted' });
    const first = await shop.lastOf(session);
    expect(first.status).toBe(atOnce);
    const checkout = () => shop.read(`/checkouts/${session.id}`);
    if (atOnce === 'processing') {
      expect((await checkout()).status).toBe('processing');
      expect(await shop.pay(session)).toEqual({ kind: 'not_open' });
      expect(await shop.events(first.id)).toEqual([]);
      expect(first).toMatchObject({ refundable_amount: '0.00', paid_at: null, invoice_id: null });
      await shop.settle();
    }
    const last = await shop.paymentThatIs(atLast, first.id);
    const number = NUMBERS[means];
    const method = (number.startsWith('DE') ? DEBIT : VISA)(number.slice(-4));
    const isKept = means !== 'error' && means !== 'requestLost';
    expect(last).toMatchObject({
      failure_code: failure,
      payment_method: isKept ? method : null,
      refundable_amount: atLast === 'succeeded' ? '100.00' : '0.00',
    });
    expect((await shop.events(first.id)).map((event) => event.type)).toEqual([type]);
    expect((await shop.checkoutAfter(session)).status).toBe(
      atLast === 'succeeded' ? 'paid' : 'active',
    );
    expect(await shop.paymentsOf(session)).toHaveLength(1);
  });
});
