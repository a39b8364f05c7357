import { type MeterState, type Period, settledOf, spentOf } from '../meter.ts';
import { timeOf } from '../stretch.ts';

// Most usage adds to the stretch that runs, and what was settled before stays as it is.

type Change = {
  readonly period: Period;
  /** In the stretch that holds this moment (`stretch.ts`). */
  readonly after: number;
  /** What it adds to the period's aggregate. */
  readonly used?: bigint;
  /** What it adds to what the current period has reserved. */
  readonly held?: bigint;
};

/**
 * Whether what was settled before is another: the change is before the stretch that runs, or takes
 * back what was used before it, or what is settled of it.
 */
export function followsOn(
  state: MeterState,
  { period, after, used = 0n, held = 0n }: Change,
): boolean {
  const { current, stretch, isLevel } = state;
  if (isLevel || period.start > current.start) return false;
  if (after < stretch.start) return true;
  if (isBelow(state) || current.aggregate + used < stretch.aggregate) return true;
  return used + held < 0n && spentOf(state) + used + held < settledOf(state);
}

/** Whether that may be so of usage, or of what a pool pays of it: then the history is needed. */
export function mayFollow(
  state: MeterState,
  { at, value }: { readonly at: number; readonly value: bigint },
): boolean {
  const { current, stretch, isLevel, allocated } = state;
  if (at < current.start) return true;
  if (isLevel) return false;
  const isSettled = allocated > 0n || stretch.aggregate > 0n;
  return at < timeOf(stretch.start) || isBelow(state) || (value < 0n && isSettled);
}

/** Whether the stretch that runs has taken back what was used before it. */
export function isBelow({ current, stretch }: MeterState): boolean {
  return current.aggregate < stretch.aggregate;
}
