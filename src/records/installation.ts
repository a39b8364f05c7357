import type { Executor } from '../platform/postgres/postgres.ts';

/** Tells this installation from others that share a Redis with it. */
export async function installationName(sql: Executor): Promise<string> {
  const [row] = await sql<{ name: string }[]>`
    select id || ' ' || current_database() as name from installation`;
  if (row === undefined) throw new Error('the database has no installation');
  return row.name;
}

/** For commands that print links: the address of the server that was started last. */
export async function recordAppUrl(sql: Executor, appUrl: string): Promise<void> {
  await sql`update installation set app_url = ${appUrl} where app_url is distinct from ${appUrl}`;
}

export async function findAppUrl(sql: Executor): Promise<string | null> {
  const [row] = await sql<{ appUrl: string | null }[]>`
    select app_url as "appUrl" from installation`;
  return row?.appUrl ?? null;
}
