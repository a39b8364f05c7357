import { type MeterState, type Snapshot, withoutLimit } from './meter.ts';
import type { PaidBy } from './paid-by.ts';
import type { Reason } from '../kernel/transfers.ts';

/** What is answered about one usage. */
export type UsageAnswer = {
  readonly id: string;
  readonly value: bigint;
  readonly eventAt: number;
  readonly reason: Reason;
  readonly snapshot: Snapshot;
  /** null where no pool pays for the meter. */
  readonly paidBy: PaidBy | null;
  /** The merchant's own id of the customer at that time. */
  readonly externalId: string | null;
};

/** `rest`: the balance of the snapshot. */
export function reasonAfter(state: MeterState, snapshot: Snapshot, rest: bigint | null): Reason {
  if (rest === null) return withoutLimit(state);
  return rest < 0n && snapshot.overageAllowed ? 'overage_allowed' : 'ok';
}

export function crossed(state: MeterState, rest: bigint | null): boolean {
  return rest !== null && rest <= 0n && !state.exhausted && state.firstGrantAt !== null;
}
