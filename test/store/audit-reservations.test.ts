// Reservations of every kind have no findings; each kind of damage is found by its check.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Fields } from '../http/metering/setting.ts';
import { untilFolded } from '../support/folded.ts';
import { Keeping } from './keeping.ts';
import { Books } from './books.ts';

let keeping: Keeping;
let customer: string;

async function reserve(feature: string, amount: number, fields: Fields = {}): Promise<string> {
  const body = { feature_key: feature, customer_id: customer, amount, ...fields };
  const { status, json } = await keeping.setting.post('/reservations', body);
  expect(status).toBe(201);
  return json.id as string;
}

async function act(id: string, what: string, body: Fields = {}): Promise<void> {
  expect((await keeping.setting.post(`/reservations/${id}/${what}`, body)).status).toBe(200);
}

let books: Books;

beforeAll(async () => {
  keeping = await Keeping.open();
  const { setting } = keeping;
  const { sql, ledger } = setting.server;
  await setting.meter('sum');
  await setting.meter('count', { aggregation: 'count' });
  customer = await setting.customer();
  for (const feature of ['sum', 'count']) await setting.grant(customer, feature, { amount: 1000 });
  await reserve('sum', 3, { expires_in: 600 });
  const late = await reserve('sum', 4, { expires_in: 600 });
  await keeping.travel(keeping.clock.now() + 700_000);
  await act(late, 'commit', { value: 6 });
  await act(await reserve('sum', 40), 'commit', { value: 15 });
  await act(await reserve('sum', 40), 'commit', { value: 0 });
  await act(await reserve('sum', 20), 'commit', { value: 50 });
  await act(await reserve('count', 20), 'commit', { value: 5 });
  await act(await reserve('sum', 30), 'release');
  const extended = await reserve('sum', 7, { expires_in: 3600 });
  for (const amount of [8, 11]) await act(extended, 'extend', { amount });
  // A checkpoint settles it on the grants.
  await setting.grant(customer, 'sum');
  await reserve('count', 2, { expires_in: 3600 });
  await untilFolded(sql);
  await keeping.travel(null);
  await ledger.close();
  books = await Books.open(keeping.setting.server);
});
afterAll(async () => {
  await books.close();
  await keeping.stop();
});

test('the audit finds nothing in sound reservations, with all of it in them', async () => {
  await keeping.closes();
  const found = await keeping.setting.server.sql`
    select status, late, committed > amount as beyond from reservations order by 1, 2, 3`;
  const kinds = new Set(found.map((row) => Object.values(row).join(' ')));
  expect([...kinds]).toEqual([
    'committed false false',
    'committed false true',
    'committed true true',
    'expired false false',
    'open false false',
    'released false false',
  ]);
});

const METER = 'a reservation is of the meter of its account';
const HELD = 'a hold that is not resolved is an open reservation of its amount';
const RESERVED = 'what is reserved of an account is the sum of its open reservations';
const POSTED = 'what is committed of a reservation was posted, and of any other nothing';
const COUNTED = 'a commit on a meter that counts is as many events as units';
const COVERED = 'grants have covered no more than what is used and held';
const LIMIT = 'the limit is what grants have left and what they have covered';
const ALARM = 'an open reservation has an alarm by when it expires';
const I1 = 'I1 debits equal credits for each meter';
const I2 = 'I2, I3 totals are the fold of the transfers, pending ones the open holds';
const AGGREGATES = 'I4 aggregates are those of the events';
const HOLDS = 'I5 a hold is resolved at most once';
const BINS = 'bins are the fold of the events';

const BELOW = `status = 'committed' and not late and committed between 1 and amount`;
const OPEN = `status = 'open' and meter_id = (select id from meters where slug = 'count')`;
const held = (where: string): string => `(select hold_id from reservations where ${where} limit 1)`;
const meter = (feature: string): string => `(select id from meters where slug = '${feature}')`;
const account = (feature: string): string =>
  `(select id from accounts where kind = 'meter' and meter_id = ${meter(feature)})`;
const hold = (amount: string): string =>
  `insert into transfers select (jsonb_populate_record(t, jsonb_build_object('id', uuidv7(), 'kind', 'pending', 'hold', null, 'amount', ${amount}))).*
   from transfers t where id = ${held(OPEN)}`;

