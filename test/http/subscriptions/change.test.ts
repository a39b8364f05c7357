// A change of price or quantity: its cost by the millisecond, the credit that is left, and the new
// allowance.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { Club, type Json, type Plan } from './subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let club: Club;
beforeAll(async () => {
  club = await Club.open();
});
afterAll(() => club.close());

const cents = (amount: string): bigint => BigInt(amount.replace('.', ''));
const money = (units: bigint): string => `${units / 100n}.${String(units % 100n).padStart(2, '0')}`;
const updatedOf = async (id: string): Promise<Json> =>
  (await club.events(id)).findLast(({ type }) => type === 'subscription.updated');

/** The unused part of `amount` at the time of the change, rounded half up. */
function left(amount: string, { from, to, at }: { from: string; to: string; at: string }): bigint {
  const [start, end, now] = [from, to, at].map((time) => BigInt(Date.parse(time)));
  const whole = end! - start!;
  return (cents(amount) * (end! - now!) * 2n + whole) / (whole * 2n);
}

/** Half way through its first period. */
async function half(plan: Plan, means: 'good' | 'renewalFails' = 'good'): Promise<Json> {
  const subscription = await club.signUp(plan, means);
  await club.advance('P15D');
  return subscription;
}

test('an upgrade charges for the rest of the period, and gives more at once', async () => {
  const plan = await club.plan();
  const big = await club.plan({ amount: '100.00', limit: 50_000, feature: plan.feature });
  const subscription = await half(plan);
  const { id, current_period_start: from, current_period_end: to } = subscription;
  await club.track(subscription, plan, 600);
  const changed = await club.act(id, 'change', { price_id: big.priceId });
  expect(changed).toMatchObject({
    price_id: big.priceId,
    product_id: big.productId,
    current_period_start: from,
    current_period_end: to,
    anchor_at: subscription.anchor_at,
  });
  const [, invoice] = await club.invoices(id);
  const span = { from, to, at: invoice.period_start };
  const due = left('100.00', span) - left('30.00', span);
  expect(invoice).toMatchObject({
    status: 'paid',
    billing_reason: 'subscription_update',
    total: money(due),
    period_end: to,
    lines: [
      { type: 'proration', amount: `-${money(left('30.00', span))}` },
      { type: 'proration', amount: money(left('100.00', span)) },
    ],
  });
  expect((await club.payments(id)).map(({ amount, status }) => [amount, status])).toEqual([
    ['30.00', 'succeeded'],
    [money(due), 'succeeded'],
  ]);
  // Usage of the old allowance counts against the new one.
  expect(await club.check(subscription, plan)).toMatchObject({ balance: 49_400 });
  expect((await club.types(id)).slice(2)).toEqual(['payment.succeeded', 'subscription.updated']);
  const updated = await updatedOf(id);
  expect(updated.data.planName).toBe(changed.plan_name);
  expect(updated.data.previous).toMatchObject({ planName: subscription.plan_name });
  await club.advanceTo(to);
  expect((await club.payments(id)).at(-1)).toMatchObject({ amount: '100.00' });
});

