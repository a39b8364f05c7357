import { assert } from '../kernel/assert.ts';
import { type Grant, leaderOf } from './grants.ts';
import { type Meter, type MeterState, type Period, snapshotOf } from './meter.ts';
import type { Mark, Span } from './span.ts';
import type { UsagePrice } from './usage-price.ts';

// Questions about spans that change nothing (`span.ts` says what they are).

/** A span as it is billed. */
export type BillableSpan = Pick<
  Span,
  'id' | 'subscriptionId' | 'price' | 'accountId' | 'start' | 'end' | 'opening' | 'billedAs'
> & {
  readonly meter: Meter;
  /** Of a span that runs, so far: as `limit`. */
  readonly closing: Mark;
  readonly limit: bigint | null;
  /** What is past the allowance, scaled; of a span that runs, so far. */
  readonly quantity: bigint;
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
export function isSold(state: MeterState, { accountId, start }: Period): boolean {
  if (state.spans.length === 0) return false;
  if (start > state.current.start) return runningSpan(state) !== null;
  return state.spans.some((span) => span.accountId === accountId);
}

/** What is past the allowance in a span: scaled, never negative. */
export function quantityOf(state: MeterState, span: Span): bigint {
  const { closing, limit } = closedOr(state, span);
  return beyond(span.opening, closing, limit);
}

function closedOr(
  state: MeterState,
  { closing, limit, accountId }: Span,
): Pick<BillableSpan, 'closing' | 'limit'> {
  if (closing !== null) return { closing, limit };
  assert(accountId === state.current.accountId, 'what runs is in the current period');
  return { closing: state.current, limit: snapshotOf(state).limit };
}

function beyond(opening: Mark, closing: Mark, limit: bigint | null): bigint {
  if (limit === null) return 0n;
  const quantity = overage(closing.aggregate, limit) - overage(opening.aggregate, limit);
  return quantity > 0n ? quantity : 0n;
}

function overage(aggregate: bigint, limit: bigint): bigint {
  const consumed = aggregate > 0n ? aggregate : 0n;
  return consumed > limit ? consumed - limit : 0n;
}

/** The spans of a meter, as they are billed. */
export function billableSpans(meter: Meter, state: MeterState): readonly BillableSpan[] {
  return state.spans.map((span) => {
    const { id, subscriptionId, price, accountId, start, end, opening, billedAs } = span;
    const { closing, limit } = closedOr(state, span);
    const quantity = beyond(opening, closing, limit);
    const marks = { opening, closing, limit, quantity };
    return { id, subscriptionId, price, accountId, start, end, billedAs, meter, ...marks };
  });
}

/** A span and the one after it, as one that had not been cut. */
export function joined(cut: BillableSpan, next: BillableSpan): BillableSpan {
  const { id, start, opening } = cut;
  return { ...next, id, start, opening, quantity: beyond(opening, next.closing, next.limit) };
}
