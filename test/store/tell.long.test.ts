// With a synchronous standby a commit takes as long as its answer, and those of all nodes wait for
// it together. A NOTIFY in them would have them wait for each other.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { passEvents } from '../../workers/relay.ts';
import { type OwnPostgres, startOwnPostgres } from '../chaos/own-postgres.ts';
import { endpointOf } from '../http/webhook-endpoints/owed.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { testServices } from '../support/services.ts';
import { until } from '../support/until.ts';

setDefaultTimeout(60_000);

const CUSTOMERS = 3;

let own: OwnPostgres;
let server: TestServer;
let admin: Sql;
beforeAll(async () => {
  own = await startOwnPostgres(testServices().redisUrl);
  process.env['TEST_DATABASE_URL'] = own.url;
  server = await startServer({ own: true, alone: true });
  admin = openPool(own.url, { max: 1, applicationName: 'a test' });
});
afterAll(async () => {
  await admin.end();
  await server.stop();
  await own.stop();
});

/** A standby of this name is waited for, which never comes; '' for none. */
async function waitForStandby(name: string): Promise<void> {
  await admin.unsafe(`alter system set synchronous_standby_names = '${name}'`);
  await admin`select pg_reload_conf()`;
  await until('the setting holds', async () => {
    const [row] = await admin<{ is: string }[]>`
      select current_setting('synchronous_standby_names') as is`;
    return row?.is === name;
  });
}

const waiting = async (event: string): Promise<string[]> => {
  const rows = await admin<{ name: string }[]>`
    select application_name as name from pg_stat_activity where wait_event = ${event} order by 1`;
  return rows.map(({ name }) => name);
};

test('flushes, records and the relay wait for a standby together, none for another', async () => {
  await endpointOf(server, { event_types: ['*'] });
  await server.call('POST', '/meters', { body: { slug: 'calls' } });
  const { json: customer } = await server.call('POST', '/customers', { body: {} });
  const use = { feature_key: 'calls', customer_id: customer.id };
  await waitForStandby('away');
  const calls = [
    server.call('POST', '/track', { body: use }),
    passEvents(server.sql),
    ...Array.from({ length: CUSTOMERS }, () => server.call('POST', '/customers', { body: {} })),
  ];
  const isOurs = (name: string): boolean => /^tollhouse (records|journal)/.test(name);
  const blocked: string[] = [];
  try {
    await until('all of them wait', async () => {
      blocked.splice(0, Infinity, ...(await waiting('object')));
      const committing = (await waiting('SyncRep')).filter(isOurs);
      return blocked.length > 0 || committing.length === calls.length;
    });
  } finally {
    await waitForStandby('');
  }
  expect(blocked).toEqual([]);
  const [tracked, step, ...made] = await Promise.all(calls);
  expect(tracked).toMatchObject({ status: 200 });
  expect(step).toMatchObject({ more: false });
  expect(made.map((reply) => (reply as { status: number }).status)).toEqual(
    Array.from({ length: CUSTOMERS }, () => 201),
  );
});