test('a downgrade leaves a credit, which comes off the next invoices', async () => {
  const plan = await club.plan({ amount: '100.00', limit: 50_000 });
  const small = await club.plan({ feature: plan.feature, amount: '10.00' });
  const subscription = await half(plan);
  const { id, current_period_start: from, current_period_end: to } = subscription;
  const changed = await club.act(id, 'change', { price_id: small.priceId });
  expect(changed).toMatchObject({ price_id: small.priceId, current_period_end: to });
  expect(await club.payments(id)).toHaveLength(1);
  expect(await club.check(subscription, plan)).toMatchObject({ limit: 10_000 });
  const updated = await updatedOf(id);
  const span = { from, to, at: updated.timestamp };
  let credit = left('100.00', span) - left('10.00', span);
  expect(credit).toBeGreaterThan(4000n);
  const [, update] = await club.invoices(id);
  const lines = [
    { type: 'proration', amount: `-${money(left('100.00', span))}` },
    { type: 'proration', amount: money(left('10.00', span)) },
    { type: 'credit', amount: money(credit), period: null },
  ];
  expect(update).toMatchObject({
    status: 'paid',
    billing_reason: 'subscription_update',
    total: '0.00',
    payment_id: null,
    attempts: 0,
    lines,
  });
  for (let period = 1; credit > 0n; period += 1) {
    await club.advanceTo((await club.subscription(id)).current_period_end);
    const invoice = (await club.invoices(id))[period + 1];
    const used = credit < 1000n ? credit : 1000n;
    expect(invoice).toMatchObject({ status: 'paid', total: money(1000n - used) });
    expect(invoice.lines[1]).toMatchObject({ type: 'credit', amount: `-${money(used)}` });
    credit -= used;
  }
  const [, paid] = await club.payments(id);
  expect(cents(paid.amount)).toBeLessThan(1000n);
  expect((await club.subscription(id)).overdue_state).toBe('clear');
});

test('a change of quantity charges for more, and credits for fewer', async () => {
  const plan = await club.plan();
  const subscription = await half(plan);
  const { id } = subscription;
  expect(await club.act(id, 'change', { quantity: 3 })).toMatchObject({ quantity: 3 });
  expect(await club.check(subscription, plan)).toMatchObject({ limit: 30_000 });
  expect(await club.act(id, 'change', { quantity: 2 })).toMatchObject({ quantity: 2 });
  expect(await club.check(subscription, plan)).toMatchObject({ limit: 20_000 });
  expect(await club.payments(id)).toHaveLength(2);
  const updated = await updatedOf(id);
  expect(updated.data.previous).toMatchObject({ quantity: 3 });
});

test('a change of interval begins a new period', async () => {
  const plan = await club.plan();
  const yearly = await club.price(plan, { interval: 'year', amount: '300.00' });
  const subscription = await half(plan);
  const { id } = subscription;
  const before = await club.now();
  const changed = await club.act(id, 'change', { price_id: yearly });
  expect(Date.parse(changed.current_period_start)).toBeGreaterThanOrEqual(before);
  expect(changed.anchor_at).toBe(changed.current_period_start);
  const year = new Date(changed.current_period_start).getUTCFullYear();
  expect(new Date(changed.current_period_end).getUTCFullYear()).toBe(year + 1);
  const [, invoice] = await club.invoices(id);
  expect(invoice.lines[1]).toMatchObject({ type: 'recurring', amount: '300.00' });
  const { current_period_start: start, current_period_end: end } = changed;
  const rest = { start, end: subscription.current_period_end };
  expect(invoice.lines.map(({ period }: Json) => period)).toEqual([rest, { start, end }]);
  expect(cents(invoice.total)).toBeLessThan(30_000n);
  expect(await club.check(subscription, plan)).toMatchObject({ allowed: true });
});

test('a plan change whose charge is declined leaves everything as it was', async () => {
  const plan = await club.plan();
  const big = await club.plan({ amount: '100.00', limit: 50_000, feature: plan.feature });
  const subscription = await half(plan, 'renewalFails');
  const { id } = subscription;
  const [status, type] = await club.refused(id, 'change', { price_id: big.priceId });
  expect([status, type]).toEqual([402, 'payment_failed']);
  expect(await club.subscription(id)).toEqual(subscription);
  expect(await club.check(subscription, plan)).toMatchObject({ limit: 10_000 });
  expect((await club.invoices(id)).map((invoice) => invoice.status)).toEqual(['paid', 'void']);
  expect((await club.types(id)).slice(2)).toEqual(['payment.failed']);
});

