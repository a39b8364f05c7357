import { must } from '../kernel/assert.ts';
import { heldSince, placeIn } from './stretch.ts';
import { anew } from './settlement/anew.ts';
import { followsOn } from './settlement/follows.ts';
import { advance } from './advance.ts';
import { checkCovered } from './cover.ts';
import { reservationTransferId } from '../kernel/derived-ids.ts';
import { RESERVATION_LATE_MS_MAX, RESERVATION_MS_MAX, RESERVATIONS_OPEN_MAX } from '../limits.ts';
import { inRange } from '../kernel/quantity.ts';
import { type MeterContext, MeterDraft } from './meter-draft.ts';
import type { MeterEffects } from './meter-effects.ts';
import { type CheckAnswer, type MeterState, type Snapshot, balance, snapshotOf } from './meter.ts';
import { letGo, mayCommit, transfer, useHeld, useMore } from './reservation-changes.ts';
import type { PaidBy } from './paid-by.ts';
import type { Reservation, Resolution } from './reservation.ts';
import type { Reason } from '../kernel/transfers.ts';
import type { Missing } from './usage.ts';
import type { UsageAnswer } from './usage-answer.ts';

// Reservations: made, committed, released, extended. `reservation.ts` says what they are.

export type ReservationRequest = Pick<Reservation, 'id' | 'amount' | 'fingerprint'> & {
  readonly expiresInMs: number;
};

export type ReserveOutcome =
  | {
      readonly kind: 'reserved';
      readonly reservation: Reservation;
      /** What a check of the amount said before, and the numbers after. */
      readonly reason: Reason;
      readonly snapshot: Snapshot;
      /** What pays for it; null where the meter is no member of a pool. */
      readonly paidBy: PaidBy | null;
    }
  | { readonly kind: 'denied'; readonly answer: CheckAnswer }
  | { readonly kind: 'out_of_range' }
  | { readonly kind: 'too_many_reservations' }
  | { readonly kind: 'too_many_meters' };

/** Holds units where a check of as many would allow them. A refusal leaves no trace. */
export function decideReserve(
  context: MeterContext,
  state: MeterState,
  { id, amount, fingerprint, expiresInMs }: ReservationRequest,
): Decided<ReserveOutcome> {
  const draft = new MeterDraft(context, state);
  advance(draft);
  if (draft.state.reservations.length >= RESERVATIONS_OPEN_MAX) {
    return refused({ kind: 'too_many_reservations' });
  }
  const answer = checkCovered(context, draft.state, amount);
  if (!answer.allowed) return refused({ kind: 'denied', answer });
  const { current } = draft.state;
  const { consumed, reserved, accountId } = current;
  if (!inRange(consumed + reserved + amount)) return refused({ kind: 'out_of_range' });

  // From here it must succeed.
  const { now } = context;
  const reservation: Reservation = {
    id,
    accountId,
    memberAccountId: null,
    holdId: id,
    extensions: 0,
    amount,
    status: 'open',
    committed: 0n,
    late: false,
    createdAt: now,
    place: placeIn(draft.state.stretch, now),
    expiresAt: now + expiresInMs,
    resolvedAt: null,
    balanceAfter: null,
    fingerprint,
    paidBy: answer.paidBy,
    settled: 0n,
  };
  draft.transfers.push(transfer(draft, current, { id, kind: 'pending', amount, hold: null }));
  const settle = holding(draft, reservation, { amount, key: id });
  draft.changePeriod(current, { reserved: reserved + amount });
  draft.putReservation(reservation);
  settle?.();
  if (!draft.mayDraw()) return refused({ kind: 'out_of_range' });
  const snapshot = snapshotOf(draft.state);
  const { reason, paidBy } = answer;
  const outcome = { kind: 'reserved', reservation, reason, snapshot, paidBy } as const;
  return { outcome, effects: draft.effects() };
}

export type ResolveOutcome =
  | {
      readonly kind: 'done';
      readonly reservation: Reservation;
      /** null for no limit. */
      readonly balance: bigint | null;
      readonly used: readonly UsageAnswer[];
    }
  /** It was resolved in another way. */
  | { readonly kind: 'not_open'; readonly status: Reservation['status'] }
  /** Memory does not have it: it is not open, or never was. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'denied'; readonly reason: Reason }
  | { readonly kind: 'out_of_range' }
  /** The new amount is less than what is held. */
  | { readonly kind: 'less_than_held' }
  /** It would be open for longer than any may be. */
  | { readonly kind: 'too_long' }
  /** Its period is over: no more can be held of it. */
  | { readonly kind: 'period_over' };

/**
 * What is held may be let go of at any time, also where a question finds that its time has come, and is
 * settled anew then: what memory has let go of must be loaded before something is held. null: nothing.
 */
export function missingForHolds({ credits }: MeterContext, state: MeterState): Missing | null {
  if (!state.historyLoaded) return { kind: 'history', meterId: state.meterId };
  const paying = credits?.payer?.now();
  if (paying?.historyLoaded !== false) return null;
  return { kind: 'history', meterId: paying.meterId };
}

/**
 * Commits, releases or extends a reservation. `stored`: as the store has it, where memory has none
 * that is open; null before that was asked.
 */
