// Correct books have no findings; each kind of damage to what was sold of usage is found by its
// check.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { DAY_MS } from '../http/subscriptions/subscribing.ts';
import { Sales } from './sold-usage.ts';
import { Books } from './books.ts';

setDefaultTimeout(120_000);

let sales: Sales;
/** One with late usage, one that changed, one paused, one canceled, one that was never paid. */
const of: Record<'good' | 'changed' | 'paused' | 'ended' | 'failing', string> = {
  good: '',
  changed: '',
  paused: '',
  ended: '',
  failing: '',
};
let books: Books;

beforeAll(async () => {
  sales = await Sales.open();
  const { club } = sales;
  const plan = await sales.plan(3);
  const other = await sales.plan(5);
  const signUp = (means: 'good' | 'renewalFails' = 'good') => club.signUp(plan, means);
  const [good, changed, paused, ended] = await Promise.all([
    signUp(),
    signUp(),
    signUp(),
    signUp(),
  ]);
  const failing = await signUp('renewalFails');
  const all = { good, changed, paused, ended, failing };
  for (const [name, { id }] of Object.entries(all)) of[name as keyof typeof of] = id;
  const start = await club.now();
  for (const one of Object.values(all)) await sales.use(one, [4, 7]);
  await club.advance('P10D');
  await club.act(of.changed, 'change', { price_id: other.priceId });
  await club.act(of.paused, 'pause');
  for (const one of Object.values(all)) await sales.use(one, [9, 2]);
  await sales.commit(good, 2, 5);
  // Before the change, and recorded after it.
  for (const one of [good, changed]) await sales.use(one, [8], start + 5 * DAY_MS);
  await club.act(of.ended, 'cancel', { mode: 'immediate' });
  await club.advance('P25D');
  // Of the period that was billed.
  for (const one of [good, changed, ended]) await sales.use(one, [11], start + 20 * DAY_MS);
  for (const one of Object.values(all)) await sales.use(one, [6]);
  const unpaid = (await club.invoices(failing.id)).find(
    ({ status, lines }) => status === 'open' && lines.length > 1,
  );
  expect((await club.post(`/invoices/${unpaid?.id}/void`)).status).toBe(200);
  await club.advance('P30D');
  for (const one of [good, changed]) await sales.use(one, [12], start + 40 * DAY_MS);
  const { server } = club.shop;
  await server.payments.close();
  await server.ledger.close();
  books = await Books.open(sales.club.shop.server);
});
afterAll(async () => {
  await books.close();
  await sales.club.close();
});

test('the audit finds nothing in sound usage billing', async () => {
  expect(await audit(sales.club.shop.server.sql)).toEqual([]);
});

const BINS = 'bins are the fold of the events';
const MARK = 'a mark of sold usage is the fold of the events before it';
const ONCE = 'usage is sold once';
const LINE = 'what was billed of usage is on its invoice';
const COST = 'usage was billed for what it costs';
const OVER = 'a span of usage is billed when it is over';
const SAYS = 'a line of usage says what its spans do';
const TIERS = 'tiers of the last line of usage are those of its spans';
const REASON = 'a span of usage ends for a reason';
const RUNS = 'what sells usage has a span that runs';
const KNOWS = 'a subscription knows the usage that it billed';
const EARLY = 'an event of sold usage is at most a little early';
const MARKED = 'an event that is sold is marked';
const AGGREGATES = 'I4 aggregates are those of the events';
const TOTALS = 'I2, I3 totals are the fold of the transfers, pending ones the open holds';
const STATE = 'I8 every payment, invoice, customer and subscription has told what its state says';
const PAID = 'a captured payment has one invoice, which says the same';
const NUMBERS = 'invoices are numbered without a gap';

/** Spans of the one subscription, of the meter with this aggregation; `nth` by their start. */
const span = (name: keyof typeof of, aggregation: string, nth: number): string =>
  `id = (select s.id from usage_spans s join meters m on m.id = s.meter_id where s.subscription_id = '${of[name]}'
    and m.aggregation = '${aggregation}' order by s.started_at offset ${nth} limit 1)`;
const marked = (name: keyof typeof of, aggregation: string, nth: number, change: string): string =>
  `update usage_spans set ${change} where ${span(name, aggregation, nth)}`;
/** The last invoice with usage. */
const invoice = (name: keyof typeof of): string =>
  `id = (select id from invoices where subscription_id = '${of[name]}' and lines @> '[{"type": "usage"}]'
    and status <> 'void' order by created_at desc limit 1)`;
const lined = (name: keyof typeof of, path: string, value: string): string =>
  `update invoices set lines = jsonb_set(lines, '${path}', '${value}') where ${invoice(name)}`;
const remembering = (name: keyof typeof of, change: string): string =>
  `update subscriptions set usage = ${change} where id = '${of[name]}'`;
