import { boundary, periodIndex } from '../../kernel/calendar.ts';
import { type Grant, isLapsed, type Rest } from '../grants.ts';
import { countUntil } from '../in-order.ts';
import { calendarPeriod, type MeterState, type Period, spansIn } from '../meter.ts';
import type { Reservation } from '../reservation.ts';
import type { Span } from '../span.ts';
import { heldSince, lastOf, momentOf, type StretchMark, timeOf } from '../stretch.ts';

// What a settlement reads (balance.md 1): periods with what was used in each of their stretches,
// the grants with their lives, and the spans that were billed.

export type Facts = {
  /** The first one to settle and all since, ascending. */
  readonly periods: readonly Period[];
  /** Whether the last one is that of now. Otherwise it is settled no further than how it begins. */
  readonly isWhole: boolean;
  readonly marks: readonly StretchMark[];
  /** Those that may be used since the first period began. */
  readonly grants: readonly Grant[];
  readonly spans: readonly Span[];
  /** What is held of the periods. */
  readonly holds: readonly Reservation[];
};

/** The facts since that period began, as memory has them. */
export function factsSince(state: MeterState, first: Period, count = Infinity): Facts {
  const { others, current, marks, ended, grants, spans, reservations: holds } = state;
  const { start } = first;
  // There may be hundreds of others, and some of them are of the future.
  const [from, until] = [countUntil(others, start), countUntil(others, current.start - 1)];
  // The one after them is there for how it begins.
  const isWhole = first === current || until - from < count;
  const later = isWhole
    ? [...others.slice(from, until), current]
    : others.slice(from, from + count);
  const periods = first === current ? [first] : [first, ...later];
  const end = isWhole ? Infinity : lastOf(later.at(-1)?.start ?? start);
  return {
    periods,
    isWhole,
    marks: marks.slice(countUntil(marks, start - 1), countUntil(marks, end)),
    grants: [...ended.filter((grant) => endOf(grant) > start), ...grants].filter(
      (grant) => grant.started,
    ),
    spans: spans.length === 0 ? spans : periods.flatMap((period) => spansIn(state, period)),
    holds,
  };
}

/** When a grant begins to cover: not before it was told (balance.md 8). */
export const startOf = ({ effectiveAt, createdAt, startedAt }: Grant): number =>
  startedAt ?? Math.max(effectiveAt, createdAt);

/** When it covers nothing any more. One that is used up may get units back until it expires. */
export function endOf({ ended, expiresAt, endedIn }: Grant): number {
  const expiry = expiresAt ?? Infinity;
  if (ended === null || ended.how === 'used_up') return expiry;
  return Math.min(momentOf(ended.at, endedIn), expiry);
}

/**
 * When a period began: after what was in the same millisecond in the one before. `marks`: its own.
 */
export function beginOf([first]: readonly StretchMark[], { start }: Period): number {
  return first !== undefined && timeOf(first.start) === start && first.aggregate === 0n
    ? first.start
    : start;
}

/** When a span closed; Infinity while it runs. `marks`: of its period. */
export function closeOf(marks: readonly StretchMark[], { end, endedIn, closing }: Span): number {
  if (end !== null && endedIn !== null) return momentOf(end, endedIn);
  const mark = marks.find(
    ({ start, aggregate }) => timeOf(start) === end && aggregate === closing?.aggregate,
  );
  return mark?.start ?? end ?? Infinity;
}

/** An allowance over all plans of its subscription, or one that was given by hand. */
export type Chain = {
  /** Ascending: each takes over what was used of the one before it. */
  readonly rows: readonly Grant[];
  readonly from: number;
  readonly until: number;
};

export function chainsOf(grants: readonly Grant[]): readonly Chain[] {
  const allowances = grants
    .filter(
      ({ source, recurs }) =>
        source !== 'rollover' && (recurs !== null || source === 'subscription'),
    )
    .toSorted((a, b) => startOf(a) - startOf(b) || order(a, b));
  const chains: Grant[][] = [];
  for (const grant of allowances) {
    const before = chains.find((rows) => isTakenOver(rows.at(-1), grant));
    if (before === undefined) chains.push([grant]);
    else before.push(grant);
  }
  return chains.map((rows) => {
    const [first, last] = [rows[0], rows.at(-1)];
    return {
      rows,
      from: first === undefined ? Infinity : startOf(first),
      until: last === undefined ? Infinity : endOf(last),
    };
  });
}

