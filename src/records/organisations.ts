import type { Executor } from '../platform/postgres.ts';

export type Organisation = {
  readonly id: string;
  readonly groupId: string | null;
  readonly name: string;
};

export async function insertGroup(
  sql: Executor,
  group: { readonly id: string; readonly name: string; readonly now: number },
): Promise<void> {
  await sql`
    insert into groups (id, name, created_at)
    values (${group.id}, ${group.name}, ${new Date(group.now)})`;
}

export async function insertOrganisation(
  sql: Executor,
  organisation: Organisation & { readonly now: number },
): Promise<void> {
  const { id, groupId, name, now } = organisation;
  await sql`
    insert into organisations (id, group_id, name, created_at)
    values (${id}, ${groupId}, ${name}, ${new Date(now)})`;
}

export async function groupExists(sql: Executor, id: string): Promise<boolean> {
  const rows = await sql`select 1 from groups where id = ${id}`;
  return rows.length > 0;
}

export async function organisationExists(sql: Executor, id: string): Promise<boolean> {
  const rows = await sql`select 1 from organisations where id = ${id}`;
  return rows.length > 0;
}

export async function anyOrganisationExists(sql: Executor): Promise<boolean> {
  const rows = await sql`select 1 from organisations limit 1`;
  return rows.length > 0;
}

export async function findOrganisation(sql: Executor, id: string): Promise<Organisation | null> {
  const [row] = await sql<Organisation[]>`
    select id, group_id as "groupId", name from organisations where id = ${id}`;
  return row ?? null;
}
