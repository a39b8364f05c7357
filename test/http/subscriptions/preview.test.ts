// The preview of an action: what the action then bills and does, field by field; and nothing is
// written for it.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { Market } from '../usage-billing/setting.ts';
import { DAY_MS, type Json, type Plan, type PlanWish, UNKNOWN } from './subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let market: Market;
beforeAll(async () => {
  market = await Market.open();
});
afterAll(() => market.close());

// Periods are so long, and prices so low, that the milliseconds between a preview and its action
// are worth nothing.
const YEAR = { interval: 'year', amount: '30.00' };

/** A plan that includes 10 units, and sells each further one for 0.50. */
const sold = (price: PlanWish = {}): Promise<Plan> => market.sale({ price: { ...YEAR, ...price } });

type Action = 'change' | 'cancel' | 'resume' | 'end-trial';

async function previewed(id: string, action: Action, body?: object): Promise<Json> {
  const reply = await market.post(`/subscriptions/${id}/${action}/preview`, body);
  expect([action, reply.status, reply.text]).toEqual([action, 200, reply.text]);
  return reply.json;
}

/** An invoice without what only an issued one has. */
function bare({ currency, lines, subtotal, discount_total, tax_total, total }: Json): Json {
  const plain = lines.map(({ id: _id, ...line }: Json) => line);
  return { currency, lines: plain, subtotal, discount_total, tax_total, total };
}

/** Each time of `then` that is at most so much later than that of `said` is that one. */
function asSaid(said: Json, then: Json, ms: number): Json {
  if (typeof said === 'string' && typeof then === 'string') {
    const late = Date.parse(then) - Date.parse(said);
    return /^\d{4}-.*Z$/.test(said) && late >= 0 && late <= ms ? said : then;
  }
  if (typeof then !== 'object' || then === null) return then;
  const entries = Object.entries<Json>(then).map(([name, value]) => [
    name,
    asSaid(said?.[name], value, ms),
  ]);
  return Array.isArray(then) ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}

const TABLES =
  'subscriptions invoices payments followups events alarms audit_log grants accounts transfers ' +
  'usage_spans customer_meters billing_accounts idempotency';

/** All that is stored of what an action changes. */
async function stored(): Promise<string[]> {
  const { sql } = market.shop.server;
  const texts: string[] = [];
  for (const table of TABLES.split(' ')) {
    const rows = await sql<{ text: string }[]>`
      select coalesce(md5(string_agg(t::text, '' order by t::text)), '') || count(*) as text
      from ${sql(table)} t`;
    texts.push(`${table} ${rows[0]!.text}`);
  }
  return texts;
}

/** What was previewed is what is done. Returns it. */
async function expectDone(id: string, action: Action, body?: object): Promise<Json> {
  const known = (await market.invoices(id)).length;
  const before = await stored();
  const preview = await previewed(id, action, body);
  expect(await stored()).toEqual(before);
  const done = await market.act(id, action, body);
  const ms = (await market.now()) - Date.parse(preview.as_of);
  const made = (await market.invoices(id)).slice(known);
  expect(made).toHaveLength(preview.lines.length === 0 ? 0 : 1);
  if (made.length > 0) expect(asSaid(preview, bare(made[0]), ms)).toEqual(bare(preview));
  expect(preview.amount_due).toBe(preview.total);
  expect(asSaid(preview.subscription, done, ms)).toEqual(preview.subscription);
  return preview;
}

/** A third of a year after it was bought. */
async function bought(plan: Plan): Promise<Json> {
  const subscription = await market.signUp(plan);
  await market.advance('P120D');
  return subscription;
}

const cents = (amount: string): bigint => BigInt(amount.replace('.', ''));
const money = (units: bigint): string => `${units / 100n}.${String(units % 100n).padStart(2, '0')}`;

/** What is left of a whole amount at the time of a preview, in cents, rounded half up. */
function left(amount: string, { as_of: at, subscription }: Json): bigint {
  const { current_period_start: from, current_period_end: to } = subscription;
  const [start, end, now] = [from, to, at].map((time) => BigInt(Date.parse(time)));
  const whole = end! - start!;
  return (cents(amount) * (end! - now!) * 2n + whole) / (whole * 2n);
}

const typesOf = ({ lines }: Json): string[] => lines.map(({ type }: Json) => type);

test('a preview of an upgrade shows its charge, and that the change waits for it', async () => {
  const { id } = await bought(await market.plan(YEAR));
  const big = await market.plan({ ...YEAR, amount: '90.00' });
  const preview = await expectDone(id, 'change', { price_id: big.priceId.toUpperCase() });
  expect(typesOf(preview)).toEqual(['proration', 'proration']);
  const total = money(left('90.00', preview) - left('30.00', preview));
  expect([preview.total, preview.credited, preview.waits_for_payment]).toEqual([
    total,
    '0.00',
    true,
  ]);
  expect(preview.subscription.price_id).toBe(big.priceId);
});

