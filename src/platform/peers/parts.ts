import type { Clock, Log, Timers } from '../../../ledger/ports.ts';
import type { PeerCounters } from './counters.ts';
import type { PeerLimits } from './limits.ts';
import type { Prover } from './proof.ts';

/** What all connections of a node have in common. */
export type Parts = {
  readonly prover: Prover;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly limits: PeerLimits;
  readonly counters: PeerCounters;
};
