// Books with an archived and a closed part have no findings; missing or duplicate rows in them are
// found.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { DAY_MS, Keeping } from './keeping.ts';
import { Books } from './books.ts';

const START = Date.parse('2028-01-10T12:00:00Z');
const TABLES = [
  'transfers',
  'transfers_archive',
  'closing_balances',
  'members',
  'events',
  'event_closings',
];

let keeping: Keeping;
let books: Books;

beforeAll(async () => {
  keeping = await Keeping.open();
  const { setting } = keeping;
  for (const aggregation of ['sum', 'count', 'max', 'last']) {
    await setting.meter(aggregation, { aggregation });
  }
  await setting.meter('unique', { aggregation: 'unique', unique_property: 'user' });
  await keeping.travel(START);
  const customer = await setting.customer();
  const ends = {
    reset_interval: 'month',
    expires_at: new Date(START + 200 * DAY_MS).toISOString(),
  };
  const use = async (values: readonly number[]): Promise<void> => {
    for (const feature of ['sum', 'count', 'max', 'last', 'unique']) {
      for (const value of values) {
        await setting.track(customer, feature, { value, metadata: { user: `user ${value}` } });
      }
    }
  };
  for (const feature of ['sum', 'count', 'max', 'last']) await setting.grant(customer, feature);
  await setting.grant(customer, 'unique', ends);
  // Closed, archived, and unchanged.
  await use([30, 4, -1]);
  await keeping.travel(START + 100 * DAY_MS);
  await keeping.retain({ usageMonths: 1 });
  await use([20, 5]);
  await keeping.travel(START + 150 * DAY_MS);
  await keeping.retain({ usageMonths: 3 });
  await use([10]);
  await keeping.travel(null);
  await setting.server.ledger.close();
  await setting.server.sql`drop trigger events_queued on events`;
  books = await Books.open(keeping.setting.server);
}, 60_000);
afterAll(async () => {
  await books.close();
  await keeping.stop();
});

test('the audit finds nothing in a sound archive, with all of it in it', async () => {
  await keeping.closes();
  for (const table of TABLES) expect(await keeping.count(table)).toBeGreaterThan(0);
  const [row] = await keeping.setting.server.sql`
    select count(*)::int from closing_balances where members > 0`;
  expect(row).toEqual({ count: 1 });
});

const FOLD = 'I2, I3 totals are the fold of the transfers, pending ones the open holds';
const ASSET = 'I1 a transfer moves one asset of one tenant';
const AGGREGATES = 'I4 aggregates are those of the events';
const BINS = 'bins are the fold of the events';
const KEPT = 'bins keep what is dropped of the events';
const ONCE = 'I5 an id counts once in 30 days';
const RELAYED = 'an event waits for the relay, was passed, or is set aside';
const GAPS = 'I8 events of an object are numbered without a gap';
const TOLD = 'I8 every meter has told what its state says';

const account = (feature: string): string =>
  `(select id from accounts where kind = 'meter' and meter_id = (select id from meters where slug = '${feature}') order by period_start limit 1)`;
const of = (feature: string): string => `account_id = ${account(feature)}`;
/** A usage in the archive. */
const ARCHIVED = `debit = ${account('sum')} and value = 20000000`;
const MOVED_BACK = `insert into transfers select * from transfers_archive`;

// prettier-ignore
const DAMAGE: [string, string, string[]][] = [
  // what                                             statement                                                                                    found by
  ['a row of the archive that is lost',               `delete from transfers_archive where ${ARCHIVED}`,                                           [FOLD, AGGREGATES, KEPT]],
  ['a row of the archive that is there twice',        `insert into transfers_archive select * from transfers_archive where ${ARCHIVED}`,           [FOLD, AGGREGATES, ONCE, KEPT]],
  ['a row that was moved and stayed',                 `${MOVED_BACK} where ${ARCHIVED}`,                                                              [FOLD, AGGREGATES, ONCE, KEPT]],
  ['a row that was deleted and not moved',            `delete from transfers where debit = ${account('sum')} and value = 10000000`,               [FOLD, AGGREGATES, KEPT]],
  ['a row of the archive with another amount',        `update transfers_archive set amount = coalesce(amount, value) + 1 where ${ARCHIVED}`,                        [FOLD]],
  ['a row of the archive with another value',         `update transfers_archive set value = value + 1 where ${ARCHIVED}`,                          [FOLD, AGGREGATES, KEPT]],
  ['a row of the archive that is a correction now',   `update transfers_archive set kind = 'reverse' where ${ARCHIVED}`,                           [FOLD]],
  ['a row of the archive on another account',         `update transfers_archive set debit = ${account('last')} where ${ARCHIVED}`,                 [ASSET, FOLD, AGGREGATES, KEPT]],
  ['the archive dropped without closing balances',    `truncate transfers_archive`,                                                                [FOLD, AGGREGATES, KEPT, BINS]],
  ['a closing balance that is lost',                  `delete from closing_balances where ${of('sum')}`,                                           [FOLD, AGGREGATES, BINS]],
  ['a closing balance of nothing',                    `insert into closing_balances (account_id, debits) values (uuidv7(), 1)`,                    [FOLD]],
  ['closed debits that were lowered',                 `update closing_balances set debits = debits - 1 where ${of('last')}`,                       [FOLD]],
  ['closed credits that were raised',                 `update closing_balances set credits = credits + 1 where ${of('last')}`,                     [FOLD]],
  ['a closed sum of events',                          `update closing_balances set events_total = events_total - 1 where ${of('sum')}`,            [AGGREGATES, KEPT]],
  ['a closed count of events',                        `update closing_balances set events_signed = events_signed - 1 where ${of('count')}`,        [AGGREGATES, KEPT]],
  ['a closed correction',                             `update closing_balances set corrections = corrections - 1 where ${of('sum')}`,              [KEPT]],
  ['a correction that waits of a closed account',     `insert into usage_corrections select 0, 1, slot, id, now(), 1 from accounts where id = ${account('sum')}`, [KEPT]],
  ['a closed highest event',                          `update closing_balances set events_highest = events_highest - 1 where ${of('max')}`,        [AGGREGATES]],
  ['closed members',                                  `update closing_balances set members = members - 1 where ${of('unique')}`,                   [AGGREGATES]],
  ['a member that is lost',                           `delete from members where ctid = (select ctid from members limit 1)`,                       [AGGREGATES]],
  ['closed events that are forgotten',                `delete from event_closings`,                                                                [GAPS, TOLD]],
  ['closed events of which one was never dropped',    `update event_closings set dropped = dropped + 1`,                                           [GAPS, TOLD]],
  ['an event that is lost after others were closed',  `delete from events e using event_closings c where c.object_id = e.object_id`,               [TOLD, RELAYED]],
];

test.each(DAMAGE)('the audit of the archive finds %s', async (_what, statement, found) => {
  expect(await books.foundAfter(statement)).toEqual(found.toSorted());
});

test('the archive refuses what it may not hold: holds, and what resolves them', async () => {
  const hold = `update transfers_archive set kind = 'pending' where ${ARCHIVED}`;
  expect(keeping.setting.server.sql.unsafe(hold).execute()).rejects.toThrow('without_holds');
});

test('the archive has the columns of the table, in their order', async () => {
  const columns = (table: string) => keeping.setting.server.sql`
    select attname, atttypid, attnotnull from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped order by attnum`;
  expect([...(await columns('transfers_archive'))]).toEqual([...(await columns('transfers'))]);
});
