// I6 and I7, at each flush: it writes only for slots of its own node, and to no database that is
// behind it.
import type { Fence, FlushResult, FlushRows } from '../../ledger/storage.ts';
import type { Auditor } from './auditor.ts';
import type { Database } from './database.ts';
import { POISONED } from './hard.ts';
import type { Server } from './disk.ts';

type Flush = {
  readonly rows: FlushRows;
  readonly fence: Fence;
  readonly result: FlushResult;
  /** The process that wrote it. */
  readonly holder: string;
};

export function checkFlush(auditor: Auditor, db: Database, flush: Flush): void {
  const { fence, result, holder } = flush;
  if (result.kind === 'rejected') {
    const why = result.error instanceof Error ? result.error.message : 'rejected';
    if (why === POISONED) return;
    return auditor.report(`the database refused a flush of ${holder}: ${why}`);
  }
  if (result.kind !== 'committed') return;
  for (const [other, seat] of auditor.behind) {
    if (seat.node === fence.node && other !== holder) auditor.behind.delete(other);
  }
  const lost = auditor.behind.get(holder);
  // Its own recovery or its own next claim is one epoch later; a larger step means that another
  // process had the seat.
  if (lost?.node === fence.node && fence.epoch <= lost.epoch + 1n) {
    auditor.report(`I7: ${holder} writes where its writes were lost`, 'always');
  }
  const node = db.nodes.get(fence.node);
  auditor.demand(node?.holder === holder, `I6: ${holder} wrote in the seat of ${node?.holder}`);
  checkSlots(auditor, db, flush);
}

function checkSlots(auditor: Auditor, db: Database, { rows, fence, holder }: Flush): void {
  const given = new Set(rows.handovers.map(({ slot }) => slot));
  const slots = new Set([
    ...rows.transfers.map(({ slot }) => slot),
    ...rows.states.map(({ customer }) => customer.slot),
    ...rows.payments.map(({ payment }) => payment.slot),
  ]);
  for (const slot of slots) {
    // The slots that this flush hands over were its own until now.
    const isOwn = db.slots[slot] === fence.node || given.has(slot);
    auditor.demand(
      isOwn,
      `I6: ${holder} wrote for slot ${slot}, which is node ${db.slots[slot]}'s`,
    );
  }
}

/**
 * The last transactions are undone: a process that has acknowledged one of them must write no more.
 */
export function loseLast(auditor: Auditor, server: Server, transactions: number): void {
  server.db.lose(transactions);
  auditor.isLossy = true;
  for (const [holder, fence] of server.acknowledged) {
    const { node, epoch, seq } = fence;
    const seat = server.db.nodes.get(node);
    // A process that has lost its seat since has nothing to compare with.
    if (seat?.epoch === epoch && seat.seq < seq) auditor.behind.set(holder, fence);
  }
}
