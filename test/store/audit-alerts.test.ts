// Correct alerts have no findings; each kind of damage is found by its check.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { Watching } from '../http/alerts/watching.ts';
import { Books } from './books.ts';

let watching: Watching;
let books: Books;

beforeAll(async () => {
  watching = await Watching.open({ own: true });
  const feature = await watching.feature();
  const other = await watching.feature();
  const customer = await watching.setting.customer();
  await watching.setting.grant(customer, feature, { amount: 100 });
  await watching.alert(feature, { type: 'usage_percentage', threshold: 50 });
  await watching.alert(feature, { type: 'usage', threshold: 50, customer_id: customer });
  await watching.alert(other, { type: 'usage', threshold: 50 });
  await watching.use(customer, feature, 60);
  await watching.setting.grant(customer, feature, { amount: 100 });
  await watching.use(customer, feature, 60);
  const { sql, ledger } = watching.setting.server;
  await ledger.close();
  await sql.unsafe(`
    drop trigger events_queued on events;
    alter table alerts drop constraint alerts_customer_id_fkey`);
  books = await Books.open(watching.setting.server);
});
afterAll(async () => {
  await books.close();
  await watching.stop();
});

test('the audit finds nothing in sound alerts', async () => {
  expect(await audit(watching.setting.server.sql)).toEqual([]);
  const [row] = await watching.setting.server.sql`
    select jsonb_array_length(fired) as fired from customer_meters`;
  expect(row!['fired']).toBe(2);
});

const ITS = 'an alert that has fired is of that meter, and of that customer or of each';
const TOLD = 'an alert that has fired was told by its event, and not taken back since';
const QUEUED = 'an event waits for the relay, was passed, or is set aside';
const ORDER = 'I8 events of an object are numbered without a gap';
const ID = '00000000-0000-7000-8000-000000000001';

// prettier-ignore
const DAMAGE: [string, string, string[]][] = [
  ['one that never was',             `update customer_meters set fired = fired || '[{"id": "${ID}", "eventId": null}]'`,                            [ITS]],
  ['one of another meter',           `update customer_meters set fired = jsonb_build_array(jsonb_build_object('id', (select a.id from alerts a where a.meter_id <> customer_meters.meter_id), 'eventId', null))`, [ITS]],
  ['one of another customer',        `update alerts set customer_id = gen_random_uuid() where customer_id is not null`,                             [ITS]],
  ['one that is there twice',        `update customer_meters set fired = fired || (fired -> 0)`,                                                    [ITS]],
  ['one that no event told of',      `update customer_meters set fired = jsonb_set(fired, '{0,eventId}', '"${ID}"')`,                               [TOLD]],
  ['one that another event told of', `update customer_meters set fired = jsonb_set(fired, '{0,eventId}', fired -> 1 -> 'eventId')`,                 [TOLD]],
  ['one that was taken back',        `insert into events select (jsonb_populate_record(e, jsonb_build_object('id', gen_random_uuid(), 'type', 'alert.recovered', 'sequence', e.sequence + 9, 'at', e.at + interval '1 hour'))).* from events e where e.id = (select (fired -> 0 ->> 'eventId')::uuid from customer_meters)`, [TOLD, ORDER, QUEUED, 'I8 every meter has told what its state says']],
];

test.each(DAMAGE)('the audit of alerts finds %s', async (_what, statement, found) => {
  expect(await books.foundAfter(statement)).toEqual(found.toSorted());
});
