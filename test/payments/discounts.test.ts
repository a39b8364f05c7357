// A discount is redeemed before a charge is made, returned when the charge fails or waits at a
// bank, and never redeemed more often than allowed.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Means } from '../support/means.ts';
import { type Fields, PATIENCE_MS, type Payment, Shop } from './shop.ts';
import { UNHURRIED } from '../support/settling.ts';

setDefaultTimeout(PATIENCE_MS);

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open({ settings: UNHURRIED });
});
afterAll(() => shop.close());

async function redemptions(code: string): Promise<number> {
  const { data } = await shop.read('/discounts?limit=200');
  return data.find((discount: { code: string }) => discount.code === code).redemptions;
}

test('of fifty buyers at once one gets a discount that can be redeemed once', async () => {
  const discountCode = await shop.discount('ONE', { percent_off: 10, max_redemptions: 1 });
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const session = await shop.checkout();
      const outcome = await shop.pay(session, { discountCode, total: '90' });
      return [outcome.kind, (await shop.paymentsOf(session)).length] as const;
    }),
  );
  const won = outcomes.filter(([kind]) => kind === 'attempted');
  const lost = outcomes.filter(([kind]) => kind === 'discount_refused');
  expect([won.length, lost.length]).toEqual([1, 49]);
  expect(won[0]![1]).toBe(1);
  expect(lost.every(([, payments]) => payments === 0)).toBe(true);
  expect(await redemptions('ONE')).toBe(1);
});

describe('a payment that fails gives its discount back', () => {
  test.each<[Means]>([['declined'], ['error'], ['ibanFails'], ['requestLost']])(
    'after %s',
    async (means) => {
      const code = `BACK-${means}`;
      const discountCode = await shop.discount(code, { percent_off: 10, max_redemptions: 1 });
      const session = await shop.checkout();
      await shop.pay(session, { means, discountCode, total: '90' });
      if (means === 'ibanFails') {
        // It stays redeemed until the charge is decided.
        expect(await redemptions(code)).toBe(1);
        const other = await shop.checkout();
        expect(await shop.pay(other, { discountCode, total: '90' })).toEqual({
          kind: 'discount_refused',
        });
      }
      await shop.settle();
      expect((await shop.checkoutAfter(session)).status).toBe('active');
      expect(await redemptions(code)).toBe(0);
      expect(await shop.pay(session, { discountCode, total: '90' })).toEqual({ kind: 'attempted' });
      expect((await shop.lastOf(session)).amount).toBe('90.00');
      expect(await redemptions(code)).toBe(1);
      // It is used up, also for the customer who used it.
      expect(await shop.pay(await shop.checkout(), { discountCode, total: '90' })).toEqual({
        kind: 'discount_refused',
      });
    },
  );
});

test('a failed attempt with a discount, then one without: the code is free, the invoice has no discount', async () => {
  const discountCode = await shop.discount('DROPPED', { percent_off: 10, max_redemptions: 1 });
  const session = await shop.checkout({ discount_code: discountCode });
  await shop.pay(session, { discountCode, total: '90', means: 'declined' });
  await shop.pay(session, {});
  const payment = await shop.lastOf(session);
  expect([payment.status, payment.amount]).toEqual(['succeeded', '100.00']);
  expect(await redemptions('DROPPED')).toBe(0);
  const invoice = await shop.read(`/invoices/${payment.invoice_id}`);
  expect([invoice.subtotal, invoice.discount_total, invoice.total]).toEqual([
    '100.00',
    '0.00',
    '100.00',
  ]);
});

// prettier-ignore
const REFUSED: [string, string, Fields | null][] = [
  ['one of nobody',       'NOBODYS', null],
  ['an expired one',      'EXPIRED', { percent_off: 10 }],
  ['one that is deleted', 'DELETED', { percent_off: 10 }],
  ['another currency\'s', 'EUROS',   { amount_off: '10', currency: 'EUR' }],
];
test.each(REFUSED)(
  'a payment with a discount code that is %s is refused, and nothing is charged',
  async (_what, code, fields) => {
    const { sql } = shop.server;
    if (fields !== null) await shop.discount(code, fields);
    await sql`update discounts set expires_at = now() - interval '1 s' where code = 'EXPIRED'`;
    await sql`update discounts set deleted_at = now() where code = 'DELETED'`;
    const session = await shop.checkout();
    expect(await shop.pay(session, { discountCode: code, total: '90' })).toEqual({
      kind: 'discount_refused',
    });
    expect(await shop.paymentsOf(session)).toEqual([]);
  },
);

test('a discount that changed the total since the page was shown charges nothing', async () => {
  const discountCode = await shop.discount('TEN', { percent_off: 10 });
  const session = await shop.checkout();
  expect(await shop.pay(session, { discountCode })).toEqual({ kind: 'total_changed' });
  expect(await redemptions('TEN')).toBe(0);
  expect(await shop.pay(session, { discountCode: 'ten', total: '90' })).toEqual({
    kind: 'attempted',
  });
  const { amount, invoice_id } = await shop.lastOf(session);
  expect(amount).toBe('90.00');
  expect(await shop.read(`/invoices/${invoice_id}`)).toMatchObject({
    subtotal: '100.00',
    discount_total: '10.00',
    total: '90.00',
  });
});

