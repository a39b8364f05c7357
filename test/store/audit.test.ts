// Correct books have no findings; each kind of damage is found by its check.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { Setting } from '../http/metering/setting.ts';
import { untilFolded } from '../support/folded.ts';
import { Books } from './books.ts';

let setting: Setting;
let books: Books;

beforeAll(async () => {
  setting = await Setting.open({ own: true });
  for (const aggregation of ['sum', 'count', 'max', 'last']) {
    await setting.meter(aggregation, { aggregation });
  }
  await setting.meter('unique', { aggregation: 'unique', unique_property: 'user' });
  const customer = await setting.customer();
  for (const feature of ['sum', 'count', 'max', 'last', 'unique']) {
    await setting.grant(customer, feature);
    if (feature === 'sum') await hold(customer);
    for (const value of [3, 20]) {
      await setting.track(customer, feature, { value, metadata: { user: String(value) } });
    }
  }
  await setting.track(customer, 'sum', { value: -1 });
  const { sql, ledger } = setting.server;
  await untilFolded(sql);
  await ledger.close();
  // The constraints against the damage that is done here on purpose.
  await sql.unsafe(`
    alter table balances drop constraint balances_sound;
    drop index transfers_hold_once;
    drop trigger events_queued on events`);
  books = await Books.open(setting.server);
});
afterAll(async () => {
  await books.close();
  await setting.stop();
});

/** A hold that is let go, and one that is open. */
async function hold(customer: string): Promise<void> {
  const body = { feature_key: 'sum', customer_id: customer, amount: 4 };
  const { json } = await setting.post('/reservations', body);
  await setting.post(`/reservations/${json.id}/release`, {});
  expect((await setting.post('/reservations', body)).status).toBe(201);
}

test('the audit finds nothing in a sound database', async () => {
  expect(await audit(setting.server.sql)).toEqual([]);
});

/** The account of a feature, and its other side. */
const account = (feature: string): string => isOf(feature, 'meter');
const side = (feature: string): string => isOf(feature, 'usage');
const isOf = (feature: string, kind: string): string =>
  `id = (select a.id from accounts a join meters m on m.id = a.meter_id where m.slug = '${feature}' and a.kind = '${kind}')`;
const one = (table: string, where: string): string =>
  `ctid = (select ctid from ${table} where ${where} limit 1)`;

const I1 = 'I1 debits equal credits for each meter';
const ASSET = 'I1 a transfer moves one asset of one tenant';
const I2 = 'I2, I3 totals are the fold of the transfers, pending ones the open holds';
const LIMIT = 'the limit is what grants have left and what they have covered';
const CEILING = 'I4 no ceiling is crossed, and consumption is the floored aggregate';
const AGGREGATES = 'I4 aggregates are those of the events';
const BINS = 'bins are the fold of the events';
const SUMMED = 'totals of a meter are the sum of its bins';
const OWNED = 'I5 an account belongs to somebody, and has its totals once';
const HOLDS = 'I5 a hold is resolved at most once';
const HELD = 'a hold that is not resolved is an open reservation of its amount';
const RESERVED = 'what is reserved of an account is the sum of its open reservations';
const POSTED = 'what is committed of a reservation was posted, and of any other nothing';
const RELAYED = 'an event waits for the relay, was passed, or is set aside';
const GAPS = 'I8 events of an object are numbered without a gap';
const TIME = 'I8 events of an object ascend in time';
const TOLD = 'I8 every meter has told what its state says';

