// The last invoice: what was used until the end of a subscription, however it ends.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { withdrawMandate } from '../../support/bank.ts';
import { DAY_MS } from '../subscriptions/subscribing.ts';
import { Market } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

let market: Market;
beforeAll(async () => {
  market = await Market.open();
});
afterAll(() => market.close());

test("a cancellation at the period's end bills the usage on the last invoice", async () => {
  const plan = await market.sale();
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 12);
  await market.act(subscription.id, 'cancel');
  await market.track(subscription, plan, 3);
  await market.toEnd(subscription);
  expect(await market.bills(subscription)).toEqual(['usage paid 2.50: usage 5 2.50']);
  const period = {
    start: subscription.current_period_start,
    end: subscription.current_period_end,
  };
  const { lines, period_start: start, period_end: end } = await market.bill(subscription);
  expect(lines[0].period).toEqual(period);
  expect({ start, end }).toEqual(period);
  expect((await market.payments(subscription.id)).at(-1)).toMatchObject({
    amount: '2.50',
    status: 'succeeded',
    transaction_type: 'RECURRING',
  });
  const told = (await market.events(subscription.id)).slice(-3);
  expect(told.map(({ type, data }) => [type, data.amount])).toEqual([
    ['subscription.canceled', '30.00'],
    ['subscription.expired', '30.00'],
    ['payment.succeeded', '2.50'],
  ]);
});

test('a cancellation at once bills the usage so far', async () => {
  const plan = await market.sale();
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 12);
  await market.advance('P3D');
  const { ended_at: end } = await market.act(subscription.id, 'cancel', { mode: 'immediate' });
  expect(await market.bills(subscription)).toEqual(['usage paid 1.00: usage 2 1.00']);
  expect((await market.bill(subscription)).lines[0].period).toEqual({
    start: subscription.current_period_start,
    end,
  });
});

test('a cancellation without usage to bill makes no invoice', async () => {
  const plan = await market.sale();
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 9);
  await market.act(subscription.id, 'cancel', { mode: 'immediate' });
  expect(await market.bills(subscription)).toEqual([]);
});

test('a trial sells no usage and bills none', async () => {
  const plan = await market.sale({
    price: { trial_days: 10 },
    sells: { minimum_amount: '4.00' },
  });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 9);
  expect(await market.check(subscription, plan)).toMatchObject({ allowed: true, balance: 1 });
  await market.track(subscription, plan, 5);
  expect(await market.check(subscription, plan)).toMatchObject({
    allowed: false,
    reason: 'insufficient_balance',
    overage_allowed: false,
  });
  await market.act(subscription.id, 'cancel');
  await market.toEnd(subscription);
  expect(await market.bills(subscription)).toEqual([]);
});

test.each(['by time', 'by hand'])(
  'a trial that converts %s sells usage from then on',
  async (how) => {
    const plan = await market.sale({ price: { trial_days: 10 } });
    const subscription = await market.buyer(plan);
    await market.track(subscription, plan, 14);
    if (how === 'by time') {
      await market.toEnd(subscription);
    } else {
      await market.advance('P4D');
      await market.act(subscription.id, 'end-trial');
    }
    const trialDay = Date.parse(subscription.current_period_start) + DAY_MS;
    await market.use(subscription, plan, 20, trialDay);
    expect(await market.check(subscription, plan)).toMatchObject({
      allowed: true,
      overage_allowed: true,
      balance: 10,
    });
    await market.track(subscription, plan, 13);
    await market.toEnd(subscription);
    expect(await market.bills(subscription)).toEqual([
      'subscription_cycle paid 30.00: recurring 30.00',
      'subscription_cycle paid 31.50: recurring 30.00, usage 3 1.50',
    ]);
  },
);

test('a last invoice includes the usage of an invoice that dunning gave up', async () => {
  const plan = await market.sale();
  const subscription = await market.buyer(plan, 'renewalFails');
  await market.track(subscription, plan, 14);
  await market.toEnd(subscription);
  // Of the period that is not paid.
  await market.track(subscription, plan, 11);
  // Late, and of the first one.
  await market.use(subscription, plan, 1, Date.parse(subscription.current_period_start) + DAY_MS);
  await market.advance('P22D');
  expect((await market.subscription(subscription.id)).status).toBe('canceled');
  expect(await market.bills(subscription)).toEqual([
    'subscription_cycle void 32.00: recurring 30.00, usage 4 2.00',
    'usage open 3.00: usage 5 2.50, usage 1 0.50',
  ]);
  // It is charged once.
  await market.advance('P40D');
  expect(await market.bill(subscription)).toMatchObject({ attempts: 1, amount_due: '3.00' });
});

