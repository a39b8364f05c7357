// Disputes as readers of a payment see them. The payment's actor in the ledger writes them.
import type { Dispute } from '../../ledger/payments/payment.ts';
import type { Executor } from '../platform/postgres/postgres.ts';

export type DisputeRecord = Pick<
  Dispute,
  'id' | 'reference' | 'amount' | 'reason' | 'status' | 'chargedBack'
> & {
  readonly held: bigint;
  readonly openedAt: Date;
  readonly closedAt: Date | null;
};

/** Numbers of JSON are not exact, so amounts are text there, and times milliseconds. */
export type StoredDispute = Omit<DisputeRecord, Amounts | 'openedAt' | 'closedAt'> & {
  readonly [amount in Amounts]: string;
} & { readonly openedAt: number; readonly closedAt: number | null };
type Amounts = 'amount' | 'held' | 'chargedBack';

/** Of `payments`, as JSON: one snapshot with the account's totals, which are their sum. */
export const disputesOfPayment = (sql: Executor) => sql`
  (select jsonb_agg(jsonb_build_object('id', d.id, 'reference', d.reference, 'reason', d.reason, 'status', d.status,
      'amount', d.amount::text, 'held', d.held::text, 'chargedBack', d.charged_back::text,
      'openedAt', floor(extract(epoch from d.opened_at) * 1000), 'closedAt', floor(extract(epoch from d.closed_at) * 1000))
      order by d.opened_at, d.id)
    from disputes d where d.slot = payments.slot and d.payment_id = payments.id)`;

export function disputeOf(stored: StoredDispute): DisputeRecord {
  return {
    ...stored,
    amount: BigInt(stored.amount),
    held: BigInt(stored.held),
    chargedBack: BigInt(stored.chargedBack),
    openedAt: new Date(stored.openedAt),
    closedAt: stored.closedAt === null ? null : new Date(stored.closedAt),
  };
}
