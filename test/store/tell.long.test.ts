// With a synchronous standby a commit takes as long as its answer, and those of all nodes wait for
// it together. A NOTIFY in them would have them wait for each other.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { passEvents } from '../../workers/relay.ts';
import { type OwnPostgres, startOwnPostgres } from '../chaos/own-postgres.ts';
import { endpointOf, hearDue } from '../http/webhook-endpoints/owed.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { testServices } from '../support/services.ts';
import { until } from '../support/until.ts';

setDefaultTimeout(60_000);

const CUSTOMERS = 3;

let own: OwnPostgres;
let server: TestServer;
let admin: Sql;
let other: Sql;
beforeAll(async () => {
  own = await startOwnPostgres(testServices().redisUrl);
  process.env['TEST_DATABASE_URL'] = own.url;
  server = await startServer({ own: true, alone: true });
  // In the server's database: locks name tables of their own database.
  admin = openPool(server.databaseUrl, { max: 1, applicationName: 'a test' });
  other = openPool(server.databaseUrl, { max: 1, applicationName: 'another test' });
});
afterAll(async () => {
  await admin.end();
  await other.end();
  await server.stop();
  await own.stop();
});

/** A standby of this name is waited for, which never comes; '' for none. */
async function setStandby(name: string): Promise<void> {
  await admin.unsafe(`alter system set synchronous_standby_names = '${name}'`);
  await admin`select pg_reload_conf()`;
}

/**
 * Until commits wait: the checkpointer tells all sessions of it, and may do so after the setting
 * holds in a session. Resolves with a function that resolves when they do not wait any more.
 */
async function haveCommitsWait(): Promise<() => Promise<void>> {
  await setStandby('away');
  const end = { isAsked: false };
  const committing = (async () => {
    while (!end.isAsked) await other`select pg_logical_emit_message(true, 'a test', '')`;
  })();
  await until('a commit waits', async () => (await waiting('SyncRep')).includes('a commit'));
  return async () => {
    end.isAsked = true;
    await setStandby('');
    await committing;
  };
}

/**
 * Who waits for that, by what it is in the middle of. A commit keeps its locks while it waits for a standby,
 * so a session that makes a customer is known by what it has locked. What the service writes by
 * itself meanwhile is '?'.
 */
async function waiting(event: string): Promise<string[]> {
  const rows = await admin<{ who: string }[]>`
    with written as (
      select pid, relation::regclass::text as name from pg_locks
      where mode = 'RowExclusiveLock' and database = (select oid from pg_database where datname = current_database()))
    select case
      when application_name = 'another test' then 'a commit'
      when application_name like 'tollhouse journal%'
        and pid in (select pid from written where name = 'transfers') then 'a flush'
      when application_name <> 'tollhouse records' then '?'
      when query like '%relay_events(%' then 'the relay'
      when pid in (select pid from written where name = 'customers') then 'a customer'
      else '?' end as who
    from pg_stat_activity where wait_event = ${event} order by 1`;
  return rows.map(({ who }) => who);
}

test('flushes, records and the relay wait for a standby together, none for another', async () => {
  await endpointOf(server, { event_types: ['*'] });
  await server.call('POST', '/meters', { body: { slug: 'calls' } });
  const { json: customer } = await server.call('POST', '/customers', { body: {} });
  const use = { feature_key: 'calls', customer_id: customer.id };
  // A NOTIFY of what is above would wait too, and others for it.
  const due = await hearDue(server);
  await due.told();
  await due.stop();
  const endWait = await haveCommitsWait();
  const calls = [
    server.call('POST', '/track', { body: use }),
    passEvents(server.sql),
    ...Array.from({ length: CUSTOMERS }, () => server.call('POST', '/customers', { body: {} })),
  ];
  const ours = [...Array.from({ length: CUSTOMERS }, () => 'a customer'), 'a flush', 'the relay'];
  const blocked: string[] = [];
  try {
    await until('all of them wait', async () => {
      blocked.splice(0, Infinity, ...(await waiting('object')));
      const committing = (await waiting('SyncRep')).filter((who) => ours.includes(who));
      return blocked.length > 0 || Bun.deepEquals(committing, ours);
    });
  } finally {
    await endWait();
  }
  expect(blocked).toEqual([]);
  const [tracked, step, ...made] = await Promise.all(calls);
  expect(tracked).toMatchObject({ status: 200 });
  expect(step).toMatchObject({ more: false });
  expect(made.map((reply) => (reply as { status: number }).status)).toEqual(
    Array.from({ length: CUSTOMERS }, () => 201),
  );
});
