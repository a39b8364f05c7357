import { isCarried } from './carry.ts';
import { PERIODS_KEPT_MS } from '../limits.ts';
import type { MeterDraft } from './meter-draft.ts';
import type { Mark, Span, Unbilled } from './span.ts';
import { billerOf, cutBy, isEmptyIn, joined, quantityOf, runningSpan } from './spans.ts';
import { type Period, snapshotOf, spansIn } from './meter.ts';
import { placeIn } from './stretch.ts';

// Opens, closes and prices spans, as part of a decision on the meter (`span.ts` says what they
// are).

/**
 * Closes the span that runs. `limit`: with which it closes, the period's own by default. One that
 * began at `at` or later is dropped, unless it has counted or holds something: several things may
 * happen in one millisecond, and what was paid late begins earlier than it is decided.
 */
export function closeSpan(
  draft: MeterDraft,
  at: number,
  limit: bigint | null = snapshotOf(draft.state).limit,
): void {
  const span = runningSpan(draft.state);
  if (span === null) return;
  if (span.start >= at && isEmptyIn(draft.state, span)) return draft.putSpan(span, false);
  // A late event must find this period: one without an account is not kept.
  if (!draft.state.current.opened) draft.changePeriod(draft.state.current, {});
  const end = span.start < at ? at : Math.max(span.start, draft.context.now);
  const periodEnd = draft.state.current.end;
  if (periodEnd === null || end < periodEnd) draft.boundary(end);
  const endedIn = placeIn(draft.state.stretch, end);
  draft.putSpan({ ...span, end, endedIn, limit, closing: markOf(draft.state.current) });
}

/** Opens a span where usage is sold and none runs. */
export function openSpan(draft: MeterDraft, at: number): void {
  const { current, grants } = draft.state;
  const biller = billerOf(grants);
  if (biller === null || biller.subscriptionId === null || runningSpan(draft.state) !== null)
    return;
  forgetOld(draft);
  const last = draft.state.spans.at(-1);
  const closed = last?.accountId === current.accountId ? (last.end ?? 0) : 0;
  const start = Math.max(at, current.start, closed);
  const { subscriptionId, price } = biller;
  const same = spansIn(draft.state, current).filter((span) => span.start === start);
  const place = (same.at(-1)?.place ?? -1) + 1;
  const name = place === 0 ? String(start) : `${start} ${place}`;
  draft.putSpan({
    id: draft.context.ids.derive('span', current.accountId, subscriptionId, name),
    subscriptionId,
    price,
    accountId: current.accountId,
    period: current.end === null ? null : { start: current.start, end: current.end },
    start,
    place,
    end: null,
    endedIn: null,
    limit: null,
    opening: start === current.start && place === 0 ? openingOf(current) : markOf(current),
    closing: null,
    billedAs: null,
  });
}

/**
 * Makes the span that runs that of the allowance whose price counts now. `limit`: of the period
 * before the allowances changed. `since`: what began then or later has the new price from its
 * start.
 */
export function followBiller(
  draft: MeterDraft,
  at: number,
  limit: bigint | null,
  since: number = at,
): void {
  const biller = billerOf(draft.state.grants);
  const running = runningSpan(draft.state);
  const isSame =
    running !== null &&
    running.subscriptionId === biller?.subscriptionId &&
    running.price.id === biller.price.id;
  if (running !== null && !isSame) {
    const isNew = running.start >= since && running.subscriptionId === biller?.subscriptionId;
    if (isNew) draft.putSpan({ ...running, price: biller.price });
    else closeSpan(draft, at, limit);
  }
  openSpan(draft, at);
}

/**
 * A change of plan counts from `since`: what closed since then in the period that runs has its
 * price, or none. What closed with its period keeps the limit and the price with which it closed:
 * that plan was in force until the change was paid. A renewal does not wait, and is only decided
 * late: all has its price.
 */
export function repriceSince(
  draft: MeterDraft,
  subscriptionId: string,
  { since, isRenewal }: { readonly since: number; readonly isRenewal: boolean },
): void {
  const { accountId } = draft.state.current;
  const biller = billerOf(draft.state.grants);
  const price = biller?.subscriptionId === subscriptionId ? biller.price : null;
  const dropped: Span[] = [];
  const changed: Span[] = [];
  for (const span of draft.state.spans) {
    const isIts = span.subscriptionId === subscriptionId && span.billedAs === null;
    if (!isIts || span.end === null || span.start < since || span.price.id === price?.id) continue;
    // Without usage, what ends with the change is only the time in which it was paid.
    const isNothing = span.end === draft.context.now && quantityOf(draft.state, span) === 0n;
    if (isNothing) dropped.push(span);
    else if (span.accountId !== accountId && !isRenewal) continue;
    else if (price === null) dropped.push(span);
    else changed.push({ ...span, price });
  }
  draft.dropSpans(dropped);
  draft.changeSpans(changed);
}

