import type { CutUse, Grant } from './grants.ts';
import { givenBack } from './grants.ts';
import type { MeterDraft } from './meter-draft.ts';
import { paidByGrant } from './reservation.ts';

// A change of plan to another interval cuts the period of an allowance short. What was used in it counts
// against the new one only until the old period would have ended (balance.md 2).

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
  return ends === null || ends >= end || rest === 0n
    ? kept
    : [...kept, { units: rest, until: ends }];
}

/** When the first of them ends; Infinity for none. */
export const cutDue = ({ cut: [first] }: Pick<Grant, 'cut'>): number => first?.until ?? Infinity;

/** A period that was cut short would have ended at `at`: what was used in it counts no more. */
export function endCut(draft: MeterDraft, grantId: string, at: number): void {
  draft.checkpoint();
  const grant = draft.state.grants.find(({ id }) => id === grantId);
  const [ended, ...cut] = grant?.cut ?? [];
  if (grant === undefined || ended === undefined) return;
  // What is held stays used.
  const held = paidByGrant(draft.state).get(grantId) ?? 0n;
  const used = grant.used + (grant.spent > 0n ? grant.spent : 0n) - held;
  const units = ended.units < used ? ended.units : used;
  if (grant.amount === null) {
    // It gives what it must; what was used is counted for the next plan.
    const counted = units < grant.spent ? units : grant.spent;
    draft.putGrant({ ...grant, spent: grant.spent - counted, cut });
  } else {
    const { grant: after, lapsed } = givenBack(grant, units > 0n ? units : 0n);
    draft.putGrant({ ...after, cut });
    draft.credit(draft.context.ids.derive('cut', grantId, String(at)), units - lapsed, at);
  }
  draft.arm();
}
