// Pools and members of every kind have no findings; each kind of damage is found by its check.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Fields } from '../http/metering/setting.ts';
import { untilFolded } from '../support/folded.ts';
import { Keeping } from './keeping.ts';
import { Books } from './books.ts';

let keeping: Keeping;

const post = async (path: string, body: Fields): Promise<Fields> => {
  const { status, text, json } = await keeping.setting.post(path, body);
  expect([status < 300, text]).toEqual([true, text]);
  return json;
};
let books: Books;

beforeAll(async () => {
  keeping = await Keeping.open();
  const { setting } = keeping;
  const { sql, ledger } = setting.server;
  const of = (feature_key: string, cost: string) => ({ feature_key, cost });
  await setting.meter('tokens', { scale: 0, value_property: 'n' });
  await setting.meter('images', { aggregation: 'count', scale: 0 });
  await setting.meter('credits', {
    aggregation: 'sum',
    scale: 0,
    credit_costs: [of('tokens', '2'), of('images', '7')],
  });
  // Two that are alike, and one whose own allowance of a member has no limit.
  for (const unlimited of [false, false, true]) {
    const customer = await setting.customer();
    const reserve = (feature_key: string, amount: number) =>
      post('/reservations', { feature_key, customer_id: customer, amount });
    await setting.track(customer, 'images');
    await setting.grant(customer, 'credits', { amount: 1000 });
    await setting.grant(customer, 'tokens', { amount: 100 });
    await setting.track(customer, 'tokens', { value: 150 });
    await setting.track(customer, 'tokens', { value: -10 });
    await setting.track(customer, 'credits', { value: 3 });
    await reserve('images', 2);
    await reserve('tokens', 5);
    const { id } = await reserve('tokens', 30);
    await post(`/reservations/${String(id)}/commit`, { value: 20 });
    if (unlimited) await setting.grant(customer, 'tokens', { unlimited: true });
  }
  await untilFolded(sql);
  await ledger.close();
  books = await Books.open(keeping.setting.server);
});
afterAll(async () => {
  await books.close();
  await keeping.stop();
});

test('the audit finds nothing in sound credits, with all of it in them', async () => {
  await keeping.closes();
  const { sql } = keeping.setting.server;
  const [row] = await sql`
    select (select count(*)::int from pooled_periods) as periods,
      (select count(*)::int from reservations where member_account_id is not null and status = 'open') as holds,
      (select count(*)::int from transfers where answer ? 'drawnFor' and kind = 'single') as draws,
      (select count(*)::int from transfers where answer ? 'drawnFor' and kind = 'reverse') as corrections`;
  // What is held for the units without limit is let go of, and what was paid for them given back.
  expect(row).toEqual({ periods: 6, holds: 5, draws: 9, corrections: 4 });
});

const PAID = 'a pool has paid what its members used beyond their limits';
const LIMIT = 'the limit is what grants have left and what they have covered';
const HELD = 'a pool holds what is reserved of its members beyond their limits';
const WHOSE = 'what a pool pays or holds is for a period of a member of the same customer';
const OPEN = 'a hold that is not resolved is an open reservation of its amount';
const RESERVED = 'what is reserved of an account is the sum of its open reservations';
const POSTED = 'what is committed of a reservation was posted, and of any other nothing';
const COUNTED = 'a commit on a meter that counts is as many events as units';
const I1 = 'I1 debits equal credits for each meter';
const I2 = 'I2, I3 totals are the fold of the transfers, pending ones the open holds';
const AGGREGATES = 'I4 aggregates are those of the events';
const BINS = 'bins are the fold of the events';

const meter = (feature: string): string => `(select id from meters where slug = '${feature}')`;
/** A period of the first customer, or of the second. */
const account = (feature: string, place = 0): string =>
  `(select id from accounts where kind = 'meter' and meter_id = ${meter(feature)} order by customer_id offset ${place} limit 1)`;
