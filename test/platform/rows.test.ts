// The rows of a result, after a statement on the same connection has failed with rows on their way.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { testServices } from '../support/services.ts';
import { until } from '../support/until.ts';

const ROWS = 20_000;

let sql: Sql;
let other: Sql;
beforeAll(() => {
  const { databaseUrl } = testServices();
  sql = openPool(databaseUrl, { max: 1, applicationName: 'test rows' });
  other = openPool(databaseUrl, { max: 1, applicationName: 'test rows ended' });
});
afterAll(async () => {
  await Promise.all([sql, other].map((pool) => pool.end({ timeout: 1 })));
});

const codeOf = (error: unknown) => (error as { code?: string }).code;
const pidOf = async (): Promise<number> =>
  (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]!.pid;

/** It has sent rows, and then waits. */
const slow = () =>
  sql`select repeat('a', 9000) as text, case when n = ${ROWS} then pg_sleep(30) end::text as slept
    from generate_series(1, ${ROWS}) n`.then(() => 'all', codeOf);

/** Until it sleeps. */
const sleeps = (pid: number) =>
  until('its rows are sent', async () => {
    const [row] = await other<{ event: string | null }[]>`
      select wait_event as event from pg_stat_activity where pid = ${pid}`;
    return row?.event === 'PgSleep';
  });

const FAILURES: [string, string, () => Promise<unknown>][] = [
  [
    'fails by itself',
    '22012',
    () =>
      sql`select 1 / (${ROWS} - n) from generate_series(1, ${ROWS}) n`.then(() => 'all', codeOf),
  ],
  [
    'is canceled',
    '57014',
    async () => {
      const pid = await pidOf();
      const failing = slow();
      await sleeps(pid);
      await other`select pg_cancel_backend(${pid})`;
      return failing;
    },
  ],
  [
    'loses its connection',
    'CONNECTION_CLOSED',
    async () => {
      const pid = await pidOf();
      const failing = slow();
      await sleeps(pid);
      await other`select pg_terminate_backend(${pid})`;
      return failing;
    },
  ],
];

test.each(FAILURES)(
  'after a statement that %s as it sends rows, the next result is whole',
  async (_how, code, fail) => {
    expect(await fail()).toBe(code);
    let rows: readonly { one: number }[] = [];
    await until('it answers', async () => {
      rows = await sql<{ one: number }[]>`select 7 as one`.catch(() => []);
      return rows.length > 0;
    });
    expect([rows.length, rows[0]]).toEqual([1, { one: 7 }]);
  },
);
