// I6: a flush writes for slots of its own node, while no other one has taken them.
import type { Fence, FlushResult, FlushRows } from '../../ledger/storage.ts';
import type { Auditor } from './auditor.ts';
import type { Database } from './database.ts';

export function checkOwned(
  auditor: Auditor,
  db: Database,
  flush: { rows: FlushRows; fence: Fence; result: FlushResult; holder: string },
): void {
  const { rows, fence, result, holder } = flush;
  if (result.kind === 'rejected') {
    const why = result.error instanceof Error ? result.error.message : 'rejected';
    return auditor.report(`the database refused a flush of ${holder}: ${why}`);
  }
  if (result.kind !== 'committed') return;
  const node = db.nodes.get(fence.node);
  auditor.demand(node?.holder === holder, `I6: ${holder} wrote in the seat of ${node?.holder}`);
  const given = new Set(rows.handovers.map(({ slot }) => slot));
  const slots = new Set([
    ...rows.transfers.map(({ slot }) => slot),
    ...rows.states.map(({ customer }) => customer.slot),
    ...rows.payments.map(({ payment }) => payment.slot),
  ]);
  for (const slot of slots) {
    // What goes with this flush was its own until now.
    const isOwn = db.slots[slot] === fence.node || given.has(slot);
    auditor.demand(
      isOwn,
      `I6: ${holder} wrote for slot ${slot}, which is node ${db.slots[slot]}'s`,
    );
  }
}
