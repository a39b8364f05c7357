// Payouts of processors to merchants, and what each consists of.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Ids } from '../../ledger/ports.ts';
import type { Executor } from '../platform/postgres/postgres.ts';
import { type Page, pageOf } from './page.ts';

/** What the processor says of a payout. */
export type NewPayout = {
  /** As the processor names it. */
  readonly payout: string;
  /** In the smallest coin of its currency. */
  readonly amount: bigint;
  readonly currency: string;
  readonly status: string;
  /** A day: 2026-11-23. */
  readonly arrivalOn: string;
  readonly createdAt: Date;
  /** Whether the processor says what is in it. */
  readonly itemised: boolean;
};

/** What its transactions come to: what came in, and what of it was taken. */
export type PayoutSums = {
  readonly gross: bigint;
  readonly fees: bigint;
  readonly refunds: bigint;
  readonly disputes: bigint;
  /** All else: top-ups, reserves, corrections. */
  readonly other: bigint;
  /** How many transactions. */
  readonly count: bigint;
};

export type PayoutRecord = NewPayout &
  PayoutSums & {
    readonly id: string;
    /** The processor's name of the account. */
    readonly account: string;
    /** Whether the sums are complete. */
    readonly isSummed: boolean;
  };

/** New, or with another status. */
export async function putPayouts(
  sql: Executor,
  { ids, accountId }: { readonly ids: Ids; readonly accountId: string },
  payouts: readonly NewPayout[],
): Promise<void> {
  if (payouts.length === 0) return;
  const rows = payouts.map((one) => ({
    id: ids.next(),
    payout: one.payout,
    amount: String(one.amount),
    currency: one.currency,
    status: one.status,
    arrival_on: one.arrivalOn,
    created_at: one.createdAt.toISOString(),
    itemised: one.itemised,
  }));
  await sql`
    insert into payouts as p (id, organisation_id, mode, account_id, payout, amount, currency, status, arrival_on, created_at, itemised)
    select n.id, a.organisation_id, a.mode, a.id, n.payout, n.amount, n.currency, n.status, n.arrival_on, n.created_at, n.itemised
    from processor_accounts a, jsonb_to_recordset(${sql.json(rows)}) as n
      (id uuid, payout text, amount bigint, currency text, status text, arrival_on date, created_at timestamptz, itemised boolean)
    where a.id = ${accountId}
    on conflict (account_id, payout) do update set status = excluded.status, arrival_on = excluded.arrival_on, itemised = excluded.itemised
    where (p.status, p.arrival_on, p.itemised) is distinct from (excluded.status, excluded.arrival_on, excluded.itemised)`;
}

/** When the oldest payout was made that is not paid yet; null where all are. */
export async function findOldestMoving(sql: Executor, accountId: string): Promise<Date | null> {
  const [row] = await sql<{ createdAt: Date }[]>`
    select created_at as "createdAt" from payouts
    where account_id = ${accountId} and status in ('pending', 'in_transit') order by created_at limit 1`;
  return row?.createdAt ?? null;
}

/**
 * A payout whose transactions are still to be read: behind which one, and what those before are.
 */
export type PayoutToSum = PayoutSums & {
  readonly id: string;
  readonly payout: string;
  readonly currency: string;
  readonly cursor: string | null;
};

export async function findPayoutToSum(
  sql: Executor,
  accountId: string,
): Promise<PayoutToSum | null> {
  const [row] = await sql<PayoutToSum[]>`
    select id, payout, currency, cursor, gross, fees, refunds, disputes, other, count from payouts
    where account_id = ${accountId} and itemised and summed_at is null order by id limit 1`;
  return row ?? null;
}

/**
 * What its transactions come to with a page more: in the processor's units until the last one, then
 * in coins. Nothing where the page was added before. `next` is behind which transaction the next
 * page begins; null for the last one.
 */
export async function savePayoutSums(
  sql: Executor,
  { id, cursor }: PayoutToSum,
  { sums, next }: { readonly sums: PayoutSums; readonly next: string | null },
): Promise<void> {
  const { gross, fees, refunds, disputes, other, count } = sums;
  await sql`
    update payouts set gross = ${gross}, fees = ${fees}, refunds = ${refunds}, disputes = ${disputes}, other = ${other},
      count = ${count}, cursor = ${next}, summed_at = case when ${next === null} then now() end
    where id = ${id} and cursor is not distinct from ${cursor} and summed_at is null`;
}

/** What is in it cannot be said in coins. */
export async function leavePayoutUnsummed(sql: Executor, id: string): Promise<void> {
  await sql`update payouts set itemised = false where id = ${id} and summed_at is null`;
}

/** Newest first; up to one row more than `limit`. From `from` on, before `to`. */
export function listPayouts(
  sql: Executor,
  { organisationId, mode }: Tenant,
  options: Page & { readonly from: Date | null; readonly to: Date | null },
): Promise<PayoutRecord[]> {
  const { from, to } = options;
  return sql<PayoutRecord[]>`
    select payouts.id, payouts.payout, payouts.amount, payouts.currency, payouts.status, payouts.arrival_on::text as "arrivalOn",
      payouts.created_at as "createdAt", payouts.itemised, payouts.gross, payouts.fees, payouts.refunds, payouts.disputes,
      payouts.other, payouts.count, payouts.summed_at is not null as "isSummed", a.account
    from payouts join processor_accounts a on a.id = payouts.account_id
    where payouts.organisation_id = ${organisationId} and payouts.mode = ${mode}
      ${from === null ? sql`` : sql`and payouts.created_at >= ${from}`}
      ${to === null ? sql`` : sql`and payouts.created_at < ${to}`}
    ${pageOf(sql, 'payouts', options)}`;
}
