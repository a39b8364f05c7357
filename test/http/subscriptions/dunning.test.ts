// An unpaid renewal: retried, blocked, ended; and what ends the dunning before.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { withdrawMandate } from '../../support/bank.ts';
import { NUMBERS } from '../../support/means.ts';
import { memberOf } from '../../dashboard/member.ts';
import { portalOf } from '../portal/customer.ts';
import { Club, DAY_MS, type Json, type Plan } from './subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let club: Club;
beforeAll(async () => {
  club = await Club.open();
});
afterAll(() => club.close());

/** A subscription whose first renewal was declined, and the time of that. */
async function unpaid(plan: Plan): Promise<{ subscription: Json; failedAt: number }> {
  const subscription = await club.signUp(plan, 'renewalFails');
  await club.advanceTo(subscription.current_period_end);
  return { subscription, failedAt: Date.parse(subscription.current_period_end) };
}

const days = (from: number, to: string): number => Math.round((Date.parse(to) - from) / DAY_MS);

test('a subscription in dunning says when it is charged again, in the dashboard too', async () => {
  const plan = await club.plan({ interval: 'year' });
  const { subscription, failedAt } = await unpaid(plan);
  const { id } = subscription;
  const retryDay = async () => {
    const { next_retry_at: at } = await club.subscription(id);
    return at === null ? null : days(failedAt, at);
  };
  expect([subscription.next_retry_at, await retryDay()]).toEqual([null, 1]);
  const { next_retry_at: next } = await club.subscription(id);
  const member = await memberOf(club.shop.server);
  for (const path of ['/dunning', `/subscriptions/${id}`]) {
    expect(await member.read(path)).toContain(`datetime="${next}"`);
  }
  await club.advanceTo(failedAt + 15 * DAY_MS);
  expect(await retryDay()).toBe(20);
  await club.advanceTo(failedAt + 20 * DAY_MS);
  expect(await retryDay()).toBe(null);
});

test('a subscription that ends before the next retry has nothing to charge again', async () => {
  const plan = await club.plan({ interval: 'year' });
  const { subscription, failedAt } = await unpaid(plan);
  const { next_retry_at: at } = await club.subscription(subscription.id);
  expect(days(failedAt, at)).toBe(1);
  await club.act(subscription.id, 'cancel', { mode: 'immediate' });
  expect((await club.subscription(subscription.id)).next_retry_at).toBe(null);
});

test('dunning retries on days 1, 3, 7, 13 and 20, blocks on day 14 and cancels on day 21', async () => {
  const plan = await club.plan({ interval: 'year' });
  const { subscription, failedAt } = await unpaid(plan);
  const { id, customer_id: customerId } = subscription;
  expect(await club.subscription(id)).toMatchObject({ status: 'active', overdue_state: 'warning' });
  expect(await club.check(subscription, plan)).toMatchObject({ allowed: true });
  await club.advanceTo(failedAt + 14 * DAY_MS);
  expect(await club.subscription(id)).toMatchObject({ status: 'active', overdue_state: 'blocked' });
  expect(await club.check(subscription, plan)).toMatchObject({ allowed: false, reason: 'blocked' });
  await club.advanceTo(failedAt + 30 * DAY_MS);
  expect(await club.subscription(id)).toMatchObject({
    status: 'canceled',
    overdue_state: 'clear',
    cancel_at_period_end: false,
  });
  expect(await club.check(subscription, plan)).toMatchObject({ allowed: false, reason: 'expired' });
  const events = (await club.events(id)).slice(2);
  const told = events.map(({ type, timestamp, data }) => [
    days(failedAt, timestamp),
    type,
    data.attempt ?? data.stateName ?? data.reason,
    data.nextAttemptAt ? days(failedAt, data.nextAttemptAt) : null,
  ]);
  expect(told).toEqual([
    [0, 'payment.failed', 1, 1],
    [1, 'payment.failed', 2, 3],
    [3, 'payment.failed', 3, 7],
    [7, 'payment.failed', 4, 13],
    [13, 'payment.failed', 5, 20],
    [14, 'subscription.blocked', 'blocked', null],
    [20, 'payment.failed', 6, null],
    [21, 'subscription.expired', 'dunning_exhausted', null],
  ]);
  const [, owed, ...others] = await club.invoices(id);
  expect(others).toEqual([]);
  expect(owed).toMatchObject({ status: 'void', attempts: 6 });
  const payments = await club.payments(id);
  expect(payments.slice(1).map(({ status }) => status)).toEqual(Array(6).fill('failed'));
  const overdue = (await club.events(customerId)).slice(1);
  expect(
    overdue.map(({ type, timestamp, data }) => [
      days(failedAt, timestamp),
      type,
      data.previousState,
      data.overdueState,
      data.balance,
      data.nextEvaluationAt && days(failedAt, data.nextEvaluationAt),
    ]),
  ).toEqual([
    [0, 'subscription.overdue_changed', 'clear', 'warning', '30.00', 14],
    [14, 'subscription.overdue_changed', 'warning', 'blocked', '30.00', 21],
    [21, 'subscription.overdue_changed', 'blocked', 'clear', null, null],
  ]);
});

