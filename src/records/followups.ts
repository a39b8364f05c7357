// What the ledger's commits still owe others. Written by flushes, deleted by the transaction that does it.
import type { Executor, Transaction } from '../platform/postgres.ts';
import type { Scope } from './scope.ts';

export type Followup = Scope & {
  readonly id: string;
  readonly kind: 'payment_settled' | 'refund_settled';
  readonly paymentId: string;
  readonly data: { readonly refundId?: string; readonly delta?: string };
};

/** Those of one payment, for this transaction alone: what it owed when it settled, then its refunds in the order of their times. */
export async function takeFollowups(sql: Transaction, paymentId: string): Promise<Followup[]> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${paymentId}, 0))`;
  return sql<Followup[]>`
    with taken as (delete from followups where payment_id = ${paymentId} returning *)
    select t.id, t.kind, t.payment_id as "paymentId", t.data, p.organisation_id as "organisationId", p.mode
    from taken t join payments p on p.id = t.payment_id
    order by t.kind <> 'payment_settled', t.at, t.id`;
}

/** Payments with something that was due before `before`. */
export async function listPaymentsOwing(
  sql: Executor,
  { before, atMost }: { readonly before: number; readonly atMost: number },
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select distinct payment_id as id from followups where at < ${new Date(before)} limit ${atMost}`;
  return rows.map((row) => row.id);
}
