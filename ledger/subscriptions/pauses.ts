import type { BillableSpan } from '../metering/spans.ts';
import type { Pause, Subscription } from './subscription.ts';
import type { SubscriptionDraft } from './subscription-draft.ts';

/**
 * In which time a subscription was paused. That time has no share of a minimum, nor of the price of
 * a level (docs/spec/subscriptions.md#pause). What is used in it is billed as ever.
 *
 * How it works: a pause that is over is kept with its subscription, and the one that goes on is
 * told by its status. Spans do not end with a pause: a cut would make what was used before it
 * final, and a grant that comes later would not cover it.
 * What holds: it follows from when the pauses began and ended, so neither when that was decided nor
 * the order of events counts. Blocked for dunning is no pause.
 *
 * Limits: they are kept for as long as the subscription is, as the audit reckons old lines again.
 * Of more than `APART_MAX` those within the same spans become one, as long as both.
 */
const APART_MAX = 200;

type Pausing = Pick<Subscription, 'status' | 'pausedAt' | 'pauses'>;

/** The pauses, and the one that goes on. */
export function pausesOf({ status, pausedAt, pauses }: Pausing): readonly Pause[] {
  if (status !== 'paused' || pausedAt === null) return pauses;
  return [...pauses, { start: pausedAt, end: Infinity }];
}

/** How long a closed span was sold for: without what was paused of it. */
export function soldTimeOf(
  { start, end, period }: Pick<BillableSpan, 'start' | 'end' | 'period'>,
  pauses: readonly Pause[],
): number {
  const until = end ?? start;
  let time = until - start;
  for (const pause of pauses) {
    if (pause.begins !== undefined && period !== null && period.start >= pause.begins) continue;
    const part = Math.min(until, pause.end) - Math.max(start, pause.start);
    if (part > 0) time -= part;
  }
  return time;
}

/** The pause is over: it was resumed, or has ended. */
export function endPause(
  draft: SubscriptionDraft,
  { end, begins }: { readonly end: number; readonly begins?: number },
): void {
  const { pausedAt: start, pauses } = draft.state;
  if (start === null || end <= start) return;
  const pause = { start, end, ...(begins !== undefined && { begins }) };
  const last = pauses.at(-1);
  const isOne = last !== undefined && pauses.length >= APART_MAX && isInSame(draft, last, pause);
  draft.change({
    pauses: isOne
      ? [...pauses.slice(0, -1), { start: last.start, end: last.end + (end - start) }]
      : [...pauses, pause],
  });
}

/** Whether no span begins or ends between them. */
function isInSame({ spans }: SubscriptionDraft, last: Pause, next: Pause): boolean {
  const isBetween = (at: number | null): boolean => at !== null && at > last.start && at < next.end;
  if (last.begins !== undefined || next.begins !== undefined) return false;
  return !spans.some(({ start, end }) => isBetween(start) || isBetween(end));
}
