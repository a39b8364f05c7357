import { beyond, paidByNone, rateFor } from './credits.ts';
import { checkCapped, withReserved, withMore } from './capped.ts';
import type { MeterContext } from './meter-draft.ts';
import {
  type CheckAnswer,
  type MeterState,
  type Period,
  available,
  balance,
  isEntitled,
  shortage,
  snapshotOf,
} from './meter.ts';
import { inRange } from '../kernel/quantity.ts';
import { periodFor } from './period-for.ts';
import type { PaidBy } from './paid-by.ts';
import type { Reason } from '../kernel/transfers.ts';

// Whether usage is covered: by the member's own grants first, then by the credits of its pool.

/** As `checkCapped`; what a member's own balance does not cover, its pool may. */
export function checkCovered(context: MeterContext, state: MeterState, units: bigint): CheckAnswer {
  const own = checkCapped(context, state, units);
  const { credits } = context;
  const payer = credits?.payer ?? null;
  if (credits === null || payer === null) return own;
  const { pool } = credits;
  const paid = (parts: Pick<PaidBy, 'own' | 'credits'>): PaidBy => ({ ...parts, pool: pool.meter });
  const none = { ...own, paidBy: paidByNone(context) };
  const alone = own.allowed ? { ...own, paidBy: paid({ own: units, credits: 0n }) } : none;
  const paying = payer.now();
  const { current } = state;
  const about = { meterId: state.meterId, period: current, its: paying.current };
  const rate = current.rate ?? rateFor(pool, paying, about);
  const excess =
    beyond(state, current, current.reserved + units) - beyond(state, current, current.reserved);
  // What is suspended of its own is used before the pool, so not at all.
  if (rate === null || isHeldBack(state) || (own.allowed && excess === 0n)) return alone;
  const answer = checkCapped(payer.context, paying, rate * excess);
  const parts = paid({ own: units - excess, credits: rate * excess });
  if (answer.allowed) {
    const reason = answer.reason === 'boolean' ? 'unlimited' : answer.reason;
    return { ...own, allowed: true, reason, paidBy: parts };
  }
  // It may be used beyond every limit: then the pool has a debt.
  if (own.allowed) return { ...own, paidBy: parts };
  return { ...none, reason: isEntitled(paying) || !isEntitled(state) ? answer.reason : own.reason };
}

/**
 * The answer to a question: the same, but what would take the pool out of range is denied. To a decision it
 * is out of range.
 */
export function askCovered(context: MeterContext, state: MeterState, units: bigint): CheckAnswer {
  const answer = checkCovered(context, state, units);
  if (answer.paidBy === null || inRange(answer.paidBy.credits)) return answer;
  const paidBy = paidByNone(context);
  return { ...answer, allowed: false, reason: 'insufficient_balance', paidBy };
}

/** Whether anything is left of a suspended grant. */
function isHeldBack(state: MeterState): boolean {
  const snapshot = snapshotOf(state);
  return available(state, snapshot) !== balance(snapshot);
}

/** Why `change` more in a period is past the limit, the pool's too; null where it fits. */
export function overLimit(
  context: MeterContext,
  state: MeterState,
  period: Period,
  change: bigint,
): Reason | null {
  if (change <= 0n) return null;
  const own = overOwn(state, period, change);
  if (own === null) return null;
  const payer = context.credits?.payer ?? null;
  if (context.credits === null || payer === null || isHeldBack(state)) return own;
  const paying = payer.now();
  const isCurrent = period === state.current;
  const its = isCurrent ? paying.current : periodFor(payer.context, paying, period.start);
  const about = { meterId: state.meterId, period, its };
  const rate = period.rate ?? rateFor(context.credits.pool, paying, about);
  if (rate === null) return own;
  const excess =
    beyond(state, period, period.reserved + change) - beyond(state, period, period.reserved);
  const reason = overOwn(paying, its, rate * excess);
  if (reason !== null || !isCurrent || payer.context.affords === null) return reason;
  return payer.context.affords(paying, withMore(withReserved(paying), rate * excess))
    ? null
    : 'spend_cap';
}

function overOwn(state: MeterState, period: Period, change: bigint): Reason | null {
  const before = snapshotOf(state, period);
  // Grants are suspended in the current period only. What they gave in an earlier one is used or
  // gone.
  const usable = period === state.current ? available(state, before) : balance(before);
  const fits = usable === null || usable >= change || before.overageAllowed;
  return fits ? null : shortage(state, before, change);
}