test('a preview of a downgrade shows what is kept as credit, which comes off the next invoice', async () => {
  const { id } = await bought(await market.plan({ ...YEAR, amount: '90.00' }));
  const small = await market.plan(YEAR);
  const preview = await expectDone(id, 'change', { price_id: small.priceId });
  const credited = left('90.00', preview) - left('30.00', preview);
  expect(preview.lines.map(({ amount }: Json) => amount)).toEqual([
    `-${money(left('90.00', preview))}`,
    money(left('30.00', preview)),
    money(credited),
  ]);
  expect([preview.total, preview.credited]).toEqual(['0.00', money(credited)]);
  expect(preview.waits_for_payment).toBe(false);
  await market.toEnd({ id });
  const { lines } = await market.bill({ id });
  expect(lines.at(-1)).toMatchObject({ type: 'credit', amount: '-30.00' });
  // What is left of it pays for more of the same.
  const rest = credited - 3000n;
  const more = await expectDone(id, 'change', { quantity: 2 });
  expect(more.lines.at(-1)).toMatchObject({ type: 'credit', amount: `-${money(rest)}` });
  expect([more.total, more.credited]).toEqual([money(3000n - rest), '0.00']);
});

test('a preview of a change of quantity, up and down', async () => {
  const { id } = await bought(await market.plan(YEAR));
  const more = await expectDone(id, 'change', { quantity: 3 });
  const two = money(left('90.00', more) - left('30.00', more));
  expect([more.total, more.subscription.quantity]).toEqual([two, 3]);
  const fewer = await expectDone(id, 'change', { quantity: 2 });
  const one = money(left('90.00', fewer) - left('60.00', fewer));
  expect([fewer.total, fewer.credited]).toEqual(['0.00', one]);
  const same = await expectDone(id, 'change', { quantity: 2 });
  expect([same.total, same.credited, same.waits_for_payment]).toEqual(['0.00', '0.00', false]);
});

test('a preview of a change of interval shows the new period', async () => {
  const { id, current_period_start: began } = await bought(await market.plan(YEAR));
  const long = await market.plan({ interval: 'year', interval_count: 2, amount: '50.00' });
  const path = `/products/${long.productId}`;
  await market.shop.server.call('PATCH', path, { body: { name: 'Max' } });
  const preview = await expectDone(id, 'change', { price_id: long.priceId });
  expect(preview.lines[1].description).toBe('Max');
  expect(typesOf(preview)).toEqual(['proration', 'recurring']);
  const { current_period_start: start, current_period_end: end } = preview.subscription;
  expect(start).toBe(preview.as_of);
  expect(Date.parse(start)).toBeGreaterThan(Date.parse(began));
  expect(new Date(end).getUTCFullYear()).toBe(new Date(start).getUTCFullYear() + 2);
});

test('a preview of a plan change bills the usage so far, and again only where there is more', async () => {
  const plan = await sold();
  const dear = await market.price(plan, { ...YEAR, amount: '60.00' });
  const subscription = await bought(plan);
  const { id } = subscription;
  await market.use(subscription, plan, 33);
  const preview = await expectDone(id, 'change', { price_id: dear });
  expect(typesOf(preview)).toEqual(['proration', 'proration', 'usage']);
  expect(preview.lines[2]).toMatchObject({ quantity: 23, amount: '11.50' });
  await market.use(subscription, plan, 4);
  const back = await expectDone(id, 'change', { price_id: plan.priceId });
  // Less than nothing, with usage: an invoice of nothing, which says what is left.
  expect(typesOf(back)).toEqual(['proration', 'proration', 'usage', 'credit']);
  expect([back.total, back.lines[2].amount, back.credited]).toEqual([
    '0.00',
    '2.00',
    back.lines[3].amount,
  ]);
});

test("a preview of a plan change in a trial is free; of the trial's end it charges", async () => {
  const plan = await sold();
  const dear = await market.price(plan, { ...YEAR, amount: '60.00' });
  const { id } = await market.subscribe(plan, await market.cardholder(), { trial_days: 7 });
  const change = await expectDone(id, 'change', { price_id: dear });
  expect([change.lines, change.credited, change.amount_due]).toEqual([[], '0.00', '0.00']);
  const end = await expectDone(id, 'end-trial');
  expect([typesOf(end), end.total, end.waits_for_payment]).toEqual([['recurring'], '60.00', false]);
  expect(end.subscription.trial_end).toBe(end.as_of);
});

