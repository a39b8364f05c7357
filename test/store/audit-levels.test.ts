// Levels that go on over periods have no findings; each kind of damage to them is found by its check.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { Setting } from '../http/metering/setting.ts';
import { untilFolded } from '../support/folded.ts';
import { Books } from './books.ts';

setDefaultTimeout(60_000);

const DAY_MS = 86_400_000;

let setting: Setting;
let books: Books;

beforeAll(async () => {
  setting = await Setting.open({ own: true });
  await setting.meter('disk', { aggregation: 'last', carry: true, scale: 0 });
  const customer = await setting.customer();
  await setting.grant(customer, 'disk', { amount: 10, reset_interval: 'day' });
  const start = Date.parse((await setting.server.call('GET', '/test-clock')).json.now);
  await setting.track(customer, 'disk', { value: 7 });
  expect((await setting.post('/test-clock', { advance: 'P3D' })).status).toBe(200);
  const timestamp = new Date(start + DAY_MS / 2).toISOString();
  const late = { name: 'disk', customer_id: customer, value: 4, timestamp };
  expect((await setting.ingest([late])).status).toBe(200);
  const { sql, ledger } = setting.server;
  await untilFolded(sql);
  await ledger.close();
  // The constraint against the damage that is done here on purpose.
  await sql.unsafe('alter table balances drop constraint balances_sound');
  books = await Books.open(setting.server);
});
afterAll(async () => {
  await books.close();
  await setting.stop();
});

test('the audit finds nothing in levels that go on', async () => {
  expect(await audit(setting.server.sql)).toEqual([]);
  const [row] = await setting.server.sql`
    select (select count(*)::int from transfers where answer ? 'carried' and kind = 'single') as begun,
      (select count(*)::int from transfers where answer ? 'carried' and kind = 'reverse') as late,
      (select count(*)::int from transfers where value is not null) as events`;
  expect(row).toEqual({ begun: 3, late: 3, events: 2 });
});

const LEVEL = 'a period has the level of its latest event, or of the period before';
const NONE = 'what a period begins with is no event';
const I1 = 'I1 debits equal credits for each meter';
const I2 = 'I2, I3 totals are the fold of the transfers, pending ones the open holds';
const CEILING = 'I4 no ceiling is crossed, and consumption is the floored aggregate';
const BINS = 'bins are the fold of the events';

/** The period of the customer, by its start; -1 is the one that runs. */
const period = (place: number): string =>
  `id = (select a.id from accounts a where a.kind = 'meter' order by a.period_start ${place < 0 ? 'desc' : ''} offset ${place < 0 ? 0 : place} limit 1)`;

// prettier-ignore
const DAMAGE: [string, string, string[]][] = [
  ['a period that has begun with another level', `update balances set aggregate = aggregate + 1, debits_posted = debits_posted + 1 where ${period(-1)}`,   [LEVEL, I1, I2]],
  ['a period that has begun with nothing',       `update balances set aggregate = 0, latest_at = null, latest_id = null where ${period(-1)}`,              [LEVEL, CEILING]],
  ['a level of another event',                   `update balances set latest_id = gen_random_uuid() where ${period(-1)}`,                                  [LEVEL]],
  ['a level of another time',                    `update balances set latest_at = latest_at + interval '1 ms' where ${period(-1)}`,                        [LEVEL]],
  ['a period that forgot its own event',         `update balances set latest_id = gen_random_uuid() where ${period(0)}`,                                   [LEVEL]],
  ['a level that was carried twice',             `update transfers set amount = amount * 2 where ctid = (select ctid from transfers where answer ? 'carried' limit 1)`, [I2]],
  ['a level that was carried by an event',       `update transfers set value = 1, reason = 'ok' where ctid = (select ctid from transfers where answer ? 'carried' limit 1)`, [NONE, LEVEL, BINS]],
  ['a meter that carries no more',               `update meters set carry = false`,                                                                        [NONE]],
];

test.each(DAMAGE)('the audit of levels finds %s', async (_what, statement, found) => {
  expect(await books.foundAfter(statement)).toEqual(found.toSorted());
});
