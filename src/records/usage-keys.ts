import type { Sql } from '../platform/postgres/postgres.ts';

/**
 * Whether usage may be in the books under a key whose scope was the organisation's, as it was up to 0.1.0: then that is looked up for
 * each key. No more once retention has moved all of it.
 */
export async function hasFormerKeys(sql: Sql): Promise<boolean> {
  const rows = await sql`
    select from usage_keys k
    where not exists (select from retention r where r.kind = 'transfers' and r.since > k.by_customer_since)`;
  return rows.length > 0;
}