test('a preview of a plan change keeps a scheduled cancellation', async () => {
  const { id, current_period_end: end } = await bought(await market.plan(YEAR));
  const scheduled = await expectDone(id, 'cancel');
  expect(scheduled.subscription).toMatchObject({ status: 'active', cancel_at_period_end: true });
  expect([scheduled.lines, scheduled.total]).toEqual([[], '0.00']);
  const { subscription } = await expectDone(id, 'change', { quantity: 2 });
  expect(subscription.cancellation_effective_at).toBe(end);
});

test('a preview of a cancellation at once bills the remaining usage, and once more nothing', async () => {
  const plan = await sold();
  const subscription = await bought(plan);
  const { id } = subscription;
  await market.use(subscription, plan, 50);
  const preview = await expectDone(id, 'cancel', { mode: 'immediate' });
  expect([typesOf(preview), preview.total]).toEqual([['usage'], '20.00']);
  expect(preview.subscription).toMatchObject({ status: 'canceled', ended_at: preview.as_of });
  expect(await expectDone(id, 'cancel')).toMatchObject({ lines: [], credited: '0.00' });
});

test('a preview of a resume goes on in the paid period, and after it begins a new one', async () => {
  const { id } = await bought(await market.plan(YEAR));
  await market.act(id, 'pause');
  const free = await expectDone(id, 'resume');
  expect([free.lines, free.subscription.status]).toEqual([[], 'active']);
  await market.act(id, 'pause');
  await market.advance('P300D');
  const paid = await expectDone(id, 'resume');
  expect([typesOf(paid), paid.total, paid.waits_for_payment]).toEqual([
    ['recurring'],
    '30.00',
    true,
  ]);
  expect(paid.subscription.current_period_start).toBe(paid.as_of);
});

test('a preview is refused in the same words as its action', async () => {
  const plan = await market.plan();
  const [ended, paused, owing] = await Promise.all([
    market.signUp(plan),
    market.signUp(plan),
    market.subscribe(plan, await market.customer()),
  ]);
  await market.act(ended.id, 'cancel', { mode: 'immediate' });
  await market.act(paused.id, 'pause');
  const { priceId: euros } = await market.plan({ currency: 'EUR' });
  const archived = await market.plan();
  await market.post(`/products/${archived.productId}/archive`);
  const { id } = await market.signUp(plan);
  const { priceId } = plan;
  // prettier-ignore
  const refused: [string, Action, object | undefined, number][] = [
    [UNKNOWN,   'change',    { quantity: 2 },                   404],
    [id,        'change',    { price_id: UNKNOWN },             404],
    [id,        'change',    {},                                400],
    [id,        'change',    { quantity: 0 },                   400],
    [id,        'change',    { quantity: 2, other: 1 },         400],
    [id,        'change',    { price_id: euros },               400],
    [id,        'change',    { price_id: archived.priceId },    400],
    [id,        'cancel',    { mode: 'never' },                 400],
    [id,        'end-trial', undefined,                         409],
    [ended.id,  'change',    { price_id: priceId },             409],
    [ended.id,  'resume',    undefined,                         409],
    [paused.id, 'change',    { quantity: 2 },                   409],
    [owing.id,  'change',    { quantity: 2 },                   409],
  ];
  for (const [of, action, body, status] of refused) {
    const at = `/subscriptions/${of}/${action}`;
    const [said, done] = [await market.post(`${at}/preview`, body), await market.post(at, body)];
    expect([at, body, said.status, said.json]).toEqual([at, body, status, done.json]);
  }
});

test("a preview for another organisation's subscription is 404", async () => {
  const { id } = await market.signUp(await market.plan());
  const { organisation, other } = market.shop.server;
  for (const key of [other.testKey, organisation.liveKey]) {
    for (const action of ['change', 'cancel', 'resume', 'end-trial']) {
      const call = { key, ...(action === 'change' && { body: { quantity: 2 } }) };
      const path = `/subscriptions/${id}/${action}/preview`;
      expect((await market.shop.server.call('POST', path, call)).status).toBe(404);
    }
  }
});

test('a subscription whose plan change waits for its bank cannot be previewed until it is decided', async () => {
  const { subscription_id: id } = await market.pay(
    await market.checkout(await market.plan(YEAR)),
    'iban',
  );
  await market.advance('PT1H');
  const big = await market.plan({ ...YEAR, amount: '90.00' });
  const preview = await previewed(id, 'change', { price_id: big.priceId });
  await market.act(id, 'change', { price_id: big.priceId });
  const reply = await market.post(`/subscriptions/${id}/change/preview`, { quantity: 2 });
  expect([reply.status, reply.json.error.type]).toEqual([409, 'invalid_state']);
  // It is as before, with nothing to bill.
  expect(await previewed(id, 'resume')).toMatchObject({ lines: [], waits_for_payment: false });
  await market.advance('PT1H');
  expect(asSaid(preview.subscription, await market.subscription(id), DAY_MS)).toEqual(
    preview.subscription,
  );
});
