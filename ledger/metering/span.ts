import type { UsagePrice } from './usage-price.ts';

/**
 * Spans: stretches of time in which usage beyond the allowance is sold (beyond.md 2).
 *
 * How it works: while an allowance with a price is live, one span of the meter runs. It closes at
 * the end of the meter's period, at a change of plan and at the end of the subscription, and the
 * next one opens then (`span-changes.ts`). A span keeps what its period had counted before its
 * start and before its end, so what it sold follows from three numbers. All spans of one price in
 * one period are rated as one, however often they were cut (`subscriptions/usage-billing.ts`).
 *
 * What holds: an event counts by its own time. A late one changes each mark that is after it, in
 * the decision that records it. Where several subscriptions sell one feature, the one bills whose
 * allowance leads. What is closed keeps its limit. What it does not do: know money.
 * `ledger/subscriptions` rates and bills.
 *
 * Limits: an event that was recorded with a time after a change of plan, before the change, counts
 * before it (events may be 5 minutes early). A late event of a `unique` meter whose member was
 * counted after a change of plan does not move to before it.
 */
export type Span = {
  /** Derived from the account of its period, the subscription and its start. */
  readonly id: string;
  /** Who bills it. */
  readonly subscriptionId: string;
  readonly price: UsagePrice;
  /** The account of the period that it is in. */
  readonly accountId: string;
  /**
   * That period, as it was to be when the span opened: a minimum is for the share of it in which
   * the price was in force. null of spans that are older than this field: theirs is whole.
   */
  readonly period: { readonly start: number; readonly end: number } | null;
  readonly start: number;
  /** Of those that start in one millisecond, which one: 0 is the first. */
  readonly place: number;
  /**
   * Exclusive; null while it runs. The start of one that was cut in the millisecond in which it
   * began.
   */
  readonly end: number | null;
  /**
   * Its place among the boundaries of that millisecond (`stretch.ts`); null of spans that are older
   * than this field.
   */
  readonly endedIn: number | null;
  /** With which it closed, scaled; null: it runs, or was unlimited. */
  readonly limit: bigint | null;
  /** Of the period's events before its start, and before its end once it is closed. */
  readonly opening: Mark;
  readonly closing: Mark | null;
  /** What it is billed as: all spans of one line have one id. null until it is billed. */
  readonly billedAs: string | null;
};

/** What a period's events come to, or those before a time. */
export type Mark = {
  /** Before the floor: what is consumed is max(0, aggregate), so that order never matters. */
  readonly aggregate: bigint;
  /** The event that set a `last` meter: later time wins, then the greater id. */
  readonly latest: { readonly at: number; readonly id: string } | null;
};

/** What is taken back of a change that did not happen. */
export type Unbilled = {
  /** Lines that only its invoice had: their spans are billed as nothing again. */
  readonly undone: readonly string[];
  /** All lines that its invoice had. */
  readonly billedAs: readonly string[];
  /** When it cut the spans that ran: each is one again with the span after it. */
  readonly cutAt: number;
};
