import { billedOf, type MeterState, type Period } from '../meter.ts';
import { timeOf } from '../stretch.ts';

// Most usage adds to the stretch that runs, and what was settled before stays as it is.

type Change = {
  readonly period: Period;
  /** Milliseconds. */
  readonly at: number;
  /** What the period comes to after it, before the floor. */
  readonly aggregate: bigint;
};

/**
 * Whether what was settled before is another: the change is before the stretch that runs, or takes back
 * what was used before it, or what is settled of it.
 */
export function followsOn(state: MeterState, { period, at, aggregate }: Change): boolean {
  const { current, stretch, isLevel, allocated } = state;
  if (isLevel || period.start > current.start) return false;
  if (at < timeOf(stretch.start)) return true;
  if (period.aggregate < stretch.aggregate || aggregate < stretch.aggregate) return true;
  return aggregate < period.aggregate && aggregate - billedOf(state) < allocated;
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
