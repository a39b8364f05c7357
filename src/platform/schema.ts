// The schema of a database, for whoever works on it and does not bring it: workers, and commands that only read.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceFailure } from './failure.ts';
import { openPool, type Sql } from './postgres.ts';

const MIGRATIONS = join(import.meta.dir, '../../ledger/store/migrations');

/** @throws ServiceFailure in one line where it is another one than this program knows */
export async function checkSchema(url: string): Promise<void> {
  const known = knownVersion();
  const sql = openPool(url, { max: 1, applicationName: 'tollhouse schema' });
  try {
    const found = await foundVersion(sql);
    if (found === known) return;
    throw new ServiceFailure(
      found === null
        ? 'the database has no schema yet: start a server first'
        : found > known
          ? `the database is at schema ${found}; this program knows ${known}: start a newer one`
          : `the database is at schema ${found}; this program needs ${known}: start a server of its release first`,
    );
  } finally {
    await sql.end({ timeout: 1 });
  }
}

function knownVersion(): number {
  return Math.max(...readdirSync(MIGRATIONS).map((name) => Number.parseInt(name, 10)));
}

async function foundVersion(sql: Sql): Promise<number | null> {
  const [table] = await sql`select 1 where to_regclass('schema_migrations') is not null`;
  if (table === undefined) return null;
  const [row] = await sql<{ version: bigint | null }[]>`
    select max(version) as version from schema_migrations`;
  return row === undefined || row.version === null ? null : Number(row.version);
}
