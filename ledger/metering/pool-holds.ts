import { placeIn } from './stretch.ts';
import { reservationTransferId } from '../kernel/derived-ids.ts';
import { NO_EXPIRY } from '../limits.ts';
import type { MeterDraft } from './meter-draft.ts';
import type { MeterState } from './meter.ts';
import { transfer } from './reservation-changes.ts';
import type { Reservation } from './reservation.ts';

// What a pool holds for what is reserved of its members. It is one reservation of the pool for a
// period of a member (`memberAccountId`), and another one after each change: so grants, periods,
// the store and the audit treat it like any other.

export function heldFor({ reservations }: MeterState, memberAccountId: string): bigint {
  let held = 0n;
  for (const one of reservations) if (one.memberAccountId === memberAccountId) held += one.amount;
  return held;
}

/** A hold of another amount in the place of one, or of none. The amount may be 0. */
export type HoldChange = {
  readonly old: Reservation | null;
  readonly accountId: string;
  readonly amount: bigint;
  /** Of what is not held any more. */
  readonly used: bigint;
};

/**
 * What changes where so many credits are held from now on. More is held of the period `accountId`; what is
 * let go of, the oldest first, was used as far as `used`.
 */
export function holdChanges(
  state: MeterState,
  memberAccountId: string,
  {
    held,
    used,
    accountId,
  }: { readonly held: bigint; readonly used: bigint; readonly accountId: string },
): readonly HoldChange[] {
  let less = heldFor(state, memberAccountId) - held;
  if (less === 0n) return NONE;
  const open = state.reservations.filter((one) => one.memberAccountId === memberAccountId);
  if (less < 0n) {
    const old = open.find((other) => other.accountId === accountId) ?? null;
    return [{ old, accountId, amount: (old?.amount ?? 0n) - less, used: 0n }];
  }
  const kept = used > 0n ? used : 0n;
  const changes: HoldChange[] = [];
  for (const old of open) {
    if (less === 0n) break;
    const gone = lesser(less, old.amount);
    const usedOfIt = old.accountId === accountId ? lesser(gone, kept) : 0n;
    changes.push({ old, accountId: old.accountId, amount: old.amount - gone, used: usedOfIt });
    less -= gone;
  }
  return changes;
}

const NONE: readonly never[] = [];

export function changeHold(
  paying: MeterDraft,
  memberAccountId: string,
  { old, accountId, amount }: HoldChange,
): void {
  const { ids, now } = paying.context;
  // It is current: it may not be opened yet.
  const period = old === null ? paying.state.current : paying.period(accountId);
  const id = ids.next();
  if (old !== null) {
    paying.putReservation({ ...old, status: 'released', resolvedAt: now, settled: 0n });
    const hold = { id: old.holdId, amount: old.amount };
    const voidId = reservationTransferId(ids, 'void', old.id);
    paying.transfers.push(transfer(paying, period, { id: voidId, kind: 'void', amount: 0n, hold }));
  }
  paying.changePeriod(period, { reserved: period.reserved - (old?.amount ?? 0n) + amount });
  if (amount === 0n) return;
  paying.transfers.push(transfer(paying, period, { id, kind: 'pending', amount, hold: null }));
  paying.putReservation({
    id,
    accountId: period.accountId,
    memberAccountId,
    holdId: id,
    extensions: 0,
    amount,
    status: 'open',
    committed: 0n,
    late: false,
    createdAt: old?.createdAt ?? now,
    place: old?.place ?? placeIn(paying.state.stretch, now),
    // It is let go of with those of the member.
    expiresAt: NO_EXPIRY,
    resolvedAt: null,
    balanceAfter: null,
    fingerprint: null,
    paidBy: null,
    settled: 0n,
  });
}

function lesser(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