// prettier-ignore
const DAMAGE: [string, string, string[]][] = [
  // what                                        statement                                                                                                     found by
  ['a balance that was raised',                  `update balances set credits_posted = credits_posted + 1 where ${account('sum')}`,                            [I1, I2, LIMIT]],
  ['consumption that was lowered',               `update balances set debits_posted = debits_posted - 1, aggregate = aggregate - 1 where ${account('last')}`,  [I1, I2]],
  ['consumption moved to the other side, too',   `update balances set debits_posted = debits_posted - 1, aggregate = aggregate - 1 where ${account('last')}; update node_balances set credits_posted = credits_posted - 1 where ${side('last')}`, [I2]],
  ['a reservation without a hold',               `update balances set debits_pending = debits_pending + 1 where ${account('max')}`,                            [I1, I2, RESERVED]],
  ['an open hold that was dropped',              `update balances set debits_pending = 0 where ${account('sum')}`,                                             [I1, I2, RESERVED]],
  ['a transfer with another amount',             `update transfers set amount = coalesce(amount, value) + 1 where ${one('transfers', "kind = 'single' and value is not null")}`,  [I2]],
  ['a transfer to another account',              `update transfers set debit = gen_random_uuid() where ${one('transfers', "value is null and kind = 'single'")}`,  [I2]],
  ['a transfer to another meter',                `update transfers set debit = (select id from accounts where kind = 'grants' and meter_id = (select id from meters where slug = 'max')) where value is null and kind = 'single' and credit = (select id from accounts where ${account('sum')})`, [ASSET, I2]],
  ['a transfer of another kind',                 `update transfers set kind = 'refused' where ${one('transfers', "value is null and kind = 'single'")}`,         [I2]],
  ['a transfer that is lost',                    `delete from transfers where ${one('transfers', "value is null and kind = 'single'")}`,                       [I2]],
  ['an account that is lost',                    `delete from accounts where ${account('last')}`,                                                              [I1, OWNED, SUMMED]],
  ['totals that are lost',                       `delete from balances where ${account('last')}`,                                                              [I1, I2, OWNED]],
  ['totals in another slot',                     `update balances set slot = slot + 1 where ${account('last')}`,                                               [OWNED]],
  ['totals that are there twice',                `insert into node_balances select 0, 0, 0, 0, id from balances where ${account('last')}`,                     [I2, OWNED]],
  ['a total below zero',                         `update balances set credits_pending = -1 where ${account('max')}`,                                           [I1, I2, CEILING]],
  ['a meter without its aggregate',              `update balances set aggregate = null where ${account('last')}`,                                              [CEILING]],
  ['one of which nothing is used, too',           `update balances set debits_posted = 0, aggregate = null where ${account('last')}`,                            [I1, I2, CEILING]],
  ['a ceiling that is crossed',                  `update balances set capped = true where ${account('sum')}`,                                                  [CEILING]],
  ['consumption that is not the aggregate',      `update balances set aggregate = aggregate + 1 where ${account('last')}`,                                     [CEILING]],
  ['the value of an event',                      `update transfers set value = value + 1 where ${one('transfers', "value = 3000000 and debit = (select id from accounts where " + account('sum') + ')')}`,  [AGGREGATES, I2, BINS]],
  ['the greatest value of all',                  `update transfers set value = value + 1 where ${one('transfers', "value = 20000000 and debit = (select id from accounts where " + account('max') + ')')}`,  [AGGREGATES, BINS]],
  ['an event that is a correction now',          `update transfers set value = -value where ${one('transfers', "debit = (select id from accounts where " + account('count') + ')')}`,  [AGGREGATES, BINS]],
  ['a correction of a bin that is lost',         `update usage_bins set corrections = corrections - 1 where corrections > 0`,                                  [BINS, SUMMED]],
  ['a correction of a bin and its total',        `update usage_bins set corrections = corrections - 1 where corrections > 0; update usage_totals set corrections = corrections - 1 where corrections > 0`, [BINS]],
  ['a correction of a total',                    `update usage_totals set corrections = corrections + 1 where corrections > 0`,                                [SUMMED]],
  ['a correction that waits too much',           `insert into usage_corrections select 0, 1, slot, account_id, quarter, 1 from usage_bins where ${one('usage_bins', 'true')}`, [BINS]],
  ['a member that is lost',                      `delete from members where ${one('members', 'true')}`,                                                        [AGGREGATES]],
  ['a hold that is resolved twice',              `insert into transfers select (jsonb_populate_record(t, '{"id": "00000000-0000-7000-8000-00000000000f"}')).* from transfers t where kind = 'void'`,  [I2, HOLDS]],
  ['a hold that never was',                      `update transfers set hold = gen_random_uuid() where kind = 'void'`,                                          [I2, HOLDS, HELD, POSTED]],
  ['an event that is lost',                      `delete from events where ${one('events', "object_type = 'ENTITLEMENT' and sequence = 1")}`,                  [GAPS, RELAYED]],
  ['the last event that is lost',                `delete from events where ${one('events', "object_type = 'ENTITLEMENT' and sequence = 2")}`,                  [TOLD, RELAYED]],
  ['events out of their order',                  `update events set at = at - interval '1 day' where object_type = 'ENTITLEMENT' and sequence = 2`,           [TIME]],
  ['a state that says more than was told',       `update customer_meters set sequence = sequence + 1 where ${one('customer_meters', 'true')}`,                 [TOLD]],
];

test.each(DAMAGE)('the audit finds %s', async (_what, statement, found) => {
  expect(await books.foundAfter(statement)).toEqual(found.toSorted());
});
