// The machine and the programs that were measured.
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import postgres from 'postgres';
import type { Stores } from '../bed/service.ts';

const SYNC_MS = 300;
const PAGE = Buffer.alloc(8192, 1);

export interface Machine {
  readonly processors: number;
  readonly model: string;
  readonly memoryGib: number;
  readonly kernel: string;
  /** Sequential writes of one page each, on the database's disk. */
  readonly syncsPerSecond: number;
  readonly bun: string;
  readonly postgres: string;
  readonly redis: string;
}

export async function describeMachine(stores: Stores): Promise<Machine> {
  const sql = postgres(stores.databaseUrl, { max: 1 });
  const redis = new Redis(stores.redisUrl);
  try {
    const [row] = await sql<{ server_version: string }[]>`show server_version`;
    const info = await redis.info('server');
    return {
      processors: os.availableParallelism(),
      model: os.cpus()[0]?.model.trim() ?? 'unknown',
      memoryGib: Math.round(os.totalmem() / 2 ** 30),
      kernel: `${os.type()} ${os.release()}`,
      syncsPerSecond: syncRate(stores.dataDir),
      bun: Bun.version,
      postgres: row?.server_version ?? 'unknown',
      redis: /(?:valkey|redis)_version:(\S+)/.exec(info)?.[1] ?? 'unknown',
    };
  } finally {
    await sql.end();
    redis.disconnect();
  }
}

function syncRate(directory: string): number {
  const path = join(directory, 'sync');
  const file = openSync(path, 'w');
  const startedAt = performance.now();
  let count = 0;
  for (; performance.now() - startedAt < SYNC_MS; count += 1) {
    writeSync(file, PAGE, 0, PAGE.length, 0);
    fdatasyncSync(file);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  closeSync(file);
  rmSync(path);
  return Math.round(count / seconds);
}
