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
 * What holds: it is resolved at most once (I5). While it is open it counts as use of the stretch in which
 * it was made. What is committed of it, up to its amount, was used then; what is released was never held
 * (balance.md): both are settled anew where a boundary came in between (`settlement/anew.ts`).
 * What it does not do: decide (`reservation-decisions.ts`).
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
  /**
   * Of one that a node of the release before has written: what grants pay for of it, which is not in the
   * meter's `allocated` before the next checkpoint. Else 0.
   */
  readonly settled: bigint;
};

export type ReservationStatus = 'open' | 'committed' | 'released' | 'expired';

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
