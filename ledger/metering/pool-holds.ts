import { placeIn } from './stretch.ts';
import { reservationTransferId } from '../kernel/derived-ids.ts';
import { NO_EXPIRY } from '../limits.ts';
import type { MeterDraft } from './meter-draft.ts';
import type { MeterState } from './meter.ts';
import { transfer } from './reservation-changes.ts';
import { settleParts } from './reservation-parts.ts';
import type { Part, Reservation } from './reservation.ts';

// What a pool holds for what is reserved of its members. It is one reservation of the pool for a
// period of a member (`memberAccountId`), and another one after each change: so grants, periods,
// the store and the audit treat it like any other.

export function heldFor({ reservations }: MeterState, memberAccountId: string): bigint {
  let held = 0n;
  for (const one of reservations) if (one.memberAccountId === memberAccountId) held += one.amount;
  return held;
}

/**
 * Holds so many credits from now on. More is held of the period `accountId`; what is let go of, the
 * oldest first, was used as far as `used`.
 */
export function holdFor(
  paying: MeterDraft,
  memberAccountId: string,
  {
    held,
    used,
    accountId,
  }: { readonly held: bigint; readonly used: bigint; readonly accountId: string },
): void {
  let less = heldFor(paying.state, memberAccountId) - held;
  if (less === 0n) return;
  const open = paying.state.reservations.filter((one) => one.memberAccountId === memberAccountId);
  if (less < 0n) {
    const one = open.find((other) => other.accountId === accountId) ?? null;
    return replace(paying, one, {
      memberAccountId,
      accountId,
      amount: (one?.amount ?? 0n) - less,
      used: 0n,
    });
  }
  const kept = used > 0n ? used : 0n;
  for (const one of open) {
    if (less === 0n) return;
    const gone = lesser(less, one.amount);
    const isIts = one.accountId === accountId;
    const usedOfIt = isIts ? lesser(gone, kept) : 0n;
    replace(paying, one, {
      memberAccountId,
      accountId: one.accountId,
      amount: one.amount - gone,
      used: usedOfIt,
    });
    less -= gone;
  }
}

type Next = {
  readonly memberAccountId: string;
  readonly accountId: string;
  readonly amount: bigint;
  /** Of what is not held any more. */
  readonly used: bigint;
};

/** Puts a hold of another amount in the place of one. The amount may be 0. */
function replace(
  paying: MeterDraft,
  old: Reservation | null,
  { memberAccountId, accountId, amount, used }: Next,
): void {
  const { ids, now } = paying.context;
  // It is current: it may not be opened yet.
  const period = old === null ? paying.state.current : paying.period(accountId);
  const id = ids.next();
  if (old !== null) {
    paying.putReservation({ ...old, status: 'released', resolvedAt: now, parts: [] });
    const hold = { id: old.holdId, amount: old.amount };
    const voidId = reservationTransferId(ids, 'void', old.id);
    paying.transfers.push(transfer(paying, period, { id: voidId, kind: 'void', amount: 0n, hold }));
  }
  if (amount > 0n) {
    paying.transfers.push(transfer(paying, period, { id, kind: 'pending', amount, hold: null }));
  }
  paying.changePeriod(period, { reserved: period.reserved - (old?.amount ?? 0n) + amount });
  const { gone, stay } = split(old, { amount, used });
  if (amount > 0n) {
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
      parts: stay,
    });
  }
  if (old !== null) settleParts(paying, { ...old, parts: gone }, { kept: used, at: now });
}

/**
 * Which grants pay for the new hold, and which for what is gone. What was used was paid for by the
 * first, and what is free again by nobody or by the last.
 */
function split(
  old: Reservation | null,
  { amount, used }: { readonly amount: bigint; readonly used: bigint },
): { readonly gone: readonly Part[]; readonly stay: readonly Part[] } {
  if (old === null || old.parts.length === 0) return { gone: [], stay: [] };
  const [first, rest] = cutAt(old.parts, used);
  // Of the new hold the grants pay for as much as they did.
  const [stay, last] = cutAt(rest, amount);
  return { gone: [...first, ...last], stay };
}

function cutAt(parts: readonly Part[], units: bigint): readonly [readonly Part[], readonly Part[]] {
  const before: Part[] = [];
  const after: Part[] = [];
  let rest = units;
  for (const part of parts) {
    const taken = lesser(rest, part.amount);
    rest -= taken;
    if (taken > 0n) before.push({ ...part, amount: taken });
    if (taken < part.amount) after.push({ ...part, amount: part.amount - taken });
  }
  return [before, after];
}

function lesser(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
