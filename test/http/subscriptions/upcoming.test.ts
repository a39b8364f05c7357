// The preview of the next invoice: what the clock then bills, to the cent.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { made, PATIENCE_MS } from '../../payments/shop.ts';
import { Club, type Json, type Plan, type PlanWish, UNKNOWN } from './subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let club: Club;
beforeAll(async () => {
  club = await Club.open();
});
afterAll(() => club.close());

type Price = Readonly<Record<string, unknown>>;

const EACH = { model: 'per_unit', unit_amount: '0.0125' };
const TIERS = {
  model: 'graduated',
  tiers: [
    { up_to: 100, unit_amount: '0.01' },
    { up_to: null, unit_amount: '0.0033', flat_amount: '2.00' },
  ],
};

/** A plan that includes 10 units, and sells more. */
async function priced(price: Price, wish: PlanWish = {}): Promise<Plan> {
  const plan = await club.plan({ limit: 10, ...wish });
  const body = { feature_key: plan.feature, currency: 'USD', ...price };
  made(await club.post(`/products/${plan.productId}/usage-prices`, body));
  return plan;
}

const upcoming = (id: string): Promise<Json> =>
  club.shop.read(`/subscriptions/${id}/upcoming-invoice`);

/** An invoice without what only an issued one has. */
function bare({ currency, lines, subtotal, discount_total, tax_total, total }: Json): Json {
  const left = lines.map(({ id: _id, ...line }: Json) => line);
  return { currency, lines: left, subtotal, discount_total, tax_total, total };
}

/** What was previewed is what is billed, when only time passes. Returns it. */
async function expectBilled(id: string): Promise<Json> {
  const before = { count: (await club.invoices(id)).length, at: await club.now() };
  const preview = await upcoming(id);
  expect(Date.parse(preview.as_of)).toBeWithin(before.at, (await club.now()) + 1);
  await club.advanceTo(preview.period_end);
  const added = (await club.invoices(id)).slice(before.count);
  expect(added).toHaveLength(preview.lines.length === 0 ? 0 : 1);
  if (added.length > 0) expect(bare(added[0])).toEqual(bare(preview));
  return preview;
}

test('the upcoming invoice has the plan alone, and usage beyond what it includes', async () => {
  const plan = await priced(EACH);
  const { id, customer_id } = await club.signUp(plan);
  const empty = await upcoming(id);
  const [recurring, unused] = empty.lines;
  expect([empty.lines.length, recurring.type, recurring.description]).toEqual([
    2,
    'recurring',
    'Pro',
  ]);
  expect([unused.type, unused.quantity, unused.amount]).toEqual(['usage', 0, '0.00']);
  expect(empty.total).toBe('30.00');
  await club.track({ customer_id }, plan, 10);
  expect((await upcoming(id)).total).toBe('30.00');
  await club.track({ customer_id }, plan, 33);
  const { total, lines } = await expectBilled(id);
  // 33 at 0.0125 is 0.4125.
  expect([total, lines[1].quantity, lines[1].amount]).toEqual(['30.41', 33, '0.41']);
  expect(lines[1].tiers).toEqual([
    { quantity: 33, unit_amount: '0.0125', flat_amount: null, amount: '0.4125' },
  ]);
  expect(lines[1].description).toBe(plan.feature);
  // The next period begins with nothing.
  expect((await upcoming(id)).total).toBe('30.00');
});

// prettier-ignore
const PRICES: [string, Price, number, string][] = [
  // what price used total
  ['tiers',                    TIERS,                                                                 310,  '33.66'],
  ['a volume',                 { ...TIERS, model: 'volume' },                                         310,  '32.99'],
  ['packages',                 { model: 'package', package_size: 100, package_amount: '5.00' },       111,  '40.00'],
  ['a minimum without usage',  { ...EACH, minimum_amount: '7.00' },                                   0,    '37.00'],
  ['a minimum',                { ...EACH, minimum_amount: '7.00' },                                   30,   '37.00'],
  ['a maximum',                { ...EACH, maximum_amount: '1.00' },                                   500,  '31.00'],
];

test.each(PRICES)('the upcoming invoice prices usage: %s', async (_what, price, used, total) => {
  const plan = await priced(price);
  const { id, customer_id } = await club.signUp(plan);
  if (used > 0) await club.track({ customer_id }, plan, used);
  expect((await expectBilled(id)).total).toBe(total);
});

test("the upcoming invoice has the minimums of the meter's shorter periods still to come", async () => {
  const plan = await priced(
    { ...EACH, minimum_amount: '1.00' },
    { interval: 'week', reset: 'day' },
  );
  const { id, customer_id } = await club.signUp(plan);
  await club.track({ customer_id }, plan, 210);
  const { total } = await expectBilled(id);
  // 200 at 0.0125 on the first day, and six days of the minimum.
  expect(total).toBe('38.50');
});