/**
 * The subscription ended at `at`: nothing is sold from then on, but what was before it in the same
 * millisecond. A span that has closed since, because the end is decided late, ends there with what
 * it counts.
 */
export function dropSince(draft: MeterDraft, subscriptionId: string, at: number): void {
  const isIts = (span: Span) => span.subscriptionId === subscriptionId && span.billedAs === null;
  const its = draft.state.spans.filter(isIts);
  const isNow = at === draft.context.now;
  draft.dropSpans(its.filter(({ start, end }) => start >= at && !(isNow && end === at)));
  draft.changeSpans(
    its
      .filter(({ start, end }) => start < at && end !== null && end > at)
      .map((span) => ({ ...span, end: at })),
  );
}

/**
 * Counts a late event in each mark that is after it. `count` adds the event to a mark. `within`:
 * the span that it is of, where its time alone does not say so.
 */
export function countLate(
  draft: MeterDraft,
  {
    period,
    eventAt,
    within = null,
  }: { readonly period: Period; readonly eventAt: number; readonly within?: Span | null },
  count: (mark: Mark) => Mark,
): void {
  const last = draft.state.spans.at(-1);
  if (last === undefined || (within === null && eventAt >= (last.end ?? last.start))) return;
  const spans = spansIn(draft.state, period);
  const own = within === null ? -1 : spans.indexOf(within);
  for (const [index, span] of spans.entries()) {
    const isBefore = own === -1 ? eventAt < span.start : index > own;
    const isIn = own === -1 ? span.end !== null && eventAt < span.end : index >= own;
    if (!isBefore && !isIn) continue;
    draft.putSpan({
      ...span,
      opening: isBefore ? count(span.opening) : span.opening,
      closing: isIn && span.closing !== null ? count(span.closing) : span.closing,
    });
  }
}

/** Says what closed spans were billed as. */
export function billSpans(draft: MeterDraft, ids: readonly string[], billedAs: string): void {
  const billed = new Set(ids);
  draft.changeSpans(
    draft.state.spans.flatMap((span) => (billed.has(span.id) ? [{ ...span, billedAs }] : [])),
  );
}

/** Takes back what was billed for a change that did not happen. */
export function unbillSpans(draft: MeterDraft, what: Unbilled): void {
  const { spans } = draft.state;
  const cut = cutBy(spans, what);
  for (const [span, next] of cut) {
    draft.putSpan(next, false);
    draft.putSpan(joined(span, next));
  }
  const undone = (span: Span) => !cut.has(span) && what.undone.includes(span.billedAs ?? '');
  draft.changeSpans(spans.filter(undone).map((span) => ({ ...span, billedAs: null })));
}

/**
 * Lets go of what no event can change any more: of ended subscriptions all, during a pause what
 * comes to nothing, as it may last for years. What was billed a live subscription settles itself.
 */
function forgetOld(draft: MeterDraft): void {
  const { now, subscriptions } = draft.context;
  const until = now - PERIODS_KEPT_MS;
  const isHeld = (billerOf(draft.state.grants)?.suspended ?? null) !== null;
  const old: Span[] = [];
  for (const span of draft.state.spans) {
    if (span.end === null || span.end > until) break;
    const isIdle = isHeld && span.billedAs === null && isFree(draft, span);
    // What is left at an end is billed in the same unit, and not let go of before.
    const isOver = span.billedAs !== null && !subscriptions.has(span.subscriptionId);
    if (isIdle || isOver) old.push(span);
  }
  if (old.length === 0) return;
  // What one has sold counts in the others of its period.
  const gone = new Set(old);
  const kept = new Set(
    draft.state.spans.filter((one) => !gone.has(one)).map((one) => one.accountId),
  );
  draft.dropSpans(old.filter(({ accountId }) => !kept.has(accountId)));
}

function isFree({ state, context }: MeterDraft, span: Span): boolean {
  const subscription = context.subscriptions.get(span.subscriptionId);
  const pausedAt = subscription?.status === 'paused' ? subscription.pausedAt : null;
  const isPaused = pausedAt !== null && span.start >= pausedAt;
  return (isPaused || span.price.minimum === null) && quantityOf(state, span) === 0n;
}

function markOf({ aggregate, latest }: Mark): Mark {
  return { aggregate, latest };
}

/** What was recorded early is in the period. */
function openingOf(period: Period): Mark {
  return isCarried(period) ? markOf(period) : NOTHING;
}

const NOTHING: Mark = { aggregate: 0n, latest: null };
