// The money of the fake: refunds, disputes, the balance and payouts.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type Stripe from 'stripe';
import { openStripeFake, type StripeFake } from './fake.ts';
import { errorOf, LINE, openShop, type Shop } from './shop.ts';

const DAY_MS = 24 * 60 * 60_000;
const GOOD = '4242424242424242';

let fake: StripeFake;
let shop: Shop;
beforeAll(async () => {
  fake = await openStripeFake();
});
// Its balance begins empty.
beforeEach(() => {
  shop = openShop(fake);
});
afterAll(() => fake.close());

async function paid(typing = GOOD, amount = 10_000, currency = 'usd'): Promise<string> {
  const { id, url } = await shop.session({ line_items: [LINE(amount, currency)] });
  await fake.buyer.pays(url, typing);
  return (await shop.intentOf(id)).id;
}
const refund = (payment_intent: string, amount?: number) =>
  shop.stripe.refunds.create({ payment_intent, ...(amount === undefined ? {} : { amount }) });
const charged = async (id: string): Promise<Stripe.Charge> => {
  const { latest_charge: charge } = await shop.stripe.paymentIntents.retrieve(id, {
    expand: ['latest_charge'],
  });
  if (charge === null || typeof charge === 'string') throw new Error('no charge');
  return charge;
};
const moves = async (): Promise<Stripe.BalanceTransaction[]> =>
  (await shop.stripe.balanceTransactions.list({ limit: 100 })).data;
/** What the balance comes to, and what all movements come to. */
async function balance(): Promise<number> {
  const { available, pending } = await shop.stripe.balance.retrieve();
  const sum = (of: readonly { amount: number }[]): number =>
    of.reduce((total, { amount }) => total + amount, 0);
  const total = sum(available) + sum(pending);
  expect((await moves()).reduce((all, { net }) => all + net, 0)).toBe(total);
  return total;
}

describe('a refund at the fake Stripe', () => {
  test('is whole or in parts, and never more than what is left', async () => {
    const id = await paid();
    expect(await refund(id, 4000)).toMatchObject({ status: 'succeeded', amount: 4000 });
    expect((await errorOf(refund(id, 6001))).param).toBe('amount');
    expect((await refund(id)).amount).toBe(6000);
    expect((await errorOf(refund(id))).code).toBe('charge_already_refunded');
    expect(await charged(id)).toMatchObject({ amount_refunded: 10_000, refunded: true });
    const { data } = await shop.stripe.refunds.list({ payment_intent: id });
    expect(data.map(({ amount }) => amount)).toEqual([6000, 4000]);
    expect(await balance()).toBe(-320);
  });

  test.each<[string, number, string, string | undefined]>([
    ['young', 0, 'reversal', undefined],
    ['older', DAY_MS, 'refund', 'pending'],
  ])('of a charge that is %s', async (_what, ageMs, type, reference_status) => {
    const id = await paid();
    fake.advance(ageMs);
    const made = await refund(id);
    const card = made.destination_details?.card;
    expect(card?.type).toBe(type as 'refund');
    expect(card?.reference_status).toBe(reference_status);
    fake.settle();
    const after = (await shop.stripe.refunds.retrieve(made.id)).destination_details?.card;
    expect(after?.reference_status).toBe(reference_status === undefined ? undefined : 'available');
  });

  test('that waits succeeds later', async () => {
    const made = await refund(await paid('4000000000007726'));
    expect(made).toMatchObject({ status: 'pending', pending_reason: 'processing' });
    fake.settle();
    expect((await shop.stripe.refunds.retrieve(made.id)).status).toBe('succeeded');
  });

  test('that fails late gives the money back to the merchant', async () => {
    const id = await paid('4000000000005126');
    const made = await refund(id);
    expect(made.status).toBe('succeeded');
    const before = await balance();
    fake.settle();
    expect(await shop.stripe.refunds.retrieve(made.id)).toMatchObject({
      status: 'failed',
      failure_reason: 'expired_or_canceled_card',
      failure_balance_transaction: expect.stringMatching(/^txn_/),
    });
    expect(await charged(id)).toMatchObject({ amount_refunded: 0, refunded: false });
    expect(await balance()).toBe(before + 10_000);
    expect((await refund(id)).status).toBe('succeeded');
  });

  test.each([
    ['was declined', '4000000000000002', 'usd'],
    ['has not settled', 'DE89370400440532013000', 'eur'],
  ])('of what %s is refused', async (_what, typing, currency) => {
    const error = await errorOf(refund(await paid(typing, 10_000, currency)));
    expect(error.statusCode).toBe(400);
  });
});

