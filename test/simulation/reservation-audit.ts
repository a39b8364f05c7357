// What must be true of reservations at the end, computed from the rows alone: each hold is resolved
// once, what is open is what is reserved, and what was committed was used once.
import type { Auditor } from './auditor.ts';
import type { Database } from './database.ts';

export function checkReserved(auditor: Auditor, db: Database): void {
  const resolvers = new Map<string, number>();
  const held = new Map<string, bigint>();
  const used = new Map<string, bigint>();
  const add = (sums: Map<string, bigint>, key: string, units: bigint): void => {
    sums.set(key, (sums.get(key) ?? 0n) + units);
  };
  for (const { transfer } of db.transfers.values()) {
    const { kind, hold, debit, amount, usage } = transfer;
    if (kind === 'pending') add(held, debit, amount);
    if (hold === null) continue;
    add(held, debit, -hold.amount);
    resolvers.set(hold.id, (resolvers.get(hold.id) ?? 0) + 1);
    const account = db.accounts.get(debit);
    if (kind === 'post' && usage !== null) {
      add(used, `${account?.customerId} ${account?.owner.meterId}`, usage.value);
    }
  }
  for (const [id, count] of resolvers) {
    auditor.demand(count === 1, `I5: hold ${id} was resolved ${count} times`);
  }
  const open = new Map<string, bigint>();
  const committed = new Map<string, bigint>();
  for (const { customer, meterId, reservation } of db.reservations.values()) {
    const { id, holdId, status, accountId, amount } = reservation;
    const isResolved = resolvers.has(holdId);
    auditor.demand(isResolved === (status !== 'open'), `hold ${id} is ${status}, its transfer not`);
    if (status === 'open') add(open, accountId, amount);
    add(committed, `${customer.id} ${meterId}`, reservation.committed);
  }
  for (const { id, kind, totals } of db.accounts.values()) {
    if (kind !== 'meter') continue;
    const isOpen = totals.debitsPending === (open.get(id) ?? 0n);
    auditor.demand(
      isOpen,
      `account ${id} has ${totals.debitsPending} reserved, and not what is open`,
    );
    const isHeld = totals.debitsPending === (held.get(id) ?? 0n);
    auditor.demand(isHeld, `I2: account ${id} has reserved what its transfers do not hold`);
  }
  for (const [key, units] of committed) {
    auditor.demand(
      (used.get(key) ?? 0n) === units,
      `${units} were committed of ${key}, and used not`,
    );
  }
  for (const [key, units] of used) {
    auditor.demand(
      (committed.get(key) ?? 0n) === units,
      `${units} were used of ${key} by no commit`,
    );
  }
}
