import { assert } from '../kernel/assert.ts';
import { type Plan, amountOf } from './subscription.ts';
import type { GivenBack, InvoiceLineDraft } from './subscription.ts';

/** A period that has begun. */
export type Period = {
  readonly start: number;
  readonly end: number;
  /** What a whole one costs. */
  readonly price: bigint;
  readonly givenBack: readonly GivenBack[];
  /** What of that the last change of plan took off. */
  readonly accounted: readonly GivenBack[];
};

/** `amount` for `part` of `whole` milliseconds, rounded half up to the smallest coin. */
export function prorated(amount: bigint, part: number, whole: number): bigint {
  assert(part >= 0 && part <= whole && whole > 0, 'a part is of a whole');
  assert(amount >= 0n, 'what is prorated is a price');
  const [share, total] = [BigInt(part), BigInt(whole)];
  return (amount * share * 2n + total) / (total * 2n);
}

/**
 * What is unused of a period at `at`: of what was paid for it, less what was given back of that
 * since the plan last changed. Each amount counts for the time that its invoice is for, so what is
 * given back in part takes the same part of each day. Never below 0.
 */
export function unusedOf(period: Period, at: number): bigint {
  const rest = (amount: bigint, { start, end }: Pick<Period, 'start' | 'end'>): bigint =>
    end <= at ? 0n : prorated(amount, end - Math.max(at, start), end - start);
  const sum = (all: readonly GivenBack[]): bigint =>
    all.reduce((before, { amount, ...time }) => before + rest(amount, time), 0n);
  const unused = rest(period.price, period) - sum(period.givenBack) + sum(period.accounted);
  return unused > 0n ? unused : 0n;
}

/**
 * The invoice lines of a change of plan at `at`. The rest of the old plan's period is credited at
 * what it is worth to the customer. The rest of the period is charged at the new plan's price, or a
 * whole period where a new one begins. By the millisecond.
 */
export function changeLines(
  period: Period,
  { from, to, at, restarts }: { from: Plan; to: Plan; at: number; restarts: boolean },
): readonly InvoiceLineDraft[] {
  const [left, whole] = [period.end - at, period.end - period.start];
  const unused = unusedOf(period, at);
  const line = (description: string, amount: bigint) => {
    const rest = { start: at, end: period.end };
    return {
      type: 'proration',
      description,
      quantity: 1,
      unitAmount: amount,
      period: rest,
    } as const;
  };
  const next = restarts
    ? recurringLine(to)
    : line(`Remaining time on ${to.planName}`, prorated(amountOf(to), left, whole));
  return [line(`Unused time on ${from.planName}`, -unused), next];
}

/** A whole period of a plan. */
export function recurringLine({ planName, quantity, unitAmount }: Plan): InvoiceLineDraft {
  return { type: 'recurring', description: planName, quantity, unitAmount };
}
