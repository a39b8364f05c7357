import type { MeterDraft } from './meter-draft.ts';

/**
 * A correction gives units back to the grants that paid. If such a grant has ended since, its units
 * have ended too: they leave the limit and cannot be used again.
 */
export function settleCorrection(draft: MeterDraft, usageId: string): void {
  draft.checkpoint();
  const { current, allocated } = draft.state;
  const lapsed = allocated - current.consumed;
  if (lapsed <= 0n) return;
  const { ids, now } = draft.context;
  draft.credit(ids.derive('lapsed', usageId), -lapsed, now);
  draft.change({ allocated: current.consumed });
}
