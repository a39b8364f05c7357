// PostgreSQL and Redis for this process: the configured ones, or our own under DATA_DIR.
//
//   DATA_DIR/lock           held while we run (data-lock.ts)
//   DATA_DIR/services.json  ports and passwords (credentials.ts)
//   DATA_DIR/runtime.json   the URLs, for `bun run admin`, while we run
//   DATA_DIR/services/      clusters, settings and logs (service-account.ts)
//
// Who calls: the start command, `bun run admin` where nothing runs, and the test command.
// Holds: one instance for each DATA_DIR; what is embedded is restarted when it dies, and is gone
// when stop() resolves. After a kill -9 of ours it runs on, until the next start ends it.
// Does not: watch services that were configured, or listen to signals.
import { chmodSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../../config.ts';
import { loadCredentials, type CredentialsOf } from './credentials.ts';
import { isHeld, lockDataDir } from './data-lock.ts';
import { clearPostgres, openPostgres, type EmbeddedPostgres } from './postgres.ts';
import { clearRedis, openRedis, type EmbeddedRedis } from './redis.ts';
import { ServiceFailure } from '../failure.ts';
import { prepareServiceAccount, type ServiceAccount } from './service-account.ts';
import { writePrivate } from '../private-file.ts';
import { checkPostgres, checkRedis } from '../net/reachable.ts';
import type { Log } from './supervisor.ts';

/** What one server and its admin commands need. */
const CONNECTIONS_MAX = 100;

export type ServicesConfig = Pick<Config, 'databaseUrl' | 'redisUrl' | 'dataDir'> & {
  /** To an embedded PostgreSQL, of all processes. */
  readonly connectionsMax?: number;
};

export interface Services {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** Whether the database is embedded. */
  readonly embedded: boolean;
  /** Stops what was started, Redis first. Close all connections before. Safe to call twice. */
  stop(): Promise<void>;
}

export interface Runtime {
  readonly pid: number;
  readonly databaseUrl: string;
  readonly redisUrl: string;
}

/** @throws ServiceFailure in one line for the operator; nothing is left running then */
export async function openServices(config: ServicesConfig, log: Log): Promise<Services> {
  const { databaseUrl, redisUrl } = config;
  if (databaseUrl !== undefined) await checkPostgres(databaseUrl);
  if (redisUrl !== undefined) await checkRedis(redisUrl);
  if (databaseUrl !== undefined && redisUrl !== undefined) {
    return { databaseUrl, redisUrl, embedded: false, stop: () => Promise.resolve() };
  }
  const dataDir = makeDataDir(config.dataDir);
  const unlock = lockDataDir(dataDir);
  if (unlock === undefined) {
    const owner = readFile(dataDir)?.pid;
    const who = owner === undefined ? 'another process' : `process ${owner}`;
    throw new ServiceFailure(`${dataDir} is in use by ${who}: stop it, or set another DATA_DIR`);
  }
  try {
    return await openEmbedded({ config, dataDir, log, unlock });
  } catch (error) {
    unlock();
    throw error;
  }
}

/** The URLs of the instance that runs on this DATA_DIR, or undefined where none does. */
export function readRuntime(dataDir: string): Runtime | undefined {
  const directory = resolve(dataDir);
  return isHeld(directory) ? readFile(directory) : undefined;
}

async function openEmbedded(options: {
  config: ServicesConfig;
  dataDir: string;
  log: Log;
  unlock: () => void;
}): Promise<Services> {
  const { config, dataDir, log, unlock } = options;
  const runtimeFile = join(dataDir, 'runtime.json');
  rmSync(runtimeFile, { force: true });
  const place = prepareServiceAccount(dataDir);
  // First, so that an orphan frees its port, and the URLs stay what they were.
  await Promise.all([clearPostgres(place), clearRedis(place)]);
  const credentials = await loadCredentials(dataDir);
  const { database, redis } = await openBoth({ config, place, credentials, log });
  const databaseUrl = database?.url ?? config.databaseUrl ?? '';
  const redisUrl = redis?.url ?? config.redisUrl ?? '';
  const runtime: Runtime = { pid: process.pid, databaseUrl, redisUrl };
  writePrivate(runtimeFile, `${JSON.stringify(runtime, null, 2)}\n`);

  async function stopAll(): Promise<void> {
    removeIfAllowed(runtimeFile);
    await redis?.stop();
    await database?.stop();
    unlock();
  }

  let stopped: Promise<void> | undefined;
  return {
    databaseUrl,
    redisUrl,
    embedded: database !== undefined,
    stop: () => (stopped ??= stopAll()),
  };
}

/** Both at once: the first start of each takes a while. Where one fails, the other is stopped. */
async function openBoth(options: {
  config: ServicesConfig;
  place: ServiceAccount;
  credentials: CredentialsOf;
  log: Log;
}): Promise<{ database: EmbeddedPostgres | undefined; redis: EmbeddedRedis | undefined }> {
  const { config, place, credentials, log } = options;
  const [redis, database] = await Promise.allSettled([
    config.redisUrl === undefined
      ? openRedis({ place, credentials: credentials.redis, log })
      : undefined,
    config.databaseUrl === undefined
      ? openPostgres({
          place,
          credentials: credentials.postgres,
          connectionsMax: config.connectionsMax ?? CONNECTIONS_MAX,
          log,
        })
      : undefined,
  ]);
  if (redis.status === 'fulfilled' && database.status === 'fulfilled') {
    return { database: database.value, redis: redis.value };
  }
  if (redis.status === 'fulfilled') await redis.value?.stop();
  if (database.status === 'fulfilled') await database.value?.stop();
  const failed = redis.status === 'rejected' ? redis : database;
  throw failed.status === 'rejected' ? (failed.reason as Error) : new Error('nothing failed');
}

function makeDataDir(path: string): string {
  const dataDir = resolve(path);
  try {
    const made = mkdirSync(dataDir, { recursive: true });
    // As root the account of the services passes through it. Secrets in it are 0600 on their own.
    if (made !== undefined) chmodSync(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
    return dataDir;
  } catch (error) {
    throw new ServiceFailure(`cannot make DATA_DIR: ${String(error)}`, { cause: error });
  }
}

/**
 * A process that dropped root may not remove the file; it is ignored while nobody holds the lock.
 */
function removeIfAllowed(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EACCES')) throw error;
  }
}

function readFile(dataDir: string): Runtime | undefined {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'runtime.json'), 'utf8')) as Runtime;
  } catch {
    return undefined;
  }
}
