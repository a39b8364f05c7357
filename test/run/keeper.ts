// Keeps PostgreSQL and Redis running between two runs of the tests.
//
//     bun test/run/keeper.ts DIRECTORY IDLE_MS
//
//     DIRECTORY/lock     held by the keeper while it lives; a second one leaves at once
//     DIRECTORY/data     the services; removed when they stop
//     DIRECTORY/socket   a run connects, reads one line with the URLs, and stays connected
//                        while it uses them
//
// Holds: with nobody connected for IDLE_MS, everything stops. The kernel closes the connection of a
// run that dies. What a run has left behind is dropped when no other is connected. After a kill -9
// of the keeper its services run on, until the next keeper of the same user, of any clone, ends
// them.
import { once } from 'node:events';
import { chmodSync, existsSync, globSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import postgres from 'postgres';
import { lockDataDir } from '../../src/platform/embedded/data-lock.ts';
import { clearPostgres } from '../../src/platform/embedded/postgres.ts';
import { clearRedis } from '../../src/platform/embedded/redis.ts';
import { prepareServiceAccount } from '../../src/platform/embedded/service-account.ts';
import { type Services } from '../../src/platform/embedded/services.ts';
import { openThrowAway, removeDataDir } from './services.ts';
import { DIRECTORIES, SOCKET } from './warm.ts';

const [directory = '', idleMs = ''] = process.argv.slice(2);

/** Ends what a killed keeper has left, and removes it; its directory is locked meanwhile. */
async function clear(of: string): Promise<void> {
  const dataDir = join(of, 'data');
  if (!existsSync(dataDir)) return;
  const place = prepareServiceAccount(dataDir);
  await Promise.all([clearPostgres(place), clearRedis(place)]);
  removeDataDir(dataDir);
}

async function clearOthers(): Promise<void> {
  for (const other of globSync(join(dirname(directory), DIRECTORIES))) {
    const unlock = other === directory ? undefined : lockDataDir(other, 0);
    if (unlock === undefined) continue;
    try {
      await clear(other);
    } finally {
      unlock();
    }
  }
}

/** Databases and keys of runs that did not finish. */
async function dropLeftovers({ databaseUrl, redisUrl }: Services): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1 });
  const redis = new Redis(redisUrl);
  try {
    const left = await sql<{ name: string }[]>`
      select datname as name from pg_database where datname like 'test\\_%'`;
    for (const { name } of left) await sql`drop database ${sql(name)} with (force)`;
    await redis.flushall();
  } finally {
    await sql.end();
    redis.disconnect();
  }
}

/** Resolves when nothing has been connected for IDLE_MS, or a signal came. */
function serve(server: Server, services: Services): Promise<void> {
  const runs = new Set<Socket>();
  let clean = Promise.resolve();
  let idle: Timer | undefined;
  let isOver = false;
  const { promise: over, resolve } = Promise.withResolvers<void>();

  function end(): void {
    isOver = true;
    server.close();
    resolve();
  }

  function left(run: Socket): void {
    runs.delete(run);
    if (runs.size > 0) return;
    clean = clean
      .then(() => dropLeftovers(services))
      .catch((error: unknown) => console.error(error));
    wait();
  }
  function wait(): void {
    clearTimeout(idle);
    idle = setTimeout(end, Number(idleMs));
  }

  server.on('connection', (run) => {
    if (isOver) run.destroy();
    clearTimeout(idle);
    runs.add(run);
    run.on('error', () => undefined);
    run.on('close', () => left(run));
    run.resume();
    const { databaseUrl, redisUrl } = services;
    clean.then(() => run.write(`${JSON.stringify({ databaseUrl, redisUrl })}\n`), console.error);
  });
  wait();
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  return over;
}

async function main(): Promise<void> {
  const unlock = lockDataDir(directory);
  if (unlock === undefined) return;
  await clear(directory);
  await clearOthers();
  const services = await openThrowAway(join(directory, 'data'));
  const socket = join(directory, SOCKET);
  rmSync(socket, { force: true });
  const server = createServer();
  server.listen(socket);
  await once(server, 'listening');
  chmodSync(socket, 0o600);
  await serve(server, services);
  rmSync(socket, { force: true });
  await services.stop();
  unlock();
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
process.exit(0);
