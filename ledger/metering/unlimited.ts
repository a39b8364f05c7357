import { isUnlimited } from './grants.ts';
import { billedOf, limitOf, type Period } from './meter.ts';
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

/** An event of a period that is over has used `change` units. `id`: of the event. */
export function coverLate(
  draft: MeterDraft,
  {
    period: before,
    id,
    change,
  }: { readonly period: Period; readonly id: string; readonly change: bigint },
): void {
  const { state, pool, context } = draft;
  if (pool === null) return;
  const period = draft.again(before);
  const { granted, consumed, reserved, end } = period;
  if (end === null || end > state.current.start) return;
  if (!state.grants.some((grant) => isUnlimited(grant) && grant.effectiveAt < end)) return;
  const beyond = consumed + reserved - granted - billedOf(state, period);
  const units = beyond < change ? beyond : change;
  if (units <= 0n) return;
  draft.credit(context.ids.derive('unlimited', id), units, context.now, period);
}