function order(a: Grant, b: Grant): number {
  return Number(a.ended === null) - Number(b.ended === null) || endOf(a) - endOf(b);
}

function isTakenOver(before: Grant | undefined, grant: Grant): boolean {
  return (
    before !== undefined &&
    before.subscriptionId !== null &&
    before.subscriptionId === grant.subscriptionId &&
    before.createdAt === grant.createdAt &&
    before.ended?.how === 'voided' &&
    endOf(before) === startOf(grant)
  );
}

/** When the row is given anew within that time, both ends left out. */
export function renewalsOf(row: Grant, after: number, before: number): number[] {
  const cycle = row.recurs?.cycle;
  if (cycle === undefined) return [];
  const times: number[] = [];
  const start = Math.max(after, startOf(row));
  for (let n = periodIndex(cycle, timeOf(start)) + 1; ; n += 1) {
    const at = boundary(cycle, n);
    if (at >= before) return times;
    if (at > start) times.push(at);
  }
}

/** When the period of the row that holds `at` ends; Infinity where it has none. */
export function renewalAfter({ recurs }: Grant, at: number): number {
  return recurs === null ? Infinity : calendarPeriod(recurs.cycle, at).end;
}

/** What it gives by that row: null without a limit. */
export const sizeOf = (row: Grant): bigint | null => (isLapsed(row) ? 0n : row.amount);

/** How much that rolled over a plan lets be used. */
export const rolloverMaxOf = ({ recurs }: Grant): bigint => recurs?.rollover?.max ?? 0n;

/**
 * The first moment after that one at which something else may be used or costs something else;
 * null: the period's end.
 */
export function nextBoundary(
  { grants, spans }: Facts,
  { after, period: { accountId, end } }: { readonly after: number; readonly period: Period },
): number | null {
  let next = end ?? Infinity;
  const look = (moment: number): void => {
    if (moment > after && moment < next) next = moment;
  };
  for (const grant of grants) {
    look(startOf(grant));
    look(endOf(grant));
    for (const { from, until } of grant.rests) {
      look(from);
      look(until ?? Infinity);
    }
    const { recurs } = grant;
    if (recurs === null || startOf(grant) > next || endOf(grant) <= after) continue;
    look(
      boundary(
        recurs.cycle,
        periodIndex(recurs.cycle, timeOf(Math.max(after, startOf(grant)))) + 1,
      ),
    );
  }
  for (const span of spans) if (span.accountId === accountId) look(span.end ?? Infinity);
  return next === (end ?? Infinity) ? null : next;
}

/** By account, in the order in which they were made. */
export function holdsOf(
  holds: readonly Reservation[],
): ReadonlyMap<string, readonly Reservation[]> {
  const ordered = holds.toSorted((a, b) => heldSince(a) - heldSince(b));
  return Map.groupBy(ordered, ({ accountId }) => accountId);
}

/** When all that a subscription gives was suspended, by subscription: ascending, and apart. */
export function restsOf(grants: readonly Grant[]): ReadonlyMap<string, readonly Rest[]> {
  const found = new Map<string, Rest[]>();
  for (const grant of grants) {
    const { subscriptionId, rests } = grant;
    if (subscriptionId === null || rests.length === 0) continue;
    const its = found.get(subscriptionId) ?? [];
    found.set(subscriptionId, its);
    // Where it is replaced by another plan's, that one goes on.
    for (const { from, until } of rests) {
      const end = Math.min(until ?? Infinity, endOf(grant));
      its.push({ from, until: end === Infinity ? null : end });
    }
  }
  for (const [id, its] of found) found.set(id, joined(its));
  return found;
}

function joined(rests: readonly Rest[]): Rest[] {
  const all: Rest[] = [];
  for (const rest of rests.toSorted((a, b) => a.from - b.from)) {
    const last = all.at(-1);
    const end = last?.until ?? Infinity;
    if (last === undefined || rest.from > end) all.push(rest);
    else all[all.length - 1] = { from: last.from, until: laterOf(last.until, rest.until) };
  }
  return all;
}

const laterOf = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? null : Math.max(a, b);
