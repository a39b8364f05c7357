import type { Grant } from './grants.ts';
import { settledOf, spentOf } from './meter.ts';
import type { MeterDraft } from './meter-draft.ts';

// What a plan gives may grow: by another plan, or anew. Then it covers what was used before beyond
// all that there was. That is so for as long as it is as large (balance.md 2): so a larger plan and
// back covers nothing, and nor does one without a limit and back.

/**
 * What plans give has grown, and covers debt. Nothing else may have been used since a checkpoint.
 * `own`: so much was used, last, while the plan counts already: that is no debt, and stays covered.
 */
export function coverDebt(draft: MeterDraft, own = 0n): void {
  const { current, allocated, grants } = draft.state;
  if (current.consumed + current.reserved === allocated) return;
  const before = new Map(grants.map(({ id, used }) => [id, used]));
  const due = spentOf(draft.state) - settledOf(draft.state);
  let debt = due > own ? due - own : 0n;
  draft.checkpoint();
  for (const grant of draft.state.grants) {
    const covered = grant.used - (before.get(grant.id) ?? 0n);
    const grown = covered < debt ? covered : debt;
    if (covered > 0n) debt -= grown;
    if (grant.subscriptionId === null || grown === 0n) continue;
    draft.putGrant({ ...grant, grown: grant.grown + grown });
  }
}

/**
 * The grant as it is once it gives no more than `size`: what is too much of the debt is one again.
 */
export function uncover(draft: MeterDraft, grant: Grant, size: bigint | null): Grant {
  const over = size === null ? 0n : grant.used + grant.spent - size;
  const units = over < grant.grown ? over : grant.grown;
  if (units <= 0n) return grant;
  const { ids, now } = draft.context;
  draft.change({ allocated: draft.state.allocated - units });
  draft.credit(ids.next(), -units, now);
  const ofUsed = units < grant.used ? units : grant.used;
  const spent = grant.spent - (units - ofUsed);
  return { ...grant, used: grant.used - ofUsed, spent, grown: grant.grown - units };
}
