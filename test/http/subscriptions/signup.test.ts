// What a buyer of a recurring price on the hosted page has, at once and one period later.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { Club } from './subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let club: Club;
beforeAll(async () => {
  club = await Club.open();
});
afterAll(() => club.close());

test('a signup is active at once, with its allowance', async () => {
  const plan = await club.plan();
  const metadata = { team: 'blue' };
  const context = { client_reference_id: 'order-1', metadata };
  const subscription = await club.signUp(plan, 'good', context);
  const { id, customer_id: customerId } = subscription;
  expect(subscription).toMatchObject({
    product_id: plan.productId,
    price_id: plan.priceId,
    status: 'active',
    overdue_state: 'clear',
    next_retry_at: null,
    price_list_name: 'DEFAULT',
    quantity: 1,
    trial_end: null,
    cancel_at_period_end: false,
    cancellation_effective_at: null,
    canceled_at: null,
    ended_at: null,
    paused_at: null,
    resumes_at: null,
    keep_invoices: false,
    metadata,
  });
  expect(subscription.plan_name).toMatch(/^p-.*-monthly$/);
  expect(subscription.phase_name).toBe(`${subscription.plan_name}-evergreen`);
  expect(subscription.anchor_at).toBe(subscription.current_period_start);
  expect(await club.check(subscription, plan)).toMatchObject({
    allowed: true,
    balance: 10_000,
    limit: 10_000,
    reason: 'ok',
    period_start: subscription.current_period_start,
    resets_at: subscription.current_period_end,
  });
  const [payment, ...others] = await club.payments(id);
  expect(others).toEqual([]);
  expect(payment).toMatchObject({
    status: 'succeeded',
    amount: '30.00',
    transaction_type: 'SUBSCRIPTION_START',
    subscription_id: id,
    customer_id: customerId,
  });
  const events = await club.events(id);
  expect(events.map(({ type, data }) => [type, data.objectType])).toEqual([
    ['subscription.created', 'SUBSCRIPTION'],
    ['payment.succeeded', 'SUBSCRIPTION'],
  ]);
  const [created, succeeded] = events;
  expect(created.data).toMatchObject({
    accountId: customerId,
    subscriptionId: id,
    status: 'active',
    currentPeriodEnd: subscription.current_period_end,
    externalCustomerId: subscription.external_customer_id,
    clientReferenceId: 'order-1',
    metadata,
  });
  expect(succeeded.data).toMatchObject({
    paymentId: null,
    transactionId: null,
    subscriptionId: id,
    objectId: id,
    amount: '30.00',
    currency: 'USD',
    transactionType: 'SUBSCRIPTION_START',
    paymentLinkId: payment.checkout_id,
    invoiceId: payment.invoice_id,
    externalCustomerId: subscription.external_customer_id,
    clientReferenceId: 'order-1',
    metadata,
  });
  // The payment has no event of its own here: its subscription has.
  expect(await club.events(payment.id)).toEqual([]);
});

