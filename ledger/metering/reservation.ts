import type { Grant } from './grants.ts';
import type { PaidBy } from './paid-by.ts';

/**
 * Units of a meter that are held for work whose cost is learned afterwards.
 *
 *     open ──commit──▶ committed      what was used is consumed, the rest is free again
 *          ──release─▶ released
 *          ──its time─▶ expired ──commit──▶ committed, late: usage like any other
 *
 * How it works: a reservation is a pending transfer on the account of the period in which it is
 * made. `reserved` of the period is the sum of those that are open, and the balance has it taken
 * off. Open ones are in the memory of their meter; the store has them all.
 * What holds: it is resolved at most once (I5). What is committed of it, up to its amount, counts
 * in its period.
 * What it does not do: decide (`reservation-decisions.ts`), or say which grants pay (`parts.ts`).
 */
export type Reservation = {
  /** Derived from the caller's key, or new. */
  readonly id: string;
  /** The account of its period. */
  readonly accountId: string;
  /**
   * Set on what a pool holds for what is reserved of a member: the account of the member's period. It is
   * not the caller's, and ends with those of the member.
   */
  readonly memberAccountId: string | null;
  /** The pending transfer that holds the units now: another one when the amount was extended. */
  readonly holdId: string;
  /** How often the amount was extended. */
  readonly extensions: number;
  /** Scaled, above 0. */
  readonly amount: bigint;
  readonly status: ReservationStatus;
  /** What the work came to, scaled; 0 until it is committed. May be above the amount. */
  readonly committed: bigint;
  /** Whether it was committed after it had expired. */
  readonly late: boolean;
  readonly createdAt: number;
  /** The place of its stretch among those that begin in one millisecond (`stretch.ts`). */
  readonly place: number;
  readonly expiresAt: number;
  /** When it was committed, released or expired; null while it is open. */
  readonly resolvedAt: number | null;
  /** What was left when it was committed or released, for a repeated call; null for no limit. */
  readonly balanceAfter: bigint | null;
  /** Hash of the request's meaning; null without a key. */
  readonly fingerprint: bigint | null;
  /** Of a member of a pool: what was to pay for it when it was made. */
  readonly paidBy: PaidBy | null;
  /** Which grants pay for it, as of the last checkpoint, in burn order. */
  readonly parts: readonly Part[];
};

export type ReservationStatus = 'open' | 'committed' | 'released' | 'expired';

/** Units of a reservation that a grant pays for: they are in its `used`. */
export type Part = {
  /** null: it has ended, and left what it paid for in the limit. */
  readonly grantId: string | null;
  readonly amount: bigint;
  /** When the grant was to renew next: in another period of it the part is no longer in `used`. */
  readonly renewsAt: number | null;
  /** Of a grant without a limit: whether an earlier plan paid, so that it is in `spent`. */
  readonly spent: boolean;
};

/** What is to become of a reservation. */
export type Resolution =
  | { readonly kind: 'commit'; readonly value: bigint }
  | { readonly kind: 'release' }
  /** null: as it is. */
  | {
      readonly kind: 'extend';
      readonly amount: bigint | null;
      readonly expiresInMs: number | null;
    };

/** What the grants pay for of it. */
export function paidFor({ parts }: Reservation): bigint {
  let sum = 0n;
  for (const { amount } of parts) sum += amount;
  return sum;
}

/** What no grant pays for yet of the reservations of a period. */
export function unpaid(
  reservations: readonly Reservation[],
  period: { readonly accountId: string; readonly reserved: bigint },
): bigint {
  if (period.reserved === 0n) return 0n;
  let sum = 0n;
  for (const one of reservations) {
    if (one.accountId === period.accountId) sum += one.amount - paidFor(one);
  }
  return sum;
}

/**
 * What grants have burned between two states is for what no grant pays for yet of the reservations of
 * a period, in their order. Returns those that more is paid for, by id.
 */
export function paidBetween(
  before: readonly Grant[],
  after: readonly Grant[],
  of: { readonly reservations: readonly Reservation[]; readonly accountId: string },
): ReadonlyMap<string, Reservation> {
  const paid = new Map<string, Reservation>();
  let index = 0;
  let burned = 0n;
  for (const one of of.reservations) {
    let due = one.accountId === of.accountId ? one.amount - paidFor(one) : 0n;
    const parts: Part[] = [];
    while (due > 0n) {
      const grant = after[index];
      if (grant === undefined) break;
      const rest = grant.used - (before[index]?.used ?? 0n) - burned;
      const amount = rest < due ? rest : due;
      const { id: grantId, renewsAt } = grant;
      if (amount > 0n) parts.push({ grantId, amount, renewsAt, spent: false });
      due -= amount;
      burned += amount;
      if (amount < rest) continue;
      index += 1;
      burned = 0n;
    }
    if (parts.length > 0) paid.set(one.id, { ...one, parts: [...one.parts, ...parts] });
  }
  return paid;
}

/** What each grant has used, or in its `spent`, for open reservations; of an unlimited one what it has used. */
export function paidByGrant({
  grants,
  reservations,
}: {
  readonly grants: readonly Grant[];
  readonly reservations: readonly Reservation[];
}): ReadonlyMap<string, bigint> {
  const paid = new Map<string, bigint>();
  if (reservations.length === 0) return paid;
  const live = new Map(grants.map((grant) => [grant.id, grant]));
  for (const { parts } of reservations) {
    for (const part of parts) {
      const grant = live.get(part.grantId ?? '');
      if (grant === undefined || part.spent || !isPaidBy(part, grant)) continue;
      paid.set(grant.id, (paid.get(grant.id) ?? 0n) + part.amount);
    }
  }
  return paid;
}

/** Whether the part is in what the grant has used: it has not renewed since. */
export function isPaidBy(
  { renewsAt }: Part,
  { amount, renewsAt: now }: Pick<Grant, 'amount' | 'renewsAt'>,
) {
  // An unlimited one has no rest to renew: what it pays for is dropped at the end of a period.
  return amount === null || renewsAt === now;
}

/**
 * With one more, or one that changed: open ones by when they expire, as they are loaded. One that is
 * resolved goes.
 */
export function withReservation(
  reservations: readonly Reservation[],
  changed: Reservation,
): readonly Reservation[] {
  const rest = reservations.filter(({ id }) => id !== changed.id);
  if (changed.status !== 'open') return rest;
  const isBefore = ({ id, expiresAt }: Reservation): boolean =>
    expiresAt < changed.expiresAt || (expiresAt === changed.expiresAt && id < changed.id);
  const at = rest.findLastIndex(isBefore) + 1;
  return [...rest.slice(0, at), changed, ...rest.slice(at)];
}
