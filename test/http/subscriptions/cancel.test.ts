// Cancellation: at the end of the period, at once, and taken back.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { Club } from './subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let club: Club;
beforeAll(async () => {
  club = await Club.open();
});
afterAll(() => club.close());

test("a subscription canceled at its period's end is active until then, and then access ends", async () => {
  const plan = await club.plan();
  const subscription = await club.signUp(plan);
  const { id, current_period_end: end } = subscription;
  const canceled = await club.act(id, 'cancel');
  expect(canceled).toMatchObject({
    status: 'active',
    cancel_at_period_end: true,
    cancellation_effective_at: end,
    ended_at: null,
  });
  expect(canceled.canceled_at).toBeString();
  const [, , told] = await club.events(id);
  expect(told).toMatchObject({
    type: 'subscription.canceled',
    data: { status: 'active', cancelAtPeriodEnd: true, cancellationEffectiveAt: end },
  });
  await club.advanceTo(Date.parse(end) - 60_000);
  expect(await club.check(subscription, plan)).toMatchObject({ allowed: true });
  await club.advanceTo(end);
  const ended = await club.subscription(id);
  expect(ended).toMatchObject({
    status: 'canceled',
    cancel_at_period_end: false,
    canceled_at: canceled.canceled_at,
    ended_at: end,
    current_period_end: end,
  });
  expect(await club.check(subscription, plan)).toMatchObject({ allowed: false, reason: 'expired' });
  const [, , , expired, ...others] = await club.events(id);
  expect(others).toEqual([]);
  expect(expired).toMatchObject({
    type: 'subscription.expired',
    data: {
      status: 'canceled',
      cancelAtPeriodEnd: false,
      cancellationEffectiveAt: end,
      reason: 'cancellation_effective',
    },
  });
  await club.advance('P2M');
  expect(await club.payments(id)).toHaveLength(1);
  expect(await club.events(id)).toHaveLength(4);
});

test('a subscription canceled at once writes two events, in order, and access ends', async () => {
  const plan = await club.plan();
  const subscription = await club.signUp(plan);
  const { id } = subscription;
  const canceled = await club.act(id, 'cancel', { mode: 'immediate' });
  expect(canceled).toMatchObject({ status: 'canceled', cancel_at_period_end: false });
  expect(canceled.ended_at).toBe(canceled.canceled_at);
  expect(canceled.cancellation_effective_at).toBe(canceled.canceled_at);
  expect(await club.check(subscription, plan)).toMatchObject({ allowed: false, reason: 'expired' });
  const [, , first, second, ...others] = await club.events(id);
  expect(others).toEqual([]);
  expect([first.type, second.type]).toEqual(['subscription.canceled', 'subscription.expired']);
  for (const { data } of [first, second]) {
    expect(data).toMatchObject({ status: 'canceled', cancelAtPeriodEnd: false });
  }
  expect(second.data.reason).toBe('immediate');
});

test('a scheduled cancellation can be undone, or made to happen at once', async () => {
  const plan = await club.plan();
  const subscription = await club.signUp(plan);
  const { id, current_period_end: end } = subscription;
  await club.act(id, 'cancel');
  const kept = await club.act(id, 'uncancel');
  expect(kept).toEqual(subscription);
  const [, , , updated] = await club.events(id);
  expect(updated).toMatchObject({
    type: 'subscription.updated',
    data: {
      cancelAtPeriodEnd: false,
      cancellationEffectiveAt: null,
      changes: ['cancelAtPeriodEnd', 'cancellationEffectiveAt'],
      previous: { cancelAtPeriodEnd: true, cancellationEffectiveAt: end },
    },
  });
  await club.advanceTo(end);
  expect((await club.subscription(id)).status).toBe('active');
  expect(await club.check(subscription, plan)).toMatchObject({ allowed: true });
  await club.act(id, 'cancel');
  expect((await club.act(id, 'cancel', { mode: 'immediate' })).status).toBe('canceled');
  expect((await club.types(id)).slice(4)).toEqual([
    'payment.succeeded',
    'subscription.canceled',
    'subscription.canceled',
    'subscription.expired',
  ]);
});

test('a trial that is canceled ends without a charge', async () => {
  const plan = await club.plan({ trial_days: 7 });
  const trial = await club.signUp(plan);
  await club.act(trial.id, 'cancel');
  await club.advanceTo(trial.trial_end);
  expect(await club.subscription(trial.id)).toMatchObject({
    status: 'canceled',
    ended_at: trial.trial_end,
  });
  const events = await club.events(trial.id);
  expect(events.slice(2).map(({ type, data }) => [type, data.outcome ?? data.reason])).toEqual([
    ['subscription.canceled', undefined],
    ['subscription.trial_ended', 'expired'],
    ['subscription.expired', 'trial_expired'],
  ]);
  expect(await club.check(trial, plan)).toMatchObject({ allowed: false, reason: 'expired' });
  const [payment, ...others] = await club.payments(trial.id);
  expect([payment.amount, others]).toEqual(['0.00', []]);
});

test('a subscription canceled while unpaid has its open invoice voided, and nothing is retried', async () => {
  const plan = await club.plan();
  const subscription = await club.signUp(plan, 'renewalFails');
  const { id } = subscription;
  await club.advanceTo(subscription.current_period_end);
  expect((await club.subscription(id)).overdue_state).toBe('warning');
  const ended = await club.act(id, 'cancel', { mode: 'immediate' });
  expect(ended).toMatchObject({ status: 'canceled', overdue_state: 'clear' });
  const [, owed] = await club.invoices(id);
  expect([owed.status, owed.amount_due]).toEqual(['void', '0.00']);
  await club.advance('P1M');
  expect(await club.payments(id)).toHaveLength(2);
  const overdue = (await club.events(subscription.customer_id)).slice(1);
  expect(overdue.map(({ data }) => data.overdueState)).toEqual(['warning', 'clear']);
});

test('a subscription can be canceled while it is paused', async () => {
  const plan = await club.plan();
  const subscription = await club.signUp(plan);
  const { id, current_period_end: end } = subscription;
  await club.act(id, 'pause');
  expect(await club.act(id, 'cancel')).toMatchObject({
    status: 'paused',
    cancel_at_period_end: true,
    cancellation_effective_at: end,
  });
  await club.advanceTo(end);
  expect(await club.subscription(id)).toMatchObject({ status: 'canceled', ended_at: end });
  expect((await club.types(id)).at(-1)).toBe('subscription.expired');
});
