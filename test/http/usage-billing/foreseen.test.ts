// The upcoming invoice where something else comes before it: a payment that is awaited, and what
// other subscriptions take of the customer's credit.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import type { Json } from '../subscriptions/subscribing.ts';
import { Market } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

let market: Market;
beforeAll(async () => {
  market = await Market.open();
});
afterAll(async () => {
  await market.expectSound();
  await market.close();
});

const upcoming = ({ id }: Json): Promise<Json> =>
  market.shop.read(`/subscriptions/${id}/upcoming-invoice`);

const said = ({ total, lines }: Json): string[] => [
  total,
  ...lines.map(({ type, amount }: Json) => `${type} ${amount}`),
];

/** What is told, once it is what the clock bills then. */
async function toldAndBilled(subscription: Json): Promise<string[]> {
  const told = await upcoming(subscription);
  const known = (await market.invoices(subscription.id)).length;
  await market.advanceTo(told.period_end);
  const [made] = (await market.invoices(subscription.id)).slice(known);
  expect(said(told)).toEqual(said(made));
  return said(told);
}

test('a dearer plan that waits for its payment is billed, with usage since by its terms', async () => {
  const plan = await market.sale();
  const dearer = await market.sale({
    feature: plan.feature,
    price: { amount: '60.00' },
    gives: { limit: 20 },
    sells: { model: 'per_unit', unit_amount: '1.00' },
  });
  const subscription = await market.buyer(plan);
  await market.payBy(subscription, 'iban');
  await market.advance('P10D');
  await market.track(subscription, plan, 14);
  await market.act(subscription.id, 'change', { price_id: dearer.priceId });
  await market.track(subscription, plan, 20);
  expect((await market.subscription(subscription.id)).pending_change).not.toBeNull();
  // 4 were billed at the change: of 34, 20 are included and 4 are paid.
  expect(await toldAndBilled(subscription)).toEqual(['70.00', 'recurring 60.00', 'usage 10.00']);
  await market.stop(subscription);
});

test('a plan with another interval that waits is billed at the end of the period that it begins', async () => {
  const plan = await market.sale();
  const dearer = await market.sale({
    feature: plan.feature,
    price: { amount: '45.00', interval: 'week' },
    gives: { limit: 10, reset_interval: 'week' },
  });
  const subscription = await market.buyer(plan);
  await market.payBy(subscription, 'iban');
  await market.advance('P10D');
  await market.act(subscription.id, 'change', { price_id: dearer.priceId });
  const at = await market.now();
  const { period_end: end } = await upcoming(subscription);
  expect(Math.round((Date.parse(end) - at) / 3_600_000)).toBe(7 * 24);
  expect(await toldAndBilled(subscription)).toEqual(['45.00', 'recurring 45.00', 'usage 0.00']);
  await market.stop(subscription);
});

test('a resume that waits is billed at the end of the period that it begins', async () => {
  const plan = await market.sale({
    sells: { model: 'per_unit', unit_amount: '1.00', minimum_amount: '3.00' },
  });
  const subscription = await market.buyer(plan);
  await market.payBy(subscription, 'iban');
  await market.act(subscription.id, 'pause');
  await market.advance('P40D');
  await market.act(subscription.id, 'resume');
  expect(await toldAndBilled(subscription)).toEqual(['33.00', 'recurring 30.00', 'usage 3.00']);
  await market.stop(subscription);
});

test('credit of the customer counts for the subscription that is due first', async () => {
  const plan = await market.plan({ amount: '25.00' });
  const small = await market.plan({ amount: '10.00' });
  const ended = await market.signUp(plan);
  const [first, second] = [
    await market.subscribe(small, ended.customer_id),
    await market.subscribe(small, ended.customer_id),
  ];
  await market.act(ended.id, 'change', { price_id: small.priceId });
  await market.stop(ended);
  // 15.00 of credit: 10.00 of the first, 5.00 of the second.
  const told = [(await upcoming(first)).total, (await upcoming(second)).total];
  await market.toEnd(second);
  const billed = [(await market.bill(first)).total, (await market.bill(second)).total];
  expect([told, billed]).toEqual([
    ['0.00', '5.00'],
    ['0.00', '5.00'],
  ]);
  for (const one of [first, second]) await market.stop(one);
});

test('what is due twice before uses the credit twice, and what ends leaves its own', async () => {
  const week = await market.plan({ amount: '4.00', interval: 'week' });
  const plan = await market.plan({ amount: '25.00' });
  const small = await market.plan({ amount: '10.00' });
  const ending = await market.signUp(plan);
  const weekly = await market.subscribe(week, ending.customer_id);
  const monthly = await market.subscribe(small, ending.customer_id);
  await market.act(ending.id, 'change', { price_id: small.priceId });
  await market.act(ending.id, 'cancel');
  // Four weeks at 4.00 are paid by card; then 15.00 are left by what ends, and 10.00 of them are
  // used.
  const told = await upcoming(monthly);
  await market.toEnd(monthly);
  expect([told.total, (await market.bill(monthly)).total]).toEqual(['0.00', '0.00']);
  // 5.00 are left: the next two weeks take 4.00 and 1.00.
  const next = await upcoming(monthly);
  await market.toEnd(monthly);
  expect([next.total, (await market.bill(monthly)).total]).toEqual(['10.00', '10.00']);
  for (const one of [weekly, monthly]) await market.stop(one);
});
