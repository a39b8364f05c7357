// Money that was given back is not credited as unused time: a period is worth what was paid for it,
// less what was refunded, is being refunded, or is disputed.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { refundedOf } from '../../support/bank.ts';
import { closeGate } from '../../support/gate.ts';
import { until } from '../../support/until.ts';
import { Club, DAY_MS, type Json, type Plan } from './subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let club: Club;
beforeAll(async () => {
  club = await Club.open();
});
afterAll(() => club.close());

const money = (coins: bigint): string => {
  const digits = String(coins < 0n ? -coins : coins).padStart(3, '0');
  return `${coins < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
};

type Span = { readonly from: string; readonly to: string };

/** What is left of coins for a span at a time: in halves of a coin, rounded half up. */
function left(coins: bigint, { from, to }: Span, at: string): bigint {
  const [start, end, now] = [from, to, at].map((time) => BigInt(Date.parse(time)));
  const whole = end! - start!;
  return (coins * (end! - now!) * 2n + whole) / (whole * 2n);
}

const spanOf = ({ current_period_start: from, current_period_end: to }: Json): Span => ({
  from,
  to,
});
const amountsOf = ({ lines }: Json): string[] => lines.map(({ amount }: Json) => amount);

/** 30.00 a month, half way through its first one. */
async function half(means: 'good' | 'refundPends' = 'good') {
  const plan = await club.plan();
  const subscription = await club.signUp(plan, means);
  await club.advance('PT360H');
  const [paid] = await club.payments(subscription.id);
  return { plan, subscription, paymentId: paid.id as string };
}

/** Changes it to another monthly price; the invoice of the change. */
async function changed(plan: Plan, id: string, amount: string): Promise<Json> {
  const price = await club.price(plan, { amount });
  const body = { price_id: price };
  const shown = (await club.post(`/subscriptions/${id}/change/preview`, body)).json;
  await club.act(id, 'change', body);
  const invoice = (await club.invoices(id)).at(-1);
  expect(invoice.billing_reason).toBe('subscription_update');
  // The preview was reckoned a moment before.
  expect(Math.abs(Number(shown.total) - Number(invoice.total))).toBeLessThan(0.02);
  return invoice;
}

// prettier-ignore
const REFUNDS: readonly (readonly [string, string | null, bigint, string, bigint])[] = [
  // what                            refunded  coins   to        coins
  ['nothing, then a dearer plan',    null,     0n,     '60.00',  6000n],
  ['all of it, then a dearer plan',  '30.00',  3000n,  '60.00',  6000n],
  ['all of it, then a cheaper plan', '30.00',  3000n,  '10.00',  1000n],
  ['a third, then a dearer plan',    '10.00',  1000n,  '60.00',  6000n],
  ['a third, then a cheaper plan',   '10.00',  1000n,  '6.00',   600n],
];

test.each(REFUNDS)(
  'a change of plan after a refund of %s',
  async (_what, refund, back, to, price) => {
    const { plan, subscription, paymentId } = await half();
    if (refund !== null) await club.post(`/payments/${paymentId}/refund`, { amount: refund });
    const invoice = await changed(plan, subscription.id, to);
    const [span, at] = [spanOf(subscription), invoice.period_start];
    const unused = left(3000n, span, at) - left(back, span, at);
    const rest = left(price, span, at);
    const total = rest - unused;
    const kept = total < 0n ? [money(-total)] : [];
    expect(amountsOf(invoice)).toEqual([money(-unused), money(rest), ...kept]);
    expect(invoice).toMatchObject({ status: 'paid', total: money(total < 0n ? 0n : total) });
    const last = (await club.payments(subscription.id)).at(-1);
    expect(last.amount).toBe(total < 0n ? '30.00' : money(total));
  },
);

test('a refund counts from when it is asked for, and once', async () => {
  const { plan, subscription, paymentId } = await half('refundPends');
  const { id } = subscription;
  const refund = (await club.post(`/payments/${paymentId}/refund`, { amount: '12.00' })).json;
  expect(refund.status).toBe('pending');
  const span = spanOf(subscription);
  const first = await changed(plan, id, '60.00');
  const worth = left(3000n, span, first.period_start) - left(1200n, span, first.period_start);
  expect(amountsOf(first)[0]).toBe(money(-worth));
  // All of the new price is paid by now: by what was left, and by the card.
  const second = await changed(plan, id, '90.00');
  expect(amountsOf(second)[0]).toBe(money(-left(6000n, span, second.period_start)));
  // Of the time that its own invoice is for: from the first change to the end.
  const [, charge] = await club.payments(id);
  await club.post(`/payments/${charge.id}/refund`);
  const third = await changed(plan, id, '120.00');
  const ofFirst = { from: first.period_start, to: span.to };
  const at = third.period_start;
  const coins = BigInt(charge.amount.replace('.', ''));
  expect(amountsOf(third)[0]).toBe(money(-(left(9000n, span, at) - left(coins, ofFirst, at))));
});

/** The bank says that the payment is disputed so, and it is asked. */
async function disputed(paymentId: string, ends: 'won' | 'lost', inDays: number): Promise<void> {
  const { sql, payments, organisation } = club.shop.server;
  const endsAt = new Date((await club.now()) + inDays * DAY_MS);
  await sql`
    update sandbox_charges set dispute = ${ends}, dispute_ends_at = ${endsAt}
    where key = ${paymentId}`;
  await payments.pollDisputes({ organisationId: organisation.id, mode: 'test' }, paymentId);
}

test.each([
  ['won', 3000n],
  ['lost', 0n],
] as const)('a disputed payment is not credited until that is %s', async (ends, coins) => {
  const { plan, subscription, paymentId } = await half();
  const { id } = subscription;
  await disputed(paymentId, ends, 60);
  const change = { quantity: 2 };
  const open = (await club.post(`/subscriptions/${id}/change/preview`, change)).json;
  expect(amountsOf(open)[0]).toBe('0.00');
  await disputed(paymentId, ends, 0);
  const invoice = await changed(plan, id, '60.00');
  const worth = left(coins, spanOf(subscription), invoice.period_start);
  expect(amountsOf(invoice)[0]).toBe(money(-worth));
});

/**
 * A change to a dearer plan that a bank debit pays, and that was taken back before: what is done
 * with its payment after that is settled, and before it is given back. Then half of the period is
 * over.
 */
async function takenBack(act: (paymentId: string, amount: string) => Promise<unknown>) {
  const { server } = club.shop;
  const plan = await club.plan();
  const { subscription_id: id } = await club.pay(await club.checkout(plan), 'iban');
  await club.shop.settle();
  const dearer = await club.price(plan, { amount: '90.00' });
  const { pending_change: pending } = await club.act(id, 'change', { price_id: dearer });
  const paymentId: string = pending.payment_id;
  await club.act(id, 'unschedule');
  const gate = await closeGate(server, id);
  const settling = club.shop.settle();
  const isSettled = async () => (await club.shop.payment(paymentId)).status === 'succeeded';
  await until('the debit is settled', isSettled);
  const { amount } = await club.shop.payment(paymentId);
  await act(paymentId, amount);
  await gate.open();
  await settling;
  const owed = () => server.sql`select from followups where subscription_id = ${id}`;
  await until('nothing is owed', async () => (await owed()).length === 0);
  const { current_period_start: start, current_period_end: end } = await club.subscription(id);
  await club.advanceTo((Date.parse(start) + Date.parse(end)) / 2);
  return { plan, id, paymentId, coins: BigInt(amount.replace('.', '')) };
}

/** What the next change would credit. */
async function credited(id: string, plan: Plan): Promise<string> {
  const body = { price_id: await club.price(plan, { amount: '60.00' }) };
  return amountsOf((await club.post(`/subscriptions/${id}/change/preview`, body)).json)[0]!;
}

test.each([
  ['all of it', (amount: string) => amount],
  ['a part', () => '1.00'],
])(
  'what a change took that was taken back: a refund by hand of %s before it is given back takes nothing off the next change',
  async (_what, byHand) => {
    const { plan, id, paymentId, coins } = await takenBack(async (payment, amount) => {
      const body = { amount: byHand(amount) };
      expect((await club.post(`/payments/${payment}/refund`, body)).status).toBe(200);
    });
    const refunded = (await refundedOf(club.shop.server, paymentId)).reduce((a, b) => a + b, 0n);
    expect(refunded).toBe(coins);
    expect(await credited(id, plan)).toBe('-15.00');
  },
);

test.each(['won', 'lost'] as const)(
  'what a change took that was taken back: a dispute before it is given back, and %s, takes nothing off the next change',
  async (ends) => {
    const { plan, id, paymentId } = await takenBack((payment) => disputed(payment, ends, 60));
    expect(await credited(id, plan)).toBe('-15.00');
    await disputed(paymentId, ends, 0);
    expect(await credited(id, plan)).toBe('-15.00');
    // The bank has decided: what is won is the merchant's to refund.
    expect(await refundedOf(club.shop.server, paymentId)).toEqual([]);
  },
);
