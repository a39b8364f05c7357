// The same load on 1, 2 and 4 nodes. Connections are spread over all nodes, and each request is for
// any customer: of n nodes the share (n - 1) / n is forwarded. The three clusters run side by side,
// each on a database of its own.
import type { Closers } from '../../support/closers.ts';
import { type Loaded, loadInPeace, type Pace, WARM_UP } from './load.ts';
import { type Bed, Nodes } from './nodes.ts';

const COUNTS = [1, 2, 4];
const CONNECTIONS = 128;
/**
 * So few that each node knows every customer when the measurement begins: it measures calls between
 * nodes, not loading.
 */
const CUSTOMERS = Array.from({ length: 1000 }).map((_, index) => index + 1);
export const SHAPES = ['check', 'track'] as const;

export type Scaling = {
  readonly shape: (typeof SHAPES)[number];
  readonly connections: number;
  readonly nodes: number;
  /** In rounds. */
  readonly measured: readonly Loaded[];
};

export async function runScaling(
  bed: Bed,
  closers: Closers,
  { rounds, ...pace }: Pace & { readonly rounds: number },
): Promise<Scaling[]> {
  bed.say('scaling: starting 1, 2 and 4 nodes');
  const fleets: Nodes[] = [];
  for (const count of COUNTS) fleets.push(await Nodes.open(bed, closers, count));
  const results: Scaling[] = [];
  for (const shape of SHAPES) {
    const asked = { shape, connections: CONNECTIONS, customers: CUSTOMERS, ...pace };
    const measured = fleets.map((): Loaded[] => []);
    for (const nodes of fleets)
      await loadInPeace(nodes, { shape, customers: CUSTOMERS, ...WARM_UP });
    for (let round = 0; round < rounds; round += 1) {
      for (let turn = 0; turn < fleets.length; turn += 1) {
        const at = (round + turn) % fleets.length;
        const nodes = fleets[at];
        if (nodes !== undefined) measured[at]?.push(await loadInPeace(nodes, asked));
      }
    }
    for (const [at, loads] of measured.entries()) {
      const nodes = COUNTS[at] ?? 0;
      results.push({ shape, connections: CONNECTIONS, nodes, measured: loads });
    }
  }
  return results;
}
