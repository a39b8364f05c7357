// Correct books have no findings; each kind of damage to pending deliveries is found by its check.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { Bed } from '../workers/engine/bed.ts';
import { Sink } from '../workers/engine/sink.ts';
import { Books } from './books.ts';

let bed: Bed;
let books: Books;

beforeAll(async () => {
  bed = await Bed.start({ engines: 0 });
  const close = await bed.addEngine();
  const sink = new Sink();
  const well = await bed.endpoint(sink.url, { event_types: ['*'] });
  const failing = await bed.endpoint(`${sink.url}/fails`);
  const disabled = await bed.endpoint(`${sink.url}/disabled`, { status: 'disabled' });
  const deleted = await bed.endpoint(`${sink.url}/deleted`, { status: 'disabled' });
  sink.answer = () => new Response();
  await bed.events(2);
  await bed.all(well.id, 'delivered');
  await bed.all(failing.id, 'delivered');
  sink.answer = () => new Response(null, { status: 500 });
  await bed.events(1);
  await bed.attempted(well.id, 3);
  await bed.attempted(failing.id, 3);
  await bed.server.call('DELETE', `/webhook-endpoints/${deleted.id}`);
  await bed.all(deleted.id, 'exhausted');
  await bed.all(disabled.id, 'held');
  await close();
  await sink.stop();
  const { sql } = bed.server;
  await sql`update webhook_endpoints set updated_at = updated_at - interval '1 hour' where id = ${well.id}`;
  await sql.unsafe(`
    drop trigger events_queued on events;
    drop index deliveries_once;
    alter table deliveries drop constraint deliveries_status_known, drop constraint deliveries_endpoint_id_fkey`);
  books = await Books.open(bed.server);
});
afterAll(async () => {
  await books.close();
  await bed.stop();
});

test('the audit finds nothing in sound webhooks, with deliveries in every state', async () => {
  expect(await audit(bed.server.sql)).toEqual([]);
  const states = await bed.server.sql`
    select status, count(*)::int from deliveries group by status order by status`;
  expect([...states]).toEqual([
    { status: 'delivered', count: 4 },
    { status: 'exhausted', count: 3 },
    { status: 'held', count: 3 },
    { status: 'pending', count: 2 },
  ]);
});

const PASSED = 'an event waits for the relay, was passed, or is set aside';
const OWED = 'what is owed of an event is delivered, pending, held or exhausted';
const HEARD = 'a delivery is of an event that its endpoint may hear of';
const SUBSCRIBED = 'an endpoint is owed every event that it subscribed to';
const WHOSE = 'a position says whose event it is, and a sample has none';
const ATTEMPTS = 'a delivery is what its attempts made it';

const ONE = `(select id from deliveries where status = 'delivered' order by id limit 1)`;
const PENDING = `(select id from deliveries where status = 'pending' order by id limit 1)`;
const HELD = `(select id from deliveries where status = 'held' order by id limit 1)`;
/** For an endpoint that has not changed since. */
const WELL = `(select d.id from deliveries d join webhook_endpoints w on w.id = d.endpoint_id and w.event_types = '{*}' order by d.id limit 1)`;