test.each<[string, Fields]>([
  ['all of it', { percent_off: 100 }],
  ['more than it costs', { amount_off: '250', currency: 'USD' }],
])('a discount of %s makes an order free', async (what, fields) => {
  const discountCode = await shop.discount(`FREE-${what.length}`, {
    ...fields,
    max_redemptions: 1,
  });
  const session = await shop.checkout({ discount_code: discountCode });
  const outcome = await shop.pay(session, { discountCode, total: '0', instrument: null });
  expect(outcome).toEqual({ kind: 'attempted' });
  const payment = await shop.lastOf(session);
  expect(payment).toMatchObject({
    status: 'succeeded',
    amount: '0.00',
    refundable_amount: '0.00',
    amount_refunded: '0.00',
    payment_method: null,
    failure_code: null,
  });
  expect(payment.customer_id).not.toBeNull();
  expect((await shop.read(`/checkouts/${session.id}`)).status).toBe('paid');
  const [event] = await shop.events(payment.id, 1);
  expect([event.type, event.data.amount]).toEqual(['payment.succeeded', '0.00']);
  expect(await shop.read(`/invoices/${payment.invoice_id}`)).toMatchObject({
    status: 'paid',
    subtotal: '100.00',
    discount_total: '100.00',
    total: '0.00',
    amount_paid: '0.00',
    amount_due: '0.00',
  });
  // No processor was called, so there is nothing to refund.
  expect(
    await shop.server.sql`select 1 from sandbox_charges where key = ${payment.id}`,
  ).toHaveLength(0);
  const refused = await shop.refund(payment.id);
  expect([refused.status, refused.json.error.type]).toEqual([400, 'validation_error']);
});

describe('a discount on a payment that goes through the bank', () => {
  const challenged = async (discountCode: string) => {
    const session = await shop.checkout();
    const outcome = await shop.pay(session, { means: 'challenge', discountCode, total: '90' });
    expect(outcome.kind).toBe('requires_action');
    return { session, payment: await shop.lastOf(session) };
  };
  /** Returns to the page after agreeing at the bank. */
  const back = async ({ payment: { id } }: { payment: Payment }): Promise<Payment> => {
    await shop.bank.answerChallenge(id, true);
    await shop.server.payments.refresh(id);
    return shop.payment(id);
  };

  test('is not redeemed by abandoned attempts', async () => {
    const code = await shop.discount('ABANDONED', { percent_off: 10, max_redemptions: 3 });
    for (let attempt = 0; attempt < 4; attempt += 1) await challenged(code);
    expect(await redemptions(code)).toBe(0);
    const buyer = await shop.checkout();
    expect(await shop.pay(buyer, { discountCode: code, total: '90' })).toEqual({
      kind: 'attempted',
    });
    expect(await redemptions(code)).toBe(1);
  });

  test('gives a buyer who comes back in time the price that was shown', async () => {
    const code = await shop.discount('IN-TIME', { percent_off: 10, max_redemptions: 1 });
    const buyer = await challenged(code);
    expect(await back(buyer)).toMatchObject({ status: 'succeeded', amount: '90.00' });
    expect(await redemptions(code)).toBe(1);
    const late = await shop.checkout();
    expect((await shop.pay(late, { discountCode: code, total: '90' })).kind).toBe(
      'discount_refused',
    );
  });

  test('that ran out charges the buyer nothing, and shows the new total first', async () => {
    const code = await shop.discount('GONE', { percent_off: 10, max_redemptions: 1 });
    const buyer = await challenged(code);
    await shop.pay(await shop.checkout(), { discountCode: code, total: '90' });
    expect(await back(buyer)).toMatchObject({
      status: 'failed',
      failure_code: 'discount_spent',
      refundable_amount: '0.00',
    });
    const { session, payment } = buyer;
    const [charge] = await shop.server.sql`
      select status from sandbox_charges where key = ${payment.id}`;
    expect(charge!['status']).toBe('canceled');
    expect((await shop.checkoutAfter(session)).status).toBe('active');
    const page = await shop.server.call('GET', `/pay/${session.token}`, { key: null });
    expect(page.text).toContain('This code has been used up.');
    expect(page.text).toContain('$100.00');
    expect(page.text).not.toContain('$90.00');
    expect(await redemptions(code)).toBe(1);
    expect(await shop.pay(session)).toEqual({ kind: 'attempted' });
    expect(await shop.lastOf(session)).toMatchObject({ status: 'succeeded', amount: '100.00' });
  });

  test('that can be redeemed once goes to one of eight who come back at once', async () => {
    const code = await shop.discount('RACED', { percent_off: 10, max_redemptions: 1 });
    const buyers: Awaited<ReturnType<typeof challenged>>[] = [];
    for (let buyer = 0; buyer < 8; buyer += 1) buyers.push(await challenged(code));
    const paid = await Promise.all(buyers.map(back));
    const statuses = paid.map(({ status, amount }) => `${status} ${amount}`);
    expect(statuses.filter((status) => status === 'succeeded 90.00')).toHaveLength(1);
    expect(statuses.filter((status) => status === 'failed 90.00')).toHaveLength(7);
    expect(await redemptions(code)).toBe(1);
  });

  test('is given back where the bank declines after all', async () => {
    const code = await shop.discount('AFTER-ALL', { percent_off: 10, max_redemptions: 1 });
    const session = await shop.checkout();
    await shop.pay(session, { means: 'challengeDeclined', discountCode: code, total: '90' });
    const payment = await back({ payment: await shop.lastOf(session) });
    expect(payment).toMatchObject({ status: 'failed', failure_code: 'card_declined' });
    expect(await redemptions(code)).toBe(0);
  });
});