// prettier-ignore
const DAMAGE: [string, string, string[]][] = [
  // what                                              statement                                                                                          found by
  ['a reservation in the other mode',                  `update reservations set mode = 'live' where status = 'released'`,                                 [METER]],
  ['a reservation of another meter',                   `update reservations set meter_id = ${meter('count')} where status = 'released'`,                  [METER]],
  ['a reservation of another customer',                `update reservations set customer_id = uuidv7() where status = 'released'`,                        [METER]],
  ['an open one without its hold',                     `delete from transfers where id = ${held(OPEN)}`,                                                  [HELD, I2]],
  ['an open one of another hold',                      `update reservations set hold_id = uuidv7() where ${OPEN}`,                                        [HELD]],
  ['a hold without its reservation',                   `delete from reservations where ${OPEN}`,                                                          [HELD, RESERVED]],
  ['a hold that nobody made',                          hold('1'),                                                                                         [HELD, I2]],
  ['an open one of another amount',                    `update reservations set amount = amount + 1 where ${OPEN}`,                                       [HELD, RESERVED]],
  ['an open one of another account',                   `update reservations set account_id = ${account('sum')} where ${OPEN}`,                            [HELD, RESERVED, METER]],
  ['an open one that is resolved in its row only',     `update reservations set status = 'released', resolved_at = now() where ${OPEN}`,                  [HELD, RESERVED, POSTED]],
  ['one that is open again in its row only',           `update reservations set status = 'open', resolved_at = null where status = 'released'`,           [HELD, RESERVED, ALARM]],
  ['a total that has more reserved',                   `update balances set debits_pending = debits_pending + 1 where id = ${account('count')}`,          [RESERVED, I1, I2]],
  ['more committed than was held and posted',          `update reservations set committed = committed + 1 where ${BELOW}`,                                [POSTED]],
  ['less committed than was posted beyond',            `update reservations set committed = committed - 1 where committed > amount and not late`,         [POSTED]],
  ['less committed late than was posted',              `update reservations set committed = committed - 1 where late`,                                    [POSTED]],
  ['a commit that is late in its row only',            `update reservations set late = true where ${BELOW}`,                                              [POSTED]],
  ['a late commit that is in time in its row',         `update reservations set late = false where late`,                                                 [POSTED]],
  ['a commit that is released in its row',             `update reservations set status = 'released', committed = 0 where ${BELOW}`,                       [POSTED]],
  ['an expired one that is committed in its row',      `update reservations set status = 'committed', committed = 1 where status = 'expired'`,            [POSTED]],
  ['a post of another value',                          `update transfers set value = value + 1, amount = value where hold = ${held(`${BELOW} and meter_id = ${meter('sum')}`)}`,   [POSTED, AGGREGATES, BINS]],
  ['a post of another hold',                           `update transfers set hold = uuidv7() where hold = ${held(BELOW)}`,                                [POSTED, HOLDS, I2, HELD]],
  ['a commit of another number of events',             `update transfers set events = events + 1 where events is not null`,                               [COUNTED, AGGREGATES, BINS]],
  ['a commit without its number of events',            `update transfers set events = null where events is not null`,                                     [COUNTED, AGGREGATES, BINS]],
  ['a number of events of a meter that sums',          `update transfers set events = 2 where hold = ${held(`${BELOW} and meter_id = ${meter('sum')}`)}`, [COUNTED, BINS]],
  ['a grant that has not used what is held of it',     `update grants set used = 0 where meter_id = ${meter('sum')}`,                                     [LIMIT]],
  ['a grant that has less than it gave',               `update grants set amount = amount - 1 where meter_id = ${meter('sum')}`,                          [LIMIT]],
  ['more covered than is used and held',               `update customer_meters set allocated = 10 ^ 15 where meter_id = ${meter('sum')}`,                 [COVERED, LIMIT]],
  ['less covered than grants have used',               `update customer_meters set allocated = allocated - 1 where meter_id = ${meter('sum')}`,           [LIMIT]],
  ['an alarm that is late',                            `update alarms set due_at = due_at + interval '2 hours' where subject_id = ${meter('count')}`,        [ALARM]],
  ['an alarm that is lost',                            `delete from alarms where subject_id = ${meter('count')}`,                                         [ALARM]],
];

test.each(DAMAGE)('the audit of reservations finds %s', async (_what, statement, found) => {
  expect(await books.foundAfter(statement)).toEqual(found.toSorted());
});

test('the audit finds nothing in reservations once the damage is undone', () => keeping.closes());