test('the upcoming invoice has late usage of a billed period as a line of its own', async () => {
  const plan = await priced(EACH);
  const { id, customer_id } = await club.signUp(plan);
  await club.track({ customer_id }, plan, 50);
  const late = new Date((await club.now()) + 60_000).toISOString();
  await expectBilled(id);
  const event = { customer_id, name: plan.feature, timestamp: late, value: 8 };
  expect((await club.post('/events/ingest', { events: [event] })).status).toBe(200);
  const { lines, total } = await expectBilled(id);
  const adjustment = lines.find(({ type }: Json) => type === 'usage_adjustment');
  expect([adjustment.quantity, adjustment.amount, total]).toEqual([8, '0.10', '30.10']);
});

test('the upcoming invoice uses a credit', async () => {
  const plan = await priced(EACH, { amount: '60.00' });
  const cheaper = await club.price(plan, { amount: '30.00' });
  const { id, customer_id } = await club.signUp(plan);
  await club.act(id, 'change', { price_id: cheaper });
  await club.track({ customer_id }, plan, 50);
  const { lines, total } = await expectBilled(id);
  expect(lines.map(({ type }: Json) => type)).toEqual(['recurring', 'usage', 'credit']);
  expect(total).not.toBe('30.50');
});

test('the upcoming invoice of a canceled subscription is its final one, and then none', async () => {
  const plan = await priced(EACH);
  const { id, customer_id } = await club.signUp(plan);
  await club.track({ customer_id }, plan, 90);
  await club.act(id, 'cancel', { mode: 'at_period_end' });
  const { lines, total } = await expectBilled(id);
  expect([lines.length, lines[0].type, total]).toEqual([1, 'usage', '1.00']);
  const reply = await club.shop.server.call('GET', `/subscriptions/${id}/upcoming-invoice`);
  expect([reply.status, reply.json.error.type]).toEqual([409, 'invalid_state']);
});

test('the upcoming invoice of a canceled subscription without usage has no line', async () => {
  const { id } = await club.signUp(await priced(EACH));
  await club.act(id, 'cancel', { mode: 'at_period_end' });
  const { lines, total } = await expectBilled(id);
  expect([lines, total]).toEqual([[], '0.00']);
});

test('the upcoming invoice in a trial is the first period, without usage', async () => {
  const plan = await priced({ ...EACH, minimum_amount: '7.00' });
  const { id } = await club.subscribe(plan, await club.cardholder(), { trial_days: 7 });
  const { lines, total } = await expectBilled(id);
  expect([lines.length, total]).toEqual([1, '30.00']);
});

// prettier-ignore
test.each([
  ['no invoice: none',                  {},                                  []],
  ['drafts: the plan, without usage',   { keep_invoices: true },             ['recurring']],
  ['until the period goes on: its own', { resumes_at: 'tomorrow' },          ['recurring', 'usage']],
])('the upcoming invoice of a paused subscription, with %s', async (_what, body, types) => {
  const plan = await priced(EACH);
  const { id, customer_id } = await club.signUp(plan);
  await club.track({ customer_id }, plan, 50);
  const tomorrow = new Date((await club.now()) + 86_400_000).toISOString();
  await club.act(id, 'pause', { ...body, ...('resumes_at' in body && { resumes_at: tomorrow }) });
  const { lines } = await expectBilled(id);
  expect(lines.map(({ type }: Json) => type)).toEqual(types);
});

test("the upcoming invoice is in the customer's portal", async () => {
  const plan = await priced(EACH);
  const { id, customer_id } = await club.signUp(plan);
  await club.track({ customer_id }, plan, 50);
  const { url } = made(await club.post(`/customers/${customer_id}/portal-tokens`, {}));
  const page = async (): Promise<string> =>
    (await club.shop.server.call('GET', new URL(url).pathname)).text.replaceAll(
      /<[^>]*>|\s+/g,
      ' ',
    );
  const text = (await page()).replaceAll(/ +/g, ' ');
  expect(text).toContain('Next invoice Pro $30.50 On ');
  expect(text).toContain(`${plan.feature} · 40 $0.50`);
  await club.act(id, 'cancel', { mode: 'immediate' });
  expect(await page()).not.toContain('Next invoice');
});

test("the upcoming invoice of an unknown or another organisation's subscription is 404", async () => {
  const { id } = await club.signUp(await club.plan());
  const { organisation, other } = club.shop.server;
  for (const key of [other.testKey, organisation.liveKey]) {
    const reply = await club.shop.server.call('GET', `/subscriptions/${id}/upcoming-invoice`, {
      key,
    });
    expect(reply.status).toBe(404);
  }
  for (const unknown of [UNKNOWN, 'x']) {
    const path = `/subscriptions/${unknown}/upcoming-invoice`;
    expect((await club.shop.server.call('GET', path)).status).toBe(404);
  }
});
