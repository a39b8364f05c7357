// The rows of the audit log, as they are stored.
import type { Sql } from '../../../src/platform/postgres/postgres.ts';

export type StoredRow = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly operation: string;
  readonly object_type: string;
  readonly object_id: string | null;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
};

/** Of one operation, in the order in which they were added. */
export async function rowsOf(sql: Sql, operation: string): Promise<StoredRow[]> {
  const rows = await sql<StoredRow[]>`
    select * from audit_log where operation = ${operation} order by at, id`;
  return [...rows];
}