describe('a dispute at the fake Stripe', () => {
  test('takes the money and a fee; won, the money comes back', async () => {
    const id = await paid();
    const before = await balance();
    const disputeId = fake.dispute(id, { reason: 'product_not_received' });
    expect(await shop.stripe.disputes.retrieve(disputeId)).toMatchObject({
      status: 'needs_response',
      reason: 'product_not_received',
      amount: 10_000,
      payment_intent: id,
      is_charge_refundable: false,
      balance_transactions: [{ amount: -10_000, fee: 1500, reporting_category: 'dispute' }],
    });
    expect((await charged(id)).disputed).toBe(true);
    expect((await errorOf(refund(id))).code).toBe('charge_disputed');
    expect(await balance()).toBe(before - 11_500);
    fake.closeDispute(disputeId, 'won');
    expect((await shop.stripe.disputes.retrieve(disputeId)).status).toBe('won');
    expect(await balance()).toBe(before - 1500);
    expect((await refund(id)).status).toBe('succeeded');
  });

  test('lost, the money is gone', async () => {
    const id = await paid();
    const before = await balance();
    const disputeId = fake.dispute(id, { amount: 4000 });
    fake.closeDispute(disputeId, 'lost');
    const { data } = await shop.stripe.disputes.list({ payment_intent: id });
    expect(data).toMatchObject([{ status: 'lost', amount: 4000 }]);
    expect(await balance()).toBe(before - 5500);
    expect((await errorOf(refund(id))).code).toBe('charge_disputed');
    expect(() => fake.closeDispute(disputeId, 'won')).toThrow('already');
  });

  test('of a debit is lost at once', async () => {
    const id = await paid('DE89370400440532013000', 10_000, 'eur');
    fake.settle();
    const dispute = await shop.stripe.disputes.retrieve(fake.dispute(id));
    expect(dispute.status).toBe('lost');
  });

  test('that only asks moves nothing until it is lost', async () => {
    const id = await paid();
    const before = await balance();
    const asked = fake.dispute(id, { isInquiry: true });
    expect(await balance()).toBe(before);
    fake.closeDispute(asked, 'won');
    expect((await shop.stripe.disputes.retrieve(asked)).status).toBe('warning_closed');
    fake.closeDispute(fake.dispute(id, { isInquiry: true }), 'lost');
    expect(await balance()).toBe(before - 11_500);
  });

  test('is opened at once by the card that Stripe has for it', async () => {
    const id = await paid('4000000000000259');
    const { data } = await shop.stripe.disputes.list({ payment_intent: id });
    expect(data).toMatchObject([{ reason: 'fraudulent', status: 'needs_response' }]);
  });
});

