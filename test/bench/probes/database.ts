// What a load left in PostgreSQL. It is read while nothing runs, so that the numbers are exact.
//
// Holds: of the schema it knows `nodes.seq` and the tables that it is given, so that services of
// two commits can be compared.
import type { Sql } from 'postgres';
import { parentOf } from './processor-time.ts';

export interface Footprint {
  /** Position in the write-ahead log, in bytes. */
  readonly walBytes: number;
  /** All tables and their indexes. */
  readonly tableBytes: number;
  /** Rows of the table that has one for each event, refund or checkout; null: not counted. */
  readonly rows: number | null;
  /** Commits of the journal; 0 without one. */
  readonly flushes: number;
}

/** What requests of one kind leave behind. */
export interface Traces {
  /** The table with one row for each; null: it is not counted. */
  readonly rows: string | null;
  /** Whether a journal writes them. */
  readonly flushed: boolean;
}

type Row = Record<'wal' | 'tables' | 'flushes', string> & { readonly rows: string | null };

export async function footprintOf(sql: Sql, { rows, flushed }: Traces): Promise<Footprint> {
  const [row] = await sql<Row[]>`
    select pg_current_wal_lsn() - '0/0'::pg_lsn as wal,
      (select sum(pg_total_relation_size(oid)) from pg_class
        where relkind in ('r', 'm') and relnamespace = 'public'::regnamespace) as tables,
      ${rows === null ? null : sql`(select count(*) from ${sql(rows)})`} as rows,
      ${flushed ? sql`(select coalesce(sum(seq), 0) from nodes)` : 0} as flushes`;
  if (row === undefined) throw new Error('PostgreSQL answered nothing');
  return {
    walBytes: Number(row.wal),
    tableBytes: Number(row.tables),
    rows: row.rows === null ? null : Number(row.rows),
    flushes: Number(row.flushes),
  };
}

/** The first PostgreSQL process: the backend that answers is its child. */
export async function postmasterOf(sql: Sql): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return parentOf(row?.pid ?? 0);
}
