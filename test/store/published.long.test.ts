// The service on a database whose tables are all published, and a second database that subscribes.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { type OwnPostgres, startOwnPostgres } from '../chaos/own-postgres.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { newPlace } from '../support/new-place.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { testServices } from '../support/services.ts';
import { until } from '../support/until.ts';
import { Sink } from '../workers/engine/sink.ts';

setDefaultTimeout(120_000);

/** What changes all the time, by clocks and leases. */
const RESTLESS = new Set(['nodes', 'workers']);

let own: OwnPostgres;
let server: TestServer;
let copy: FreshDatabase;
let copied: Sql;
let sink: Sink;
beforeAll(async () => {
  own = await startOwnPostgres(testServices().redisUrl);
  const admin = openPool(own.url, { max: 1, applicationName: 'a test' });
  await admin.unsafe(`alter system set wal_level = 'logical'`);
  await admin.end();
  // The setting needs a start.
  await own.crash();
  await own.running();
  process.env['TEST_DATABASE_URL'] = own.url;
  sink = new Sink();
  server = await startServer({ own: true, deliver: true, node: await newPlace() });
  copy = await freshDatabase();
  copied = openPool(copy.url, { max: 2, applicationName: 'a test' });
  await subscribe();
});
afterAll(async () => {
  await copied.unsafe('alter subscription everything disable');
  await copied.unsafe('alter subscription everything set (slot_name = none)');
  await copied.unsafe('drop subscription everything');
  await until('nobody reads the slot', async () => {
    const [slot] = await server.sql<{ active: boolean }[]>`select active from pg_replication_slots`;
    return slot?.active === false;
  });
  await server.sql`select pg_drop_replication_slot('everything')`;
  await copied.end();
  await copy.drop();
  await sink.stop();
  await server.stop();
  await own.stop();
});

const tablesOf = async (sql: Sql): Promise<string[]> => {
  const rows = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`;
  return rows.map(({ name }) => name);
};

/** Both are databases of one server, so the slot is made by itself. */
async function subscribe(): Promise<void> {
  const { sql, databaseUrl } = server;
  // The audit log is empty, and refuses it.
  const filled = (await tablesOf(copied)).filter((name) => name !== 'audit_log');
  await copied.unsafe(`truncate ${filled.join(', ')}`);
  await sql.unsafe('create publication everything for all tables');
  await sql`select pg_create_logical_replication_slot('everything', 'pgoutput')`;
  await copied.unsafe(
    `create subscription everything connection '${databaseUrl}' publication everything
      with (create_slot = false, slot_name = 'everything')`,
  );
}

/** A sum for each table. */
async function sumsOf(sql: Sql): Promise<Record<string, unknown>> {
  const names = (await tablesOf(sql)).filter((name) => !RESTLESS.has(name));
  const sums = names.map(
    (name) =>
      `select '${name}' as name, count(*)::text || ' ' || coalesce(md5(string_agg(t::text, ' ' order by t::text)), '') as sum from ${name} t`,
  );
  const rows = await sql.unsafe<{ name: string; sum: string }[]>(sums.join(' union all '));
  return Object.fromEntries(rows.map(({ name, sum }) => [name, sum]));
}

const settled = async (id: string): Promise<boolean> => {
  const { json } = await server.call('GET', `/webhook-endpoints/${id}/deliveries`);
  return (
    json.data.length > 0 && json.data.every((one: { status: string }) => one.status === 'delivered')
  );
};

async function use(node: TestServer, customer: string): Promise<void> {
  const body = { feature_key: 'calls', customer_id: customer, value: 2 };
  const { status } = await node.call('POST', '/track', { body });
  expect(status).toBe(200);
}

test('the service starts, records and relays while all tables are published, and the copy has all of it', async () => {
  const { sql } = server;
  const call = (...args: Parameters<TestServer['call']>) => server.call(...args);
  const hook = await call('POST', '/webhook-endpoints', {
    body: { url: sink.url, event_types: ['*'] },
  });
  await call('POST', '/meters', { body: { slug: 'calls' } });
  const { json: customer } = await call('POST', '/customers', { body: {} });
  await use(server, customer.id);
  // Another start, on what is published.
  const second = await startServer({ own: true, beside: server, node: await newPlace() });
  await use(second, customer.id);
  const { json: patched } = await call('PATCH', `/customers/${customer.id}`, {
    body: { name: 'Ada' },
  });
  expect(patched.name).toBe('Ada');
  await second.stop();
  await until('all is relayed', async () => {
    return (await sql`select from event_queue`).length === 0 && settled(hook.json.id);
  });
  expect(sink.arrivals.length).toBeGreaterThan(0);
  await until('the copy is the same', async () => {
    return Bun.deepEquals(await sumsOf(copied), await sumsOf(sql));
  });
});