test('a last invoice that is declined stays open, and is paid by the merchant', async () => {
  const plan = await market.sale();
  const subscription = await market.buyer(plan, 'renewalFails');
  await market.track(subscription, plan, 14);
  await market.act(subscription.id, 'cancel', { mode: 'immediate' });
  expect(await market.bills(subscription)).toEqual(['usage open 2.00: usage 4 2.00']);
  const { id } = await market.bill(subscription);
  expect((await market.post(`/invoices/${id}/pay`)).status).toBe(402);
  await market.payBy(subscription, 'good');
  const before = await market.events(subscription.id);
  const { status, json } = await market.post(`/invoices/${id}/pay`);
  expect([status, json.status, json.amount_paid, json.attempts]).toEqual([200, 'paid', '2.00', 3]);
  // It is a payment of the subscription, which has ended.
  const payments = await market.payments(subscription.id);
  const payment = payments.at(-1);
  expect(payment).toMatchObject({
    id: json.payment_id,
    transaction_type: 'RECURRING',
    subscription_id: subscription.id,
    invoice_id: id,
  });
  const told = (await market.events(subscription.id)).slice(before.length);
  expect(told.map(({ type, data }) => ({ type, ...data }))).toMatchObject([
    {
      type: 'payment.succeeded',
      objectType: 'SUBSCRIPTION',
      transactionType: 'RECURRING',
      paymentId: payment?.id,
      subscriptionId: subscription.id,
      invoiceId: id,
      paymentLinkId: payments[0]?.checkout_id,
    },
  ]);
});

test('a last invoice may be voided by the merchant', async () => {
  const plan = await market.sale();
  const subscription = await market.buyer(plan, 'renewalFails');
  await market.track(subscription, plan, 14);
  await market.act(subscription.id, 'cancel', { mode: 'immediate' });
  const { id } = await market.bill(subscription);
  expect((await market.post(`/invoices/${id}/void`)).status).toBe(200);
  await market.advance('P2M');
  expect(await market.bills(subscription)).toEqual(['usage void 2.00: usage 4 2.00']);
});

test('a mandate lost at the renewal leaves its usage on the last invoice', async () => {
  const plan = await market.sale();
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 14);
  await withdrawMandate(market.shop.server, subscription.customer_id);
  await market.toEnd(subscription);
  expect((await market.subscription(subscription.id)).status).toBe('canceled');
  // Both are of the same moment.
  expect((await market.bills(subscription)).toSorted()).toEqual([
    'subscription_cycle void 32.00: recurring 30.00, usage 4 2.00',
    'usage open 2.00: usage 4 2.00',
  ]);
});

test('a mandate lost at a plan change leaves its usage on the last invoice', async () => {
  const plan = await market.sale();
  const big = await market.sale({ feature: plan.feature, price: { amount: '60.00' } });
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 14);
  await withdrawMandate(market.shop.server, subscription.customer_id);
  await market.advance('P2D');
  await market.refused(subscription.id, 'change', { price_id: big.priceId });
  expect((await market.subscription(subscription.id)).status).toBe('canceled');
  const [changed, last] = await market.bills(subscription);
  expect(changed).toStartWith('subscription_update void');
  expect(last).toBe('usage open 2.00: usage 4 2.00');
});

test.each(['paid', 'refused'])(
  "a plan change's charge is under way when the subscription ends, then %s",
  async (answer) => {
    const plan = await market.sale();
    const subscription = await market.buyer(plan);
    await market.payBy(subscription, answer === 'paid' ? 'iban' : 'ibanFails');
    await market.track(subscription, plan, 14);
    await market.toEnd(subscription);
    await market.track(subscription, plan, 11);
    await market.act(subscription.id, 'cancel', { mode: 'immediate' });
    await market.advance('PT1H');
    const [renewal, last, moved] = await market.bills(subscription);
    const isPaid = answer === 'paid';
    expect(renewal).toBe(
      `subscription_cycle ${isPaid ? 'paid' : 'void'} 32.00: recurring 30.00, usage 4 2.00`,
    );
    expect(last).toBe(`usage ${isPaid ? 'paid' : 'open'} 0.50: usage 1 0.50`);
    expect(moved).toBe(isPaid ? undefined : 'usage open 2.00: usage 4 2.00');
  },
);
