import type { Sql } from '../platform/postgres/postgres.ts';

/**
 * Whether the books may have usage under a key with the organisation as its scope, as keys were up
 * to 0.1.0: then each key is looked up there too. False once retention has moved all of it.
 */
export async function hasFormerKeys(sql: Sql): Promise<boolean> {
  const rows = await sql`
    select from usage_keys k
    where not exists (select from retention r where r.kind = 'transfers' and r.since > k.by_customer_since)`;
  return rows.length > 0;
}