/** The damage, and the checks that must find it. */
// prettier-ignore
const DAMAGE: [what: string, statement: string, found: string[]][] = [
  ['a delivery that is lost',                    `delete from deliveries where id = ${HELD}`,                                    [OWED]],
  ['a delivery that is lost, and its attempts',  `with d as (delete from deliveries where id = ${ONE} returning id) delete from delivery_attempts where delivery_id in (select id from d)`, [OWED, SUBSCRIBED]],
  ['a delivery that nobody was owed',            `insert into deliveries select (jsonb_populate_record(d, jsonb_build_object('id', uuidv7()))).* from deliveries d where id = ${HELD}`, [OWED]],
  ['a delivery in no known state',               `update deliveries set status = 'lost' where id = ${HELD}`,                     [OWED, ATTEMPTS]],
  ['an event that was never counted',            `delete from event_fanouts where event_id = (select event_id from deliveries where id = ${ONE})`, [OWED, PASSED]],
  ['a count of an event without deliveries',     `insert into event_fanouts values (uuidv7(), 1, null, now())`,                  [OWED, PASSED]],
  ['an event that was passed and waits again',   `insert into event_queue (organisation_id, event_id) select organisation_id, id from events limit 1`, [PASSED]],
  ['an event that waits and is not there',       `insert into event_queue (organisation_id, event_id) select organisation_id, uuidv7() from events limit 1`, [PASSED]],
  ['an event that was set aside and passed',     `insert into event_faults select id, organisation_id, 1, at, at, 'x' from events limit 1`, [PASSED]],
  ['an event that is nowhere',                   `insert into events (id, organisation_id, mode, type, object_type, object_id, sequence, at, data) select uuidv7(), organisation_id, mode, 'usage.recorded', 'USAGE', uuidv7(), 1, at, '{}' from events limit 1`, [PASSED]],
  ['a count that is too high',                   `update event_fanouts set owed = owed + 1 where event_id = (select event_id from deliveries where id = ${ONE})`, [OWED]],
  ['a position of nobody',                       `update event_fanouts set organisation_id = null where event_id = (select event_id from event_fanouts limit 1)`, [WHOSE]],
  ['a position in the other mode',               `update event_fanouts set mode = 'live' where event_id = (select event_id from event_fanouts limit 1)`, [WHOSE]],
  ['an event that was passed without a place',   `update event_fanouts set position = null where event_id = (select event_id from event_fanouts limit 1)`, [WHOSE]],
  ['an event that was not fanned out',           `with d as (delete from deliveries where id = ${WELL} returning id, event_id), a as (delete from delivery_attempts where delivery_id in (select id from d)) update event_fanouts set owed = owed - 1 where event_id in (select event_id from d)`, [SUBSCRIBED]],
  ['a delivery of an event that is not there',   `update deliveries set event_id = uuidv7() where id = ${HELD}`,                 [OWED, HEARD]],
  ['a delivery to nobody',                       `update deliveries set endpoint_id = uuidv7() where id = ${HELD}`,              [HEARD]],
  ['a delivery of another type',                 `update deliveries set event_type = 'tag.created' where id = ${HELD}`,          [HEARD]],
  ['an endpoint in the other mode',              `update webhook_endpoints set mode = 'live' where event_types = '{customer.created}'`, [HEARD]],
  ['an endpoint of another organisation',        `update webhook_endpoints set organisation_id = (select id from organisations where name = 'Other') where event_types = '{customer.created}'`, [HEARD]],
  ['an attempt at nothing',                      `update delivery_attempts set delivery_id = uuidv7() where delivery_id = ${PENDING}`, [ATTEMPTS]],
  ['an attempt that was not written down',       `delete from delivery_attempts where delivery_id = ${PENDING}`,                 [ATTEMPTS]],
  ['an attempt that nobody made',                `update deliveries set attempts = attempts + 1 where id = ${PENDING}`,          [ATTEMPTS]],
  ['attempts that began at no time',             `update deliveries set first_at = null where id = ${PENDING}`,                  [ATTEMPTS]],
  ['attempts that began before the first',       `update deliveries set first_at = first_at - interval '1 hour' where id = ${PENDING}`, [ATTEMPTS]],
  ['delivered, and nobody accepted it',          `update delivery_attempts set status_code = 500 where delivery_id = ${ONE}`,    [ATTEMPTS]],
  ['delivered, and refused by an answer',        `update deliveries set status = 'delivered', settled_at = now() where id = ${PENDING}`, [ATTEMPTS]],
  ['pending, and settled',                       `update deliveries set settled_at = now() where id = ${PENDING}`,               [ATTEMPTS]],
  ['delivered, and never settled',               `update deliveries set settled_at = null where id = ${ONE}`,                    [ATTEMPTS]],
];

test.each(DAMAGE)('the audit of webhooks finds %s', async (_what, statement, found) => {
  expect(await books.foundAfter(statement)).toEqual(found.toSorted());
});

test('the audit finds nothing in webhooks once the damage is undone', async () => {
  expect(await audit(bed.server.sql)).toEqual([]);
});
