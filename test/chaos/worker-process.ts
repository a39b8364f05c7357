// `bun run worker` as an operator runs it: a process that delivers webhooks and can be frozen and
// killed.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testServices } from '../support/services.ts';
import { TEST_SECRETS_KEY } from '../support/settings.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dir, '../..');

/** The program of `bun run worker`. */
export const WORKER_COMMAND = [process.execPath, join(ROOT, 'workers/main.ts')] as const;

export function workerEnvironment(databaseUrl: string, dataDir: string): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    REDIS_URL: testServices().redisUrl,
    DATA_DIR: dataDir,
    SECRETS_KEY: Buffer.from(TEST_SECRETS_KEY).toString('base64'),
    ALLOW_LOOPBACK_URLS: 'true',
    LOG_LEVEL: 'info',
  };
}

export type WorkerProcess = {
  signal(name: 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): void;
  /** kill -9. */
  kill(): Promise<void>;
  /** The exit code, once it has ended. */
  readonly exited: Promise<number>;
};

/** Resolves when it delivers. */
export async function startWorker(
  databaseUrl: string,
  env: Record<string, string> = {},
): Promise<WorkerProcess> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollhouse-worker-'));
  const child = Bun.spawn([...WORKER_COMMAND], {
    cwd: ROOT,
    env: { ...process.env, ...workerEnvironment(databaseUrl, dataDir), ...env },
    stdout: 'pipe',
    stderr: 'inherit',
  });
  let logged = '';
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) logged += decoder.decode(chunk, { stream: true });
  })();
  const exited = child.exited.then(async (code) => {
    await reading;
    rmSync(dataDir, { recursive: true, force: true });
    return code;
  });
  await until('the worker delivers', () => {
    if (child.exitCode !== null) throw new Error(`the worker ended:\n${logged}`);
    return logged.includes('delivering');
  });
  return {
    signal: (name) => child.kill(name),
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    exited,
  };
}
