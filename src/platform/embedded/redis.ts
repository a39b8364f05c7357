// A Redis (or Valkey) server of our own: its files are in <services>/redis, its log is
// <services>/redis.log.
//
// Holds: nothing is evicted (queues are not a cache) and every write reaches the append-only file
// within a second. Losing that second loses no money: PostgreSQL is the truth for what is due.
// Does not: listen anywhere but on the loopback, or answer without the password.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { Credentials } from './credentials.ts';
import { makeOwned, type ServiceAccount } from './service-account.ts';
import { writePrivate } from '../private-file.ts';
import { daemon, endProcesses, processesIn, type StopStep } from './processes.ts';
import { redisBinary } from './redis-binary.ts';
import { supervise, type Log, type ServiceSpec, type Supervised } from './supervisor.ts';

const RETRY_MS = 10;
// SIGTERM: it writes out and syncs its append-only file, then ends.
const STOP_STEPS: readonly StopStep[] = [
  { signal: 'SIGTERM', waitMs: 20_000 },
  { signal: 'SIGKILL', waitMs: 5000 },
];

export interface EmbeddedRedis extends Supervised {
  readonly url: string;
}

/** Starts the server and keeps it running. @throws ServiceFailure */
export async function openRedis(options: {
  place: ServiceAccount;
  credentials: Credentials;
  log: Log;
}): Promise<EmbeddedRedis> {
  const { place, credentials, log } = options;
  const file = await redisBinary(log);
  const directory = join(place.directory, 'redis');
  if (!existsSync(directory)) makeOwned(directory, place.account);
  const config = join(place.directory, 'redis.conf');
  writePrivate(config, redisSettings(directory, credentials), place.account);
  const spec: ServiceSpec = {
    name: 'Redis',
    ...daemon({
      file,
      args: [config],
      account: place.account,
      logFile: join(place.directory, 'redis.log'),
    }),
    stopSteps: STOP_STEPS,
    async prepare() {
      const pids = processesIn(directory, place.account);
      if (pids.length > 0)
        await endProcesses({ name: 'an earlier Redis', pids, steps: STOP_STEPS });
    },
    ready: (_child, signal) => untilReady(credentials, signal),
  };
  const supervised = await supervise(spec, log);
  return {
    url: `redis://:${credentials.password}@127.0.0.1:${credentials.port}`,
    pid: () => supervised.pid(),
    stop: () => supervised.stop(),
  };
}

/** After this no Redis of an earlier run works in the directory. */
export async function clearRedis({ directory, account }: ServiceAccount): Promise<void> {
  const pids = processesIn(join(directory, 'redis'), account);
  if (pids.length > 0) await endProcesses({ name: 'an earlier Redis', pids, steps: STOP_STEPS });
}

function redisSettings(directory: string, { port, password }: Credentials): string {
  return [
    '# Written at every start.',
    'bind 127.0.0.1',
    `port ${port}`,
    `requirepass ${password}`,
    'daemonize no',
    `dir "${directory}"`,
    'appendonly yes',
    'appendfsync everysec',
    // The append-only file is the one copy; snapshots besides would only fork and write twice.
    'save ""',
    'maxmemory-policy noeviction',
    'loglevel warning',
    '',
  ].join('\n');
}

/** ioredis says "ready" when the server has read its append-only file. */
async function untilReady(credentials: Credentials, signal: AbortSignal): Promise<void> {
  const client = new Redis({
    host: '127.0.0.1',
    ...credentials,
    lazyConnect: true,
    retryStrategy: () => RETRY_MS,
  });
  // Refused connections are what we wait through.
  client.on('error', () => undefined);
  try {
    await new Promise<void>((resolve) => {
      client.once('ready', resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
      client.connect().catch(() => undefined);
    });
  } finally {
    client.disconnect();
  }
}
