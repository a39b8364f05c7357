import { type CutUse, type Grant, givenBack } from './grants.ts';
import type { MeterDraft } from './meter-draft.ts';

// A change of plan to another interval cuts the period of an allowance short. What was used in it counts
// against the new one only until the old period would have ended (balance.md 2).

/** Who changes to and fro ends no more of them apart: what is more ends with the last one. */
const CUTS_MAX = 24;

/**
 * What of `used` ends before the new allowance is given anew, at `renewsAt`. What was used first is of
 * the periods that were cut first.
 */
export function cutUses(
  { cut, renewsAt: ends }: Pick<Grant, 'cut' | 'renewsAt'>,
  used: bigint,
  renewsAt: number | null,
): readonly CutUse[] {
  const end = renewsAt ?? Infinity;
  let rest = used;
  const kept: CutUse[] = [];
  for (const { units, until } of cut) {
    const still = units < rest ? units : rest;
    rest -= still;
    if (still > 0n && until < end) kept.push({ units: still, until });
  }
  if (ends === null || ends >= end || rest === 0n) return kept;
  const last = kept.length < CUTS_MAX ? undefined : kept.pop();
  return [...kept, { units: rest + (last?.units ?? 0n), until: ends }];
}

/** A period that was cut short would have ended at `at`: what was used in it counts no more. */
export function endCut(draft: MeterDraft, grantId: string, at: number): void {
  draft.boundary(at);
  const grant = draft.state.grants.find(({ id }) => id === grantId);
  const [ended, ...cut] = grant?.cut ?? [];
  if (grant === undefined || ended === undefined) return;
  const used = grant.used + grant.spent;
  const units = ended.units < used ? ended.units : used;
  if (grant.amount === null) {
    // It gives what it must; what was used is counted for the next plan.
    const counted = units < grant.spent ? units : grant.spent;
    draft.putGrant({ ...grant, spent: grant.spent - counted, cut });
  } else {
    const { grant: after, lapsed } = givenBack(grant, units);
    draft.putGrant({ ...after, cut });
    draft.credit(draft.context.ids.derive('cut', grantId, String(at)), units - lapsed, at);
  }
  draft.arm();
}
