import { advance, endGrant, isOfPlan, since, startGrant } from './advance.ts';
import { type MeterContext, MeterDraft } from './meter-draft.ts';
import type { MeterEffects } from './meter-effects.ts';
import { type Grant, isUsedUp } from './grants.ts';
import { GRANTS_KEPT_MAX } from '../limits.ts';
import type { MeterState } from './meter.ts';
import { promised, rolloverOf } from './promised.ts';
import { inRange } from '../kernel/quantity.ts';

export type GrantOutcome =
  | { readonly kind: 'granted'; readonly grant: Grant }
  | { readonly kind: GrantRefusal | 'too_many_grants_in_all' }
  /** A pool and its members have allowances with one reset (beyond.md 4). */
  | { readonly kind: 'other_reset' };

export type GrantRefusal = 'too_many_grants' | 'too_many_meters' | 'out_of_range';

/** Adds a grant: at once, or at its `effectiveAt` where that is in the future. */
export function decideGrant(
  context: MeterContext,
  state: MeterState,
  grant: Grant,
): { readonly outcome: GrantOutcome; readonly effects: MeterEffects | null } {
  const draft = new MeterDraft(context, state);
  advance(draft);
  retireUsedUp(draft);
  const refused = refuseGrant(draft, grant) ?? otherReset(context, grant);
  if (refused !== null) return { outcome: { kind: refused }, effects: null };

  // From here it must succeed.
  if (grant.effectiveAt > context.now) {
    draft.putGrant(grant);
    return { outcome: { kind: 'granted', grant }, effects: draft.effects() };
  }
  // A grant without a later start begins when it is made, not when its actor is loaded.
  const isBackdated = grant.effectiveAt < grant.createdAt;
  startGrant(draft, grant, isBackdated ? context.now : since(draft, grant.effectiveAt));
  // Usage beyond the limit is taken from the new grant. The answer shows the whole grant (decisions
  // 5).
  return { outcome: { kind: 'granted', grant }, effects: draft.effects() };
}

function otherReset({ credits }: MeterContext, { recurs }: Grant): 'other_reset' | null {
  if (credits === null || recurs === null) return null;
  const { interval, count } = recurs.cycle;
  const isOther = (leader: Grant): boolean =>
    leader.recurs?.cycle.interval !== interval || leader.recurs.cycle.count !== count;
  return credits.leaders().some(isOther) ? 'other_reset' : null;
}

/** Makes room by ending top-ups that are used up: only corrections still need them. */
export function retireUsedUp(draft: MeterDraft): void {
  if (draft.state.grants.length < GRANTS_KEPT_MAX) return;
  draft.checkpoint();
  const at = draft.context.now;
  for (const grant of draft.state.grants) {
    const isNeeded = !grant.started || grant.recurs !== null;
    if (isNeeded || !isUsedUp(grant) || isOfPlan(grant)) continue;
    draft.putGrant({ ...grant, ended: { at, how: 'used_up' } });
  }
}

/** Why the meter can hold no such grant, or null. */
export function refuseGrant(
  { state, context }: Pick<MeterDraft, 'state' | 'context'>,
  grant: Grant,
): GrantRefusal | null {
  if (state.grants.length >= context.grantsMax) return 'too_many_grants';
  const units = promised(state) + (grant.amount ?? 0n) + rolloverOf(grant);
  return inRange(units) ? null : 'out_of_range';
}

export type VoidOutcome =
  | { readonly kind: 'voided' }
  /** The grant has ended: voided before, expired or used up. Nothing changes. */
  | { readonly kind: 'not_live' };

/** Takes back what is left of a grant. What was used of it stays used. */
export function decideVoid(
  context: MeterContext,
  state: MeterState,
  grantId: string,
): { readonly outcome: VoidOutcome; readonly effects: MeterEffects | null } {
  const draft = new MeterDraft(context, state);
  advance(draft);
  const grant = draft.state.grants.find((other) => other.id === grantId);
  // It may have expired just now: then the expiry is written.
  if (grant === undefined) {
    const isAsBefore = draft.state === state;
    return { outcome: { kind: 'not_live' }, effects: isAsBefore ? null : draft.effects() };
  }
  endGrant(draft, grant, since(draft, context.now), 'voided');
  return { outcome: { kind: 'voided' }, effects: draft.effects() };
}
