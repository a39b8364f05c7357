// Who may write, as ledger/storage.ts promises it: seats, leases by the database's clock alone, and
// the slots.
import type { Fence, Handover, SeatedNode, Survey } from '../../ledger/storage.ts';
import type { Database, NodeRow } from './database.ts';

export type Who = {
  readonly holder: string;
  readonly address: string | null;
  readonly leaseMs: number;
};

export function claim(db: Database, who: Who, now: number): Fence | null {
  return db.seated(() => {
    const nodes = db.nodes.values().sort((a, b) => a.node - b.node);
    const isAlone = ({ address }: NodeRow): boolean =>
      address === null || who.address === null || address === who.address;
    if (nodes.some((node) => node.halted || (isAlive(node, now) && isAlone(node)))) return null;
    const free = nodes.find((node) => !isAlive(node, now));
    const fence = {
      node: free?.node ?? nodes.length + 1,
      epoch: (free?.epoch ?? 0n) + 1n,
      seq: free?.seq ?? 0n,
    };
    const { holder, address, leaseMs } = who;
    const expiresAt = now + leaseMs;
    db.nodes.set(fence.node, {
      ...fence,
      holder,
      address,
      expiresAt,
      leaving: false,
      halted: false,
    });
    if (db.slots.includes(0))
      db.slots = db.slots.map((owner) => (owner === 0 ? fence.node : owner));
    return fence;
  });
}

export function survey(db: Database, now: number): Survey {
  const nodes = db.nodes.values().map(({ node, epoch, address, leaving, halted, expiresAt }) => ({
    node,
    epoch,
    address,
    leaving,
    halted,
    alive: expiresAt >= now && !halted,
    leaseMs: Math.max(0, Math.ceil(expiresAt - now)),
  }));
  return { nodes, owners: db.slots };
}

/** Null where the row has changed or is gone. */
function seatOf(db: Database, { node, epoch }: Pick<Fence, 'node' | 'epoch'>): NodeRow | null {
  const row = db.nodes.get(node);
  return row?.epoch === epoch ? row : null;
}

export function takeOver(
  db: Database,
  {
    dead,
    to,
    now,
  }: { dead: Pick<SeatedNode, 'node' | 'epoch'>; to: readonly Handover[]; now: number },
): boolean {
  const row = seatOf(db, dead);
  if (row === null || isAlive(row, now) || row.halted) return false;
  db.seated(() => {
    db.nodes.set(row.node, { ...row, epoch: row.epoch + 1n });
    const owners = [...db.slots];
    for (const { slot, node } of to) if (owners[slot] === row.node) owners[slot] = node;
    db.slots = owners;
  });
  return true;
}

export function recover(
  db: Database,
  { fence, holder }: { readonly fence: Fence; readonly holder: string },
): Fence | 'fenced' | 'behind' {
  const seat = db.nodes.get(fence.node);
  if (seat === undefined || seat.seq < fence.seq) {
    if (seat?.holder === holder) {
      const epoch = seat.epoch === fence.epoch ? seat.epoch + 1n : seat.epoch;
      db.seated(() => db.nodes.set(seat.node, { ...seat, epoch, halted: true }));
    }
    return 'behind';
  }
  const row = seatOf(db, fence);
  if (row === null) return 'fenced';
  const { node, seq } = row;
  const epoch = row.epoch + 1n;
  db.seated(() => db.nodes.set(node, { ...row, epoch }));
  return { node, epoch, seq };
}

/** As an operator does to accept the loss. */
export function resume(db: Database): void {
  db.seated(() => {
    for (const row of db.nodes.values()) db.nodes.set(row.node, { ...row, halted: false });
  });
}

export function leave(db: Database, fence: Fence): void {
  const row = seatOf(db, fence);
  if (row !== null) db.seated(() => db.nodes.set(row.node, { ...row, leaving: true }));
}

export function release(db: Database, fence: Fence, now: number): void {
  const row = seatOf(db, fence);
  if (row === null) return;
  db.seated(() => db.nodes.set(row.node, { ...row, expiresAt: now - 1000 }));
}

function isAlive(node: NodeRow, now: number): boolean {
  return node.expiresAt >= now;
}
