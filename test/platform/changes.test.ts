// What a process hears of changes that others have made: each one, once, whoever lives to tell.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Timers } from '../../ledger/ports.ts';
import { timers } from '../../src/platform/clock.ts';
import { ids } from '../../src/platform/ids.ts';
import {
  listenForChanges,
  notifyChange,
  type OpenChanges,
} from '../../src/platform/postgres/changes.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { freshDatabase, type FreshDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

let database: FreshDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await freshDatabase();
  sql = openPool(database.url, { max: 2, applicationName: 'a test' });
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

/** What a process hears from now on. */
async function hear(own: Timers = timers): Promise<OpenChanges & { readonly heard: string[] }> {
  const heard: string[] = [];
  const changes = await listenForChanges({
    url: database.url,
    timers: own,
    warn: () => undefined,
  });
  changes.subscribe({ changed: (_kind, id) => void heard.push(id), reset: () => undefined });
  return Object.assign(changes, { heard });
}

/** Of a process that dies as soon as it has committed: nothing tells of it. */
const store = (executor: Pick<Sql, 'unsafe'>, id: string) =>
  executor.unsafe(`insert into changes (kind, subject) values ('customer', '${id}')`);

const heardOf = (changes: { readonly heard: string[] }, id: string): Promise<void> =>
  until('it is heard', () => changes.heard.includes(id));

test('a change is heard where its process died before it told of it', async () => {
  const changes = await hear();
  const [one, other] = [ids.next(), ids.next()];
  await store(sql, one);
  await heardOf(changes, one);
  await store(sql, other);
  await heardOf(changes, other);
  expect(changes.heard).toEqual([one, other]);
  await changes.close();
});

test('a change is heard whose transaction ends after later ones, and each is heard once', async () => {
  const changes = await hear();
  const [first, late, after] = [ids.next(), ids.next(), ids.next()];
  const [open, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const done = sql.begin(async (transaction) => {
    await store(transaction, late);
    open.resolve();
    await mayEnd.promise;
  });
  await open.promise;
  await store(sql, first);
  await heardOf(changes, first);
  // Looks go on meanwhile, and find the first one each time.
  const told = await hear();
  await store(sql, after);
  await Promise.all([heardOf(changes, after), heardOf(told, after)]);
  mayEnd.resolve();
  await done;
  await Promise.all([heardOf(changes, late), heardOf(told, late)]);
  expect([changes.heard, told.heard]).toEqual([
    [first, after, late],
    [after, late],
  ]);
  await Promise.all([changes.close(), told.close()]);
});

test('what is told of is heard without a beat, and what is rolled back is not heard', async () => {
  // Beats never come by themselves.
  const changes = await hear({
    ...timers,
    after: (ms, task) => timers.after(ms < 250 ? ms : 60_000, task),
  });
  const [never, told] = [ids.next(), ids.next()];
  await sql
    .begin(async (transaction) => {
      await notifyChange(transaction, 'meter', never);
      throw new Error('rolled back');
    })
    .catch(() => undefined);
  await sql.begin((transaction) => notifyChange(transaction, 'meter', told));
  await heardOf(changes, told);
  expect(changes.heard).toEqual([told]);
  await changes.close();
});

test('a change that a node of the release before notifies has no row, and is heard', async () => {
  const changes = await hear();
  const id = ids.next();
  await sql`select pg_notify('tollhouse_changes', ${`api_key:${id}`})`;
  await heardOf(changes, id);
  expect(changes.heard).toEqual([id]);
  await changes.close();
});
