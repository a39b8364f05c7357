import { assert } from '../kernel/assert.ts';
import { decimal } from '../kernel/decimal.ts';
import { exponentOf, formatMoney } from '../kernel/money.ts';
import { type Meter, type MeterState, calendarPeriod } from '../metering/meter.ts';
import type { Span } from '../metering/span.ts';
import { quantityOf } from '../metering/spans.ts';
import { amountOf, EXACT_DECIMALS, type Exact, exact } from './rating.ts';
import {
  type Billing,
  type BillingAccount,
  type SpendCap,
  type Subscription,
  renews,
} from './subscription.ts';

/**
 * What a customer's usage has come to under its spend cap (docs/spec/usage-prices.md#spend-cap).
 *
 * How it works: every unbilled span of a subscription in the currency of the cap counts, from the
 * start of the subscription's current period on. It counts with what it costs exactly, beyond what
 * was billed of its period: its maximum holds, its minimum does not, and nothing is rounded. A
 * level counts as what it costs for a whole period. More usage is refused where it costs something,
 * and more than is left.
 * What holds: it is a function of the states that it is given. What it remembers is of immutable
 * values, so a decision costs the meter that it is about, and for the others one addition each.
 * What it does not do: bill. Late usage of a billed span, and of an earlier period, is not under
 * the cap.
 */
export class Spending {
  readonly cap: SpendCap;
  readonly #most: Exact;
  /** The current periods, by subscription. */
  readonly #periods = new Map<string, CurrentPeriod>();
  /** Until when these are the current periods. */
  readonly #until: number;
  readonly #costs = new WeakMap<MeterState, Exact>();
  readonly #ofSpans: SpanCosts;

  constructor(
    cap: SpendCap,
    { subscriptions }: Billing,
    now: number,
    ofSpans: SpanCosts = new WeakMap(),
  ) {
    this.cap = cap;
    this.#ofSpans = ofSpans;
    this.#most = exact(cap.amount, cap.currency);
    let until = Infinity;
    for (const subscription of subscriptions.values()) {
      if (subscription.plan.currency !== cap.currency) continue;
      const period = periodAt(subscription, now);
      if (period === null) continue;
      this.#periods.set(subscription.id, period);
      until = Math.min(until, period.until);
    }
    this.#until = until;
  }

  /** Whether it still says what is so at `now`. */
  isOf(now: number): boolean {
    return now < this.#until;
  }

