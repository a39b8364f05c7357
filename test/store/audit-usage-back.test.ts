// Correct books have no findings where usage was refunded, disputed, corrected and billed again; each
// kind of damage to what a subscription knows of it is found by its check.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFile } from 'node:fs/promises';
import { audit } from '../../src/database/audit.ts';
import { DAY_MS } from '../http/subscriptions/subscribing.ts';
import { Market } from '../http/usage-billing/setting.ts';
import { Books } from './books.ts';

setDefaultTimeout(120_000);

let market: Market;
let books: Books;
/** One that was refunded and corrected; one whose lines are let go of; one that was never refunded. */
const of = { good: '', old: '', other: '' };
let paymentId: string;

beforeAll(async () => {
  market = await Market.open({ own: true });
  const plan = await market.sale({ price: { amount: '10.00' } });
  const weekly = await market.sale({ price: { amount: '0.00', interval: 'week' } });
  const [good, other, old] = await Promise.all([
    market.buyer(plan),
    market.buyer(plan),
    market.buyer(weekly),
  ]);
  Object.assign(of, { good: good.id, other: other.id, old: old.id });
  for (const one of [good, other]) await market.track(one, plan, 110);
  await market.track(old, weekly, 110);
  const start = await market.now();
  const last = async (id: string): Promise<string> => (await market.payments(id)).at(-1).id;
  await market.advance('P7D');
  await market.post(`/payments/${await last(of.old)}/refund`, { amount: '30.00' });
  await market.use(old, weekly, -40, start + DAY_MS);
  await market.advanceTo(good.current_period_end);
  paymentId = await last(of.good);
  // Of 10.00 and 50.00.
  await market.post(`/payments/${paymentId}/refund`, { amount: '24.00' });
  await market.use(good, plan, -60, start + 2 * DAY_MS);
  await market.use(other, plan, -60, start + 2 * DAY_MS);
  await market.advance('P32D');
  const { server } = market.shop;
  await server.payments.close();
  await server.ledger.close();
  books = await Books.open(server);
});
afterAll(async () => {
  await books.close();
  await market.close();
});

test('the audit finds nothing where usage went back', async () => {
  expect(await audit(market.shop.server.sql)).toEqual([]);
  expect((await market.bills({ id: of.good })).at(-1)).toContain('usage_adjustment -60 -10.00');
});

const COST = 'usage was billed for what it costs';
const KNOWN = 'a subscription knows what went back of its usage';
const ONCE = 'no more of usage is forgiven than went back, and nothing twice';

const remembering = (name: keyof typeof of, change: string): string =>
  `update subscriptions set usage = ${change} where id = '${of[name]}'`;
const good = (path: string, value: string): string =>
  remembering('good', `jsonb_set(usage, '${path}', '${value}')`);
const stretch = (from: number, to: number): string =>
  `{"invoiceId": "${ids()}", "from": {"$": "${from}"}, "to": {"$": "${to}"}}`;
let invoiceId = '';
const ids = (): string => invoiceId;

// prettier-ignore
const DAMAGE: [string, () => string, string[]][] = [
  ['a return that is not known',          () => remembering('good', `usage #- '{0,parts,0,back}'`),    [KNOWN, ONCE]],
  ['one that was a coin less',            () => good('{0,parts,0,back,$}', '"2001"'),                  [KNOWN]],
  ['one of nothing',                      () => remembering('other', `jsonb_set(usage, '{0,parts,0,back}', '{"$": "5"}')`), [KNOWN]],
  ['a stretch that is lost',              () => remembering('good', `usage #- '{0,forgiven}'`),        [COST]],
  ['a stretch of another length',         () => good('{0,forgiven,0,from,$}', '"3001"'),               [COST]],
  ['one that is too long',                () => good('{0,forgiven,0,from,$}', '"2900"'),               [COST, ONCE]],
  ['one that is there twice',             () => remembering('good', `jsonb_set(usage, '{0,forgiven}', '[${stretch(3000, 5000)}, ${stretch(3500, 4000)}]')`), [COST, ONCE]],
  ['a line of before that was too much',  () => `update invoices set lines = jsonb_set(lines, '{1,amount}', '"9999"') where subscription_id = '${of.old}' and lines @> '[{"type": "usage", "amount": "5000"}]'`, [COST]],
  ['money that went back, and nobody knows', () => `update balances set debits_posted = debits_posted + 1 where id = '${paymentId}'`, [KNOWN]],
];

test.each(DAMAGE)('the audit of usage that went back finds %s', async (_what, statement, found) => {
  const [row] = await market.shop.server.sql<{ id: string }[]>`
    select invoice_id as id from payments where id = ${paymentId}`;
  invoiceId = row!.id;
  expect(await books.foundAfter(statement())).toEqual(expect.arrayContaining(found.toSorted()));
});

test('what went back before migration 207 is told', async () => {
  const { sql } = market.shop.server;
  const file = 'src/database/migrations/207.do.usage-given-back.sql';
  await sql.unsafe(await readFile(file, 'utf8'));
  const rows = await sql<{ payment_id: string }[]>`
    delete from followups where kind = 'usage_given_back' returning payment_id`;
  expect(rows.map(({ payment_id }) => payment_id)).toContain(paymentId);
  expect(await audit(sql)).toEqual([]);
});
