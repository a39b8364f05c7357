// The streams of events, on connections of their own: nothing else waits for a page that a reader
// that is behind is read.
import { EventStreams, STREAM_PAGES } from '../event-stream/event-streams.ts';
import { watchEventStreams } from '../metrics/event-streams.ts';
import { timers } from '../platform/clock.ts';
import { openPool } from '../platform/postgres/postgres.ts';
import type { Callers } from './callers.ts';
import type { Connections } from './connections.ts';
import type { ServiceOptions } from './options.ts';

/** Where a page is read, the tables may have grown since its plan was made. */
const PLANS = { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off' };
const STATEMENT_MS_MAX = 5000;

export function openEventStreams(
  { databaseUrl, settings, log }: ServiceOptions,
  { clock, metrics }: Connections,
  { watchKey }: Callers,
): EventStreams {
  const open = (max: number) =>
    openPool(databaseUrl, {
      max,
      applicationName: 'tollhouse event streams',
      statementTimeoutMs: STATEMENT_MS_MAX,
      settings: PLANS,
    });
  const streams = new EventStreams({
    follower: open(1),
    pages: open(STREAM_PAGES),
    bounds: settings.bounds,
    watchKey,
    clock,
    timers,
    log,
    random: Math.random,
  });
  watchEventStreams(metrics.registry, streams);
  return streams;
}
