// What moved the balance of an account at a processor for us, as the processor lists it; and what
// of our payments and refunds it does not list.
import { slotOf } from '../../ledger/kernel/slot.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { PaymentStatus, Refund } from '../../ledger/payments/payment.ts';
import type { Executor } from '../platform/postgres/postgres.ts';

export type ProcessorTransaction = {
  readonly id: string;
  readonly subject: 'charge' | 'refund' | 'dispute';
  /** The processor's id of the charge, the refund or the dispute. */
  readonly reference: string;
  readonly paymentId: string;
  readonly refundId: string | null;
  /** In the currency of the balance, in the processor's units. */
  readonly amount: bigint;
  readonly fee: bigint;
  readonly currency: string;
  readonly createdAt: Date;
};

/** Repeated, they are written once. */
export async function recordTransactions(
  sql: Executor,
  accountId: string,
  transactions: readonly ProcessorTransaction[],
): Promise<void> {
  if (transactions.length === 0) return;
  const rows = transactions.map((one) => ({
    id: one.id,
    subject: one.subject,
    reference: one.reference,
    payment_id: one.paymentId,
    refund_id: one.refundId,
    amount: String(one.amount),
    fee: String(one.fee),
    currency: one.currency,
    created_at: one.createdAt.toISOString(),
  }));
  await sql`
    insert into processor_transactions (account_id, id, subject, reference, payment_id, refund_id, amount, fee, currency, created_at)
    select ${accountId}, t.* from jsonb_to_recordset(${sql.json(rows)}) as t
      (id text, subject text, reference text, payment_id uuid, refund_id uuid, amount bigint, fee bigint, currency text, created_at timestamptz)
    on conflict do nothing`;
}

/** The payments whose charges have these names at the processor, by name. */
export async function findPaymentsOfCharges(
  sql: Executor,
  accountId: string,
  references: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ reference: string; paymentId: string }[]>`
    select reference, payment_id as "paymentId" from processor_transactions
    where account_id = ${accountId} and subject = 'charge' and reference = any(${[...references]})`;
  return new Map(rows.map(({ reference, paymentId }) => [reference, paymentId]));
}

/** Whose payments: of an organisation, in a mode, taken by a processor. */
export type TakenBy = Tenant & { readonly processor: string };

export type OurCharge = {
  readonly id: string;
  /** What the processor calls it. */
  readonly reference: string | null;
  readonly status: PaymentStatus;
  readonly amount: bigint;
  readonly captured: bigint;
  readonly currency: string;
};

const chargeColumns = (sql: Executor) => sql`
  p.id, p.processor_reference as reference, p.status, p.amount, coalesce(b.credits_posted, 0) as captured, p.currency`;

const charges = (sql: Executor) =>
  sql`payments p left join balances b on b.slot = p.slot and b.id = p.id`;

const takenBy = (sql: Executor, { organisationId, mode, processor }: TakenBy) => sql`
  p.organisation_id = ${organisationId} and p.mode = ${mode} and p.processor = ${processor} and p.processor <> 'sandbox'`;

export function findOurCharges(
  sql: Executor,
  of: TakenBy,
  ids: readonly string[],
): Promise<OurCharge[]> {
  return sql<OurCharge[]>`
    select ${chargeColumns(sql)} from ${charges(sql)} where p.id = any(${[...ids]}::uuid[]) and ${takenBy(sql, of)}`;
}

export type OurRefund = Pick<Refund, 'id' | 'amount' | 'status' | 'reference'> & {
  readonly paymentId: string;
  readonly currency: string;
};

const refundColumns = (sql: Executor) => sql`
  r.id, r.payment_id as "paymentId", r.amount, r.currency, r.status, r.processor_reference as reference`;

const refunds = (sql: Executor) =>
  sql`refunds r join payments p on p.slot = r.slot and p.id = r.payment_id`;

export function findOurRefunds(
  sql: Executor,
  of: TakenBy,
  ids: readonly string[],
): Promise<OurRefund[]> {
  return sql<OurRefund[]>`
    select ${refundColumns(sql)} from ${refunds(sql)} where r.id = any(${[...ids]}::uuid[]) and ${takenBy(sql, of)}`;
}

export type OurDispute = {
  readonly status: 'opened' | 'won' | 'lost';
  readonly amount: bigint;
  readonly currency: string;
};

/** By the processor's name of it. */
export async function findOurDispute(
  sql: Executor,
  paymentId: string,
  reference: string,
): Promise<OurDispute | null> {
  const [row] = await sql<OurDispute[]>`
    select status, amount, currency from disputes
    where slot = ${slotOf(paymentId)} and payment_id = ${paymentId} and reference = ${reference}`;
  return row ?? null;
}

/** Behind which row a page begins: its time as text, which has microseconds, and its id. */
export type Place = { readonly at: string; readonly id: string };
/** After `since`, until `until`, by the organisation's clock. */
export type OurWindow = { readonly since: Date; readonly until: Date };

type Unlisted<T> = { readonly rows: readonly T[]; readonly next: Place | null };
type Placed = { readonly at: string; readonly isListed: boolean };

/**
 * A page of what was captured in the window: of it, what the processor has not listed; and where
 * the next page begins. Nothing is listed where nothing was due.
 */
export async function listUnlistedCharges(
  sql: Executor,
  of: TakenBy & { readonly accountId: string },
  { window, after, limit }: PageOfOurs,
): Promise<Unlisted<OurCharge>> {
  const rows = await sql<(OurCharge & Placed)[]>`
    select ${chargeColumns(sql)}, p.paid_at::text as at, coalesce(b.credits_posted, 0) = 0 or exists (select from processor_transactions t
      where t.payment_id = p.id and t.subject = 'charge' and t.account_id = ${of.accountId}) as "isListed"
    from ${charges(sql)}
    where ${takenBy(sql, of)} and p.paid_at > ${window.since} and p.paid_at <= ${window.until}
      ${after === null ? sql`` : sql`and (p.paid_at, p.id) > (${after.at}::text::timestamptz, ${after.id}::uuid)`}
    order by p.paid_at, p.id limit ${limit}`;
  return pageOf(rows, limit);
}

/** The same of refunds that were settled. */
export async function listUnlistedRefunds(
  sql: Executor,
  of: TakenBy & { readonly accountId: string },
  { window, after, limit }: PageOfOurs,
): Promise<Unlisted<OurRefund>> {
  const { organisationId, mode } = of;
  const rows = await sql<(OurRefund & Placed)[]>`
    select ${refundColumns(sql)}, r.settled_at::text as at, exists (select from processor_transactions t
      where t.refund_id = r.id and t.account_id = ${of.accountId}) as "isListed"
    from ${refunds(sql)}
    where r.organisation_id = ${organisationId} and r.mode = ${mode} and r.processor_reference not like 'sandbox%'
      and ${takenBy(sql, of)} and r.settled_at > ${window.since} and r.settled_at <= ${window.until}
      ${after === null ? sql`` : sql`and (r.settled_at, r.id) > (${after.at}::text::timestamptz, ${after.id}::uuid)`}
    order by r.settled_at, r.id limit ${limit}`;
  return pageOf(rows, limit);
}

type PageOfOurs = {
  readonly window: OurWindow;
  readonly after: Place | null;
  readonly limit: number;
};

function pageOf<T extends Placed & { readonly id: string }>(
  rows: readonly T[],
  limit: number,
): Unlisted<T> {
  const last = rows.length < limit ? undefined : rows.at(-1);
  return {
    rows: rows.filter(({ isListed }) => !isListed),
    next: last === undefined ? null : { at: last.at, id: last.id },
  };
}
