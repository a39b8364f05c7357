import { assert } from '../kernel/assert.ts';
import { decimal } from '../kernel/decimal.ts';
import { exponentOf, formatMoney } from '../kernel/money.ts';
import { type Meter, type MeterState, calendarPeriod } from '../metering/meter.ts';
import type { Span } from '../metering/span.ts';
import { quantityOf } from '../metering/spans.ts';
import { EXACT_DECIMALS, type Exact, exact, rate } from './rating.ts';
import {
  type Billing,
  type BillingAccount,
  type SpendCap,
  type Subscription,
  renews,
} from './subscription.ts';

/**
 * What a customer's usage has come to under its spend cap (beyond.md 2, Spend cap).
 *
 * How it works: every unbilled span of a subscription in the currency of the cap counts, from the
 * start of the subscription's current period on. It counts with what it costs exactly: its maximum
 * holds, its minimum does not, and nothing is rounded. More usage is refused where it costs
 * something, and more than is left.
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
  readonly #ofClosed: ClosedCosts;

  constructor(
    cap: SpendCap,
    { subscriptions }: Billing,
    now: number,
    ofClosed: ClosedCosts = new WeakMap(),
  ) {
    this.cap = cap;
    this.#ofClosed = ofClosed;
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
    for (const span of state.spans) {
      if (this.#counts(span)) cost += this.#costOfSpan(state, span, scale);
    }
    this.#costs.set(state, cost);
    return cost;
  }

  spent(states: Iterable<MeterNow>): Exact {
    let spent = 0n;
    for (const { meter, state } of states) spent += this.costOf(meter, state);
    return spent;
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

  #costOfSpan(state: MeterState, span: Span, scale: number): Exact {
    const known = this.#ofClosed.get(span);
    if (known !== undefined) return known;
    const cost = rate({ ...span.price, minimum: null }, quantityOf(state, span), scale).amount;
    if (span.end !== null) this.#ofClosed.set(span, cost);
    return cost;
  }
}

/** What closed spans cost: kept longer than a cap, and than what is billed stays the same. */
export type ClosedCosts = WeakMap<Span, Exact>;

export type MeterNow = { readonly meter: Meter; readonly state: MeterState };

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
