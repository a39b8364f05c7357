// A discount on a trial is for the first invoice after it, whatever that comes to.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { type Fields, PATIENCE_MS } from '../../payments/shop.ts';
import { Club, type Json } from './subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let club: Club;
beforeAll(async () => {
  club = await Club.open({ alone: true });
});
afterAll(() => club.close());

type Case = {
  readonly price: Fields;
  readonly off: Fields;
  /** In the trial. */
  readonly change: (price: (fields: Fields) => Promise<string>) => Promise<object>;
  /** Subtotal, discount and total of the first invoice after it. */
  readonly first: readonly [string, string, string];
  /** The totals after that. */
  readonly later: readonly string[];
};

// prettier-ignore
const CASES: readonly (readonly [string, Case])[] = [
  ['all of a year, changed to a cheap month', {
    price: { amount: '1200.00', interval: 'year' }, off: { percent_off: 100 },
    change: async (price) => ({ price_id: await price({ amount: '10.00' }) }),
    first: ['10.00', '10.00', '0.00'], later: ['10.00', '10.00'],
  }],
  ['half, changed to a cheaper plan', {
    price: { amount: '100.00' }, off: { percent_off: 50 },
    change: async (price) => ({ price_id: await price({ amount: '10.00' }) }),
    first: ['10.00', '5.00', '5.00'], later: ['10.00', '10.00'],
  }],
  ['half, changed to three of them', {
    price: { amount: '100.00' }, off: { percent_off: 50 },
    change: async () => ({ quantity: 3 }),
    first: ['300.00', '150.00', '150.00'], later: ['300.00'],
  }],
  ['an amount above the cheaper plan', {
    price: { amount: '100.00' }, off: { amount_off: '40.00', currency: 'USD' },
    change: async (price) => ({ price_id: await price({ amount: '25.00' }) }),
    first: ['25.00', '25.00', '0.00'], later: ['25.00'],
  }],
];

/** In a trial of 10 days, with a code. */
async function inTrial(price: Fields, off: Fields) {
  const code = await club.shop.discount(`C-${ids.next()}`, off);
  const plan = await club.plan({ trial_days: 10, ...price });
  return { plan, subscription: await club.signUp(plan, 'good', { discount_code: code }) };
}

const moneyOf = ({ subtotal, discount_total, total }: Json) => [subtotal, discount_total, total];

test.each(CASES)('a trial with a discount of %s', async (_what, { price, off, first, ...one }) => {
  const { plan, subscription } = await inTrial(price, off);
  const { id } = subscription;
  const body = await one.change((fields) => club.price(plan, { interval: 'month', ...fields }));
  expect(await club.post(`/subscriptions/${id}/change/preview`, body)).toMatchObject({
    status: 200,
    json: { lines: [], total: '0.00', credited: '0.00' },
  });
  await club.act(id, 'change', body);
  const early = (await club.post(`/subscriptions/${id}/end-trial/preview`)).json;
  expect(moneyOf(early)).toEqual([...first]);
  expect(early.amount_due).toBe(first[2]);
  const upcoming = await club.shop.read(`/subscriptions/${id}/upcoming-invoice`);
  expect(moneyOf(upcoming)).toEqual([...first]);
  await club.advanceTo(subscription.trial_end);
  expect(moneyOf((await club.invoices(id)).at(-1))).toEqual([...first]);
  for (const total of one.later) {
    await club.advanceTo((await club.subscription(id)).current_period_end);
    const invoice = (await club.invoices(id)).at(-1);
    expect(moneyOf(invoice)).toEqual([total, '0.00', total]);
    expect(invoice.status).toBe('paid');
  }
});

test('a discounted first period is worth what was paid for it', async () => {
  const { plan, subscription } = await inTrial({ amount: '100.00' }, { percent_off: 75 });
  const { id } = subscription;
  await club.act(id, 'end-trial');
  const { amount } = (await club.payments(id)).at(-1);
  expect(amount).toBe('25.00');
  const big = await club.price(plan, { amount: '250.00' });
  const { lines } = (await club.post(`/subscriptions/${id}/change/preview`, { price_id: big }))
    .json;
  const [unused] = lines;
  expect(Number(unused.amount)).toBeGreaterThanOrEqual(-25);
  expect(Number(unused.amount)).toBeLessThan(-24.99);
});

test('a discount that is deleted in the trial still counts after it', async () => {
  const { subscription } = await inTrial({ amount: '100.00' }, { percent_off: 30 });
  const { data } = await club.shop.read('/discounts?limit=1');
  await club.shop.server.call('DELETE', `/discounts/${data[0].id}`);
  await club.advanceTo(subscription.trial_end);
  expect((await club.payments(subscription.id)).at(-1).amount).toBe('70.00');
});

test('a trial of a release before, with its discount as credit, is billed by the code', async () => {
  const { plan, subscription } = await inTrial({ amount: '100.00' }, { percent_off: 50 });
  const { id, customer_id: customer, trial_end: end } = subscription;
  const { sql, ledger } = club.shop.server;
  await sql`update subscriptions set credit = 5000, discount = null where id = ${id}`;
  ledger.forget(customer);
  const cheap = await club.price(plan, { amount: '10.00' });
  await club.act(id, 'change', { price_id: cheap });
  await club.advanceTo(end);
  expect(moneyOf((await club.invoices(id)).at(-1))).toEqual(['10.00', '5.00', '5.00']);
  await club.advanceTo((await club.subscription(id)).current_period_end);
  expect((await club.payments(id)).at(-1).amount).toBe('10.00');
});
