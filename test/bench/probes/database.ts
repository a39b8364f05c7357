// What a load left behind in PostgreSQL. Read while nothing runs, so that the numbers are exact.
import type { Sql } from 'postgres';

export interface Footprint {
  /** Position in the write-ahead log, in bytes. */
  readonly walBytes: number;
  /** Tables and their indexes. */
  readonly tableBytes: number;
  /** Rows of the table that has one for each event. */
  readonly rows: number;
  /** Commits of the journal; 0 where there is none. */
  readonly flushes: number;
}

export type ReadFootprint = () => Promise<Footprint>;

type Row = Record<'wal' | 'tables' | 'rows' | 'flushes', string>;

export async function serviceFootprint(sql: Sql): Promise<Footprint> {
  const [row] = await sql<Row[]>`
    select pg_current_wal_lsn() - '0/0'::pg_lsn as wal,
      pg_total_relation_size('transfers') + pg_total_relation_size('accounts') as tables,
      (select count(*) from transfers) as rows,
      (select coalesce(sum(seq), 0) from nodes) as flushes`;
  return footprintOf(row);
}

export async function plainFootprint(sql: Sql): Promise<Footprint> {
  const [row] = await sql<Row[]>`
    select pg_current_wal_lsn() - '0/0'::pg_lsn as wal,
      pg_total_relation_size('events') + pg_total_relation_size('customers') as tables,
      (select count(*) from events) as rows,
      0 as flushes`;
  return footprintOf(row);
}

/** The process that all others of PostgreSQL descend from is the parent of the one that answers. */
export async function backendPid(sql: Sql): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return row?.pid ?? 0;
}

function footprintOf(row: Row | undefined): Footprint {
  if (row === undefined) throw new Error('PostgreSQL answered nothing');
  return {
    walBytes: Number(row.wal),
    tableBytes: Number(row.tables),
    rows: Number(row.rows),
    flushes: Number(row.flushes),
  };
}
