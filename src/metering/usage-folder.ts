// Moves usage from the deltas of flushes into bins, and usage of servers of before. Every node runs
// one of these; one works at a time.
//
// A row of a bin costs several times what an entry of a delta costs. So deltas wait for some
// seconds, or until they are many, and what is of one account and quarter is added at once.
//
// Holds: each step is a transaction of bounded size, on a connection of its own, and rests for as
// long as it took: nothing waits for it, and it takes half of a processor at most. What is not
// folded yet is read from the deltas, so a folder that is late makes reading slower and no answer
// wrong. Where the database is away it goes on afterwards. After close() no step begins.
import type { Clock, Timers } from '../../ledger/ports.ts';
import { isFull, type Waiting } from '../records/usage-bins.ts';
import { BackgroundWork, inSteps } from '../platform/background/background-work.ts';

const EVERY_MS = 1000;
/** How long a delta waits for others. */
const WAIT_MS = 20_000;
/** A step that is under way when the service closes. */
const CLOSE_MS_MAX = 5000;

type UsageFolderDeps = {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly timers: Timers;
  readonly log: { error(fields: object, message: string): void };
  readonly waiting: () => Promise<Waiting>;
  /** Moves some deltas; gives their number. */
  readonly fold: () => Promise<number>;
  /** Reads some usage of before. `waits`: it cannot begin yet, or another process is at it. */
  readonly backfill: () => Promise<'read' | 'waits' | 'whole'>;
};

/** Not begun. */
export function usageFolder(deps: UsageFolderDeps): BackgroundWork {
  const { waiting, fold, backfill, timers, log } = deps;
  let isWhole = false;
  /** Whether there may be more to do at once. */
  const step = async (isOver: () => boolean): Promise<boolean> => {
    const waits = await waiting();
    const folded = isFull(waits) || waits.oldestMs >= WAIT_MS ? await fold() : 0;
    if (isWhole || isOver()) return folded > 0;
    const found = await backfill();
    isWhole = found === 'whole';
    return folded > 0 || found === 'read';
  };
  return new BackgroundWork({
    timers,
    log,
    failed: 'usage is folded later',
    everyMs: EVERY_MS,
    closeMsMax: CLOSE_MS_MAX,
    work: ({ isOver }) => inSteps(deps, isOver, () => step(isOver)),
  });
}
