// A Redis of the test's own that is killed, frozen and emptied. It keeps nothing on disk: after a
// kill it comes back empty.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { redisBinary } from '../../../src/platform/embedded/redis-binary.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';

const LOG = { warn: () => undefined, error: () => undefined };

export class OwnRedis {
  readonly port: number;
  readonly #binary: string;
  readonly #directory = mkdtempSync(join(tmpdir(), 'tollhouse-redis-'));
  readonly #settings: readonly string[];
  #process: Bun.Subprocess | undefined;

  private constructor(port: number, binary: string, settings: readonly string[]) {
    this.port = port;
    this.#binary = binary;
    this.#settings = settings;
  }

  /** Resolves when it answers. `settings` as on its command line. */
  static async start(settings: readonly string[] = []): Promise<OwnRedis> {
    const redis = new OwnRedis(await freePort(), await redisBinary(LOG), settings);
    await redis.start();
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const settings = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', ''];
    const place = ['--dir', this.#directory, '--loglevel', 'warning'];
    this.#process = Bun.spawn([this.#binary, ...settings, ...place, ...this.#settings], {
      stdout: 'ignore',
      stderr: 'ignore',
    });
    await until('Redis answers', () => this.ask((redis) => redis.ping()).then(isSo, isNot));
  }

  async kill(): Promise<void> {
    this.#process?.kill('SIGKILL');
    await this.#process?.exited;
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process?.kill(name);
  }

  /** Over a connection of its own. */
  async ask<T>(question: (redis: Redis) => Promise<T>): Promise<T> {
    const redis = new Redis(this.port, '127.0.0.1', {
      lazyConnect: true,
      retryStrategy: () => null,
    });
    redis.on('error', () => undefined);
    try {
      await redis.connect();
      return await question(redis);
    } finally {
      redis.disconnect();
    }
  }

  flush(): Promise<unknown> {
    return this.ask((redis) => redis.flushall());
  }

  keys(): Promise<number> {
    return this.ask((redis) => redis.dbsize());
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

const isSo = (): boolean => true;
const isNot = (): boolean => false;
