// Money of billed usage goes back once: what was refunded, or lost in a dispute, of the invoice is
// not credited again when the usage is corrected; and what was given back is not billed again.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { until } from '../../support/until.ts';
import { DAY_MS, type Json, type Plan } from '../subscriptions/subscribing.ts';
import { Market, type SaleWish } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

let market: Market;
beforeAll(async () => {
  market = await Market.open();
});
afterAll(() => market.close());

/** A day after the start of its first period. */
const early = ({ current_period_start }: Json): number => Date.parse(current_period_start) + DAY_MS;

/** 50.00 of usage alone, billed with the first renewal and paid. */
async function billed(units = 110, wish: SaleWish = { price: { amount: '0.00' } }) {
  const plan = await market.sale(wish);
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, units);
  await market.toEnd(subscription);
  return { plan, subscription, paymentId: await lastPayment(subscription) };
}

async function lastPayment({ id }: Json): Promise<string> {
  return (await market.payments(id)).at(-1).id;
}

async function refund(paymentId: string, amount?: string): Promise<void> {
  const { status } = await market.post(`/payments/${paymentId}/refund`, amount ? { amount } : {});
  expect(status).toBe(200);
}

/** The bank says that the payment is disputed so, and it is asked. */
async function disputed(paymentId: string, ends: 'won' | 'lost', inDays: number): Promise<void> {
  const { sql, payments, organisation } = market.shop.server;
  const endsAt = new Date((await market.now()) + inDays * DAY_MS);
  await sql`
    update sandbox_charges set dispute = ${ends}, dispute_ends_at = ${endsAt}
    where key = ${paymentId}`;
  await payments.pollDisputes({ organisationId: organisation.id, mode: 'test' }, paymentId);
}

/** The usage lines of the invoices that came since, and the credit that the customer has. */
async function since(subscription: Json, plan: Plan, units: number) {
  if (units !== 0) await market.use(subscription, plan, units, early(subscription));
  await market.toEnd(subscription);
  return (await market.bills(subscription)).at(-1);
}

test('usage that was refunded is not credited again when it is corrected', async () => {
  const { plan, subscription, paymentId } = await billed();
  await refund(paymentId);
  expect(await since(subscription, plan, -40)).toBe(
    'subscription_cycle paid 0.00: recurring 0.00, usage_adjustment -40 0.00, usage 0 0.00',
  );
  await market.expectSound();
});

// prettier-ignore
const PARTS: readonly (readonly [string, string[], number, string])[] = [
  // what                                refunded             units  the line
  ['less than the correction',           ['10.00'],           -40,   'usage_adjustment -40 -10.00, usage 0 0.00, credit 10.00'],
  ['as much as the correction',          ['20.00'],           -40,   'usage_adjustment -40 0.00, usage 0 0.00'],
  ['in several refunds, then all of it', ['5.00', '7.50'],    -100,  'usage_adjustment -100 -37.50, usage 0 0.00, credit 37.50'],
  ['and used again, in what was billed', ['20.00'],           -10,   'usage_adjustment -10 0.00, usage 0 0.00'],
];

test.each(PARTS)('a refund of a part: %s', async (_what, refunds, units, lines) => {
  const { plan, subscription, paymentId } = await billed();
  for (const amount of refunds) await refund(paymentId, amount);
  expect(await since(subscription, plan, units)).toBe(
    `subscription_cycle paid 0.00: recurring 0.00, ${lines}`,
  );
  await market.expectSound();
});

/** By the week: an event of the first period may come for five more. */
const billedWeekly = () => billed(110, { price: { amount: '0.00', interval: 'week' } });

test('what was refunded is not billed again, and what is beyond it is', async () => {
  const { plan, subscription, paymentId } = await billedWeekly();
  await refund(paymentId);
  expect(await since(subscription, plan, -40)).toContain('usage_adjustment -40 0.00');
  expect(await since(subscription, plan, 30)).toContain('usage_adjustment 30 0.00');
  expect(await since(subscription, plan, 30)).toContain('usage_adjustment 30 10.00');
  expect(await since(subscription, plan, -30)).toContain('usage_adjustment -30 -10.00');
  await market.expectSound();
  await market.stop(subscription);
});

test('a refund after the correction: what is left of the usage goes back once', async () => {
  const { plan, subscription, paymentId } = await billedWeekly();
  expect(await since(subscription, plan, -40)).toContain('usage_adjustment -40 -20.00');
  await refund(paymentId);
  expect(await since(subscription, plan, -60)).toContain('usage_adjustment -60 0.00');
  await market.expectSound();
  await market.stop(subscription);
});

test('two invoices of one period are refunded: each once, also when no event can come any more', async () => {
  const { plan, subscription, paymentId } = await billedWeekly();
  await refund(paymentId, '10.00');
  expect(await since(subscription, plan, 20)).toContain('usage_adjustment 20 10.00');
  const second = await lastPayment(subscription);
  await refund(second);
  expect(await since(subscription, plan, -120)).toContain('usage_adjustment -120 -40.00');
  // No event of the period can come any more.
  for (let weeks = 0; weeks < 6; weeks += 1) await market.toEnd(subscription);
  await market.expectSound();
  await market.stop(subscription);
});

