// The queue: tickets, one for each endpoint with due deliveries. A ticket says where to look, never
// what to send.
//
// Holds: of each endpoint at most one ticket is worked on and one waits (BullMQ's deduplication).
// So endpoints take turns, however much each is owed, and Redis holds no more tickets than there
// are endpoints. Nothing in it can be lost: the sweeper writes every ticket again from PostgreSQL.
// Adding a ticket never waits for Redis.
import { Queue, Worker } from 'bullmq';
import { connectRedis } from '../src/platform/redis/redis-connection.ts';

const NAME = 'deliveries';
/** After so long without an answer Redis counts as away. */
const COMMAND_MS_MAX = 1000;
/**
 * When a ticket of a dead worker goes to another one: eight turns. Its rows become due by
 * themselves.
 */
const LOCK_MS = 2000;

type Ticket = { readonly endpointId: string };

/** The Redis server, and the prefix of this installation's keys. */
export type QueueAddress = { readonly redisUrl: string; readonly installation: string };

/** In braces, so that all keys of the queue are on one node of a Redis Cluster. */
const prefixOf = ({ installation }: QueueAddress): string => `{tollhouse ${installation}}`;

export type TicketQueue = {
  /** Some worker will look at these endpoints. Rejects at once where Redis does not answer. */
  add(endpointIds: readonly string[]): Promise<void>;
  close(): Promise<void>;
};

export function openTickets(
  address: QueueAddress,
  { onError, onReady }: { onError: (error: Error) => void; onReady: () => void },
): TicketQueue {
  const connection = connectRedis(address.redisUrl, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_MS_MAX,
    retryStrategy: (attempt) => Math.min(50 * attempt, 500),
  });
  connection.on('error', onError);
  connection.on('ready', onReady);
  const queue = new Queue<Ticket>(NAME, { connection, prefix: prefixOf(address) });
  queue.on('error', onError);
  return {
    async add(endpointIds) {
      // BullMQ would wait for the first connection.
      if (connection.status !== 'ready') throw new Error('Redis is not connected');
      await queue.addBulk(
        endpointIds.map((endpointId) => ({
          name: 'ticket',
          data: { endpointId },
          opts: {
            deduplication: { id: endpointId, keepLastIfActive: true },
            removeOnComplete: true,
            removeOnFail: true,
          },
        })),
      );
    },
    async close() {
      await queue.close();
      connection.disconnect();
    },
  };
}

export type TicketWorker = { close(): Promise<void> };

export function workOnTickets(
  address: QueueAddress,
  options: {
    readonly concurrency: number;
    readonly work: (endpointId: string) => Promise<void>;
    readonly onError: (error: Error) => void;
  },
): TicketWorker {
  const connection = connectRedis(address.redisUrl, {
    maxRetriesPerRequest: null,
    retryStrategy: (attempt) => Math.min(50 * attempt, 500),
  });
  connection.on('error', options.onError);
  const worker = new Worker<Ticket>(NAME, (job) => options.work(job.data.endpointId), {
    connection,
    prefix: prefixOf(address),
    concurrency: options.concurrency,
    lockDuration: LOCK_MS,
    stalledInterval: LOCK_MS / 2,
    // A stalled ticket is no fault: its endpoint is looked at again each time.
    maxStalledCount: 1000,
  });
  worker.on('error', options.onError);
  return {
    async close() {
      // Where Redis is away there is nothing to wait for.
      await worker.close(connection.status !== 'ready');
      connection.disconnect();
    },
  };
}
