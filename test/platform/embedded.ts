// The embedded services on a DATA_DIR of their own, and who asks them.
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import postgres, { type Row, type Sql } from 'postgres';
import { processesIn } from '../../src/platform/embedded/processes.ts';
import { openServices, type Services } from '../../src/platform/embedded/services.ts';
import { RecordedLog, temporaryDataDir } from './fixture.ts';

export class Embedded {
  readonly log = new RecordedLog();
  readonly #directory = temporaryDataDir(0o755);
  #services: Services | undefined;

  get dataDir(): string {
    return this.#directory.dataDir;
  }

  get services(): Services {
    if (this.#services === undefined) throw new Error('they are not open');
    return this.#services;
  }

  /** Here, and from now on the ones that are asked. */
  async start(): Promise<void> {
    this.#services = await this.open();
  }

  open(dataDir = this.dataDir): Promise<Services> {
    return openServices({ databaseUrl: undefined, redisUrl: undefined, dataDir }, this.log);
  }

  async close(): Promise<void> {
    await this.services.stop();
    this.#directory.remove();
  }

  async withSql(
    task: (sql: Sql) => PromiseLike<Row[]>,
    url = this.services.databaseUrl,
  ): Promise<Row[]> {
    const sql = postgres(url, { max: 1, connect_timeout: 5 });
    try {
      return [...(await task(sql))];
    } finally {
      await sql.end({ timeout: 1 });
    }
  }

  async withRedis<T>(task: (redis: Redis) => Promise<T>, url = this.services.redisUrl): Promise<T> {
    const redis = new Redis(url, { maxRetriesPerRequest: 0, retryStrategy: () => null });
    redis.on('error', () => undefined);
    try {
      return await task(redis);
    } finally {
      redis.disconnect();
    }
  }

  postmaster(): number {
    const file = join(this.dataDir, 'services/postgres/postmaster.pid');
    return Number(readFileSync(file, 'utf8').split('\n')[0]);
  }

  pidsOf(service: 'postgres' | 'redis'): number[] {
    const own = realpathSync(join(this.dataDir, 'services', service));
    const { uid, gid } = statSync(own);
    return processesIn(own, process.getuid?.() === 0 ? { uid, gid } : undefined);
  }

  pids(): number[] {
    return [...this.pidsOf('postgres'), ...this.pidsOf('redis')];
  }
}

export async function failureOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export function wrongPassword(url: string): string {
  const wrong = new URL(url);
  wrong.password = 'wrong';
  return wrong.href;
}
