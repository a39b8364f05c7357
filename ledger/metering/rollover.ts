import { assert } from '../kernel/assert.ts';
import { boundary, periodIndex } from '../kernel/calendar.ts';
import type { MeterDraft } from './meter-draft.ts';
import { type Grant, left } from './grants.ts';

// What an allowance had left at the end of its period, as a grant of its own, up to the cap on the
// total that is rolled over.

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

/**
 * What was reserved at the end of its period, `since`, and is released at `at`: it rolls over as far
 * as the cap leaves room, for as long as what rolled over then. `key` names the release.
 */
export function rollOverLate(
  draft: MeterDraft,
  allowance: Grant,
  { since, rest, key, at }: Late,
): void {
  const { ids } = draft.context;
  // What was used of the rest since then leaves room.
  draft.checkpoint();
  const rolled = roomFor(draft, allowance, { at: since, rest });
  if (rolled === null || rolled.expiresAt <= at) return;
  const { amount, expiresAt } = rolled;
  const known = draft.state.grants.find(
    (grant) =>
      isRolloverOf(grant, allowance) &&
      grant.effectiveAt === since &&
      grant.expiresAt === expiresAt,
  );
  if (known === undefined) {
    const id = ids.derive('rollover', allowance.id, String(since), key);
    draft.putGrant(rolloverGrant(allowance, { ...rolled, at: since, id }));
  } else {
    assert(known.amount !== null, 'what rolls over is limited');
    draft.putGrant({ ...known, amount: known.amount + amount });
  }
  draft.credit(ids.derive('rolled over', key), amount, at);
}

type Late = {
  readonly since: number;
  readonly rest: bigint;
  readonly key: string;
  readonly at: number;
};

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
  let held = 0n;
  for (const grant of draft.state.grants) {
    if (isRolloverOf(grant, allowance)) held += left(grant) ?? 0n;
  }
  const room = rollover.max - held;
  const amount = rest < room ? rest : room;
  if (amount <= 0n) return null;
  const expiresAt = boundary(cycle, periodIndex(cycle, at) + rollover.expiresAfterPeriods);
  return { amount, expiresAt };
}

function rolloverGrant(
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
    effectiveAt: at,
    expiresAt,
    createdAt: at,
    overageAllowed: false,
    price: null,
    charges: false,
    recurs: null,
    renewsAt: null,
    reason: null,
  };
}
