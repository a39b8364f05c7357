import type { Executor } from '../platform/postgres.ts';

/** Tells this installation from others that share a Redis with it. */
export async function installationName(sql: Executor): Promise<string> {
  const [row] = await sql<{ name: string }[]>`
    select id || ' ' || current_database() as name from installation`;
  if (row === undefined) throw new Error('the database has no installation');
  return row.name;
}
