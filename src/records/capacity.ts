// Whether a bounded number of rows has room for one more (src/platform/bounds.ts).
import type { PendingQuery, Row } from 'postgres';
import { type BoundName, type Bounds, Full } from '../platform/bounds.ts';
import type { Transaction } from '../platform/postgres/postgres.ts';

type Rows = PendingQuery<Row[]>;

/**
 * null where there is room. Until the transaction ends no other transaction adds rows of this
 * owner: of two at once, the second counts what the first has made. Call it just before the insert.
 * It reads no more rows than the bound.
 */
export async function findRoom(
  sql: Transaction,
  bounds: Bounds,
  asked: {
    readonly bound: BoundName;
    readonly owner: string;
    /** The rows that count: `table where ...`. */
    readonly rows: Rows;
    readonly adding?: number;
  },
): Promise<Full | null> {
  const { bound, owner, rows, adding = 1 } = asked;
  const max = bounds[bound];
  if (max === 0) return null;
  await sql`select pg_advisory_xact_lock(hashtextextended(${`${bound} ${owner}`}, 4))`;
  const [{ count } = { count: 0n }] = await sql<{ count: bigint }[]>`
    select count(*) from (select from ${rows} limit ${max}) counted`;
  return Number(count) + adding > max ? new Full(bound, max) : null;
}

/** The name of an organisation in one mode, as an owner. */
export function ownerOfScope(scope: {
  readonly organisationId: string;
  readonly mode: string;
}): string {
  const { organisationId, mode } = scope;
  return `${organisationId} ${mode}`;
}