const DRAW = `(select id from transfers where answer ->> 'drawnFor' = ${account('tokens')}::text and kind = 'single' limit 1)`;
const HOLD = `status = 'open' and member_account_id = ${account('images')}`;
const drawnFor = (whom: string): string =>
  `update transfers set answer = jsonb_build_object('drawnFor', ${whom}) where id = ${DRAW}`;

// prettier-ignore
const DAMAGE: [string, string, string[]][] = [
  // what                                        statement                                                                                                found by
  ['a period of another cost',                   `update pooled_periods set rate = rate + 1 where account_id = ${account('images')}`,                     [PAID, HELD]],
  ['a period without its cost',                  `delete from pooled_periods where account_id = ${account('images')}`,                                    [WHOSE]],
  ['a cost of an account of nobody',             `insert into pooled_periods select slot, id, 1 from accounts where kind = 'usage' limit 1`,              [WHOSE]],
  ['a cost of no period',                        `insert into pooled_periods values (1, uuidv7(), 1)`,                                                     [WHOSE]],
  ['a draw that is lost',                        `delete from transfers where id = ${DRAW}`,                                                              [PAID, I2, AGGREGATES, BINS]],
  ['a draw of another value',                    `update transfers set value = value + 1 where id = ${DRAW}`,                                             [PAID, I2, AGGREGATES, BINS]],
  ['a draw for another member',                  drawnFor(account('images')),                                                                             [PAID]],
  ['a draw for another customer',                drawnFor(account('tokens', 1)),                                                                          [PAID, WHOSE]],
  ['a draw for the pool itself',                 drawnFor(account('credits')),                                                                            [PAID, WHOSE]],
  ['a draw for no period',                       drawnFor('uuidv7()'),                                                                                    [PAID, WHOSE]],
  ['a draw that says not for what',              `update transfers set answer = null where id = ${DRAW}`,                                                 [PAID, COUNTED]],
  ['usage that is called a draw',                `update transfers set answer = jsonb_build_object('drawnFor', ${account('tokens')}) where debit = ${account('credits')} and kind = 'single' and answer is null`,   [PAID]],
  ['a member that used more than was drawn',     `update balances set debits_posted = debits_posted + 1, aggregate = aggregate + 1 where id = ${account('tokens')}`,                 [PAID, I1, I2, AGGREGATES]],
  ['a member with more of its own',              `update balances set credits_posted = credits_posted + 1 where id = ${account('tokens')}`,               [PAID, I1, I2, LIMIT]],
  ['a member that has more reserved',            `update balances set debits_pending = debits_pending + 1 where id = ${account('images')}`,               [HELD, RESERVED, I1, I2]],
  ['a hold of another amount',                   `update reservations set amount = amount + 1 where ${HOLD}`,                                             [HELD, RESERVED, OPEN]],
  ['a hold for another member',                  `update reservations set member_account_id = ${account('tokens')} where ${HOLD}`,                        [HELD]],
  ['a hold for another customer',                `update reservations set member_account_id = ${account('images', 1)} where ${HOLD}`,                     [HELD, WHOSE]],
  ['a hold for the pool itself',                 `update reservations set member_account_id = ${account('credits')} where ${HOLD}`,                       [HELD, WHOSE]],
  ['a hold for nobody',                          `update reservations set member_account_id = null where ${HOLD}`,                                        [HELD]],
  ['a hold that is let go of in its row only',   `update reservations set status = 'released', resolved_at = now() where ${HOLD}`,                        [HELD, RESERVED, OPEN, POSTED]],
  ['a member without limit that has one',        `update grants set amount = 1 where amount is null`,                                                     [PAID, HELD, LIMIT]],
];

test.each(DAMAGE)('the audit of credits finds %s', async (_what, statement, found) => {
  expect(await books.foundAfter(statement)).toEqual(found.toSorted());
});

test('the audit finds nothing in credits once the damage is undone', () => keeping.closes());
