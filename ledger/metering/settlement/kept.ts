import { ENDED_GRANTS_MAX, PERIODS_KEPT_MS, STRETCH_MARKS_MAX } from '../../limits.ts';
import type { Grant } from '../grants.ts';
import { put } from '../in-order.ts';
import type { Reservation } from '../reservation.ts';
import type { StretchMark } from '../stretch.ts';

// What a meter keeps for events that come late, for as long as they may, and for what is held.

/**
 * What ended by then is not needed any more. Where time moves far at once, something may still be
 * held of before.
 */
export function keptSince(reservations: readonly Reservation[], now: number): number {
  let since = now;
  for (const { createdAt } of reservations) if (createdAt < since) since = createdAt;
  return since - PERIODS_KEPT_MS;
}

/** With those that are new or changed. What is too old goes. */
export function withMarks(
  marks: readonly StretchMark[],
  changed: readonly StretchMark[],
  since: number,
): readonly StretchMark[] {
  const kept = marks.slice(firstOf(marks, ({ start }) => start > since));
  for (const mark of changed) put(kept, mark, ({ accountId }) => accountId === mark.accountId);
  return kept.slice(-STRETCH_MARKS_MAX);
}

/** In the order in which they ended. */
export function withEnded(ended: readonly Grant[], grant: Grant, since: number): readonly Grant[] {
  const isKnown = ended.some(({ id }) => id === grant.id);
  if (grant.ended === null && !isKnown) return ended;
  const others = ended.filter((other) => other.id !== grant.id && (other.ended?.at ?? 0) > since);
  return grant.ended === null ? others : [...others, grant].slice(-ENDED_GRANTS_MAX);
}

function firstOf<T>(list: readonly T[], isWanted: (item: T) => boolean): number {
  const index = list.findIndex(isWanted);
  return index === -1 ? list.length : index;
}
