// The servers that the service is compared with, each seeded with the same customers.
import { Redis } from 'ioredis';
import postgres from 'postgres';
import type { Closers } from '../../support/closers.ts';
import { isOfMoney, type PeerName } from '../cases.ts';
import { CUSTOMERS, customerName } from '../generator/workload.ts';
import type { PeerSettings } from '../peers/door.ts';
import { footprintOf, postmasterOf } from '../probes/database.ts';
import { residentBytes, secondsOf, secondsOfTree } from '../probes/processor-time.ts';
import { redisPid } from '../probes/redis.ts';
import { freePort } from '../../support/free-port.ts';
import { type Child, startChild } from './child.ts';
import { seedMoney, TRACES, USAGE_SCHEMA } from './plain-schema.ts';
import type { Stores } from './service.ts';
import type { Target } from './target.ts';

const PROGRAMS = {
  limit: Bun.fileURLToPath(import.meta.resolve('../peers/limit.ts')),
  plain: Bun.fileURLToPath(import.meta.resolve('../peers/plain.ts')),
  'plain-money': Bun.fileURLToPath(import.meta.resolve('../peers/plain-money.ts')),
  lossy: Bun.fileURLToPath(import.meta.resolve('../peers/lossy.ts')),
  'limiter-redis': Bun.fileURLToPath(import.meta.resolve('../peers/limiter-redis.ts')),
  'limiter-postgres': Bun.fileURLToPath(import.meta.resolve('../peers/limiter-postgres.ts')),
};
// The plain way gets the best pool size, measured here (requests/s at 256 connections with 10, 20,
// 32 and 64): 2,960, 3,820, 3,360, 2,820 over many customers; 1,490, 1,230, 1,180, 790 on a hot
// one.
const POOL = 20;
const POOL_HOT = 10;
// Refunds a second with 5, 10, 20 and 32 connections, two runs each, on a machine with other load:
// 275 and 144, 169 and 144, 115 and 108, 66 and 81 of one payment; 464 and 398, 476 and 533, 456
// and 512, 238 and 257 of a thousand.
const POOL_MONEY = 10;
/** Databases of PostgreSQL, and numbers of Redis. */
const DATABASES = { plain: 'bench_plain', limiter: 'bench_limiter' };
const REDIS_NUMBERS = { lossy: 1, limiter: 2 };
const GRANT = 100_000_000;
const AUTHORIZATION = 'Bearer svc_live_benchbenchbenchbenchbenchbenchbenchbenchben';

export async function openLimit(stores: Stores, closers: Closers): Promise<Target> {
  const child = await startPeer('limit', stores, closers);
  return {
    ...targetOf('limit', child),
    spent: () => ({ server: secondsOf(child.pid), postgres: 0, redis: 0 }),
    footprint: undefined,
  };
}

export async function openPlain(
  stores: Stores,
  closers: Closers,
  { withMoney }: { readonly withMoney: boolean },
): Promise<Target> {
  const { databaseUrl, sql } = await openDatabase(stores, closers, DATABASES.plain);
  await sql.unsafe(USAGE_SCHEMA);
  const names = Array.from({ length: CUSTOMERS }, (_, index) => customerName(index));
  await sql`insert into customers (external_id, granted) select unnest(${names}::text[]), ${GRANT}`;
  await sql`vacuum analyze customers`;
  const shop = withMoney ? await seedMoney(sql) : { product: '', payments: [] };
  const start = (name: Program, pool: number): Promise<Child> =>
    startPeer(name, { ...stores, databaseUrl, pool }, closers);
  const usual = await start('plain', POOL);
  const hot = await start('plain', POOL_HOT);
  const money = withMoney ? await start('plain-money', POOL_MONEY) : usual;
  // Idle peers use none.
  const children = new Set([usual, hot, money]);
  const postmaster = await postmasterOf(sql);
  return {
    ...targetOf('plain', usual),
    portFor: (item) => (isOfMoney(item) ? money : item.spread === 1 ? hot : usual).port,
    idsFor: ({ shape, spread }) =>
      shape === 'checkout' ? [shop.product] : shop.payments.slice(0, spread),
    spent: () => ({
      server: [...children].reduce((sum, { pid }) => sum + secondsOf(pid), 0),
      postgres: secondsOfTree(postmaster),
      redis: 0,
    }),
    footprint: ({ shape }) => footprintOf(sql, TRACES[shape]),
    async checkpoint() {
      await sql`checkpoint`;
    },
  };
}

