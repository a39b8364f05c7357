import { type Grant, givenBack } from './grants.ts';
import type { MeterDraft } from './meter-draft.ts';
import { isPaidBy, paidFor, type Part, type Reservation } from './reservation.ts';
import { rollOverLate } from './rollover.ts';
import { momentOf } from './stretch.ts';

// Which grants pay for reservations. A checkpoint settles what is reserved on the grants, as it does
// with consumption: a part is in its grant's `used`. So a grant that ends or renews keeps what is
// committed of it in the limit, and what is released goes back where it came from.

/**
 * The first `kept` units of what the grants pay for become consumption; the rest goes back: to its
 * grant, to what has rolled over since, or nowhere. The reservation has left the state.
 */
export function settleParts(
  draft: MeterDraft,
  one: Reservation,
  { kept, at }: { readonly kept: bigint; readonly at: number },
): void {
  const settled = lesser(kept, paidFor(one));
  if (settled > 0n && one.accountId === draft.state.current.accountId) {
    draft.change({ allocated: draft.state.allocated + settled });
  }
  let rest = kept;
  for (const [index, part] of one.parts.entries()) {
    const stays = lesser(rest, part.amount);
    rest -= stays;
    const amount = part.amount - stays;
    const key = `${one.id} ${index}`;
    if (amount > 0n) giveBack(draft, one, { part: { ...part, amount }, key, at });
  }
}

function giveBack(
  draft: MeterDraft,
  one: Reservation,
  { part, key, at }: { readonly part: Part; readonly key: string; readonly at: number },
): void {
  const { ids } = draft.context;
  const { accountId } = one;
  const { amount } = part;
  const credit = (why: string, units: bigint, id = draft.state.current.accountId) => {
    draft.credit(ids.derive(why, key), units, at, draft.period(id));
  };
  const grant = draft.state.grants.find(({ id }) => id === part.grantId);
  if (grant === undefined || !isPaidBy(part, grant)) {
    credit('lapsed', -amount, accountId);
    if (grant === undefined || part.renewsAt === null) return;
    return rollOverLate(draft, grant, { since: part.renewsAt, rest: amount, key, at });
  }
  const isSpent = part.spent && grant.amount === null;
  const { grant: after, lapsed } = isSpent
    ? { grant: { ...grant, spent: grant.spent - amount }, lapsed: amount }
    : givenBack(grant, amount);
  draft.putGrant(after);
  carryLess(draft, one, { grantId: grant.id, units: amount });
  const back = amount - lapsed;
  credit('lapsed', -lapsed, accountId);
  if (accountId === draft.state.current.accountId) return;
  credit('given back out', -back, accountId);
  credit('given back in', back);
}

/** What was held is as never held: later periods begin with as much more of the grant. */
function carryLess(
  draft: MeterDraft,
  { createdAt, place }: Reservation,
  { grantId, units }: { readonly grantId: string; readonly units: bigint },
): void {
  const since = momentOf(createdAt, place);
  const changed = draft.state.marks.flatMap((mark) => {
    if (mark.start <= since || !mark.carried.some(({ id }) => id === grantId)) return [];
    const carried = mark.carried.flatMap((one) => {
      const used = one.id === grantId ? one.used - units : one.used;
      return used > 0n ? [{ ...one, used }] : [];
    });
    return [{ ...mark, carried }];
  });
  draft.putMarks(changed);
}

/**
 * Another grant, or the same one, has taken over what a grant had used: one without a limit in its
 * `spent`.
 */
export function movedTo(
  draft: MeterDraft,
  from: Grant,
  to: Pick<Grant, 'id' | 'amount' | 'renewsAt'>,
): void {
  const moved = { grantId: to.id, renewsAt: to.renewsAt, spent: to.amount === null };
  changeParts(draft, from, (part) => [{ ...part, ...moved }]);
}

/** The allowance is given anew: what was used beyond it, or without a limit, does not roll over. */
export function strikeSpent(draft: MeterDraft, allowance: Grant): void {
  let rest = allowance.spent + (allowance.amount === null ? allowance.used : 0n);
  if (rest <= 0n) return;
  changeParts(draft, allowance, (part) => {
    const struck = lesser(part.amount, rest);
    rest -= struck;
    if (struck === 0n) return [part];
    const kept = { ...part, amount: part.amount - struck };
    return [{ ...part, ...NOBODY, amount: struck }, ...(kept.amount > 0n ? [kept] : [])];
  });
}

/** At the end of a period: an unlimited grant gave nothing to its limit, and gets nothing back. */
export function dropUnlimited(draft: MeterDraft): void {
  for (const grant of draft.state.grants) {
    if (grant.amount !== null) continue;
    changeParts(draft, grant, (part) => (part.spent ? [{ ...part, ...NOBODY }] : []));
  }
}

const NOBODY = { grantId: null, renewsAt: null, spent: false } as const;

/** Of what the grant pays for. */
function changeParts(
  draft: MeterDraft,
  grant: Grant,
  change: (part: Part) => readonly Part[],
): void {
  for (const one of draft.state.reservations) {
    const isIts = (part: Part): boolean => part.grantId === grant.id && isPaidBy(part, grant);
    if (!one.parts.some(isIts)) continue;
    const parts = one.parts.flatMap((part) => (isIts(part) ? change(part) : [part]));
    draft.putReservation({ ...one, parts });
  }
}

function lesser(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
