// The three servers beside which the service is measured, each seeded with the same customers.
import { Redis } from 'ioredis';
import postgres from 'postgres';
import type { WayName } from '../cases.ts';
import { CUSTOMERS, customerName } from '../generator/workload.ts';
import type { PeerSettings } from '../peers/door.ts';
import { backendPid, plainFootprint } from '../probes/database.ts';
import { parentOf, secondsOf, secondsOfTree } from '../probes/processor-time.ts';
import { type Child, freePort, startChild } from './child.ts';
import type { Closers } from './closers.ts';
import type { Stores } from './service.ts';
import type { Target } from './target.ts';

const PROGRAMS = {
  limit: Bun.fileURLToPath(import.meta.resolve('../peers/limit.ts')),
  plain: Bun.fileURLToPath(import.meta.resolve('../peers/plain.ts')),
  lossy: Bun.fileURLToPath(import.meta.resolve('../peers/lossy.ts')),
};
// The plain way gets the pool that suits it, measured here (requests/s at 256 connections with 10, 20, 32 and
// 64): 2,960, 3,820, 3,360, 2,820 over many customers; 1,490, 1,230, 1,180, 790 on a hot one.
const POOL = 20;
const POOL_HOT = 10;
const DATABASE = 'bench_plain';
/** Beside what the service keeps in number 0. */
const REDIS_NUMBER = 1;
const GRANT = 100_000_000;
const AUTHORIZATION = 'Bearer svc_live_benchbenchbenchbenchbenchbenchbenchbenchben';
// The same as the service: room for an updated row on the same page, so that no index is touched.
const SCHEMA = `
  create table customers (
    id uuid primary key default uuidv7(),
    external_id text not null unique,
    granted bigint not null,
    consumed bigint not null default 0
  ) with (fillfactor = 50);
  create table events (
    id uuid primary key,
    customer_id uuid not null,
    value bigint not null,
    at timestamptz not null default now()
  );`;

export async function openLimit(stores: Stores, closers: Closers): Promise<Target> {
  const child = await startPeer('limit', stores, closers);
  return {
    ...targetOf('limit', child),
    databaseSeconds: () => 0,
    footprint: undefined,
    reset: () => Promise.resolve(),
  };
}

export async function openPlain(stores: Stores, closers: Closers): Promise<Target> {
  const server = postgres(stores.databaseUrl, { max: 1 });
  await server`create database ${server(DATABASE)}`;
  await server.end();
  const databaseUrl = withPath(stores.databaseUrl, DATABASE);
  const sql = postgres(databaseUrl, { max: 1 });
  closers.push(() => sql.end({ timeout: 5 }));
  await sql.unsafe(SCHEMA);
  const names = Array.from({ length: CUSTOMERS }, (_, index) => customerName(index));
  await sql`insert into customers (external_id, granted) select unnest(${names}::text[]), ${GRANT}`;
  await sql`vacuum analyze customers`;
  const [usual, hot] = await Promise.all(
    [POOL, POOL_HOT].map((pool) => startPeer('plain', { ...stores, databaseUrl, pool }, closers)),
  );
  if (usual === undefined || hot === undefined) throw new Error('the plain way does not run');
  const postmaster = parentOf(await backendPid(sql));
  return {
    ...targetOf('plain', usual),
    portFor: ({ group }) => (group === 'hot' ? hot.port : usual.port),
    // The one that is not asked uses none.
    serverSeconds: () => secondsOf(usual.pid) + secondsOf(hot.pid),
    databaseSeconds: () => secondsOfTree(postmaster),
    footprint: () => plainFootprint(sql),
    reset: () => Promise.resolve(),
  };
}

export async function openLossy(stores: Stores, closers: Closers): Promise<Target> {
  const redisUrl = withPath(stores.redisUrl, String(REDIS_NUMBER));
  const redis = new Redis(redisUrl);
  closers.push(() => redis.disconnect());
  // As fast as Redis can be. Nothing that it holds here is worth a log.
  await redis.config('SET', 'appendonly', 'no');
  const child = await startPeer('lossy', { ...stores, redisUrl }, closers);
  const pid = Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1]);
  return {
    ...targetOf('lossy', child),
    databaseSeconds: () => secondsOf(pid),
    footprint: undefined,
    // Its keys of the last load are of no use to the next one, and a million of them fill the memory.
    reset: () => seedRedis(redis),
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
  name: Exclude<WayName, 'tollhouse'>,
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
    // Nothing is there, which shows that it listens.
    ready: { path: '/', status: 404 },
  });
  closers.push(() => child.stop());
  return child;
}

function targetOf(name: WayName, child: Child) {
  return {
    name,
    portFor: () => child.port,
    authorization: AUTHORIZATION,
    serverSeconds: () => secondsOf(child.pid),
  };
}

function withPath(url: string, path: string): string {
  const changed = new URL(url);
  changed.pathname = `/${path}`;
  return changed.href;
}
