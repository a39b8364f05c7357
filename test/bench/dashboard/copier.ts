// Rows in bulk: one that the service wrote is copied with other ids and times. So all other columns
// hold what the code writes.
//
// Holds: nothing is told: triggers and foreign keys are off on this connection, which must be alone
// in its pool. Ids follow from a kind and a number, so one statement names what another one makes.
import type { Sql } from '../../../src/platform/postgres/postgres.ts';

const FUNCTIONS = `
  set session_replication_role = replica;
  set statement_timeout = 0;
  set synchronous_commit = off;
  create function pg_temp.id_of(kind text, n bigint, at timestamptz) returns uuid immutable language sql as $$
    select overlay(overlay(md5(kind || ':' || n) placing lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') from 1)
      placing '7' from 13)::uuid $$;
  create function pg_temp.slot_of(id uuid) returns smallint immutable language sql as $$
    select (('x' || right(id::text, 6))::bit(24)::int % 1024)::smallint $$`;

/** The id of number `n` of a kind, which was made at a time. All three are SQL. */
export const idOf = (kind: string, n: string, at: string): string =>
  `pg_temp.id_of('${kind}', ${n}, ${at})`;
export const slotOf = (id: string): string => `pg_temp.slot_of(${id})`;

export type Copy = {
  /** The first row of these is copied. */
  readonly like: string;
  /** What gives the numbers and names of `set`, a row for each copy: after FROM. */
  readonly rows: string;
  /** Columns that differ, as SQL; `(original.whole)` is the row that is copied. */
  readonly set: Readonly<Record<string, string>>;
};

export class Copier {
  readonly #sql: Sql;

  private constructor(sql: Sql) {
    this.#sql = sql;
  }

  static async on(sql: Sql): Promise<Copier> {
    await sql.unsafe(FUNCTIONS);
    return new Copier(sql);
  }

  /** @throws where there is no row to copy */
  async copy(table: string, { like, rows, set }: Copy): Promise<void> {
    const changes = Object.entries(set).map(([column, value]) => `'${column}', ${value}`);
    const made = await this.#sql.unsafe(`
      insert into ${table} select copied.*
      from (select t as whole from ${table} t where ${like} limit 1) original, (select * from ${rows}) given,
        jsonb_populate_record(original.whole, jsonb_build_object(${changes.join()})) copied`);
    if (made.count === 0) throw new Error(`${table} has no row where ${like}`);
  }

  async run(statement: string): Promise<void> {
    await this.#sql.unsafe(statement);
  }
}
