// Many nodes: their cost by number, the cost of forwarding, the effect of a hot customer, and what
// callers see when a node leaves, joins or dies.
import { Closers } from '../../support/closers.ts';
import type { Stores } from '../bed/service.ts';
import type { Part } from '../options.ts';
import { type Forwarded, runForwarded } from './forwarded.ts';
import { type Beside, runHot } from './hot.ts';
import { type Killed, runKill } from './kill.ts';
import type { Pace } from './load.ts';
import { type Moved, runMove } from './move.ts';
import { type Bed, openBed } from './nodes.ts';
import { runScaling, type Scaling } from './scaling.ts';

/** Without the parts that were not asked for. */
export type Cluster = {
  readonly scaling: readonly Scaling[];
  readonly forwarded: readonly Forwarded[];
  readonly hot: readonly Beside[];
  readonly move: readonly Moved[];
  readonly kill: readonly Killed[];
};

export async function runCluster(
  stores: Stores,
  closers: Closers,
  {
    parts,
    pace,
    signal,
    say,
  }: Pick<Bed, 'signal' | 'say'> & {
    readonly parts: readonly Part[];
    readonly pace: Pace & { readonly rounds: number };
  },
): Promise<Cluster> {
  const bed = await openBed(stores, closers, { signal, say });
  async function run<T>(
    part: Part,
    runPart: (bed: Bed, own: Closers, pace: Pace & { readonly rounds: number }) => Promise<T[]>,
  ): Promise<T[]> {
    if (!parts.includes(part)) return [];
    // The nodes of one part end before those of the next one start.
    const own = new Closers();
    try {
      return await runPart(bed, own, pace);
    } finally {
      await own.close();
    }
  }
  return {
    scaling: await run('scaling', runScaling),
    forwarded: await run('forwarded', runForwarded),
    hot: await run('hot', runHot),
    move: await run('move', runMove),
    kill: await run('kill', runKill),
  };
}
