import type { ISql, Sql } from 'postgres';
import { assert } from '../../ledger/kernel/assert.ts';
import type { Bigints } from '../../ledger/store/bigints.ts';
import { EVENTS_OF } from '../../ledger/store/events-of.ts';

/** The name of a partition of the archive. */
const MONTH = /^transfers_archive_\d{4}_\d{2}$/;
/** Others wait behind what waits for the lock. */
export const LOCK_WAIT_MS_MAX = 5000;
const LOCK_NOT_AVAILABLE = '55P03';

/** The partition of the month, in UTC, of `now`, or of `months` later. */
export function monthName(now: number | Date, months = 0): string {
  const [year, month] = monthStart(now, months).toISOString().split('-');
  return `transfers_archive_${year}_${month}`;
}

function monthStart(now: number | Date, months: number): Date {
  const at = new Date(now);
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months));
}

/** The archive's partitions, oldest first. */
export async function listMonths(sql: ISql<Bigints>): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'transfers_archive'::regclass order by 1`;
  return rows.map(({ name }) => name);
}

/**
 * Makes the partitions for rows of these months, which are about to move. A partition is attached,
 * not created as one, because an audit may be reading the others.
 */
export async function makeMonths(
  sql: ISql<Bigints>,
  wanted: readonly { readonly month: Date }[],
): Promise<void> {
  const known = new Set(wanted.length === 0 ? [] : await listMonths(sql));
  for (const { month } of wanted) {
    const name = monthName(month);
    if (known.has(name)) continue;
    const [from, to] = [monthStart(month, 0).toISOString(), monthStart(month, 1).toISOString()];
    await sql.unsafe(`CREATE TABLE ${name} (LIKE transfers_archive INCLUDING CONSTRAINTS)`);
    // A partition does not have that of its table.
    await sql.unsafe(`ALTER TABLE ${name} REPLICA IDENTITY FULL`);
    await sql.unsafe(
      `ALTER TABLE transfers_archive ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`,
    );
  }
}

/**
 * Drops a month of the archive, and adds what its transfers moved to the closing balances. False
 * where an audit is reading the archive.
 *
 * The lock comes first and keeps audits out until both are done: every snapshot sees a dropped
 * table as gone, however old the snapshot is.
 */
export async function closeMonth(
  sql: Sql<Bigints>,
  month: string,
  lockWaitMs: number,
): Promise<boolean> {
  assert(MONTH.test(month), 'a month of the archive');
  try {
    await sql.begin(async (transaction) => {
      await transaction`select set_config('statement_timeout', '0', true),
        set_config('lock_timeout', ${String(lockWaitMs)}, true)`;
      await transaction`lock table transfers_archive in access exclusive mode`;
      await transaction.unsafe(closing(month));
      await transaction.unsafe(`DROP TABLE ${month}`);
    });
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === LOCK_NOT_AVAILABLE) return false;
    throw error;
  }
}

const MOVED = `coalesce(amount, value) * CASE kind WHEN 'reverse' THEN -1 ELSE 1 END`;

/** What the rows of a month moved on each account. */
const closing = (month: string): string => `
  INSERT INTO closing_balances AS c (account_id, debits, credits, events_total, events_signed, events_highest, corrections)
  SELECT account_id, sum(debits), sum(credits), coalesce(sum(value), 0), coalesce(sum(events), 0), greatest(max(value), 0),
    coalesce(sum(greatest(-events, 0)), 0)
  FROM (
    SELECT debit AS account_id, ${MOVED} AS debits, 0 AS credits, value, ${EVENTS_OF} AS events FROM ${month} WHERE kind <> 'refused'
    UNION ALL
    SELECT credit, 0, ${MOVED}, NULL, NULL FROM ${month} WHERE kind <> 'refused'
  ) sides GROUP BY account_id
  ON CONFLICT (account_id) DO UPDATE SET debits = c.debits + excluded.debits, credits = c.credits + excluded.credits,
    events_total = c.events_total + excluded.events_total, events_signed = c.events_signed + excluded.events_signed,
    events_highest = greatest(c.events_highest, excluded.events_highest), corrections = c.corrections + excluded.corrections`;
