// What the historian's steps are to the reference: as their client chose them, at the times of
// their durable rows. The ledger's own settlement is not read.
import type { Facts, Grant, Hold, Plan, Use } from '../ledger/reference/facts.ts';
import { DAY } from '../ledger/reference/history.ts';
import type { Database } from './database.ts';

export type Steps = {
  readonly plans: readonly { readonly at: number; readonly plan: Plan }[];
  readonly uses: readonly { readonly id: string; readonly amount: bigint }[];
  readonly holds: readonly {
    readonly id: string;
    readonly amount: bigint;
    readonly lasts: number;
  }[];
  readonly grants: readonly Omit<Grant, 'told' | 'voidedAt'>[];
};

export function factsBy(db: Database, { plans, uses, holds, grants }: Steps): Facts {
  const held = holds.flatMap((one) => holdOf(db, one));
  return {
    uses: [...uses.flatMap((one) => useOf(db, one)), ...held.flatMap(({ more }) => more)],
    holds: held.map(({ hold }) => hold),
    grants: grants.flatMap((one) => grantOf(db, one)),
    subscriptions: [{ id: 'plan', plans: [...plans], every: DAY, billedEvery: 30 * DAY }],
  };
}

function useOf(db: Database, { id, amount }: Steps['uses'][number]): Use[] {
  const row = db.byId.get(id)?.transfer;
  if (row === undefined || row.usage === null || row.kind === 'refused') return [];
  return [{ at: row.usage.eventAt, told: row.at, amount }];
}

function grantOf(db: Database, given: Steps['grants'][number]): Grant[] {
  const row = db.grants.get(given.id)?.grant;
  if (row === undefined) return [];
  const told = { ...given, told: given.effectiveAt };
  return [row.ended?.how === 'voided' ? { ...told, voidedAt: row.ended.at } : told];
}

/** `more`: what was committed beyond it, or after it had expired. */
function holdOf(
  db: Database,
  { id, amount, lasts }: Steps['holds'][number],
): { readonly hold: Hold; readonly more: readonly Use[] }[] {
  const row = db.reservations.get(id)?.reservation;
  if (row === undefined) return [];
  const { createdAt: at, status, committed, late, resolvedAt } = row;
  const expired = { told: at + lasts, used: 0n };
  if (status === 'open' || status === 'expired' || resolvedAt === null) {
    return [{ hold: { at, amount, end: expired }, more: [] }];
  }
  const over = late ? committed : committed - amount;
  const use = { at: resolvedAt, told: resolvedAt, amount: over };
  const end = late ? expired : { told: resolvedAt, used: committed };
  return [{ hold: { at, amount, end }, more: over > 0n ? [use] : [] }];
}
