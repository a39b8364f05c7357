// An upgrade from the release whose trigger fanned events out: announced events are passed on, and
// pending deliveries stay.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { migrate } from '../../src/database/migrate.ts';
import { ids } from '../../src/platform/ids.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { BEGINNING, pagesAfter } from '../../src/records/event-positions.ts';
import type { FreshDatabase } from '../support/database.ts';
import { relayAll } from '../support/relayed.ts';
import { databaseBefore } from './before.ts';

setDefaultTimeout(60_000);

const VERSION = 23;

let database: FreshDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await databaseBefore(VERSION);
  sql = openPool(database.url, { max: 1, applicationName: 'test' });
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

const organisation = ids.next();
const endpoint = ids.next();

/** Announced to the endpoint alone where `to` is set. */
async function tell(second: number, to: string | null = null): Promise<string> {
  const id = ids.next();
  await sql`
    insert into events (id, organisation_id, mode, type, object_type, object_id, sequence, at, data, endpoint_id)
    values (${id}, ${organisation}, 'test', 'usage.recorded', 'USAGE', ${id}, 1, ${new Date(second * 1000)}, '{}', ${to})`;
  return id;
}

test('after an upgrade of the relay events keep their order and deliveries, and new ones follow', async () => {
  await sql`insert into organisations (id, name, created_at) values (${organisation}, 'One', now())`;
  const second = await tell(2);
  const first = await tell(1);
  await sql`
    insert into webhook_endpoints (id, organisation_id, mode, url, event_types, status, secret, created_at, updated_at)
    values (${endpoint}, ${organisation}, 'test', 'https://hooks.example/', '{*}', 'enabled', '', now(), now())`;
  const third = await tell(3);
  const sample = await tell(4, endpoint);
  await migrate(database.url);
  const next = await tell(5);
  await relayAll(sql);
  const rows =
    await sql`select event_id as id, position, owed from event_fanouts order by position`;
  expect([...rows]).toEqual([
    { id: first, position: -2n, owed: 0 },
    { id: second, position: -1n, owed: 0 },
    { id: third, position: 0n, owed: 1 },
    { id: next, position: 1n, owed: 1 },
    { id: sample, position: null, owed: 1 },
  ]);
  // A stream of events has those of before, too.
  const [page] = await pagesAfter(sql, [
    { organisationId: organisation, mode: 'test', position: BEGINNING },
  ]);
  expect(page!.events.map(({ id }) => id)).toEqual([first, second, third, next]);
  expect(await audit(sql)).toEqual([]);
});