test('a refund gives back each line of an invoice in proportion, to the cent', async () => {
  const plan = await market.sale({ price: { amount: '30.00' } });
  const second = await market.sale({ price: { amount: '0.00' } });
  const also = { ...plan, feature: second.feature };
  await market.give(also);
  await market.sell(also, { unit_amount: '0.10' });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 110);
  await market.track(subscription, also, 110);
  await market.toEnd(subscription);
  // 30.00 for the time, 50.00 and 10.00 for usage. Of 10.00 that are 3.33, 5.56 and 1.11.
  await refund(await lastPayment(subscription), '10.00');
  await market.use(subscription, plan, -100, early(subscription));
  await market.use(subscription, also, -100, early(subscription));
  await market.toEnd(subscription);
  const { lines } = await market.bill(subscription);
  const adjusted = lines.filter(({ type }: Json) => type === 'usage_adjustment');
  expect(adjusted.map(({ amount }: Json) => amount).toSorted()).toEqual(['-44.44', '-8.89']);
  await market.expectSound();
});

test.each([
  ['lost', '0.00'],
  ['won', '-20.00'],
] as const)('usage of a disputed payment is credited once that is %s', async (ends, amount) => {
  const { plan, subscription, paymentId } = await billed();
  await disputed(paymentId, ends, 60);
  expect(await since(subscription, plan, -40)).toContain('usage_adjustment -40 0.00');
  await disputed(paymentId, ends, 0);
  const last = await since(subscription, plan, 0);
  if (ends === 'won') expect(last).toContain(`usage_adjustment 0 ${amount}`);
  else expect(last).not.toContain('usage_adjustment');
  await market.expectSound();
});

test('a refund that is under way counts from when it is asked for', async () => {
  const plan = await market.sale({ price: { amount: '0.00' } });
  const subscription = await market.buyer(plan, 'refundPends');
  await market.track(subscription, plan, 110);
  await market.toEnd(subscription);
  await refund(await lastPayment(subscription), '20.00');
  expect(await since(subscription, plan, -40)).toContain('usage_adjustment -40 0.00');
  await market.expectSound();
});

test('an ended subscription: its last invoice credits what was not given back', async () => {
  const { plan, subscription, paymentId } = await billed();
  await refund(paymentId, '30.00');
  await market.use(subscription, plan, -80, early(subscription));
  await market.stop(subscription);
  expect((await market.bills(subscription)).at(-1)).toBe(
    'usage paid 0.00: usage_adjustment -80 -10.00, usage 0 0.00, credit 10.00',
  );
  await refund(paymentId);
  await market.expectSound();
});

/**
 * As if killed at once after it was on disk: nobody asks the processor, nor tells the subscription.
 */
async function reserved(paymentId: string): Promise<void> {
  const request = { id: ids.next(), amount: null, fingerprint: null } as const;
  const reason = 'requested_by_customer';
  const decided = await market.shop.server.ledger.payments.refund(paymentId, {
    ...request,
    reason,
  });
  expect(decided).toMatchObject({ kind: 'reserved' });
}

test('killed after a refund: a renewal hears of it first', async () => {
  const { plan, subscription, paymentId } = await billed();
  await market.use(subscription, plan, -40, early(subscription));
  await reserved(paymentId);
  expect(await since(subscription, plan, 0)).toContain('usage_adjustment -40 0.00');
  await market.expectSound();
});

test('killed after a refund: an end hears of it first, and has nothing to bill', async () => {
  const { plan, subscription, paymentId } = await billed();
  await market.use(subscription, plan, -40, early(subscription));
  await reserved(paymentId);
  await market.stop(subscription);
  expect((await market.bill(subscription)).billing_reason).toBe('subscription_cycle');
  await market.expectSound();
});

test('to hear again of what went back changes nothing', async () => {
  const { plan, subscription, paymentId } = await billed();
  const { sql } = market.shop.server;
  await refund(paymentId, '10.00');
  const heard = async () =>
    (await sql`select from followups where payment_id = ${paymentId}`).length === 0;
  await until('it has heard of it', heard);
  await sql`
    insert into followups (slot, id, kind, payment_id, data, at)
    select slot, gen_random_uuid(), 'usage_given_back', id, '{}', now() from payments where id = ${paymentId}`;
  expect(await since(subscription, plan, -40)).toContain('usage_adjustment -40 -10.00');
  await until('it has heard of it again', heard);
  await market.expectSound();
});

test('usage of a refund that fails later is credited after all', async () => {
  const plan = await market.sale({ price: { amount: '0.00', interval: 'week' } });
  const subscription = await market.buyer(plan, 'refundFailsLate');
  await market.track(subscription, plan, 110);
  await market.toEnd(subscription);
  const paymentId = await lastPayment(subscription);
  await refund(paymentId);
  // It fails as the clock moves, before the renewal.
  expect(await since(subscription, plan, -40)).toContain('usage_adjustment -40 -20.00');
  const [back] = (await market.shop.read(`/payments/${paymentId}/refunds`)).data;
  expect(back.status).toBe('failed');
  await market.expectSound();
  await market.stop(subscription);
});
