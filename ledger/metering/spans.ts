import { type Grant, leaderOf } from './grants.ts';
import {
  isLevel,
  type Meter,
  type MeterState,
  type Period,
  spansIn,
  stretchOf,
  within,
} from './meter.ts';
import type { Reservation } from './reservation.ts';
import { beyond, consumedAt, soldIn, soldOfLevel } from './sold.ts';
import type { Mark, Span, Unbilled } from './span.ts';
import { heldSince, momentOf } from './stretch.ts';
import type { UsagePrice } from './usage-price.ts';

// Questions about spans that change nothing (`span.ts` says what they are).

/** A span as it is billed. */
export type BillableSpan = Pick<
  Span,
  | 'id'
  | 'subscriptionId'
  | 'price'
  | 'accountId'
  | 'period'
  | 'start'
  | 'place'
  | 'end'
  | 'opening'
  | 'billedAs'
> & {
  readonly meter: Meter;
  /** Of a span that runs, so far: as `limit`. */
  readonly closing: Mark;
  readonly limit: bigint | null;
  /** What is past the allowance, scaled; of a span that runs, so far. */
  readonly quantity: bigint;
  /**
   * Whether the price is still in force in its period: it runs, or the next span goes on with it.
   */
  readonly goesOn: boolean;
  /** Whether units of its period are held: what is committed of them may be its own. */
  readonly isHeld: boolean;
  /** It runs, and nothing was used or held in it: cut in its first millisecond, it is none. */
  readonly isEmpty: boolean;
};

/** The allowance whose price counts: of those that charge, the one that leads. */
export function billerOf(
  grants: readonly Grant[],
): (Grant & { readonly price: UsagePrice }) | null {
  const sold = grants.filter((grant) => grant.price !== null && grant.charges);
  if (sold.length === 0) return null;
  const leader = leaderOf(sold);
  return leader === null || leader.price === null ? null : { ...leader, price: leader.price };
}

/** The span that runs: the last one. */
export function runningSpan({ spans }: MeterState): Span | null {
  const last = spans.at(-1);
  return last === undefined || last.end !== null ? null : last;
}

/** Whether usage of the period is sold. An early event comes before its span has opened. */
export function isSold(state: MeterState, period: Period): boolean {
  if (state.spans.length === 0) return false;
  if (period.start > state.current.start) return runningSpan(state) !== null;
  return spansIn(state, period).length > 0;
}

/** Whether it gives something of the meter, or sells usage of it that may still be billed. */
export function isSoldBy({ grants, spans }: MeterState, subscriptionId: string): boolean {
  return (
    grants.some((grant) => grant.subscriptionId === subscriptionId) ||
    sellersOf(spans).has(subscriptionId)
  );
}

/** There may be thousands of spans, and each order of each decision asks. */
const SELLERS = new WeakMap<readonly Span[], ReadonlySet<string>>();

function sellersOf(spans: readonly Span[]): ReadonlySet<string> {
  const known = SELLERS.get(spans);
  if (known !== undefined) return known;
  const sellers = new Set(spans.map(({ subscriptionId }) => subscriptionId));
  SELLERS.set(spans, sellers);
  return sellers;
}

/** What a span has sold, so far where it runs: scaled, never negative. */
export function quantityOf(state: MeterState, span: Span): bigint {
  if (state.isLevel) return soldOfLevel(stretchOf(state, span));
  const { accountId, period } = span;
  const its = spansIn(state, { accountId, start: period?.start ?? 0 });
  return soldIn(its.map((one) => stretchOf(state, one)))[its.indexOf(span)] ?? 0n;
}

/**
 * What a subscription has sold in the period that runs, since then and not billed, with what is
 * held. 0 where it began to sell before.
 */
export function soldSince(
  state: MeterState,
  { subscriptionId, since }: { readonly subscriptionId: string; readonly since: number },
): bigint {
  const span = runningSpan(state);
  if (state.isLevel || span === null || span.start < since) return 0n;
  if (span.subscriptionId !== subscriptionId) return 0n;
  const { current } = state;
  const aggregate = current.aggregate + current.reserved;
  return quantityOf({ ...state, current: { ...current, aggregate } }, span);
}

/** The spans of a meter, as they are billed. */
export function billableSpans(meter: Meter, state: MeterState): readonly BillableSpan[] {
  const held = new Set(state.reservations.map(({ accountId }) => accountId));
  return quantified(
    state.spans.map((span) => {
      const { id, subscriptionId, price, accountId, period, start, place, end, billedAs } = span;
      const of = { id, subscriptionId, price, accountId, period, place, meter, billedAs };
      const [goesOn, isHeld] = [end === null, held.has(accountId)];
      const isEmpty = isEmptyIn(state, span);
      return {
        ...of,
        start,
        end,
        ...stretchOf(state, span),
        quantity: 0n,
        goesOn,
        isHeld,
        isEmpty,
      };
    }),
  );
}

