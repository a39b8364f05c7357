import { assert } from '../kernel/assert.ts';
import { type Plan, amountOf } from './subscription.ts';
import type { InvoiceLineDraft } from './subscription.ts';

/** `amount` for `part` of `whole` milliseconds, rounded half up to the smallest coin. */
export function prorated(amount: bigint, part: number, whole: number): bigint {
  assert(part >= 0 && part <= whole && whole > 0, 'a part is of a whole');
  assert(amount >= 0n, 'what is prorated is a price');
  const [share, total] = [BigInt(part), BigInt(whole)];
  return (amount * share * 2n + total) / (total * 2n);
}

/**
 * The invoice lines of a change of plan at `at`. The rest of the old plan's period is credited at
 * what it cost the customer. The rest of the period is charged at the new plan's price, or a whole
 * period where a new one begins. By the millisecond.
 */
export function changeLines(
  period: { readonly start: number; readonly end: number; readonly price: bigint },
  { from, to, at, restarts }: { from: Plan; to: Plan; at: number; restarts: boolean },
): readonly InvoiceLineDraft[] {
  const [left, whole] = [period.end - at, period.end - period.start];
  const unused = prorated(period.price, left, whole);
  const line = (type: 'recurring' | 'proration', description: string, amount: bigint) => ({
    type,
    description,
    quantity: 1,
    unitAmount: amount,
  });
  const next = restarts
    ? recurringLine(to)
    : line('proration', `Remaining time on ${to.planName}`, prorated(amountOf(to), left, whole));
  return [line('proration', `Unused time on ${from.planName}`, -unused), next];
}

/** A whole period of a plan. */
export function recurringLine({ planName, quantity, unitAmount }: Plan): InvoiceLineDraft {
  return { type: 'recurring', description: planName, quantity, unitAmount };
}