test('a blocked subscription that is paid is as before', async () => {
  const plan = await club.plan({ interval: 'year' });
  const { subscription, failedAt } = await unpaid(plan);
  const { id, customer_email: email, external_customer_id: external } = subscription;
  await club.advanceTo(failedAt + 15 * DAY_MS);
  const [, owed] = await club.invoices(id);
  expect((await club.post(`/invoices/${owed.id}/pay`)).status).toBe(402);
  // A new card that paid for something else does not pay this.
  const other = await club.plan({ interval: 'year' });
  const who = { customer_email: email, external_customer_id: external };
  expect((await club.signUp(other, 'good', who)).customer_id).toBe(subscription.customer_id);
  expect((await club.post(`/invoices/${owed.id}/pay`)).status).toBe(402);
  const portal = await portalOf(club.shop.server, subscription.customer_id);
  expect((await portal.saveCard(NUMBERS.good)).status).toBe(303);
  const { status, json } = await club.post(`/invoices/${owed.id}/pay`);
  expect([status, json.status, json.attempts]).toEqual([200, 'paid', 8]);
  expect(await club.subscription(id)).toMatchObject({ status: 'active', overdue_state: 'clear' });
  expect(await club.check(subscription, plan)).toMatchObject({ allowed: true, reason: 'ok' });
  const events = (await club.events(id)).slice(-3);
  expect(events.map(({ type, data }) => [type, data.stateName ?? data.transactionType])).toEqual([
    ['payment.failed', 'RECURRING'],
    ['payment.succeeded', 'RECURRING'],
    ['subscription.blocked', 'clear'],
  ]);
  expect(events[2].data).toMatchObject({ blockEntitlement: false, service: 'dunning' });
  expect((await club.events(subscription.customer_id)).at(-1).data).toMatchObject({
    previousState: 'blocked',
    overdueState: 'clear',
    balance: null,
    unpaidInvoiceIds: [],
  });
  await club.advanceTo(failedAt + 60 * DAY_MS);
  expect((await club.subscription(id)).status).toBe('active');
});

test('voiding its invoice ends the dunning of a subscription', async () => {
  const plan = await club.plan({ interval: 'year' });
  const { subscription, failedAt } = await unpaid(plan);
  const { id } = subscription;
  const [, owed] = await club.invoices(id);
  expect((await club.post(`/invoices/${owed.id}/void`)).status).toBe(200);
  expect(await club.subscription(id)).toMatchObject({ status: 'active', overdue_state: 'clear' });
  await club.advanceTo(failedAt + 30 * DAY_MS);
  expect(await club.subscription(id)).toMatchObject({ status: 'active', overdue_state: 'clear' });
  expect(await club.payments(id)).toHaveLength(2);
});

test('dunning follows the organisation’s own policy', async () => {
  const setPolicy = (dunning: object) =>
    club.shop.server.call('PATCH', '/organization', { body: { dunning } });
  const before = (await club.shop.read('/organization')).dunning;
  await setPolicy({ retry_days: [2], block_after_days: 3, expire_after_days: 4 });
  const plan = await club.plan({ interval: 'year' });
  const { subscription, failedAt } = await unpaid(plan);
  await club.advanceTo(failedAt + 10 * DAY_MS);
  await setPolicy(before);
  const events = (await club.events(subscription.id)).slice(2);
  expect(events.map(({ type, timestamp }) => [days(failedAt, timestamp), type])).toEqual([
    [0, 'payment.failed'],
    [2, 'payment.failed'],
    [3, 'subscription.blocked'],
    [4, 'subscription.expired'],
  ]);
});

test('a lost mandate ends the subscription at once', async () => {
  const plan = await club.plan();
  const subscription = await club.signUp(plan);
  const { id, current_period_end: end } = subscription;
  await withdrawMandate(club.shop.server, subscription.customer_id);
  await club.advanceTo(end);
  expect(await club.subscription(id)).toMatchObject({ status: 'canceled', ended_at: end });
  expect(await club.check(subscription, plan)).toMatchObject({ allowed: false, reason: 'expired' });
  const events = (await club.events(id)).slice(2);
  expect(events.map(({ type, data }) => [type, data.failureCode ?? data.reason])).toEqual([
    ['payment.failed', 'mandate_lost'],
    ['subscription.expired', 'mandate_lost'],
  ]);
  const [, owed] = await club.invoices(id);
  expect(owed.status).toBe('void');
});

test('a trial that ends without a payment method begins dunning', async () => {
  const plan = await club.plan();
  const trial = await club.subscribe(plan, await club.customer(), { trial_days: 3 });
  await club.advanceTo(trial.trial_end);
  expect(await club.subscription(trial.id)).toMatchObject({ overdue_state: 'warning' });
  await club.advanceTo(Date.parse(trial.trial_end) + 22 * DAY_MS);
  expect(await club.types(trial.id)).toEqual([
    'subscription.created',
    'subscription.trial_ended',
    'subscription.blocked',
    'subscription.expired',
  ]);
});
