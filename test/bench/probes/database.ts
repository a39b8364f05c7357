// What a load left behind in PostgreSQL. Read while nothing runs, so that the numbers are exact.
import type { Sql } from 'postgres';

export interface Footprint {
  /** Position in the write-ahead log, in bytes. */
  readonly walBytes: number;
  /** Tables and their indexes. */
  readonly tableBytes: number;
  /** Rows of the table that has one for each event, refund or checkout. */
  readonly rows: number;
  /** Commits of the journal; 0 where there is none. */
  readonly flushes: number;
}

type Row = Record<'wal' | 'tables' | 'rows' | 'flushes', string>;

/** What requests of a kind leave behind. */
export interface Traces {
  /** The table that has a row for each. */
  readonly rows: string;
  /** What else grows. */
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

/** The process that all others of PostgreSQL descend from is the parent of the one that answers. */
export async function backendPid(sql: Sql): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return row?.pid ?? 0;
}
