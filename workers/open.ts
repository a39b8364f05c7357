// Webhook delivery, put together: in the server's process, and in any number of others (`bun run
// worker`).
import type { Clock, Ids, Log, Timers } from '../ledger/ports.ts';
import type { Sql } from '../src/platform/postgres/postgres.ts';
import type { Resolve } from '../src/platform/net/public-url.ts';
import type { Secrets } from '../src/platform/crypto/secrets.ts';
import { installationName } from '../src/records/installation.ts';
import { openAttempts } from './attempt.ts';
import type { Due } from './claims.ts';
import { Deliverer, type DelivererDeps } from './deliverer.ts';
import { openTickets, workOnTickets } from './queue.ts';
import { Relay } from './relay.ts';
import { openSender } from './sender.ts';
import { Sweeper } from './sweeper.ts';

/** Tickets at once. Each needs a connection for its claim only, and its turn is short. */
const CONCURRENCY = 64;

/**
 * Redis and the database may be away while we stop. What they would be told then, another worker's
 * sweep finds out.
 */
const REDIS_MS_MAX = 1500;
/** Well beyond the deadline of an attempt. */
const DRAIN_MS_MAX = 12_000;

export type WorkersDeps = {
  readonly sql: Sql;
  readonly redisUrl: string;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: Ids;
  readonly log: Log;
  readonly secrets: Secrets;
  readonly resolve: Resolve;
  readonly allowLoopback: boolean;
  /** 0 to 1: the jitter of waits. */
  readonly random: () => number;
  readonly onAttempt: DelivererDeps['onAttempt'];
};

export type Workers = {
  /** Takes no more tickets, and writes the results of all deliveries in flight. */
  close(): Promise<void>;
};

export async function openWorkers(deps: WorkersDeps): Promise<Workers> {
  const { redisUrl, log, ids, resolve, sql } = deps;
  const address = { redisUrl, installation: await installationName(sql) };
  let isAway = false;
  const onError = (error: Error): void => {
    if (!isAway) log.warn({ error: error.message }, 'the queue of deliveries does not answer');
    isAway = true;
  };
  const tickets = openTickets(address, { onError, onReady: () => (isAway = false) });
  const inHand = new Set<Due>();
  const sweeper = new Sweeper({ ...deps, tickets, inHand, newWorkerId: () => ids.next() });
  const sender = openSender({ ...deps, resolve });
  const attempts = openAttempts({ ...deps, sender });
  const deliverer = new Deliverer({ ...deps, sweeper, attempts, inHand });
  const relay = new Relay(deps);
  await sweeper.open();
  await relay.open();
  const atMost = async (ms: number, task: Promise<void>): Promise<void> => {
    const late = Promise.withResolvers<void>();
    const cancel = deps.timers.after(ms, () => late.resolve());
    await Promise.race([task, late.promise]);
    cancel();
  };
  const work = (endpointId: string): Promise<void> => deliverer.work(endpointId);
  const worker = workOnTickets(address, { concurrency: CONCURRENCY, work, onError });
  return {
    async close() {
      await relay.close();
      await sweeper.close();
      await atMost(REDIS_MS_MAX, worker.close());
      await atMost(DRAIN_MS_MAX, deliverer.drain());
      sender.close();
      await sweeper.leave();
      await tickets.close();
    },
  };
}