/**
 * When what is committed of a hold was used: now. Where its period is over, or the subscription
 * that sold it has ended, also in the very millisecond in which it was made: when it was made, and
 * in which span.
 */
export function heldAt(
  state: MeterState,
  period: Period,
  { createdAt, place, now }: Pick<Reservation, 'createdAt' | 'place'> & { readonly now: number },
): { readonly eventAt: number; readonly within: Span | null } {
  const spans = spansIn(state, period).filter(({ start }) => start <= createdAt);
  const moment = heldSince({ createdAt, place });
  const span = spans.find((one) => closedAt(one) > moment) ?? spans.at(-1) ?? null;
  const end = span?.end ?? Infinity;
  const isOver = createdAt <= end && !givesAnything(state, span?.subscriptionId);
  if (isOver && end < Infinity) {
    return { eventAt: Math.max(period.start, Math.min(createdAt, end - 1)), within: span };
  }
  const eventAt = within(period, now) ? now : Math.max(period.start, createdAt);
  return { eventAt, within: null };
}

/** The moment in which it closed; Infinity while it runs. */
const closedAt = ({ end, endedIn }: Span): number =>
  end === null ? Infinity : momentOf(end, endedIn ?? 0);

/** Whether a span that runs has counted nothing, and nothing was held in it that is held still. */
export function isEmptyIn({ current, reservations, spans }: MeterState, span: Span): boolean {
  if (span.end !== null || span.opening.aggregate !== current.aggregate) return false;
  if (current.reserved === 0n) return true;
  const before = spans[spans.indexOf(span) - 1];
  const since = before?.end === span.start ? closedAt(before) : span.start;
  return !reservations.some(
    (one) => one.accountId === current.accountId && heldSince(one) >= since,
  );
}

function givesAnything({ grants }: MeterState, subscriptionId: string | undefined): boolean {
  return grants.some((grant) => grant.subscriptionId === subscriptionId);
}

/** The spans, ascending, with what each has sold. */
export function quantified(spans: readonly BillableSpan[]): readonly BillableSpan[] {
  const sold = new Map<BillableSpan, bigint>();
  for (const its of Map.groupBy(spans, ({ accountId }) => accountId).values()) {
    const units = isLevel(its[0]?.meter) ? its.map(soldOfLevel) : soldIn(its);
    for (const [index, span] of its.entries()) sold.set(span, units[index] ?? 0n);
  }
  return spans.map((span) => ({ ...span, quantity: sold.get(span) ?? 0n }));
}

/**
 * How much more of a level is above the limit than at its start: levels of before were sold once a
 * period.
 */
export function grownOf({ opening, closing, limit }: BillableSpan): bigint {
  const grown = beyond(consumedAt(closing), limit) - beyond(consumedAt(opening), limit);
  return grown > 0n ? grown : 0n;
}

type Cut = Pick<Span, 'accountId' | 'subscriptionId' | 'start' | 'end' | 'billedAs'>;

/**
 * What the change that is taken back has cut, each with the span after it. Not where its line stays
 * and has nothing else of its period: then another change of the same millisecond has cut and
 * billed it.
 */
export function cutBy<Of extends Cut>(
  spans: readonly Of[],
  { undone, billedAs, cutAt }: Unbilled,
): ReadonlyMap<Of, Of> {
  const cut = new Map<Of, Of>();
  for (const its of Map.groupBy(spans, ({ accountId }) => accountId).values()) {
    const index = its.findLastIndex(({ end }) => end === cutAt);
    const [span, next] = [its[index], its[index + 1]];
    if (span === undefined || next?.start !== cutAt) continue;
    const { billedAs: line, subscriptionId } = span;
    if (line === null || !billedAs.includes(line) || next.subscriptionId !== subscriptionId)
      continue;
    const isOnly = !its.some((one) => one !== span && one.billedAs === line);
    if (undone.includes(line) || !isOnly) cut.set(span, next);
  }
  return cut;
}

/** A span and the one after it, as one that had not been cut. */
export function joined<Of extends Span | BillableSpan>(cut: Of, next: Of): Of {
  const { id, period, start, place, opening } = cut;
  return { ...next, id, period, start, place, opening };
}