/** A new database of the peers' PostgreSQL. */
async function openDatabase(stores: Stores, closers: Closers, name: string) {
  const server = postgres(stores.databaseUrl, { max: 1 });
  await server`create database ${server(name)}`;
  await server.end();
  const databaseUrl = withPath(stores.databaseUrl, name);
  const sql = postgres(databaseUrl, { max: 1 });
  closers.push(() => sql.end({ timeout: 5 }));
  return { databaseUrl, sql };
}

export async function openLossy(stores: Stores, closers: Closers): Promise<Target> {
  const redisUrl = withPath(stores.redisUrl, String(REDIS_NUMBERS.lossy));
  const redis = new Redis(redisUrl);
  closers.push(() => redis.disconnect());
  // Redis at its fastest: its data here needs no log.
  await redis.config('SET', 'appendonly', 'no');
  const child = await startPeer('lossy', { ...stores, redisUrl }, closers);
  const pid = await redisPid(redisUrl);
  return {
    ...targetOf('lossy', child),
    spent: () => ({ server: secondsOf(child.pid), postgres: 0, redis: secondsOf(pid) }),
    footprint: undefined,
    // The keys of the last load do not serve the next one, and a million of them fill the memory.
    reset: () => seedRedis(redis),
  };
}

/** rate-limiter-flexible on the same Redis as the lossy way, without a log. */
export async function openRedisLimiter(stores: Stores, closers: Closers): Promise<Target> {
  const redisUrl = withPath(stores.redisUrl, String(REDIS_NUMBERS.limiter));
  const child = await startPeer('limiter-redis', { ...stores, redisUrl }, closers);
  const pid = await redisPid(redisUrl);
  return {
    ...targetOf('limiter-redis', child),
    spent: () => ({ server: secondsOf(child.pid), postgres: 0, redis: secondsOf(pid) }),
    footprint: undefined,
  };
}

/** rate-limiter-flexible on the plain way's PostgreSQL. It makes its table itself. */
export async function openPostgresLimiter(stores: Stores, closers: Closers): Promise<Target> {
  const { databaseUrl, sql } = await openDatabase(stores, closers, DATABASES.limiter);
  const child = await startPeer(
    'limiter-postgres',
    { ...stores, databaseUrl, pool: POOL },
    closers,
  );
  const postmaster = await postmasterOf(sql);
  return {
    ...targetOf('limiter-postgres', child),
    spent: () => ({
      server: secondsOf(child.pid),
      postgres: secondsOfTree(postmaster),
      redis: 0,
    }),
    footprint: () => footprintOf(sql, { rows: null, flushed: false }),
  };
}

async function seedRedis(redis: Redis): Promise<void> {
  await redis.flushdb('SYNC');
  const pipeline = redis.pipeline();
  for (let index = 0; index < CUSTOMERS; index += 1) {
    pipeline.hset(customerName(index), { granted: GRANT, consumed: 0 });
  }
  await pipeline.exec();
}

async function startPeer(
  name: Program,
  { databaseUrl, redisUrl, dataDir, pool = 0 }: Stores & { pool?: number },
  closers: Closers,
): Promise<Child> {
  const port = await freePort();
  const authorization = AUTHORIZATION;
  const settings: PeerSettings = { port, authorization, databaseUrl, redisUrl, pool };
  const child = await startChild({
    name,
    command: [process.execPath, PROGRAMS[name]],
    port,
    env: { BENCH_PEER: JSON.stringify(settings) },
    directory: dataDir,
    // A 404 shows that it listens.
    ready: { path: '/', status: 404 },
  });
  closers.push(() => child.stop());
  return child;
}

type Program = keyof typeof PROGRAMS;

function targetOf(name: PeerName, child: Child) {
  return {
    name,
    portFor: () => child.port,
    authorization: AUTHORIZATION,
    idsFor: () => [],
    memoryBytes: () => residentBytes(child.pid),
    checkpoint: () => Promise.resolve(),
    reset: () => Promise.resolve(),
    survivors: undefined,
    // It defers nothing: what it answers is done.
    settled: () => Promise.resolve(),
  };
}

function withPath(url: string, path: string): string {
  const changed = new URL(url);
  changed.pathname = `/${path}`;
  return changed.href;
}
