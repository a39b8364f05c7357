// Two nodes, all requests to the first: for customers that it owns, and for customers that the
// other one owns.
import type { Closers } from '../../support/closers.ts';
import { type Loaded, loadInPeace, type Pace, WARM_UP } from './load.ts';
import { type Bed, Nodes } from './nodes.ts';

export type Forwarded = {
  readonly shape: 'check' | 'track';
  readonly connections: number;
  /** In rounds. */
  readonly owned: readonly Loaded[];
  readonly forwarded: readonly Loaded[];
};

export async function runForwarded(
  bed: Bed,
  closers: Closers,
  { rounds, ...pace }: Pace & { readonly rounds: number },
): Promise<Forwarded[]> {
  bed.say('forwarded: starting 2 nodes');
  const nodes = await Nodes.open(bed, closers, 2);
  const customers = { owned: await nodes.customersOf(0), forwarded: await nodes.customersOf(1) };
  const ports = nodes.ports.slice(0, 1);
  const measure = (kind: keyof typeof customers, what: Pick<Forwarded, 'shape' | 'connections'>) =>
    loadInPeace(nodes, { ...what, ...pace, ports, customers: customers[kind] });
  const results: Forwarded[] = [];
  for (const shape of ['check', 'track'] as const) {
    for (const kind of KINDS) {
      await loadInPeace(nodes, { shape, ...WARM_UP, ports, customers: customers[kind] });
    }
    for (const connections of [32, 256]) {
      const what = { shape, connections };
      const measured = { owned: [] as Loaded[], forwarded: [] as Loaded[] };
      for (let round = 0; round < rounds; round += 1) {
        for (const kind of round % 2 === 0 ? KINDS : KINDS.toReversed()) {
          measured[kind].push(await measure(kind, what));
        }
      }
      results.push({ ...what, ...measured });
    }
  }
  return results;
}

const KINDS = ['owned', 'forwarded'] as const;
