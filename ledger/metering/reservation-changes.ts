import { announceExhaustion, announceLate } from './announcements.ts';
import { countLate } from './span-changes.ts';
import type { Span } from './span.ts';
import { reservationTransferId } from '../kernel/derived-ids.ts';
import { inRange, one as unit } from '../kernel/quantity.ts';
import type { MeterDraft } from './meter-draft.ts';
import { type Period, balance, snapshotOf } from './meter.ts';
import { heldSince, lastOf } from './stretch.ts';
import { anew } from './settlement/anew.ts';
import { followsOn } from './settlement/follows.ts';
import type { Reservation } from './reservation.ts';
import { heldAt, isSold } from './spans.ts';
import type { Transfer } from '../kernel/transfers.ts';
import { crossed, reasonAfter, type UsageAnswer } from './usage-answer.ts';

// What becomes of a reservation, as part of a decision on the meter.

/** Nothing of them was used. */
export function letGo(
  draft: MeterDraft,
  holds: readonly Reservation[],
  status: 'released' | 'expired' | 'committed',
): readonly Reservation[] {
  const { now, ids } = draft.context;
  const ordered = holds.toSorted((a, b) => heldSince(a) - heldSince(b));
  const [first, last] = [ordered[0], ordered.at(-1)];
  if (first === undefined || last === undefined) return holds;
  const since = { period: draft.period(first.accountId), after: heldSince(first) };
  const isCurrent = ({ accountId }: Reservation): boolean =>
    accountId === draft.state.current.accountId;
  const less = holds.filter(isCurrent).reduce((units, { amount }) => units + amount, 0n);
  const settle = followsOn(draft.state, { ...since, held: -less })
    ? anew(draft, { ...since, last: draft.period(last.accountId), value: 0n, key: first.id })
    : null;
  const resolved = holds.map((one) => {
    const { id, amount, accountId, holdId, expiresAt } = one;
    const resolvedAt = status === 'expired' ? expiresAt : now;
    const after: Reservation = { ...one, status, resolvedAt, settled: 0n };
    draft.putReservation(after);
    const period = draft.period(accountId);
    const voided = { kind: 'void', amount: 0n, hold: { id: holdId, amount } } as const;
    const voidId = reservationTransferId(ids, 'void', id);
    draft.transfers.push(transfer(draft, period, { id: voidId, ...voided }));
    draft.changePeriod(period, { reserved: period.reserved - amount });
    return after;
  });
  settle?.();
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
  const { id, amount, accountId, holdId } = one;
  const resolved: Reservation = { ...one, status: 'committed', resolvedAt: now, settled: 0n };
  const period = draft.period(accountId);
  const used = use(draft, period, {
    id: reservationTransferId(draft.context.ids, 'commit', id),
    hold: { id: holdId, amount },
    value,
    ...heldAt(draft.state, period, { ...one, now }),
    after: heldSince(one),
    resolve: () => draft.putReservation(resolved),
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
  return use(draft, period, {
    id: reservationTransferId(draft.context.ids, why, id),
    hold,
    value,
    eventAt: draft.context.now,
    within: null,
    after: lastOf(draft.context.now),
    resolve: null,
  });
}

type Use = {
  readonly id: string;
  readonly hold: { readonly id: string; readonly amount: bigint };
  readonly value: bigint;
  readonly eventAt: number;
  /** The span that it is of, where its time does not say so. */
  readonly within: Span | null;
  /** The moment in which it was used: its stretch (`stretch.ts`). */
  readonly after: number;
  /** What is used was held before, and is no more; null where it was not. */
  readonly resolve: (() => void) | null;
};

function use(
  draft: MeterDraft,
  period: Period,
  { id, hold, value, eventAt, within, after: moment, resolve }: Use,
): UsageAnswer {
  const { customer, meter, now } = draft.context;
  const aggregate = period.aggregate + value;
  const consumed = aggregate > 0n ? aggregate : 0n;
  const change = consumed - period.consumed;
  const held = resolve === null ? 0n : -hold.amount;
  const settle = followsOn(draft.state, { period, after: moment, used: value, held })
    ? anew(draft, { period, after: moment, value, key: id })
    : null;
  countLate(draft, { period, eventAt, within }, (mark) => ({
    ...mark,
    aggregate: mark.aggregate + value,
  }));
  const stateBefore = draft.state;
  resolve?.();
  const before = draft.again(period);
  draft.changePeriod(before, { consumed, aggregate, reserved: before.reserved + held });
  settle?.();
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
  if (!isCurrent && settle !== null) announceLate(draft, stateBefore);
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
