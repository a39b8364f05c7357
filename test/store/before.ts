// A database as an earlier release left it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { must } from '../../ledger/kernel/assert.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { openPool } from '../../src/platform/postgres/postgres.ts';

const MIGRATIONS = join(import.meta.dir, '../../src/database/migrations');

const FILES = new Map(
  readdirSync(MIGRATIONS)
    .sort()
    .map((file) => [Number.parseInt(file, 10), file]),
);

export const VERSIONS: readonly number[] = [...FILES.keys()];

export function scriptOf(version: number): string {
  return readFileSync(join(MIGRATIONS, must(FILES.get(version), 'a file')), 'utf8');
}

/** Migrations from `version` on are not applied. */
export function databaseBefore(version: number): Promise<FreshDatabase> {
  const fill = (url: string) => migrateBefore(url, version);
  return freshDatabase({ name: `before_${version}`, fill });
}

async function migrateBefore(url: string, version: number): Promise<void> {
  await migrate(url);
  const sql = openPool(url, { max: 1, applicationName: 'test before' });
  const applied = await sql<{ version: bigint }[]>`
    select * from schema_migrations where version < ${version}`;
  await sql.unsafe('drop schema public cascade; create schema public');
  for (const one of VERSIONS.filter((known) => known < version)) {
    // No other process uses this database.
    await sql.unsafe(scriptOf(one).replaceAll('CONCURRENTLY', ''));
  }
  await sql`create table schema_migrations (version bigint primary key, name text, md5 text, run_at timestamptz)`;
  const rows = applied.map((row) => ({ ...row, version: String(row.version) }));
  await sql`insert into schema_migrations ${sql(rows)}`;
  await sql.end();
}
