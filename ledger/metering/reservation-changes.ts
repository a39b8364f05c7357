import { announceExhaustion } from './announcements.ts';
import { countLate } from './span-changes.ts';
import { reservationTransferId } from '../kernel/derived-ids.ts';
import { inRange, one as unit } from '../kernel/quantity.ts';
import type { MeterDraft } from './meter-draft.ts';
import { type Period, balance, snapshotOf } from './meter.ts';
import { settleParts } from './reservation-parts.ts';
import { lastOf, momentOf } from './stretch.ts';
import { countInMarks } from './settlement/anew.ts';
import type { Reservation } from './reservation.ts';
import { heldAt, isSold } from './spans.ts';
import type { Transfer } from '../kernel/transfers.ts';
import { crossed, reasonAfter, type UsageAnswer } from './usage-answer.ts';

// What becomes of a reservation, as part of a decision on the meter.

/** Its time has come: its units are free again. */
export function expireReservation(draft: MeterDraft, one: Reservation): void {
  letGo(draft, one, { status: 'expired', at: one.expiresAt });
}

/** Nothing of it was used. */
export function letGo(
  draft: MeterDraft,
  one: Reservation,
  { status, at }: { readonly status: 'released' | 'expired' | 'committed'; readonly at: number },
): Reservation {
  const { id, amount, accountId, holdId } = one;
  const resolved: Reservation = { ...one, status, resolvedAt: at, parts: [] };
  draft.putReservation(resolved);
  const period = draft.period(accountId);
  const hold = { id: holdId, amount };
  draft.transfers.push(
    transfer(draft, period, {
      id: reservationTransferId(draft.context.ids, 'void', id),
      kind: 'void',
      amount: 0n,
      hold,
    }),
  );
  draft.changePeriod(period, { reserved: period.reserved - amount });
  settleParts(draft, one, { kept: 0n, at });
  return resolved;
}

/** Whether a commit of `value` leaves the totals in range. */
export function mayCommit(draft: MeterDraft, one: Reservation, value: bigint): boolean {
  const held = value < one.amount ? value : one.amount;
  const { current } = draft.state;
  const period = draft.period(one.accountId);
  const isSame = period.accountId === current.accountId;
  return (
    inRange(period.aggregate + (isSame ? value : held)) &&
    inRange(current.aggregate + (isSame ? value : value - held))
  );
}

/** `value` of it was used, at most what was held: usage of its period. */
export function useHeld(
  draft: MeterDraft,
  one: Reservation,
  value: bigint,
): { readonly resolved: Reservation; readonly used: UsageAnswer } {
  const { now } = draft.context;
  const { id, amount, accountId, holdId, createdAt, place } = one;
  const resolved: Reservation = { ...one, status: 'committed', resolvedAt: now, parts: [] };
  draft.putReservation(resolved);
  const period = draft.period(accountId);
  const eventAt = heldAt(draft.state, period, { createdAt, now });
  const used = use(draft, period, {
    id: reservationTransferId(draft.context.ids, 'commit', id),
    hold: { id: holdId, amount },
    value,
    eventAt,
    since: momentOf(createdAt, place),
    settle: (change) => settleParts(draft, one, { kept: change, at: now }),
  });
  return { resolved, used };
}

/** Usage of now that nothing was held for. It is held in the same decision: what is committed is a post. */
export function useMore(
  draft: MeterDraft,
  { id }: Reservation,
  { value, why }: { readonly value: bigint; readonly why: 'excess' | 'commit' },
): UsageAnswer {
  const period = draft.state.current;
  const hold = { id: reservationTransferId(draft.context.ids, `${why} hold`, id), amount: value };
  draft.transfers.push(
    transfer(draft, period, { id: hold.id, kind: 'pending', amount: value, hold: null }),
  );
  return use(draft, draft.changePeriod(period, { reserved: period.reserved + value }), {
    id: reservationTransferId(draft.context.ids, why, id),
    hold,
    value,
    eventAt: draft.context.now,
    since: lastOf(draft.context.now),
    settle: () => {},
  });
}

type Use = {
  readonly id: string;
  readonly hold: { readonly id: string; readonly amount: bigint };
  readonly value: bigint;
  readonly eventAt: number;
  /** The moment in which it was held: its stretch (`stretch.ts`). */
  readonly since: number;
  /** What the grants paid for of it, once it is consumed by so much. */
  readonly settle: (change: bigint) => void;
};

function use(
  draft: MeterDraft,
  period: Period,
  { id, hold, value, eventAt, since, settle }: Use,
): UsageAnswer {
  const { customer, meter, now } = draft.context;
  const aggregate = period.aggregate + value;
  const consumed = aggregate > 0n ? aggregate : 0n;
  const change = consumed - period.consumed;
  countLate(draft, { period, eventAt }, (mark) => ({
    ...mark,
    aggregate: mark.aggregate + value,
  }));
  countInMarks(draft, { period, after: since, value });
  draft.changePeriod(period, { consumed, aggregate, reserved: period.reserved - hold.amount });
  settle(change);
  draft.mayDraw();
  const after = draft.again(period);
  const snapshot = snapshotOf(draft.state, after);
  const rest = balance(snapshot);
  const reason = reasonAfter(draft.state, snapshot, rest);
  const { externalId } = customer;
  const answer: UsageAnswer = { id, value, eventAt, reason, snapshot, paidBy: null, externalId };
  draft.transfers.push({
    ...transfer(draft, after, { id, kind: 'post', amount: change, hold }),
    usage: {
      value,
      events: meter.aggregation === 'count' ? value / unit(meter.scale) : null,
      eventAt,
      fingerprint: null,
      reason,
      consumedAfter: snapshot.consumed,
      limitAfter: snapshot.limit,
      metadata: null,
      guarded: false,
      sold: isSold(draft.state, after),
      answer: null,
    },
  });
  const isCurrent = after.accountId === draft.state.current.accountId;
  if (isCurrent && change > 0n && crossed(draft.state, rest)) announceExhaustion(draft, now);
  return answer;
}

/** A transfer between the period and the usage of its meter. */
export function transfer(
  { context: { customer, books, now } }: MeterDraft,
  { accountId }: Period,
  moved: Pick<Transfer, 'id' | 'kind' | 'amount' | 'hold'>,
): Transfer {
  const { slot } = customer;
  return { ...moved, slot, debit: accountId, credit: books.usage, at: now, usage: null };
}
