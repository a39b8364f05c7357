import type { Grant } from './grants.ts';
import type { MeterDraft } from './meter-draft.ts';

// What a plan gives may grow: by another plan, or anew. Then it covers what was used before beyond all
// that there was. That is so for as long as it is as large (balance.md 2): so a larger plan and back
// covers nothing. An unlimited one covers it for good.

/** What plans give has grown, and covers debt. Nothing else may have been used since a checkpoint. */
export function coverDebt(draft: MeterDraft): void {
  const { current, allocated, grants } = draft.state;
  if (current.consumed + current.reserved === allocated) return;
  const before = new Map(grants.map(({ id, used }) => [id, used]));
  draft.checkpoint();
  for (const grant of draft.state.grants) {
    const covered = grant.used - (before.get(grant.id) ?? 0n);
    const isGrown = grant.subscriptionId !== null && grant.amount !== null && covered > 0n;
    if (isGrown) draft.putGrant({ ...grant, spent: grant.spent - covered });
  }
}

/** The grant as it is once it gives no more than `size`: what is too much of the debt is one again. */
export function uncover(draft: MeterDraft, grant: Grant, size: bigint | null): Grant {
  const over = size === null ? 0n : grant.used - size;
  const units = over < -grant.spent ? over : -grant.spent;
  if (units <= 0n) return grant;
  const { ids, now } = draft.context;
  draft.change({ allocated: draft.state.allocated - units });
  draft.credit(ids.next(), -units, now);
  return { ...grant, used: grant.used - units, spent: grant.spent + units };
}
