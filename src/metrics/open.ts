// The registry of this process, with the metrics known at the start. Other modules register theirs.
import { Registry } from 'prom-client';
import type { Ledger, LedgerDeps } from '../../ledger/ledger.ts';
import type { Clock, Timers } from '../../ledger/ports.ts';
import type { OrgClocks } from '../platform/org-clock.ts';
import type { PeerStats } from '../platform/peers/peers.ts';
import { openPool } from '../platform/postgres/postgres.ts';
import { watchClock } from './clock.ts';
import { QUERY_MS_MAX, watchDatabase } from './database.ts';
import { watchEventLoop } from './event-loop.ts';
import { flushObserver, watchLedger } from './ledger.ts';
import { watchPeers } from './peers.ts';
import { watchProcess } from './process.ts';

export type Metrics = {
  readonly registry: Registry;
  readonly onFlush: LedgerDeps['onFlush'];
  watch(
    ledger: Ledger,
    its: {
      readonly peers: { stats(): PeerStats } | null;
      readonly orgClock: Pick<OrgClocks, 'stats' | 'stopped'>;
    },
  ): void;
  close(): Promise<void>;
};

export function openMetrics(options: {
  readonly databaseUrl: string;
  readonly clock: Clock;
  readonly timers: Timers;
}): Metrics {
  const { databaseUrl, clock, timers } = options;
  const registry = new Registry();
  watchProcess(registry, clock);
  const endEventLoop = watchEventLoop(registry, { clock, timers });
  const sql = openPool(databaseUrl, {
    max: 1,
    applicationName: 'tollhouse metrics',
    statementTimeoutMs: QUERY_MS_MAX,
  });
  watchDatabase(registry, { sql, timers });
  return {
    registry,
    onFlush: flushObserver(registry),
    watch(ledger, { peers, orgClock }) {
      watchLedger(registry, ledger);
      watchClock(registry, orgClock);
      if (peers !== null) watchPeers(registry, peers);
    },
    close() {
      endEventLoop();
      return sql.end({ timeout: 1 });
    },
  };
}
