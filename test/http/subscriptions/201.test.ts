// A subscription that the merchant starts without a checkout.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type Fields, PATIENCE_MS } from '../../payments/shop.ts';
import { Club, DAY_MS } from './subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let club: Club;
beforeAll(async () => {
  club = await Club.open();
});
afterAll(() => club.close());

test('POST of a subscription charges a saved card at once, for its quantity', async () => {
  const plan = await club.plan();
  const customerId = await club.cardholder();
  const metadata = { seat: 'all' };
  const subscription = await club.subscribe(plan, customerId, { quantity: 3, metadata });
  const { id } = subscription;
  expect(subscription).toMatchObject({
    customer_id: customerId,
    status: 'active',
    overdue_state: 'clear',
    next_retry_at: null,
    quantity: 3,
    metadata,
  });
  expect(await club.subscription(id)).toEqual(subscription);
  expect(await club.check(subscription, plan)).toMatchObject({ allowed: true, limit: 30_000 });
  const [payment, ...others] = await club.payments(id);
  expect(others).toEqual([]);
  expect(payment).toMatchObject({
    status: 'succeeded',
    amount: '90.00',
    transaction_type: 'SUBSCRIPTION_START',
    customer_id: customerId,
    checkout_id: null,
    product_id: plan.productId,
    payment_method: { type: 'card', brand: 'visa', last4: '4242' },
    metadata,
  });
  const [invoice] = await club.invoices(id);
  expect(invoice).toMatchObject({
    id: payment.invoice_id,
    payment_id: payment.id,
    status: 'paid',
    total: '90.00',
    billing_reason: 'subscription_create',
    attempts: 1,
    period_start: subscription.current_period_start,
    period_end: subscription.current_period_end,
    lines: [{ quantity: 3, unit_amount: '30.00', amount: '90.00' }],
  });
  const events = await club.events(id);
  expect(events.map(({ type }) => type)).toEqual(['subscription.created', 'payment.succeeded']);
  expect(events[1].data).toMatchObject({
    paymentId: null,
    transactionId: null,
    subscriptionId: id,
    invoiceId: invoice.id,
    transactionType: 'SUBSCRIPTION_START',
    amount: '90.00',
    paymentLinkId: null,
    paymentLinkToken: null,
    metadata,
  });
});

test('POST of a subscription without a card leaves its invoice open, and dunning runs', async () => {
  const plan = await club.plan();
  const customerId = await club.customer();
  const subscription = await club.subscribe(plan, customerId);
  const { id } = subscription;
  expect(subscription).toMatchObject({ status: 'active', overdue_state: 'warning' });
  expect(await club.check(subscription, plan)).toMatchObject({ allowed: true });
  expect(await club.payments(id)).toEqual([]);
  const [invoice] = await club.invoices(id);
  expect(invoice).toMatchObject({ status: 'open', amount_due: '30.00', attempts: 0 });
  expect(await club.types(id)).toEqual(['subscription.created']);
  const [created, overdue] = await club.events(customerId);
  expect([created.type, overdue.type]).toEqual([
    'customer.created',
    'subscription.overdue_changed',
  ]);
  expect(overdue.data).toMatchObject({
    objectType: 'CUSTOMER',
    accountId: customerId,
    previousState: 'clear',
    overdueState: 'warning',
    isClearState: false,
    disableEntitlement: false,
    balance: '30.00',
    currency: 'USD',
    unpaidInvoiceIds: [invoice.id],
    earliestUnpaidAt: invoice.issued_at,
  });
});

test('POST of a subscription whose card is declined starts dunning, and gives its allowance', async () => {
  const plan = await club.plan();
  const subscription = await club.subscribe(plan, await club.cardholder('renewalFails'));
  expect(subscription).toMatchObject({ status: 'active', overdue_state: 'warning' });
  const [payment] = await club.payments(subscription.id);
  expect(payment).toMatchObject({ status: 'failed', failure_code: 'card_declined' });
  const [, failed] = await club.events(subscription.id);
  expect(failed).toMatchObject({
    type: 'payment.failed',
    data: {
      objectType: 'SUBSCRIPTION',
      paymentId: payment.id,
      transactionType: 'SUBSCRIPTION_START',
      failureCode: 'card_declined',
      attempt: 1,
    },
  });
  const next = Date.parse(failed.data.nextAttemptAt) - Date.parse(failed.timestamp);
  expect(Math.round(next / DAY_MS)).toBe(1);
});