const LATE = `event_at < at - interval '10 days' and value is not null`;

/** Of all usage, what a dropped month leaves. */
const DROPPED = `
  insert into closing_balances (account_id, debits, credits, events_total, events_signed, events_highest)
  select account_id, sum(debits), sum(credits), coalesce(sum(side.value), 0), coalesce(sum(side.events), 0), greatest(max(side.value), 0)
  from (select t.*, coalesce(amount, value) * case kind when 'reverse' then -1 else 1 end as moved from transfers t where value is not null) t
  cross join lateral (values (t.debit, moved, 0::numeric, t.value, coalesce(t.events, sign(t.value + 0.5))), (t.credit, 0, moved, null, null)) side (account_id, debits, credits, value, events)
  group by account_id;
  delete from transfers where value is not null or kind = 'pending' and debit in (select account_id from reservations);
  delete from reservations`;

// prettier-ignore
const DAMAGE: [string, () => string, string[]][] = [
  ['a sum that counts one more',             () => marked('paused', 'sum', 0, 'closing_aggregate = closing_aggregate + 1'),    [MARK]],
  ['a count that counts one more',           () => marked('paused', 'count', 0, 'closing_aggregate = closing_aggregate + 1000000'), [MARK]],
  ['a maximum of nothing',                   () => marked('paused', 'max', 0, 'closing_aggregate = closing_aggregate + 1'),    [MARK]],
  ['a last value of nothing',                () => marked('paused', 'last', 0, 'closing_aggregate = closing_aggregate + 1'),   [MARK]],
  ['a last value of another event',          () => marked('paused', 'last', 0, 'closing_latest_id = gen_random_uuid()'),       [MARK]],
  ['a last value of another time',           () => marked('paused', 'last', 0, `closing_latest_at = closing_latest_at - interval '1 ms'`), [MARK]],
  ['a member too many',                      () => marked('paused', 'unique', 0, 'closing_aggregate = closing_aggregate + 1000000'), [MARK]],
  ['a span that begins with usage',          () => marked('good', 'max', 1, 'opening_aggregate = 1000000'),                    [MARK]],
  ['a change that forgot what was before',   () => marked('changed', 'sum', 1, 'opening_aggregate = 0'),                       [MARK]],
  ['an event of another time',               () => `update transfers set event_at = event_at + interval '8 days' where ${LATE} and debit in (select account_id from usage_spans where ${span('changed', 'sum', 0)})`, [BINS]],
  ['an event before the change, now after it', () => `update transfers set event_at = at, at = at where at - event_at between interval '1 day' and interval '6 days' and debit = (select account_id from usage_spans where ${span('changed', 'sum', 0)})`, [MARK, BINS]],
  ['an event that is lost',                  () => `delete from transfers where ${LATE} and debit = (select account_id from usage_spans where ${span('good', 'count', 0)})`, [MARK, AGGREGATES, TOTALS, BINS]],
  ['time that is sold twice',                () => marked('changed', 'sum', 0, `ended_at = ended_at + interval '1 hour'`),        [ONCE, MARK, SAYS, REASON]],
  ['a line of another amount',               () => `update invoices set lines = jsonb_set(lines, '{1,amount}', '"7"') where ${invoice('good')}`, [LINE]],
  ['a line that is there twice',             () => `update invoices set lines = lines || (lines -> 1) where ${invoice('good')}`, [LINE, COST]],
  ['a line of another quantity',             () => lined('good', '{1,quantity}', '"8"'),                                        [SAYS]],
  ['a line of another period',               () => lined('good', '{1,period,start}', '"2026-01-01T00:00:00.000Z"'),             [SAYS]],
  ['a line that ends at another time',       () => lined('good', '{1,period,end}', '"2026-01-01T00:00:00.000Z"'),               [SAYS]],
  ['a line of another feature',              () => lined('good', '{1,featureKey}', '"f"'),                                      [SAYS]],
  ['a tier of another amount',               () => lined('good', '{1,tiers,0,amount}', '"0.5"'),                                [TIERS]],
  ['a tier of another quantity',             () => lined('good', '{2,tiers,0,quantity}', '"1"'),                                [TIERS]],
  ['a tier that is lost',                    () => lined('good', '{2,tiers}', '[]'),                                            [TIERS]],
  ['a line that is lost',                    () => `update invoices set lines = lines - 1 where ${invoice('good')}`,           [LINE]],
  ['a line of nothing',                      () => `update invoices set lines = jsonb_set(lines, '{1,usageId}', to_jsonb(gen_random_uuid())) where ${invoice('ended')}`, [LINE, COST]],
  ['a part that is forgotten',               () => remembering('ended', `jsonb_set(usage, '{0,parts}', '[]')`),                [LINE, COST]],
  ['a part of another amount',               () => remembering('ended', `jsonb_set(usage, '{0,parts,0,amount,$}', '"1"')`),    [LINE, COST]],
  ['a part of another quantity',             () => remembering('ended', `jsonb_set(usage, '{0,parts,0,quantity,$}', '"1"')`),  [COST, SAYS]],
  ['one who remembers nothing, and nothing is wrong', () => remembering('ended', `'[]'`),                                      []],
  ['one who remembers nothing, and a line is', () => `${remembering('ended', `'[]'`)}; update invoices set lines = jsonb_set(lines, '{1,amount}', '"7"') where ${invoice('ended')}`, [COST]],
  ['a waiver of what is not void',           () => remembering('good', `jsonb_set(usage, '{0,parts,0,waived}', 'true')`),        [LINE]],
  ['a waiver of another amount',             () => remembering('failing', `jsonb_set(usage, '{0,parts,0,amount,$}', '"1"')`),  [LINE, COST]],
  ['a waiver that covers less',              () => remembering('failing', `jsonb_set(usage, '{0,parts,0,quantity,$}', '"1"')`), [COST]],
  ['another limit',                          () => marked('changed', 'sum', 0, 'quantity_limit = quantity_limit + 1000'),      [COST, TIERS]],
  ['another price',                          () => `update usage_prices set tariff = jsonb_set(tariff, '{unitAmount,$}', '"20000000000"') where model = 'per_unit' and minimum_amount is null`, [COST, TIERS]],
  ['usage in time that was not billed',      () => `update transfers set at = event_at where ${LATE} and debit = (select account_id from usage_spans where ${span('good', 'sum', 1)})`, [COST, TIERS]],
  ['a span that was never billed',           () => marked('good', 'sum', 1, 'billed_as = null'),                               [COST, OVER]],
  ['one of an end',                          () => marked('ended', 'sum', 0, 'billed_as = null'),                              [COST, OVER]],
  ['a hole between spans',                   () => marked('good', 'sum', 0, `ended_at = ended_at - interval '1 hour'`),         [SAYS, REASON]],
  ['a hole after one that is not billed',    () => marked('paused', 'sum', 0, `ended_at = ended_at - interval '1 hour'`),       [REASON]],
  ['a line of an old sale of another quantity', () => `${remembering('ended', `'[]'`)}; ${lined('ended', '{1,quantity}', '"8"')}`, [SAYS]],
  ['a span that runs no more',               () => `update usage_spans set live = false where ended_at is null and subscription_id = '${of.good}'`, [RUNS]],
  ['a span that is lost',                    () => `delete from usage_spans where ended_at is null and subscription_id = '${of.good}'`, [RUNS]],
  ['a span that runs by another price',      () => `update usage_spans set usage_price_id = gen_random_uuid() where ended_at is null and subscription_id = '${of.good}'`, [RUNS]],
  ['one who has billed, and knows nothing',  () => remembering('good', `'[]'`),                                                 [KNOWS]],
  ['a time out of its span',                 () => `update transfers set event_at = coalesce(event_at, at) + interval '40 days' where id = (select id from transfers where sold and debit = (select account_id from usage_spans where ${span('good', 'sum', 0)}) order by at limit 1)`, [EARLY, BINS]],
  ['an event that is not marked',            () => `update transfers set sold = null where id = (select id from transfers where sold and debit = (select account_id from usage_spans where ${span('good', 'sum', 1)}) order by at limit 1)`, [MARKED]],
  ['one of nobody',                          () => marked('paused', 'sum', 0, 'subscription_id = gen_random_uuid()'),          [OVER]],
  ['older events that were dropped',         () => DROPPED, []],
  ['the same, and a mark at the end of a period', () => `${DROPPED}; ${marked('changed', 'sum', 1, 'closing_aggregate = closing_aggregate + 1000')}`, [MARK]],
  ['a line that is still to be written',     () => `insert into followups (slot, id, kind, subscription_id, customer_id, data, at) select s.slot, gen_random_uuid(), 'bill', s.id, s.customer_id,
      jsonb_build_object('invoice', jsonb_build_object('id', i.id, 'lines', (select jsonb_agg(l || jsonb_build_object('amount', jsonb_build_object('$', l ->> 'amount'))) from jsonb_array_elements(i.lines) l))), i.created_at
      from invoices i join subscriptions s on s.id = i.subscription_id where i.${invoice('ended')}; delete from invoices where ${invoice('ended')}`, [STATE, PAID, NUMBERS]],
];

test.each(DAMAGE)('the audit of usage billing finds %s', async (_what, statement, found) => {
  expect(await books.foundAfter(statement())).toEqual(found.toSorted());
});

test('the audit finds nothing in usage billing once the damage is undone', async () => {
  expect(await audit(sales.club.shop.server.sql)).toEqual([]);
});
