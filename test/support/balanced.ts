import { SLOTS } from '../../ledger/limits.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { until } from './until.ts';

/** Resolves when each node has its share: what a node has to give, it gives within milliseconds. */
export async function balanced(
  nodes: readonly { readonly ledger: Pick<Ledger, 'stats'> }[],
): Promise<void> {
  await until('each node has its share of the slots', () => {
    const shares = nodes.map(({ ledger }) => ledger.stats['slots'] ?? 0);
    const isWhole = shares.reduce((sum, share) => sum + share, 0) === SLOTS;
    return isWhole && Math.min(...shares) > SLOTS / nodes.length / 2;
  });
}