export function decideResolution(
  context: MeterContext,
  state: MeterState,
  of: { readonly id: string; readonly act: Resolution; readonly stored: Reservation | null },
): Decided<ResolveOutcome> {
  const { act } = of;
  const draft = new MeterDraft(context, state);
  advance(draft);
  const open = draft.state.reservations.find(
    ({ id, memberAccountId }) => id === of.id && memberAccountId === null,
  );
  if (open === undefined) return afterwards(draft, act, of.stored);
  if (act.kind === 'extend') return extend(draft, open, act);
  if (act.kind === 'release') {
    return answered(draft, gone(draft, open, 'released'), []);
  }
  const { value } = act;
  if (!mayCommit(draft, open, value)) return refused({ kind: 'out_of_range' });
  if (value === 0n) {
    return answered(draft, gone(draft, open, 'committed'), []);
  }
  const held = value < open.amount ? value : open.amount;
  const { resolved, used } = useHeld(draft, open, held);
  const committed = { ...resolved, committed: value };
  if (value === held) return answered(draft, committed, [used]);
  const more = useMore(draft, open, { value: value - held, why: 'excess' });
  return answered(draft, committed, [used, more]);
}

/** Nothing of it was used. */
function gone(draft: MeterDraft, open: Reservation, status: 'released' | 'committed'): Reservation {
  return must(letGo(draft, [open], status)[0], 'what is let go of');
}

/** It is not open any more: the first answer, or what the work came to although it had expired. */
function afterwards(
  draft: MeterDraft,
  act: Resolution,
  stored: Reservation | null,
): Decided<ResolveOutcome> {
  if (stored === null) return refused({ kind: 'unknown' });
  // Its expiry may be on its way to the store.
  const status = stored.status === 'open' ? 'expired' : stored.status;
  const known: Reservation = { ...stored, status };
  const isRepeat =
    (act.kind === 'commit' && status === 'committed' && stored.committed === act.value) ||
    (act.kind === 'release' && status === 'released');
  if (isRepeat) {
    const { balanceAfter } = stored;
    return refused({ kind: 'done', reservation: known, balance: balanceAfter, used: [] });
  }
  if (status !== 'expired' || act.kind === 'extend') return refused({ kind: 'not_open', status });
  if (act.kind === 'release') {
    const rest = balance(snapshotOf(draft.state));
    return refused({ kind: 'done', reservation: known, balance: rest, used: [] });
  }
  const { value } = act;
  const { now } = draft.context;
  // Retention is about to let go of it: it is as if it were gone.
  if (now - known.expiresAt > RESERVATION_LATE_MS_MAX) return refused({ kind: 'unknown' });
  if (!inRange(draft.state.current.aggregate + value)) return refused({ kind: 'out_of_range' });
  const used = value === 0n ? [] : [useMore(draft, known, { value, why: 'commit' })];
  const committed: Reservation = {
    ...known,
    status: 'committed',
    committed: value,
    late: true,
    resolvedAt: now,
    settled: 0n,
  };
  return answered(draft, committed, used);
}

function extend(
  draft: MeterDraft,
  open: Reservation,
  { amount: wanted, expiresInMs }: Extract<Resolution, { kind: 'extend' }>,
): Decided<ResolveOutcome> {
  const { context } = draft;
  const amount = wanted ?? open.amount;
  const expiresAt = expiresInMs === null ? open.expiresAt : context.now + expiresInMs;
  if (amount < open.amount) return refused({ kind: 'less_than_held' });
  if (expiresAt > open.createdAt + RESERVATION_MS_MAX) return refused({ kind: 'too_long' });
  let extended: Reservation = { ...open, expiresAt };
  let settle: (() => void) | null = null;
  if (amount > open.amount) {
    const { current } = draft.state;
    if (open.accountId !== current.accountId) return refused({ kind: 'period_over' });
    const more = amount - open.amount;
    const { allowed, reason } = checkCovered(context, draft.state, more);
    if (!allowed) return refused({ kind: 'denied', reason });
    if (!inRange(current.consumed + current.reserved + more)) {
      return refused({ kind: 'out_of_range' });
    }
    const extensions = open.extensions + 1;
    const holdId = reservationTransferId(context.ids, `hold ${extensions}`, open.id);
    const hold = { id: open.holdId, amount: open.amount };
    const id = reservationTransferId(context.ids, `extended ${extensions}`, open.id);
    draft.transfers.push(
      transfer(draft, current, { id, kind: 'void', amount: 0n, hold }),
      transfer(draft, current, { id: holdId, kind: 'pending', amount, hold: null }),
    );
    settle = holding(draft, open, { amount: more, key: id });
    draft.changePeriod(current, { reserved: current.reserved + more });
    extended = { ...extended, amount, holdId, extensions };
  }
  draft.putReservation(extended);
  settle?.();
  if (!draft.mayDraw()) return refused({ kind: 'out_of_range' });
  const outcome = {
    kind: 'done',
    reservation: extended,
    balance: balance(snapshotOf(draft.state)),
    used: [],
  } as const;
  return { outcome, effects: draft.effects() };
}

/** Called before so much more is held; see `anew`. null: nothing that was settled is another. */
function holding(
  draft: MeterDraft,
  one: Reservation,
  { amount, key }: { readonly amount: bigint; readonly key: string },
): (() => void) | null {
  const since = { period: draft.state.current, after: heldSince(one) };
  if (!followsOn(draft.state, { ...since, held: amount })) return null;
  return anew(draft, { ...since, value: 0n, key });
}

/** The answer is kept, for a call that is repeated. */
function answered(
  draft: MeterDraft,
  resolved: Reservation,
  used: readonly UsageAnswer[],
): Decided<ResolveOutcome> {
  if (!draft.mayDraw()) return refused({ kind: 'out_of_range' });
  const rest = balance(snapshotOf(draft.state));
  const reservation = { ...resolved, balanceAfter: rest };
  draft.putReservation(reservation);
  const outcome = { kind: 'done', reservation, balance: rest, used } as const;
  return { outcome, effects: draft.effects() };
}

type Decided<T> = { readonly outcome: T; readonly effects: MeterEffects | null };

function refused<T>(outcome: T): Decided<T> {
  return { outcome, effects: null };
}
