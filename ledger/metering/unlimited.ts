import { billedOf, limitOf } from './meter.ts';
import type { MeterDraft } from './meter-draft.ts';

// Only the current period is without a limit. Of a member of a pool, what an unlimited grant has paid
// for of a period that is over stays in the period's limit, as with one that ends: else the pool would
// pay for it. An unlimited grant that has ended covers no event that comes late.

/** The current period ends. */
export function leaveUnlimited(draft: MeterDraft, at: number): void {
  const { state, pool } = draft;
  if (pool === null || limitOf(state, state.current) !== null) return;
  const { accountId, granted, consumed, reserved } = state.current;
  const units = consumed + reserved - granted - billedOf(state);
  if (units > 0n) draft.credit(draft.context.ids.derive('unlimited', accountId), units, at);
}
