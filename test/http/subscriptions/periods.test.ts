// When periods end: by the calendar from their anchor, in the organisation's time zone; the
// allowance follows.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type Fields, PATIENCE_MS } from '../../payments/shop.ts';
import { Club } from './subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let club: Club;
beforeAll(async () => {
  club = await Club.open();
});
afterAll(() => club.close());

/** A time in a future year. */
async function comingYear(): Promise<number> {
  return new Date(await club.now()).getUTCFullYear() + 1;
}

// prettier-ignore
const CALENDAR: [string, string, Fields, string[]][] = [
  // what                 from            price                                       ends
  ['the 31st',            '01-31T10:00',  { interval: 'month' },                      ['02-28', '03-31', '04-30', '05-31']],
  ['two weeks',           '02-20T10:00',  { interval: 'week', interval_count: 2 },    ['03-06', '03-20', '04-03']],
  ['a quarter',           '01-31T10:00',  { interval: 'month', interval_count: 3 },   ['04-30', '07-31']],
  ['days',                '02-27T10:00',  { interval: 'day' },                        ['02-28', '03-01']],
];
test.each(CALENDAR)('the periods of a subscription: %s', async (_what, from, price, ends) => {
  let year = await comingYear();
  // None of the tables' years is a leap year.
  while (year % 4 === 0) year += 1;
  await club.advanceTo(`${year}-${from}:00Z`);
  const plan = await club.plan({ ...price, amount: '0' });
  const { id, customer_id } = await club.subscribe(plan, await club.customer());
  const seen = [];
  for (const _end of ends) {
    const { current_period_end: next } = await club.subscription(id);
    seen.push(next.slice(5, 10));
    await club.track({ customer_id }, plan, 10_000);
    expect((await club.check({ customer_id }, plan)).allowed).toBe(false);
    await club.advanceTo(next);
    expect((await club.check({ customer_id }, plan)).balance).toBe(10_000);
  }
  expect(seen).toEqual(ends);
  await club.act(id, 'cancel', { mode: 'immediate' });
});

test('a period begins at the same wall clock time in the organisation’s zone', async () => {
  const setZone = (timezone: string) =>
    club.shop.server.call('PATCH', '/organization', { body: { timezone } });
  await setZone('Europe/Zurich');
  await club.advanceTo(`${await comingYear()}-03-15T11:00:00Z`);
  const plan = await club.plan({ amount: '0' });
  const subscription = await club.subscribe(plan, await club.customer());
  await setZone('UTC');
  // Noon is 11:00 UTC in winter and 10:00 in summer.
  expect(subscription.current_period_end.slice(5, 16)).toBe('04-15T10:00');
  await club.advanceTo(subscription.current_period_end);
  const { current_period_end: next } = await club.subscription(subscription.id);
  expect(next.slice(5, 16)).toBe('05-15T10:00');
  await club.act(subscription.id, 'cancel');
});

test('over a year every period is there once: invoices without a gap, one charge each', async () => {
  const plan = await club.plan();
  const { id } = await club.signUp(plan);
  await club.advance('P1Y');
  const invoices = await club.invoices(id);
  expect(invoices).toHaveLength(13);
  for (const [index, invoice] of invoices.entries()) {
    expect(invoice.status).toBe('paid');
    if (index > 0) expect(invoice.period_start).toBe(invoices[index - 1].period_end);
  }
  const payments = await club.payments(id);
  expect(payments.map(({ invoice_id: of }) => of)).toEqual(invoices.map(({ id: of }) => of));
  await club.act(id, 'cancel');
});

test('a period paid by bank debit is paid when it has settled, at the signup and each renewal', async () => {
  const plan = await club.plan();
  const session = await club.checkout(plan);
  const paying = await club.pay(session, 'iban');
  expect(paying.status).toBe('processing');
  const read = () => club.shop.server.call('GET', `/subscriptions/${paying.subscription_id}`);
  expect((await read()).status).toBe(404);
  await club.advance('PT1H');
  const { json: subscription } = await read();
  const { id } = subscription;
  expect(subscription).toMatchObject({ status: 'active' });
  expect(await club.check(subscription, plan)).toMatchObject({ allowed: true });
  await club.advanceTo(subscription.current_period_end);
  expect((await club.payments(id)).at(-1).status).toBe('processing');
  expect(await club.subscription(id)).toMatchObject({ status: 'active', overdue_state: 'clear' });
  await club.advance('PT1H');
  expect((await club.payments(id)).at(-1).status).toBe('succeeded');
  expect(await club.types(id)).toEqual([
    'subscription.created',
    'payment.succeeded',
    'payment.succeeded',
  ]);
});

test("a renewal's invoice has a changed customer's new address, and the name of the checkout", async () => {
  const plan = await club.plan();
  const subscription = await club.signUp(plan);
  const body = { email: 'new@example.com', external_customer_id: `new ${subscription.id}` };
  await club.shop.server.call('PATCH', `/customers/${subscription.customer_id}`, { body });
  await club.advanceTo(subscription.current_period_end);
  const last = (await club.events(subscription.id)).at(-1);
  expect(last.data).toMatchObject({
    customerEmail: body.email,
    externalCustomerId: subscription.external_customer_id,
  });
  expect(await club.subscription(subscription.id)).toMatchObject({
    customer_email: body.email,
    external_customer_id: body.external_customer_id,
  });
});

test('a subscription in live mode starts even where no processor is connected', async () => {
  const key = club.shop.server.organisation.liveKey;
  const price = { currency: 'USD', amount: '30', interval: 'month' };
  const product = await club.post('/products', { name: 'Pro', prices: [price] }, { key });
  const customer = await club.post('/customers', {}, { key });
  const body = { customer_id: customer.json.id, product_id: product.json.id };
  const { status, json } = await club.post('/subscriptions', body, { key });
  expect([status, json.status, json.overdue_state]).toEqual([201, 'active', 'warning']);
});
