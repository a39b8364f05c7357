import { unburn } from './grants.ts';
import { billedOf } from './meter.ts';
import type { MeterDraft } from './meter-draft.ts';
import { paidByGrant } from './reservation.ts';

/**
 * A correction gives units back to the grants that paid, where they paid more than is used by now. If
 * such a grant has ended since, its units have ended too, as what was used beyond a smaller plan: they
 * leave the limit and cannot be used again.
 */
export function settleCorrection(draft: MeterDraft, usageId: string): void {
  const { ids, now } = draft.context;
  const { current, allocated } = draft.state;
  const spent = current.consumed - billedOf(draft.state);
  if (spent >= allocated) return;
  const units = allocated - spent;
  const { grants, rest, lapsed } = unburn(draft.state.grants, units, paidByGrant(draft.state));
  draft.burned(grants);
  draft.credit(ids.derive('lapsed', usageId), -(rest + lapsed), now);
  draft.change({ allocated: spent });
  draft.checkpoint();
}
