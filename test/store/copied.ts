// The rows of a database of now, copied into one that an earlier release left: as that release
// would have written them.
import { listMonths } from '../../src/database/archive-months.ts';
import type { Sql } from '../../src/platform/postgres/postgres.ts';

const TRANSFERS = `
  to_jsonb(r) || jsonb_build_object('amount', coalesce(amount, value),
    'event_at', coalesce(event_at, CASE WHEN value IS NOT NULL THEN at END))`;

const NO_TOTALS = `jsonb_build_object('aggregate', 0, 'capped', false)`;

/** The rows of a table before `balances`, each as JSON. */
const BEFORE: Readonly<Record<string, string>> = {
  transfers: `SELECT ${TRANSFERS} AS row FROM transfers r`,
  transfers_archive: `SELECT ${TRANSFERS} AS row FROM transfers_archive r`,
  accounts: `
    SELECT ${NO_TOTALS} || to_jsonb(a) || jsonb_strip_nulls(to_jsonb(b)) AS row
    FROM accounts a JOIN balances b ON b.slot = a.slot AND b.id = a.id
    UNION ALL SELECT ${NO_TOTALS} || to_jsonb(a) || to_jsonb(b) FROM accounts a JOIN node_balances b ON b.id = a.id`,
};

const rowsOf = (table: string): string =>
  BEFORE[table] ?? `SELECT to_jsonb(r) AS row FROM ${table} r`;

export async function copyAsBefore(from: Sql, to: Sql): Promise<void> {
  for (const month of await listMonths(from)) {
    const [found] = await from<{ bounds: string }[]>`
      select pg_get_expr(relpartbound, oid) as bounds from pg_class where relname = ${month}`;
    // As `makeMonths` does.
    await to.unsafe(`CREATE TABLE ${month} (LIKE transfers_archive INCLUDING CONSTRAINTS)`);
    await to.unsafe(
      `ALTER TABLE transfers_archive ATTACH PARTITION ${month} ${found?.bounds ?? ''}`,
    );
  }
  const tables = await to<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      and relname <> 'schema_migrations'`;
  await to.begin(async (transaction) => {
    // No trigger fires, and no foreign key is checked.
    await transaction`set local session_replication_role = replica`;
    for (const { name } of tables) {
      const rows = await from.unsafe<{ row: string }[]>(
        `SELECT row::text FROM (${rowsOf(name)}) t`,
      );
      await transaction.unsafe(`DELETE FROM ${name}`);
      await transaction.unsafe(
        `INSERT INTO ${name} SELECT * FROM jsonb_populate_recordset(NULL::${name}, $1::text::jsonb)`,
        [`[${rows.map(({ row }) => row).join()}]`],
      );
    }
  });
  const [order] = await from<{ last: bigint }[]>`select last_value as last from event_order`;
  await to`select setval('event_order', ${String(order?.last)}::bigint)`;
}
