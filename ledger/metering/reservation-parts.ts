import type { Grant } from './grants.ts';
import type { MeterDraft } from './meter-draft.ts';
import { isPaidBy, type Part, type Reservation } from './reservation.ts';
import { rollOverLate } from './rollover.ts';

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
  let rest = kept;
  for (const [index, part] of one.parts.entries()) {
    const stays = rest < part.amount ? rest : part.amount;
    rest -= stays;
    const amount = part.amount - stays;
    const key = `${one.id} ${index}`;
    if (amount > 0n) giveBack(draft, one, { part: { ...part, amount }, key, at });
  }
  const settled = kept - rest;
  if (settled === 0n || one.accountId !== draft.state.current.accountId) return;
  draft.change({ allocated: draft.state.allocated + settled });
}

function giveBack(
  draft: MeterDraft,
  { accountId }: Reservation,
  { part, key, at }: { readonly part: Part; readonly key: string; readonly at: number },
): void {
  const { ids } = draft.context;
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
  // What earlier plans had used beyond this one counts against it first.
  const lapsed = amount < grant.spent ? amount : grant.spent;
  const back = amount - lapsed;
  draft.putGrant({ ...grant, spent: grant.spent - lapsed, used: grant.used - back });
  credit('lapsed', -lapsed, accountId);
  if (accountId === draft.state.current.accountId) return;
  credit('given back out', -back, accountId);
  credit('given back in', back);
}

/** Another grant has taken over what this one had used; null: it has left that in the limit. */
export function movedTo(
  draft: MeterDraft,
  from: Grant,
  to: Pick<Grant, 'id' | 'renewsAt'> | null,
): void {
  // What an unlimited one has used is in the limit when it ends.
  const by = from.amount === null ? null : to;
  changeParts(draft, (part) => {
    if (part.grantId !== from.id || !isPaidBy(part, from)) return part;
    return { ...part, grantId: by?.id ?? null, renewsAt: by?.renewsAt ?? null };
  });
}

/** At the end of a period: an unlimited grant gave nothing to its limit, and gets nothing back. */
export function dropUnlimited(draft: MeterDraft): void {
  const unlimited = new Set(
    draft.state.grants.filter(({ amount }) => amount === null).map(({ id }) => id),
  );
  if (unlimited.size === 0) return;
  changeParts(draft, (part) => (unlimited.has(part.grantId ?? '') ? null : part));
}

function changeParts(draft: MeterDraft, change: (part: Part) => Part | null): void {
  for (const one of draft.state.reservations) {
    const parts = one.parts.flatMap((part) => change(part) ?? []);
    const isSame = parts.every((part, index) => part === one.parts[index]);
    if (!isSame || parts.length < one.parts.length) draft.putReservation({ ...one, parts });
  }
}
