// Where the usage of a meter is found: of one customer in the accounts of its periods, of all
// customers in the other side of the same transfers, which each node has one of.
//
// Holds: an event that counts is in the table or in the archive once, whenever retention moves it.
// What it does not do: find what retention has dropped.
import { DAY_MS } from '../../ledger/kernel/durations.ts';
import { EVENT_EARLY_MS_MAX, PERIODS_KEPT_MS } from '../../ledger/limits.ts';
import { usageAccountId } from '../../ledger/kernel/derived-ids.ts';
import type { Ids } from '../../ledger/ports.ts';
import type { PendingQuery, Row } from 'postgres';
import type { Executor } from '../platform/postgres/postgres.ts';
import type { UsageMeter } from './meters.ts';

export type Fragment = PendingQuery<Row[]>;

export const QUARTER_MS = 900_000;

/** Of one customer, or of all. */
export type UsageSource = {
  readonly meter: UsageMeter;
  readonly customer: { readonly id: string; readonly slot: number } | null;
};

/** A range of time, in milliseconds: `end` is not in it. */
export type Range = { readonly start: number; readonly end: number };

/** Whether what was recorded before there were bins is still being added to them. */
export async function isIncomplete(sql: Executor): Promise<boolean> {
  return (await sql`select from usage_backfills limit 1`).length > 0;
}

const LAST = Date.UTC(10_000, 0) - 1;

/** The nearest time that PostgreSQL reads from a Date: it has years of four digits. */
export const dateOf = (at: number): Date => new Date(Math.min(Math.max(at, 0), LAST));

/** When the usage happened: what the index of times is by. */
export const eventAt = (sql: Executor): Fragment => sql`coalesce(event_at, at)`;

/** Of a table of transfers: what is usage that counts. */
export const isUsage = (sql: Executor): Fragment => sql`value is not null and kind <> 'refused'`;

/** The node's clock, and the other nodes'. */
const CLOCKS_MS = DAY_MS;

/**
 * The archive has a partition for each month of recording. An event is recorded soon before its
 * time, or not long after it.
 */
export function recordedNear(sql: Executor, { start, end }: Range): Fragment {
  const first = dateOf(start - EVENT_EARLY_MS_MAX - CLOCKS_MS);
  return sql`at >= ${first} and at < ${dateOf(end + PERIODS_KEPT_MS + CLOCKS_MS)}`;
}

/** The accounts of a customer's meter whose periods may have events of the range. */
export async function accountsOf(
  sql: Executor,
  { meter, customer }: UsageSource,
  { start, end }: Range,
): Promise<string[]> {
  if (customer === null) return [];
  const rows = await sql<{ id: string }[]>`
    select a.id from accounts a join balances b on b.slot = a.slot and b.id = a.id
    where a.slot = ${customer.slot} and a.customer_id = ${customer.id} and a.meter_id = ${meter.id}
      and a.period_start < ${dateOf(end)}
      and (b.period_end is null or b.period_end > ${dateOf(start - EVENT_EARLY_MS_MAX)})`;
  return rows.map(({ id }) => id);
}

/** Accounts that `transfers_by_time` is asked for: it is read once for each. */
export const INDEXED_MAX = 8;

/**
 * Of a table of transfers: what is of these accounts. More of them are compared with each row of
 * the time.
 */
export function isAmong(
  sql: Executor,
  side: 'debit' | 'credit',
  accounts: readonly string[],
): Fragment {
  return accounts.length <= INDEXED_MAX
    ? sql`${sql(side)} = any(${[...accounts]}::uuid[])`
    : sql`${sql(side)} in (select unnest(${[...accounts]}::uuid[]))`;
}

/** Gives the accounts that stand for a meter's usage, one of each node that ever was. */
export async function sideAccounts(
  sql: Executor,
  ids: Ids,
): Promise<(meterId: string) => readonly string[]> {
  const nodes = await sql<{ id: number }[]>`select id from nodes order by id`;
  return (meterId) => nodes.map(({ id }) => usageAccountId(ids, meterId, id));
}
