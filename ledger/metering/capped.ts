import { type CheckAnswer, type MeterState, check } from './meter.ts';
import type { MeterContext } from './meter-draft.ts';

/** As `check`; past the limit, only as far as the customer's spend cap goes, if it has one. */
export function checkCapped(
  { affords }: MeterContext,
  state: MeterState,
  units: bigint,
): CheckAnswer {
  const answer = check(state, units);
  // What is within the limit costs nothing.
  if (affords === null || answer.reason !== 'overage_allowed') return answer;
  if (affords(state, withMore(withReserved(state), units))) return answer;
  return { ...answer, allowed: false, reason: 'spend_cap' };
}

/** The state as it would be if all that is reserved were used: a spend cap leaves room for it. */
export function withReserved(state: MeterState): MeterState {
  const { reserved } = state.current;
  return reserved === 0n ? state : withMore(state, reserved);
}

/** The state as it would be with more consumed. */
export function withMore(state: MeterState, units: bigint): MeterState {
  const { current } = state;
  const consumed = current.consumed + units;
  return { ...state, current: { ...current, consumed, aggregate: consumed } };
}
