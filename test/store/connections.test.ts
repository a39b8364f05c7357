// A connection to the database falls silent and stays silent, as behind a router that forgot it,
// while new connections work.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { journalName } from '../../ledger/store/nodes.ts';
import { type PostgresStorage, postgresStorage } from '../../ledger/store/postgres-storage.ts';
import { slotOf } from '../../ledger/kernel/slot.ts';
import { timers } from '../../src/platform/clock.ts';
import { ids } from '../../src/platform/ids.ts';
import { onEach, openPool } from '../../src/platform/postgres/postgres.ts';
import { freshDatabase, type FreshDatabase } from '../support/database.ts';
import { type Proxy, startProxy } from '../support/proxy.ts';

/** A new connection and a claim take some 10 ms, and 400 and more beside other files on a slow machine. */
const LEASE_MS = 1500;

let database: FreshDatabase;
let proxy: Proxy;
let storage: PostgresStorage;
beforeAll(async () => {
  database = await freshDatabase();
  proxy = await startProxy(database.url);
  const holder = ids.next();
  const open = (max: number, applicationName: string) => () =>
    openPool(proxy.url, { max, applicationName });
  storage = postgresStorage({
    openWriter: open(1, journalName(holder)),
    openReader: open(4, 'test'),
    leaseMs: LEASE_MS,
    holder,
    address: null,
    slotOf,
    ids,
    timers,
    onEvents: () => undefined,
  });
  await storage.warm(onEach);
});
afterAll(async () => {
  await storage.end();
  await proxy.stop();
  await database.drop();
});

const LATE = /^the database gave no answer in \d+ ms$/;

test('one late health check keeps every connection, a second one gives up all that read', async () => {
  proxy.silence();
  const load = failure(storage.loadCustomers([ids.next()]));
  expect(await failure(storage.survey())).toMatch(LATE);
  expect(await Promise.race([load, Promise.resolve('waits')])).toBe('waits');
  expect(await failure(storage.survey())).toMatch(LATE);
  expect(await load).toContain('CONNECTION_');
  expect((await storage.survey()).nodes).toEqual([]);
  expect(await storage.loadCustomers([ids.next()])).toEqual([]);
});

test('two late health checks with an answer between them give up no connection', async () => {
  for (let round = 0; round < 2; round += 1) {
    proxy.freeze();
    const load = storage.loadCustomers([ids.next()]);
    expect(await failure(storage.survey())).toMatch(LATE);
    proxy.thaw();
    expect(await load).toEqual([]);
  }
});

test('a claim that is not answered is made again on another connection', async () => {
  expect(await storage.claim()).not.toBeNull();
  proxy.silence();
  expect(await failure(storage.claim())).toMatch(LATE);
  // The lease of the first claim is over.
  expect(await storage.claim()).toMatchObject({ epoch: 2n });
});

const failure = (answer: Promise<unknown>): Promise<string> =>
  answer.then(
    () => 'answered',
    (error: unknown) => (error as Error).message,
  );
