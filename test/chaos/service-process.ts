// The service as an operator runs it: a process of its own that can be stopped, frozen and killed.
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { newPlace } from '../support/new-place.ts';
import { testServices } from '../support/services.ts';
import { TEST_SECRETS_KEY } from '../support/settings.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dir, '../..');

export type ServiceProcess = {
  readonly url: string;
  readonly pid: number;
  /** Its log, one entry a line. */
  readonly logged: readonly string[];
  /** The exit code, once it has ended. */
  readonly exited: Promise<number>;
  /** Resolves when it answers at all, ready or not. */
  up(): Promise<void>;
  /** Resolves when it serves. */
  ready(): Promise<void>;
  isReady(): Promise<boolean>;
  signal(name: 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
  /** Ends it, if it runs. */
  kill(): Promise<void>;
};

/**
 * The settings of one of several nodes that share the slots; the secret and the key are the same
 * for all.
 */
export async function nodeEnvironment(): Promise<Readonly<Record<string, string>>> {
  const { address, secret } = await newPlace();
  return {
    NODE_ADDRESS: address,
    NODE_SECRET: secret,
    SECRETS_KEY: Buffer.from(TEST_SECRETS_KEY).toString('base64'),
  };
}

export async function startProcess(options: {
  databaseUrl: string;
  leaseMs: number;
  /** By default the database of the test command. */
  redisUrl?: string;
  /** By default any free port. */
  port?: number;
  /** The arguments after `bun run start`. */
  args?: readonly string[];
  /** The longest time until it answers. */
  upMs?: number;
  /** Other environment variables. */
  env?: Readonly<Record<string, string>>;
}): Promise<ServiceProcess> {
  const port = options.port ?? (await freePort());
  const child = Bun.spawn([process.execPath, join(ROOT, 'src/main.ts'), ...(options.args ?? [])], {
    cwd: ROOT,
    env: {
      ...process.env,
      DATABASE_URL: options.databaseUrl,
      REDIS_URL: options.redisUrl ?? testServices().redisUrl,
      LEASE_MS: String(options.leaseMs),
      PORT: String(port),
      HOST: '127.0.0.1',
      LOG_LEVEL: 'info',
      ...options.env,
    },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const logged: string[] = [];
  const reading = [readLines(child.stdout, logged), readLines(child.stderr, logged)];
  const exited = child.exited.then(async (code) => {
    await Promise.all(reading);
    return code;
  });
  const url = `http://127.0.0.1:${port}`;
  const answers = async (path: string): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`the service ended:\n${logged.join('\n')}`);
    try {
      return (await fetch(`${url}${path}`, { signal: AbortSignal.timeout(2000) })).ok;
    } catch {
      return false;
    }
  };
  return {
    url,
    pid: child.pid,
    logged,
    exited,
    up: () => until('the service answers', () => answers('/health'), options.upMs),
    ready: () => until('the service is ready', () => answers('/ready')),
    isReady: () => answers('/ready'),
    signal: (name) => child.kill(name),
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function readLines(stream: ReadableStream<Uint8Array>, lines: string[]): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
  }
  if (rest !== '') lines.push(rest);
}