// prettier-ignore
const TRIALS: [string, Fields, Fields, number][] = [
  // what                             of the price         wanted               days
  ['as the price says',               { trial_days: 10 },  {},                  10],
  ['longer than the price says',      { trial_days: 10 },  { trial_days: 730 }, 730],
  ['where the price has none',        {},                  { trial_days: 1 },   1],
  ['none, whatever the price says',   { trial_days: 10 },  { trial_days: 0 },   0],
];
test.each(TRIALS)('POST of a subscription with a trial %s', async (_what, price, wanted, days) => {
  const plan = await club.plan(price);
  const subscription = await club.subscribe(plan, await club.cardholder(), wanted);
  const { trial_end: end, created_at: start, phase_name: phase } = subscription;
  expect(await club.check(subscription, plan)).toMatchObject({ allowed: true, limit: 10_000 });
  if (days === 0) {
    expect([end, phase.endsWith('-evergreen')]).toEqual([null, true]);
    expect(await club.payments(subscription.id)).toHaveLength(1);
    return;
  }
  expect(Date.parse(end) - Date.parse(start)).toBe(days * DAY_MS);
  expect(phase).toEndWith('-trial');
  expect(await club.payments(subscription.id)).toEqual([]);
  expect(await club.invoices(subscription.id)).toEqual([]);
  expect(await club.types(subscription.id)).toEqual(['subscription.created']);
});

test("POST of a subscription takes the named price, or the product's first", async () => {
  const plan = await club.plan();
  const yearly = await club.price(plan, { interval: 'year', amount: '300' });
  const customerId = await club.cardholder();
  const first = await club.subscribe(plan, customerId);
  const named = await club.subscribe(plan, customerId, { price_id: yearly.toUpperCase() });
  expect([first.price_id, named.price_id]).toEqual([plan.priceId, yearly]);
  expect([first.plan_name, named.plan_name].map((name) => name.split('-').at(-1))).toEqual([
    'monthly',
    'yearly',
  ]);
  const [payment] = await club.payments(named.id);
  expect(payment.amount).toBe('300.00');
  // A quantity of two grants twice as much.
  expect((await club.check(first, plan)).limit).toBe(20_000);
});

test('POST of a subscription to a free plan charges nothing', async () => {
  const plan = await club.plan({ amount: '0' });
  const subscription = await club.subscribe(plan, await club.customer());
  expect(subscription).toMatchObject({ status: 'active', overdue_state: 'clear' });
  expect(await club.check(subscription, plan)).toMatchObject({ allowed: true });
  await club.advanceTo(subscription.current_period_end);
  expect(await club.subscription(subscription.id)).toMatchObject({ overdue_state: 'clear' });
  const invoices = await club.invoices(subscription.id);
  expect(invoices.map(({ status, total }) => [status, total])).toEqual([
    ['paid', '0.00'],
    ['paid', '0.00'],
  ]);
  expect(await club.payments(subscription.id)).toEqual([]);
});

test('POST of a subscription takes the customer’s external id', async () => {
  const plan = await club.plan({ amount: '0' });
  const body = { external_customer_id: 'ext 7' };
  const { json: customer } = await club.post('/customers', body);
  const { status, json } = await club.post('/subscriptions', {
    ...body,
    product_id: plan.productId,
  });
  expect([status, json.customer_id, json.external_customer_id]).toEqual([
    201,
    customer.id,
    'ext 7',
  ]);
});

test('POST of a subscription again with its key answers the same one', async () => {
  const plan = await club.plan();
  const customerId = await club.cardholder();
  const body = { customer_id: customerId, product_id: plan.productId };
  const headers = { 'idempotency-key': 'start 1' };
  const post = (more: object = {}) =>
    club.post('/subscriptions', { ...body, ...more }, { headers });
  const replies = await Promise.all([post(), post(), post()]);
  const again = await post();
  expect(new Set([...replies, again].map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(again.status).toBe(201);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  const { data } = await club.shop.read(`/subscriptions?product_id=${plan.productId}`);
  expect(data).toHaveLength(1);
  expect(await club.payments(again.json.id)).toHaveLength(1);
  const other = await post({ quantity: 2 });
  expect([other.status, other.json.error.type]).toEqual([422, 'idempotency_key_reused']);
  // In another organisation or mode it is another key.
  const elsewhere = { headers, key: club.shop.server.other.testKey };
  expect((await club.post('/subscriptions', body, elsewhere)).status).toBe(404);
});
