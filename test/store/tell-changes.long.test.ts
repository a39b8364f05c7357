// While a commit that notifies waits for a synchronous standby, PostgreSQL lets no other one that
// notifies commit. So no call may: each change that other nodes hear of is told after its commit.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { type OwnPostgres, startOwnPostgres } from '../chaos/own-postgres.ts';

import { type Reply, startServer, type TestServer } from '../support/server.ts';
import { testServices } from '../support/services.ts';
import { until } from '../support/until.ts';

setDefaultTimeout(60_000);

let own: OwnPostgres;
let server: TestServer;
let admin: Sql;
/** Its commit waits for a standby that never comes, those of others for none. */
let holder: Sql;
let held: Promise<void>;
const over = new AbortController();
beforeAll(async () => {
  own = await startOwnPostgres(testServices().redisUrl);
  process.env['TEST_DATABASE_URL'] = own.url;
  server = await startServer({ own: true, alone: true });
  admin = openPool(own.url, { max: 1, applicationName: 'a test' });
  await admin`alter system set synchronous_commit = 'local'`;
  await admin`alter system set synchronous_standby_names = 'away'`;
  await admin`select pg_reload_conf()`;
  const settings = { synchronous_commit: 'on' };
  holder = openPool(own.url, { max: 1, applicationName: 'the holder', settings });
  held = notifyUntilHeld();
  await until('it waits', async () => (await waiting('SyncRep')).includes('the holder'));
});
afterAll(async () => {
  over.abort();
  await admin`alter system reset synchronous_standby_names`;
  await admin`select pg_reload_conf()`;
  await held;
  await Promise.all([holder.end(), admin.end()]);
  await server.stop();
  await own.stop();
});

/** The setting holds some moments after it was made. */
async function notifyUntilHeld(): Promise<void> {
  while (!over.signal.aborted) await holder`notify anything`;
}

/** Who waits for that; what tells after commits may. */
async function waiting(event: string): Promise<string[]> {
  const rows = await admin<{ name: string }[]>`
    select application_name as name from pg_stat_activity
    where wait_event = ${event} and query not like '%from unnest(%) as t (channel, payload)%'`;
  return rows.map(({ name }) => name);
}

/** Its answer, unless it waits for the holder. */
async function answered(method: string, path: string, body?: object): Promise<Reply['json']> {
  let reply: Reply | null = null;
  const call = server.call(method, path, body === undefined ? {} : { body });
  const blocked: string[] = [];
  await until(`an answer of ${method} ${path}`, async () => {
    reply = await Promise.race([call, Bun.sleep(5).then(() => null)]);
    blocked.splice(0, Infinity, ...(await waiting('object')));
    return reply !== null || blocked.length > 0;
  });
  expect([method, path, blocked]).toEqual([method, path, []]);
  const { status, json } = await call;
  expect([method, path, status < 300]).toEqual([method, path, true]);
  return json;
}

test('no change that other nodes hear of waits for the commit of another one', async () => {
  const { id: customer } = await answered('POST', '/customers', { external_customer_id: 'one' });
  await answered('PATCH', `/customers/${customer}`, { name: 'Ada' });
  await answered('PUT', '/customers/one', { name: 'Grace' });
  await answered('POST', '/meters', { slug: 'calls' });
  await answered('PATCH', '/meters/calls', { name: 'Calls' });
  const costs = [{ feature_key: 'calls', cost: '0.5' }];
  await answered('POST', '/meters', { slug: 'credits', aggregation: 'sum', credit_costs: costs });
  const alert = { feature_key: 'calls', type: 'usage_percentage', threshold: 80 };
  const { id: alertId } = await answered('POST', '/alerts', alert);
  await answered('DELETE', `/alerts/${alertId}`);
  const { id: gone } = await answered('POST', '/meters', { slug: 'gone' });
  await answered('POST', '/alerts', { ...alert, feature_key: 'gone' });
  await answered('DELETE', `/meters/${gone}`);
  const hook = { url: 'https://example.com/', event_types: ['*'] };
  const { id: endpoint } = await answered('POST', '/webhook-endpoints', hook);
  await answered('PATCH', `/webhook-endpoints/${endpoint}`, { description: 'ours' });
  await answered('POST', `/webhook-endpoints/${endpoint}/rotate-secret`);
  await answered('DELETE', `/webhook-endpoints/${endpoint}`);
  const { id: key } = await answered('POST', '/api-keys', { name: 'one' });
  const { id: next } = await answered('POST', `/api-keys/${key}/rotate`, {});
  await answered('DELETE', `/api-keys/${next}`);
  await answered('POST', '/test-clock', { advance: 'PT1H' });
});
