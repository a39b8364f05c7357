// The logged form of an error quotes no row, no parameter and no query.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openLog } from '../../src/platform/log.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { errorLine, safeError } from '../../src/platform/postgres/safe-error.ts';
import { freshDatabase } from '../support/database.ts';

const PRIVATE = 'ada.private@example.com';

let database: Awaited<ReturnType<typeof freshDatabase>>;
let sql: Sql;
beforeAll(async () => {
  database = await freshDatabase();
  sql = openPool(database.url, { max: 1, applicationName: 'safe error test' });
  await sql`create table people (email text primary key, age int check (age > 0))`;
  await sql`insert into people values (${PRIVATE}, 1)`;
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

const failureOf = async (query: () => PromiseLike<unknown>): Promise<unknown> => {
  try {
    await query();
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
};

const FAILURES: [string, () => PromiseLike<unknown>, string][] = [
  ['a row that is there', () => sql`insert into people values (${PRIVATE}, 1)`, 'people_pkey'],
  ['a row that does not fit', () => sql`update people set age = 0`, 'people_age_check'],
  ['a value', () => sql`select ${PRIVATE}::text::uuid`, '22P02'],
  ['a value in a function', () => sql`select to_date(${PRIVATE}, 'YYYY')`, '22007'],
];

test.each(FAILURES)('an error is logged without its secrets: %s', async (_what, query, names) => {
  const error = await failureOf(query);
  const lines: string[] = [];
  const log = openLog('info', (line) => lines.push(line));
  log.warn({ err: error }, 'it failed');
  log.error({ err: new Error('outer', { cause: error }) }, 'it failed');
  const all = [...lines, errorLine(error), safeError(error).stack].join('\n');
  expect(all).not.toContain('private');
  expect(lines.every((line) => line.includes(names))).toBe(true);
  expect(errorLine(error)).toContain(names);
  // It has the place of the error.
  expect(JSON.parse(lines[0]!).err).toMatchObject({ type: 'PostgresError', severity: 'ERROR' });
});

test('an error is logged without the values it was thrown with, and so is a value that is no error', () => {
  const error = Object.assign(new TypeError('no'), { code: 'E', buyer: PRIVATE, args: [PRIVATE] });
  expect(safeError(error)).toMatchObject({ type: 'TypeError', message: 'no', code: 'E' });
  expect(
    JSON.stringify([safeError(error), safeError(PRIVATE), safeError({ PRIVATE })]),
  ).not.toContain('private');
});
