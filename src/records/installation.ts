import type { Executor } from '../platform/postgres/postgres.ts';

/** Tells this installation from others that share a Redis with it. */
export async function installationName(sql: Executor): Promise<string> {
  const [row] = await sql<{ name: string }[]>`
    select id || ' ' || current_database() as name from installation`;
  if (row === undefined) throw new Error('the database has no installation');
  return row.name;
}

/** For commands that need links: the addresses of the server that was started last. */
export async function recordAddresses(
  sql: Executor,
  { appUrl, baseUrl }: { readonly appUrl: string; readonly baseUrl: string },
): Promise<void> {
  await sql`
    update installation set app_url = ${appUrl}, base_url = ${baseUrl}
    where (app_url, base_url) is distinct from (${appUrl}, ${baseUrl})`;
}

export async function findAppUrl(sql: Executor): Promise<string | null> {
  const [row] = await sql<{ appUrl: string | null }[]>`
    select app_url as "appUrl" from installation`;
  return row?.appUrl ?? null;
}

export async function findBaseUrl(sql: Executor): Promise<string | null> {
  const [row] = await sql<{ baseUrl: string | null }[]>`
    select base_url as "baseUrl" from installation`;
  return row?.baseUrl ?? null;
}