test('a renewal is charged at the end of the period, and gives the allowance again', async () => {
  const plan = await club.plan();
  const subscription = await club.signUp(plan);
  const { id } = subscription;
  await club.track(subscription, plan, 10_001);
  expect(await club.check(subscription, plan)).toMatchObject({ allowed: false, balance: -1 });
  await club.advanceTo(subscription.current_period_end);
  const renewed = await club.subscription(id);
  expect(renewed).toMatchObject({
    current_period_start: subscription.current_period_end,
    anchor_at: subscription.anchor_at,
    status: 'active',
    overdue_state: 'clear',
    next_retry_at: null,
  });
  expect(await club.check(subscription, plan)).toMatchObject({ allowed: true, balance: 10_000 });
  const payments = await club.payments(id);
  expect(payments.map(({ transaction_type: type, status }) => [type, status])).toEqual([
    ['SUBSCRIPTION_START', 'succeeded'],
    ['RECURRING', 'succeeded'],
  ]);
  const [, renewal] = payments;
  const invoices = await club.invoices(id);
  expect(
    invoices.map(({ billing_reason: reason, status, total }) => [reason, status, total]),
  ).toEqual([
    ['subscription_create', 'paid', '30.00'],
    ['subscription_cycle', 'paid', '30.00'],
  ]);
  expect(invoices[1]).toMatchObject({
    payment_id: renewal.id,
    period_start: renewed.current_period_start,
    period_end: renewed.current_period_end,
    issued_at: renewed.current_period_start,
    lines: [{ type: 'recurring', description: 'Pro', quantity: 1, unit_amount: '30.00' }],
  });
  const events = await club.events(id);
  expect(events.map(({ type }) => type)).toEqual([
    'subscription.created',
    'payment.succeeded',
    'payment.succeeded',
  ]);
  expect(events[2].data).toMatchObject({
    paymentId: renewal.id,
    subscriptionId: id,
    transactionType: 'RECURRING',
    amount: '30.00',
    invoiceId: invoices[1].id,
    externalCustomerId: subscription.external_customer_id,
  });
  expect(events[2].data.transactionId).toBeString();
});

test('a refund of a renewal names its payment, and changes nothing of the subscription', async () => {
  const plan = await club.plan();
  const { id, current_period_end: end } = await club.signUp(plan);
  await club.advanceTo(end);
  const [, renewal] = await club.payments(id);
  const { status, json } = await club.shop.refund(renewal.id, { amount: '10.00' });
  expect([status, json.status]).toEqual([200, 'succeeded']);
  const [refunded, ...others] = await club.shop.events(renewal.id, 1);
  expect(others).toEqual([]);
  expect(refunded).toMatchObject({
    type: 'payment.refunded',
    data: {
      objectType: 'PAYMENT',
      subscriptionId: id,
      invoiceId: renewal.invoice_id,
      amount: '10.00',
      refundableAmount: '20.00',
    },
  });
  expect(await club.types(id)).toHaveLength(3);
  expect((await club.subscription(id)).status).toBe('active');
});

test('a signup with a trial charges nothing until it ends, and gives the allowance at once', async () => {
  const plan = await club.plan({ trial_days: 14 });
  const trial = await club.signUp(plan);
  const { id } = trial;
  expect(trial).toMatchObject({ status: 'active', trial_end: trial.current_period_end });
  expect(trial.phase_name).toBe(`${trial.plan_name}-trial`);
  expect(await club.check(trial, plan)).toMatchObject({ allowed: true, balance: 10_000 });
  expect(await club.types(id)).toEqual(['subscription.created', 'payment.succeeded']);
  expect((await club.events(id))[1].data).toMatchObject({
    amount: '0.00',
    transactionType: 'SUBSCRIPTION_START',
  });
  await club.advanceTo(trial.trial_end);
  const converted = await club.subscription(id);
  expect(converted).toMatchObject({
    status: 'active',
    current_period_start: trial.trial_end,
    trial_end: trial.trial_end,
    anchor_at: trial.trial_end,
  });
  expect(converted.phase_name).toBe(`${trial.plan_name}-evergreen`);
  const events = await club.events(id);
  expect(events.slice(2).map(({ type }) => type)).toEqual([
    'subscription.trial_ended',
    'payment.succeeded',
  ]);
  expect(events[2].data).toMatchObject({ outcome: 'converted', trialEndedAt: trial.trial_end });
  expect(events[3].data).toMatchObject({ amount: '30.00', transactionType: 'RECURRING' });
});

test('a signup with a declined card begins nothing, and the next card begins it', async () => {
  const plan = await club.plan();
  const session = await club.checkout(plan);
  const failed = await club.pay(session, 'declined');
  expect(failed.status).toBe('failed');
  const { data } = await club.shop.read(`/subscriptions?product_id=${plan.productId}`);
  expect(data).toEqual([]);
  const paid = await club.pay(session);
  expect(paid.subscription_id).toBe(failed.subscription_id);
  expect((await club.subscription(paid.subscription_id)).status).toBe('active');
});
