// The statements by which OPERATIONS.md has an operator archive the audit log.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres, { type Sql } from 'postgres';
import { freshDatabase } from '../../support/database.ts';

const PAGE = readFileSync(join(import.meta.dir, '../../../src/OPERATIONS.md'), 'utf8');

let database: Awaited<ReturnType<typeof freshDatabase>>;
let sql: Sql;
beforeAll(async () => {
  database = await freshDatabase();
  sql = postgres(database.url, { max: 1, onnotice: () => undefined });
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

test('archiving deletes old audit log partitions, and the log is append-only again afterwards', async () => {
  await sql`
    insert into audit_log (id, at, actor_kind, actor_label, operation, object_type)
    select uuidv7(), at, 'command_line', 'root', 'resume', 'resume'
    from unnest(array['2026-05-01', '2027-05-01']::timestamptz[]) as at`;
  const [, statements = ''] = /### The audit log[^]*?(BEGIN;[^]*?COMMIT;)/.exec(PAGE) ?? [];
  await sql.unsafe(statements);
  const left = await sql`select extract(year from at)::int as year from audit_log`;
  expect([...left]).toEqual([{ year: 2027 }]);
  const refused = await sql`delete from audit_log`.then(String, String);
  expect(refused).toContain('audit_log takes new rows');
  const [trigger] = await sql`
    select tgenabled::text as enabled from pg_trigger where tgname = 'audit_log_unchanged'`;
  expect(trigger).toEqual({ enabled: 'A' });
});
