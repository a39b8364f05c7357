// Who waits for events hears of them once they are committed, whoever wrote them.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { setImmediate } from 'node:timers/promises';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { type Channel, tell } from '../../src/platform/postgres/tell.ts';
import { passEvents } from '../../workers/relay.ts';
import { endpointOf } from '../http/webhook-endpoints/owed.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

let server: TestServer;
let pool: Sql;
beforeAll(async () => {
  server = await startServer({ own: true, alone: true });
  pool = openPool(server.databaseUrl, { max: 2, applicationName: 'a test' });
});
afterAll(async () => {
  await pool.end();
  await server.stop();
});

/** What is told from now on. */
async function hear(channel: Channel) {
  const told: string[] = [];
  const listening = await server.sql.listen(channel, (payload) => told.push(payload));
  return { told, unlisten: () => listening.unlisten() };
}

const queued = async (): Promise<number> => (await server.sql`select from event_queue`).length;

/** Clears the queue, so that the next event is the first. */
async function pass(): Promise<void> {
  while ((await passEvents(server.sql))?.more === true);
}

const create = async (path: string, body: object): Promise<{ id: string }> => {
  const { status, json } = await server.call('POST', path, { body });
  expect(status).toBe(201);
  return json;
};

test('a transaction and a flush each tell of their events', async () => {
  await endpointOf(server, { event_types: ['*'] });
  await create('/meters', { slug: 'calls' });
  const { id } = await create('/customers', {});
  const writers: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['POST', () => create('/customers', {})],
    [
      'flush',
      () => server.call('POST', '/track', { body: { feature_key: 'calls', customer_id: id } }),
    ],
  ];
  for (const [name, write] of writers) {
    await pass();
    const { told, unlisten } = await hear('tollhouse_events');
    await write();
    expect([name, await queued()]).not.toEqual([name, 0]);
    await until(`it is told of: ${name}`, () => told.length > 0);
    await unlisten();
  }
});

test('what is rolled back is not told, and what is told hundreds of times at once is told twice', async () => {
  const { told, unlisten } = await hear('tollhouse_deliveries');
  await pool
    .begin((transaction) => {
      tell(transaction, 'tollhouse_deliveries', 'never');
      throw new Error('rolled back');
    })
    .catch(() => undefined);
  for (let n = 0; n < 300; n += 1) tell(pool, 'tollhouse_deliveries', 'again');
  tell(pool, 'tollhouse_deliveries', 'last');
  while (told.at(-1) !== 'last') await setImmediate();
  expect(told).toEqual(['again', 'again', 'last']);
  await unlisten();
});

test('a transaction is told of after its commit', async () => {
  const { told, unlisten } = await hear('tollhouse_deliveries');
  const [open, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const done = pool.begin(async (transaction) => {
    await transaction`select`;
    tell(transaction, 'tollhouse_deliveries', 'inner');
    open.resolve();
    await mayEnd.promise;
  });
  await open.promise;
  tell(pool, 'tollhouse_deliveries', 'outer');
  while (told.length === 0) await setImmediate();
  mayEnd.resolve();
  await done;
  while (told.length === 1) await setImmediate();
  expect(told).toEqual(['outer', 'inner']);
  await unlisten();
});
