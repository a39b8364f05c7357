import { countUntil, startingAfter } from './in-order.ts';
import type { MeterDraft } from './meter-draft.ts';
import type { Period } from './meter.ts';
import type { Mark } from './span.ts';

/**
 * Meters that carry: a period begins with the level of the one before (docs/spec/balance.md#levels).
 *
 * How it works: a period that begins takes over the mark of the one before: the level, and the event
 * that set it. What that changes of its consumption is a transfer that names the event, and is none
 * itself. A late event goes on in the same way to all later periods and marks of spans that have no
 * event of their own after it.
 * What holds: the level of a period is that of the latest event of all periods up to it, so the order
 * in which events came does not matter.
 *
 * Limits: periods that are over and were not sold keep what they had where one call changes more of
 * them than its budget. They begin nothing: the next event of theirs sets their level anew.
 */

type Latest = NonNullable<Mark['latest']>;

/** Whether an event sets the level where the other one did. */
export function isLater(event: Latest, other: Mark['latest']): boolean {
  return other === null || event.at > other.at || (event.at === other.at && event.id > other.id);
}

/** Whether no event of its own has set the level of a period. */
export function isCarried({ start, latest }: Pick<Period, 'start' | 'latest'>): boolean {
  return latest !== null && latest.at < start;
}

/** The period that begins after the one that runs, with the level that it begins with. */
export function begun(draft: MeterDraft, next: Period): Period {
  if (!draft.context.meter.carry) return next;
  const { current, others } = draft.state;
  let from: Period = current;
  // An early event may have opened one that never was the current one.
  for (const other of startingAfter(others, current.start)) {
    if (other.start >= next.start) break;
    if (other.latest !== null && isLater(other.latest, from.latest)) from = other;
  }
  return carryTo(draft, next, { mark: from, at: next.start }) ?? next;
}

/**
 * A late event has set the level of its period, and so that with which later ones begin. `count` adds
 * the event to a mark. Returns whether anything has changed.
 */
export function carryOn(
  draft: MeterDraft,
  { start, accountId }: Period,
  mark: Mark,
  count: (mark: Mark) => Mark,
): boolean {
  const before = draft.state;
  const { current, others } = before;
  const { latest } = mark;
  if (latest === null || current.start <= start) return false;
  const { late, now } = draft.context;
  draft.inARow(() => {
    carrySpans(draft, { start, accountId }, count);
    for (const period of startingAfter(others, start)) {
      if (period.start >= current.start || !isLater(latest, period.latest)) break;
      if (late.left <= 0) break;
      late.left -= 1;
      carryTo(draft, period, { mark, at: now });
    }
    carryTo(draft, current, { mark, at: now });
  });
  return draft.state !== before;
}

/** The marks of spans of later periods: where one stays as it is, so do those after it. */
function carrySpans(
  draft: MeterDraft,
  { start, accountId }: Pick<Period, 'start' | 'accountId'>,
  count: (mark: Mark) => Mark,
): void {
  const { spans } = draft.state;
  for (const span of spans.slice(countUntil(spans, start - 1))) {
    if (span.accountId === accountId) continue;
    const opening = count(span.opening);
    if (opening.latest === span.opening.latest) break;
    const closing = span.closing === null ? null : count(span.closing);
    draft.putSpan({ ...span, opening, closing });
  }
}

/** Returns the period with that level; null where an event of its own, or a later one, has set it. */
function carryTo(
  draft: MeterDraft,
  before: Period,
  { mark: { aggregate, latest }, at }: { readonly mark: Mark; readonly at: number },
): Period | null {
  if (latest === null || !isLater(latest, before.latest)) return null;
  const { accountId } = before;
  const after = draft.changePeriod(before, { aggregate, consumed: aggregate, latest });
  const more = after.consumed - before.consumed;
  if (more === 0n) return after;
  const { customer, books, ids } = draft.context;
  draft.transfers.push({
    id: ids.derive('level', accountId, latest.id),
    kind: more > 0n ? 'single' : 'reverse',
    slot: customer.slot,
    debit: accountId,
    credit: books.usage,
    amount: more > 0n ? more : -more,
    hold: null,
    at,
    usage: null,
    carried: latest.id,
  });
  return after;
}
