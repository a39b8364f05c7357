// Usage while a subscription is paused or blocked: a fact like any other, on the next invoice.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { DAY_MS } from '../subscriptions/subscribing.ts';
import { Market } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

let market: Market;
beforeAll(async () => {
  market = await Market.open();
});
afterAll(() => market.close());

test('a pause within the period leaves its usage one span, and one line', async () => {
  const plan = await market.sale();
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 12);
  await market.act(subscription.id, 'pause');
  expect(await market.check(subscription, plan)).toMatchObject({
    allowed: false,
    reason: 'subscription_paused',
  });
  await market.track(subscription, plan, 1);
  await market.advance('P5D');
  await market.act(subscription.id, 'resume');
  await market.track(subscription, plan, 2);
  await market.toEnd(subscription);
  expect(await market.bills(subscription)).toEqual([
    'subscription_cycle paid 32.50: recurring 30.00, usage 5 2.50',
  ]);
});

test('a resume after the period bills the usage so far with the new one', async () => {
  const plan = await market.sale();
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 14);
  await market.act(subscription.id, 'pause');
  await market.advance('P35D');
  // Of the second month, which has no invoice.
  await market.track(subscription, plan, 11);
  await market.advance('P5D');
  await market.act(subscription.id, 'resume');
  await market.track(subscription, plan, 13);
  await market.toEnd(subscription);
  expect(await market.bills(subscription)).toEqual([
    'subscription_resume paid 32.50: recurring 30.00, usage 5 2.50',
    'subscription_cycle paid 31.50: recurring 30.00, usage 3 1.50',
  ]);
});

test('a resume that is declined bills no usage; the next one bills it', async () => {
  const plan = await market.sale();
  const subscription = await market.buyer(plan, 'renewalFails');
  await market.track(subscription, plan, 14);
  await market.act(subscription.id, 'pause');
  await market.advance('P35D');
  expect((await market.refused(subscription.id, 'resume'))[0]).toBe(402);
  await market.track(subscription, plan, 12);
  await market.payBy(subscription, 'good');
  await market.act(subscription.id, 'resume');
  expect(await market.bills(subscription)).toEqual([
    'subscription_resume void 32.00: recurring 30.00, usage 4 2.00',
    'subscription_resume paid 33.00: recurring 30.00, usage 6 3.00',
  ]);
});

test('usage during a resume under way is on the next invoice', async () => {
  const plan = await market.sale();
  const subscription = await market.buyer(plan);
  await market.payBy(subscription, 'iban');
  await market.act(subscription.id, 'pause');
  await market.advance('P35D');
  await market.act(subscription.id, 'resume');
  await market.track(subscription, plan, 14);
  await market.advance('PT1H');
  await market.track(subscription, plan, 11);
  await market.toEnd(subscription);
  await market.advance('PT1H');
  expect(await market.bills(subscription)).toEqual([
    'subscription_resume paid 30.00: recurring 30.00, usage 0 0.00',
    // 4 before the new period began, and 1 in it.
    'subscription_cycle paid 32.50: recurring 30.00, usage 4 2.00, usage 1 0.50',
  ]);
});

test('a pause that keeps invoices has its usage not on the drafts, but on the invoice after them', async () => {
  const plan = await market.sale();
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 14);
  await market.act(subscription.id, 'pause', { keep_invoices: true });
  await market.toEnd(subscription);
  await market.track(subscription, plan, 11);
  await market.toEnd(subscription);
  const drafts = [
    'subscription_cycle draft 30.00: recurring 30.00',
    'subscription_cycle draft 30.00: recurring 30.00',
  ];
  expect(await market.bills(subscription)).toEqual(drafts);
  const { id } = await market.bill(subscription);
  expect((await market.post(`/invoices/${id}/finalize`)).status).toBe(200);
  expect((await market.post(`/invoices/${id}/pay`)).status).toBe(200);
  await market.act(subscription.id, 'resume');
  await market.track(subscription, plan, 13);
  await market.toEnd(subscription);
  expect((await market.bills(subscription)).at(-1)).toBe(
    'subscription_cycle paid 34.00: recurring 30.00, usage 8 4.00',
  );
});

test('a subscription that ends while paused bills its usage', async () => {
  const plan = await market.sale();
  const subscription = await market.buyer(plan);
  await market.track(subscription, plan, 14);
  await market.act(subscription.id, 'pause');
  await market.advance('P40D');
  await market.track(subscription, plan, 11);
  await market.act(subscription.id, 'cancel', { mode: 'immediate' });
  expect(await market.bills(subscription)).toEqual(['usage paid 2.50: usage 5 2.50']);
});

test('a subscription paid after being blocked past its period bills its usage with the new one', async () => {
  const plan = await market.sale({
    price: { interval: 'day', interval_count: 10 },
    gives: null,
  });
  const subscription = await market.buyer(plan, 'renewalFails');
  await market.track(subscription, plan, 2);
  await market.toEnd(subscription);
  // Blocked from day 14 on, so that no period begins on day 20.
  await market.advance('P15D');
  expect(await market.check(subscription, plan)).toMatchObject({
    allowed: false,
    reason: 'blocked',
  });
  await market.track(subscription, plan, 3);
  await market.advance('P5DT12H');
  await market.track(subscription, plan, 1);
  expect(await usageOfAll(subscription.id)).toBe('usage 2 1.00');
  await market.payBy(subscription, 'good');
  await market.advance('PT1M');
  expect((await market.subscription(subscription.id)).overdue_state).toBe('clear');
  expect((await market.bills(subscription)).at(-1)).toBe(
    'subscription_cycle paid 32.00: recurring 30.00, usage 4 2.00',
  );
  await market.toEnd(subscription);
  expect(await usageOfAll(subscription.id)).toBe('usage 2 1.00, usage 4 2.00');
});

test('usage of the last period of a pause is billed once', async () => {
  const plan = await market.sale({ sells: { minimum_amount: '1.00' } });
  const subscription = await market.buyer(plan);
  const at = new Date((await market.now()) + 10 * DAY_MS).toISOString();
  await market.act(subscription.id, 'pause', { resumes_at: at });
  await market.track(subscription, plan, 15);
  await market.advanceTo(at);
  await market.toEnd(subscription);
  expect(await market.bills(subscription)).toEqual([
    'subscription_cycle paid 32.50: recurring 30.00, usage 5 2.50',
  ]);
});

/** Lines of usage that cost something, on all invoices. */
async function usageOfAll(id: string): Promise<string> {
  const lines = (await market.invoices(id)).flatMap((invoice) => invoice.lines);
  return lines
    .filter(({ type, amount }) => type.startsWith('usage') && amount !== '0.00')
    .map(({ type, quantity, amount }) => `${type} ${quantity} ${amount}`)
    .join(', ');
}