describe('the balance at the fake Stripe', () => {
  test('has each movement with its fee and its source', async () => {
    const id = await paid();
    await refund(id, 1000);
    const { data } = await shop.stripe.balanceTransactions.list({ expand: ['data.source'] });
    expect(data).toMatchObject([
      { type: 'refund', amount: -1000, fee: 0, net: -1000, source: { payment_intent: id } },
      {
        type: 'charge',
        amount: 10_000,
        fee: 320,
        net: 9680,
        status: 'pending',
        source: { payment_intent: id },
        fee_details: [{ type: 'stripe_fee', amount: 320 }],
      },
    ]);
    fake.advance(2 * DAY_MS);
    expect((await moves()).map(({ status }) => status)).toEqual(['available', 'available']);
  });

  test('has no movement of a hold or of a debit that has not settled', async () => {
    const { url } = await shop.session({
      payment_method_options: { card: { capture_method: 'manual' } },
    });
    await fake.buyer.pays(url, GOOD);
    await paid('DE89370400440532013000', 10_000, 'eur');
    expect(await moves()).toEqual([]);
    fake.settle();
    expect(await moves()).toMatchObject([{ type: 'payment', amount: 10_000, currency: 'eur' }]);
  });

  test('converts, where the account is settled in one currency', async () => {
    shop = openShop(fake, { settlement: { currency: 'eur', rate: 0.9 } });
    const id = await paid();
    await refund(id, 1000);
    expect(await moves()).toMatchObject([
      { amount: -900, currency: 'eur', exchange_rate: 0.9 },
      { amount: 9000, fee: 291, currency: 'eur', exchange_rate: 0.9 },
    ]);
  });

  test('is listed in pages, by time, by type and by source', async () => {
    const ids = [await paid(), await paid(), await paid()];
    await refund(ids[0]!);
    const since = Math.floor(fake.now() / 1000);
    fake.advance(60_000);
    await refund(ids[1]!);
    const list = (params: Stripe.BalanceTransactionListParams) =>
      shop.stripe.balanceTransactions.list(params);
    const all = await list({ limit: 2 }).autoPagingToArray({ limit: 100 });
    expect(all.map(({ type }) => type)).toEqual(['refund', 'refund', 'charge', 'charge', 'charge']);
    expect(new Set(all.map(({ id }) => id)).size).toBe(5);
    const first = await list({ limit: 2 });
    expect(first.has_more).toBe(true);
    expect((await list({ limit: 5 })).has_more).toBe(false);
    const before = await list({ limit: 2, ending_before: all[2]!.id });
    expect(before.data.map(({ id }) => id)).toEqual(first.data.map(({ id }) => id));
    expect((await list({ created: { gt: since } })).data).toHaveLength(1);
    expect((await list({ type: 'charge' })).data).toHaveLength(3);
    const source = await list({ source: (await charged(ids[0]!)).id });
    expect(source.data).toHaveLength(1);
    expect((await errorOf(list({ limit: 101 }))).param).toBe('limit');
  });
});

describe('a payout of the fake Stripe', () => {
  test('takes all that none has taken, and is in the list of what it took', async () => {
    const id = await paid();
    await refund(id, 1000);
    const [payoutId = ''] = fake.payOut(shop.account.id, 'test');
    expect(await shop.stripe.payouts.retrieve(payoutId)).toMatchObject({
      amount: 8680,
      currency: 'usd',
      status: 'paid',
      automatic: true,
    });
    const { data } = await shop.stripe.balanceTransactions.list({ payout: payoutId });
    expect(data.map(({ type, net }) => [type, net])).toEqual([
      ['payout', -8680],
      ['refund', -1000],
      ['charge', 9680],
    ]);
    expect(await balance()).toBe(0);
    expect(fake.payOut(shop.account.id, 'test')).toEqual([]);
  });

  test('that fails puts its money back, for the next one', async () => {
    await paid();
    const [failed = ''] = fake.payOut(shop.account.id, 'test');
    fake.failPayout(failed);
    expect(await shop.stripe.payouts.retrieve(failed)).toMatchObject({
      status: 'failed',
      failure_code: 'account_closed',
      failure_balance_transaction: expect.stringMatching(/^txn_/),
    });
    expect(await balance()).toBe(9680);
    const [next = ''] = fake.payOut(shop.account.id, 'test');
    expect((await shop.stripe.payouts.retrieve(next)).amount).toBe(9680);
  });

  test('is one for each currency, and none of a debt', async () => {
    await paid();
    const inEuros = await paid(GOOD, 5000, 'eur');
    await refund(inEuros);
    const payouts = fake.payOut(shop.account.id, 'test');
    expect(payouts).toHaveLength(1);
    const { data } = await shop.stripe.payouts.list();
    expect(data).toMatchObject([{ currency: 'usd', amount: 9680 }]);
  });
});
