// What an answer about usage says of who paid.
import type { UsageAnswer } from '../../ledger/metering/usage-answer.ts';
import type { World } from './world.ts';

/** The part of an answer about who paid, for comparison. */
export function paidOf({ paidBy }: UsageAnswer): unknown {
  return paidBy === null ? null : [paidBy.own, paidBy.credits, paidBy.pool.slug];
}

/** What an answer says of who paid follows from the numbers beside it. */
export function checkPaid({ auditor, server, pool }: World, answer: UsageAnswer): void {
  const { id, paidBy, snapshot } = answer;
  const row = server.db.byId.get(id)?.transfer;
  if (row === undefined || pool === null || paidBy === null) return;
  const rate = snapshot.pooled ? (server.db.pooled.get(row.debit) ?? 0n) : 0n;
  const change = row.kind === 'reverse' ? -row.amount : row.amount;
  // What is taken back when the pool begins to pay has no cost yet.
  if (!snapshot.pooled && change < 0n) return;
  const beyond = (taken: bigint): bigint => {
    const limit = snapshot.limit ?? taken;
    return taken > limit ? taken - limit : 0n;
  };
  const after = snapshot.consumed + snapshot.reserved;
  const units = beyond(after) - beyond(after - change);
  const paid = rate === 0n ? 0n : units;
  const isSo = paidBy.own === change - paid && paidBy.credits === rate * paid;
  auditor.demand(
    isSo,
    `usage ${id} of ${change} was paid by ${paidBy.own} and ${paidBy.credits} credits`,
  );
}
