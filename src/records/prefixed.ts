// Rows of an organisation by the beginning of a text, whatever its case.
//
// Holds: an index in the order of bytes gives the first so many, and no more are read, however many
// begin so: a longer beginning finds the others.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Executor } from '../platform/postgres/postgres.ts';

export const PREFIXED_MAX = 1000;

/** Columns with an index `(organisation_id, mode, lower(column) text_pattern_ops, id)`. */
type Found =
  | { readonly table: 'customers'; readonly column: 'email' }
  | { readonly table: 'products'; readonly column: 'name' };

/**
 * The ids of the first `PREFIXED_MAX` in alphabetical order. The last character there is stands
 * behind all others.
 */
export function prefixed(
  sql: Executor,
  { organisationId, mode }: Tenant,
  { table, column, prefix }: Found & { readonly prefix: string },
) {
  const text = sql`lower(${sql(column)})`;
  return sql`
    select id from ${sql(table)}
    where organisation_id = ${organisationId} and mode = ${mode}
      and ${text} ~>=~ lower(${prefix}) and ${text} ~<~ (lower(${prefix}) || ${'\u{10FFFF}'})
    order by ${text} using ~<~, id limit ${PREFIXED_MAX}`;
}
