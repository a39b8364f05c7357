// What a load left in PostgreSQL. It is read while nothing runs, so that the numbers are exact.
import type { Sql } from 'postgres';

export interface Footprint {
  /** Position in the write-ahead log, in bytes. */
  readonly walBytes: number;
  /** Tables and their indexes. */
  readonly tableBytes: number;
  /** Rows of the table that has one for each event, refund or checkout. */
  readonly rows: number;
  /** Commits of the journal; 0 without one. */
  readonly flushes: number;
}

type Row = Record<'wal' | 'tables' | 'rows' | 'flushes', string>;

/** What requests of one kind leave behind. */
export interface Traces {
  /** The table with one row for each. */
  readonly rows: string;
  /** Other tables that grow. */
  readonly others: readonly string[];
  /** Whether the journal writes them. */
  readonly flushed: boolean;
}

export async function footprintOf(sql: Sql, { rows, others, flushed }: Traces): Promise<Footprint> {
  const [row] = await sql<Row[]>`
    select pg_current_wal_lsn() - '0/0'::pg_lsn as wal,
      (select sum(pg_total_relation_size(name::regclass)) from unnest(${[rows, ...others]}::text[]) as name) as tables,
      (select count(*) from ${sql(rows)}) as rows,
      ${flushed ? sql`(select coalesce(sum(seq), 0) from nodes)` : 0} as flushes`;
  if (row === undefined) throw new Error('PostgreSQL answered nothing');
  return {
    walBytes: Number(row.wal),
    tableBytes: Number(row.tables),
    rows: Number(row.rows),
    flushes: Number(row.flushes),
  };
}

/** The backend that answers is a child of the first PostgreSQL process. */
export async function backendPid(sql: Sql): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return row?.pid ?? 0;
}
