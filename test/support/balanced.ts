import { rendezvous } from '../../ledger/cluster/placement.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { SLOTS } from '../../ledger/limits.ts';
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import { until } from './until.ts';

type Node = { readonly ledger: Pick<Ledger, 'stats'>; readonly sql: Sql };

/**
 * Resolves when each slot is at its node and served there, so that none will move. A node gives up
 * slots within milliseconds.
 */
export async function balanced(nodes: readonly Node[]): Promise<void> {
  const { sql } = nodes[0]!;
  await until('each slot is where it belongs', async () => {
    const rows = await sql<{ slot: number; node: number }[]>`select slot, node from slots`;
    const seats = [...new Set(rows.map(({ node }) => node))];
    const shares = nodes.map(({ ledger }) => ledger.stats['slots'] ?? 0);
    return (
      seats.length === nodes.length &&
      rows.every(({ slot, node }) => rendezvous(slot, seats) === node) &&
      shares.reduce((sum, share) => sum + share, 0) === SLOTS
    );
  });
}