  /** What the usage of one meter comes to. */
  costOf({ scale }: Meter, state: MeterState): Exact {
    const known = this.#costs.get(state);
    if (known !== undefined) return known;
    let cost = 0n;
    let from = 0;
    for (const [index, span] of state.spans.entries()) {
      const next = state.spans[index + 1];
      if (next?.accountId === span.accountId) continue;
      if (index > from)
        cost += this.#costOfPeriod(state, state.spans.slice(from, index + 1), scale);
      else if (this.#counts(span)) cost += this.#costOfSpan(state, span, scale);
      from = index + 1;
    }
    this.#costs.set(state, cost);
    return cost;
  }

  /** Whether usage may take one meter from `before` to `after`. `others`: what the others cost. */
  allows({ meter, before, after }: MeterChange, others: Exact): boolean {
    const cost = this.costOf(meter, after);
    return cost <= this.costOf(meter, before) || others + cost <= this.#most;
  }

  isReached(spent: Exact): boolean {
    return spent >= this.#most;
  }

  /**
   * The account once it is announced that usage of this meter has reached the cap; null where the
   * meter sells nothing, or it was announced in this period before.
   */
  announced({ spans }: MeterState, account: BillingAccount): Announced | null {
    const subscriptionId = spans.findLast((span) => this.#counts(span))?.subscriptionId;
    const period = this.#periods.get(subscriptionId ?? '');
    if (subscriptionId === undefined || period === undefined) return null;
    assert(account.spendCap === this.cap, 'it is about the cap of now');
    // What was announced in a period that is over is forgotten.
    const current = this.cap.announced.filter(
      (one) => this.#periods.get(one.subscriptionId)?.start === one.periodStart,
    );
    if (current.some((one) => one.subscriptionId === subscriptionId)) return null;
    const announced = [...current, { subscriptionId, periodStart: period.start }];
    return {
      subscriptionId,
      period,
      account: { ...account, spendCap: { ...this.cap, announced } },
    };
  }

  #counts({ billedAs, subscriptionId, end }: Span): boolean {
    const period = this.#periods.get(subscriptionId);
    return billedAs === null && period !== undefined && (end === null || end > period.start);
  }

  /**
   * Of the spans of one period of the meter: a price is rated as one, less what was billed of it.
   */
  #costOfPeriod(state: MeterState, spans: readonly Span[], scale: number): Exact {
    let cost = 0n;
    for (const its of Map.groupBy(spans, soldBy).values()) {
      const counted = its.findLast((span) => this.#counts(span));
      if (counted === undefined) continue;
      if (state.isLevel) {
        cost += this.#costOfSpan(state, counted, scale);
        continue;
      }
      let [all, billed] = [0n, 0n];
      for (const span of its) {
        const quantity = quantityOf(state, span);
        all += quantity;
        if (!this.#counts(span)) billed += quantity;
      }
      const { price } = counted;
      cost += amountOf(price, all, scale) - amountOf(price, billed, scale);
    }
    return cost;
  }

  #costOfSpan(state: MeterState, span: Span, scale: number): Exact {
    const known = this.#ofSpans.get(span);
    if (known !== undefined && span.end !== null) return known.cost;
    const quantity = quantityOf(state, span);
    // A usage is asked for by a check, by its admission and when it is recorded.
    if (known?.quantity === quantity) return known.cost;
    const cost = amountOf(span.price, quantity, scale);
    this.#ofSpans.set(span, { quantity, cost });
    return cost;
  }
}

function soldBy({ subscriptionId, price }: Span): string {
  return `${subscriptionId} ${price.id}`;
}

/**
 * What spans cost that are alone in their period, by what was last in them; what a closed one has
 * stays. Kept longer than a cap, and than what is billed stays the same.
 */
export type SpanCosts = WeakMap<Span, { readonly quantity: bigint; readonly cost: Exact }>;

export type MeterChange = {
  readonly meter: Meter;
  readonly before: MeterState;
  readonly after: MeterState;
};

export type Announced = {
  readonly subscriptionId: string;
  readonly period: CurrentPeriod;
  readonly account: BillingAccount;
};

type CurrentPeriod = {
  readonly start: number;
  readonly end: number;
  /** Until when it is the current one. */
  readonly until: number;
};

/** The current period of a subscription; null where it has ended. */
function periodAt(subscription: Subscription, now: number): CurrentPeriod | null {
  const { status, cancelAt, waiting, cycle, periodStart, periodEnd } = subscription;
  if (status === 'canceled' || (cancelAt !== null && cancelAt <= now)) return null;
  // Its next period begins on time for its meters, and perhaps later for itself: with its alarm.
  const goesOn = now >= periodEnd && waiting === null && renews(subscription);
  const { start, end } = goesOn
    ? calendarPeriod(cycle, now)
    : { start: periodStart, end: periodEnd };
  return { start, end, until: Math.min(now < end ? end : Infinity, cancelAt ?? Infinity) };
}

/** What was spent, and what is left, for people: exact decimals of the major unit. */
export function shownSpending({ amount, currency }: SpendCap, spent: Exact) {
  const most = exact(amount, currency);
  const shown = (value: Exact) => decimal(value, EXACT_DECIMALS, exponentOf(currency));
  return {
    amount: formatMoney(amount, currency),
    currency,
    spent: shown(spent),
    remaining: shown(spent < most ? most - spent : 0n),
  };
}
