import { assert } from '../kernel/assert.ts';
import { boundary, periodIndex } from '../kernel/calendar.ts';
import type { MeterDraft } from './meter-draft.ts';
import { type Grant, left } from './grants.ts';
import { uncover } from './grown.ts';

// What an allowance had left at the end of its period, as a grant of its own, up to the cap.

/** At the end of its period. */
export function rollOver(draft: MeterDraft, allowance: Grant, at: number): void {
  const { id, amount, used } = allowance;
  const { ids } = draft.context;
  if (amount === null) return;
  const rolled = roomFor(draft, allowance, { at, rest: amount - used });
  if (rolled === null) return;
  const grant = rolloverGrant(allowance, {
    ...rolled,
    at,
    id: ids.derive('rollover', id, String(at)),
  });
  draft.putGrant(grant);
  draft.credit(ids.derive('grant', grant.id), rolled.amount, at);
}

/** The plan of now lets `max` of what rolled over of a subscription be used: it may let more again. */
export function capRollover(draft: MeterDraft, subscriptionId: string, max: bigint): void {
  const { ids, now } = draft.context;
  const isIts = (grant: Grant): boolean =>
    grant.source === 'rollover' && grant.subscriptionId === subscriptionId;
  for (const grant of draft.state.grants.filter(isIts)) {
    const cap = grant.amount === null || max >= grant.amount ? null : max;
    if (cap === grant.cap) continue;
    const capped = { ...uncover(draft, grant, max), cap };
    draft.putGrant(capped);
    draft.credit(ids.next(), (left(capped) ?? 0n) - (left(grant) ?? 0n), now);
  }
}

export function isRolloverOf(grant: Grant, allowance: Grant): boolean {
  return grant.source === 'rollover' && grant.subscriptionId === allowance.subscriptionId;
}

type Rolled = { readonly amount: bigint; readonly expiresAt: number };

/** How much of the rest rolls over, and until when; null for nothing. */
function roomFor(
  draft: MeterDraft,
  allowance: Grant,
  { at, rest }: { readonly at: number; readonly rest: bigint },
): Rolled | null {
  const { recurs, suspended } = allowance;
  assert(recurs !== null, 'only an allowance rolls over');
  const { rollover, cycle } = recurs;
  if (rollover === null || suspended !== null) return null;
  let [held, rolled] = [0n, 0n];
  for (const grant of draft.state.grants) {
    if (!isRolloverOf(grant, allowance)) continue;
    held += left(grant) ?? 0n;
    if (grant.effectiveAt === at) rolled += grant.amount ?? 0n;
  }
  // The cap bounds what lives at once, and what one period has rolled over in all.
  const room = rollover.max - (held > rolled ? held : rolled);
  const amount = rest < room ? rest : room;
  if (amount <= 0n) return null;
  const expiresAt = boundary(cycle, periodIndex(cycle, at) + rollover.expiresAfterPeriods);
  return { amount, expiresAt };
}

export function rolloverGrant(
  allowance: Grant,
  { id, at, amount, expiresAt }: Rolled & { readonly id: string; readonly at: number },
): Grant {
  return {
    ...allowance,
    id,
    source: 'rollover',
    amount,
    used: 0n,
    spent: 0n,
    grown: 0n,
    cut: [],
    rests: [],
    startedAt: null,
    endedIn: 0,
    cap: null,
    effectiveAt: at,
    expiresAt,
    createdAt: at,
    overageAllowed: false,
    price: null,
    charges: false,
    recurs: null,
    renewsAt: null,
    reason: null,
    // The row of the allowance may have been replaced since.
    ended: null,
  };
}