test('a plan change without a charge happens at once', async () => {
  const plan = await club.plan({ amount: '0' });
  const big = await club.plan({ amount: '100.00', limit: 50_000, feature: plan.feature });
  const subscription = await club.subscribe(plan, await club.customer());
  const { id } = subscription;
  const [status, type, message] = await club.refused(id, 'change', { price_id: big.priceId });
  expect([status, type]).toEqual([402, 'payment_failed']);
  expect(message).toContain('no payment method');
  expect(await club.subscription(id)).toEqual(subscription);
  expect(await club.types(id)).toEqual(['subscription.created']);
  expect((await club.invoices(id)).at(-1)).toMatchObject({ status: 'void', attempts: 0 });
});

test('a plan change paid by bank debit is decided when that has settled', async () => {
  const plan = await club.plan();
  const big = await club.plan({ amount: '100.00', limit: 50_000, feature: plan.feature });
  const { subscription_id: id } = await club.pay(await club.checkout(plan), 'iban');
  await club.advance('PT1H');
  const asked = await club.act(id, 'change', { price_id: big.priceId });
  expect(asked.price_id).toBe(plan.priceId);
  expect((await club.payments(id)).at(-1).status).toBe('processing');
  expect((await club.refused(id, 'change', { quantity: 2 }))[0]).toBe(409);
  await club.advance('PT1H');
  expect((await club.subscription(id)).price_id).toBe(big.priceId);
  expect(await club.check(asked, plan)).toMatchObject({ limit: 50_000 });
  expect((await club.types(id)).slice(2)).toEqual([
    'subscription.updated',
    'payment.succeeded',
    'subscription.updated',
  ]);
});

test('a plan change in a trial costs nothing', async () => {
  const plan = await club.plan({ trial_days: 10 });
  const big = await club.plan({ amount: '100.00', limit: 50_000, feature: plan.feature });
  const trial = await club.signUp(plan);
  const changed = await club.act(trial.id, 'change', { price_id: big.priceId, quantity: 2 });
  expect(changed).toMatchObject({ trial_end: trial.trial_end, quantity: 2 });
  expect(changed.phase_name).toEndWith('-trial');
  expect(await club.check(trial, plan)).toMatchObject({ limit: 100_000 });
  expect(await club.payments(trial.id)).toHaveLength(1);
  await club.advanceTo(trial.trial_end);
  expect((await club.payments(trial.id)).at(-1)).toMatchObject({ amount: '200.00' });
});

test('a plan change with a scheduled cancellation keeps its end', async () => {
  const plan = await club.plan();
  const subscription = await half(plan);
  const { id, current_period_end: end } = subscription;
  await club.act(id, 'cancel');
  expect(await club.act(id, 'change', { quantity: 2 })).toMatchObject({
    quantity: 2,
    cancel_at_period_end: true,
    cancellation_effective_at: end,
  });
  await club.advanceTo(end);
  expect(await club.subscription(id)).toMatchObject({ status: 'canceled', ended_at: end });
  expect(await club.check(subscription, plan)).toMatchObject({ reason: 'expired' });
});

test('a trial ended by hand is charged at once, and its period begins now', async () => {
  const plan = await club.plan({ trial_days: 10 });
  const trial = await club.signUp(plan);
  await club.track(trial, plan, 100);
  await club.advance('P3D');
  const before = await club.now();
  const ended = await club.act(trial.id, 'end-trial');
  expect(ended.trial_end).toBe(ended.current_period_start);
  expect(ended.anchor_at).toBe(ended.current_period_start);
  expect(Date.parse(ended.trial_end)).toBeGreaterThanOrEqual(before);
  expect(ended.phase_name).toEndWith('-evergreen');
  expect((await club.types(trial.id)).slice(2)).toEqual([
    'subscription.trial_ended',
    'payment.succeeded',
  ]);
  expect((await club.payments(trial.id)).at(-1)).toMatchObject({
    amount: '30.00',
    transaction_type: 'RECURRING',
  });
  expect(await club.check(trial, plan)).toMatchObject({
    balance: 10_000,
    period_start: ended.current_period_start,
    resets_at: ended.current_period_end,
  });
  expect((await club.refused(trial.id, 'end-trial'))[0]).toBe(409);
});
