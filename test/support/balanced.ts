import { SLOTS } from '../../ledger/limits.ts';
import type { Ledger } from '../../ledger/ledger.ts';

/** Resolves when each node has its share: what a node has to give, it gives within milliseconds. */
export async function balanced(
  nodes: readonly { readonly ledger: Pick<Ledger, 'stats'> }[],
): Promise<void> {
  for (;;) {
    const shares = nodes.map(({ ledger }) => ledger.stats['slots'] ?? 0);
    const isWhole = shares.reduce((sum, share) => sum + share, 0) === SLOTS;
    if (isWhole && Math.min(...shares) > SLOTS / nodes.length / 2) return;
    await Bun.sleep(5);
  }
}
