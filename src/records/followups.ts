// What the ledger's commits still owe others. Written by flushes, deleted by the transaction that does it.
import type { Executor, Transaction } from '../platform/postgres.ts';
import type { Scope } from './scope.ts';

export type Followup = Scope & {
  readonly id: string;
  readonly kind: 'payment_settled' | 'refund_settled';
  readonly paymentId: string;
  /** Of a captured payment. */
  readonly invoiceId: string | null;
  /** Of a charge for a subscription. */
  readonly subscriptionId: string | null;
  /** Of an attempt at one. */
  readonly checkoutId: string | null;
  readonly paidAt: Date | null;
  readonly data: { readonly refundId?: string; readonly delta?: string };
};

/** Those of some payments, for this transaction alone: what each owed when it settled, then refunds in the order of their times. */
export async function takeFollowups(
  sql: Transaction,
  paymentIds: readonly string[],
): Promise<Followup[]> {
  // Whoever locks several does it in the same order.
  const sorted = paymentIds.toSorted();
  await sql`select pg_advisory_xact_lock(hashtextextended(id, 0)) from unnest(${sorted}::text[]) as id`;
  return sql<Followup[]>`
    with taken as (delete from followups where payment_id = any(${sorted}::uuid[]) returning *)
    select t.id, t.kind, t.payment_id as "paymentId", t.data, p.organisation_id as "organisationId", p.mode,
      p.invoice_id as "invoiceId", p.subscription_id as "subscriptionId", p.checkout_id as "checkoutId", p.paid_at as "paidAt"
    from taken t join payments p on p.id = t.payment_id
    order by t.kind <> 'payment_settled', t.at, t.id`;
}

/** Whether it is not told yet what became of the charge itself. */
export async function owesSettlement(sql: Executor, paymentId: string): Promise<boolean> {
  const rows = await sql`
    select 1 from followups where payment_id = ${paymentId} and kind = 'payment_settled'`;
  return rows.length > 0;
}

export type OwingPayment = Scope & { readonly id: string; readonly subscriptionId: string | null };

/** Which of those that owe something are asked for. */
export type Owing = {
  /** Since it was written down. */
  readonly olderThanMs: number;
  readonly atMost: number;
  /** null: anybody's. */
  readonly scope: Scope | null;
};

/** Payments with something that is not done. */
export async function listPaymentsOwing(
  sql: Executor,
  { olderThanMs, atMost, scope }: Owing,
): Promise<OwingPayment[]> {
  return sql<OwingPayment[]>`
    select distinct p.id, p.subscription_id as "subscriptionId", p.organisation_id as "organisationId", p.mode
    from followups f join payments p on p.id = f.payment_id
    where f.written_at < now() - ${olderThanMs} * interval '1 ms'
      ${scope === null ? sql`` : sql`and p.organisation_id = ${scope.organisationId} and p.mode = ${scope.mode}`}
    limit ${atMost}`;
}
