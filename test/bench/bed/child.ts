// Processes that the bench starts: each has a port, is waited for, and ends with the bench.
import { openSync } from 'node:fs';
import { join } from 'node:path';

const READY_MS_MAX = 30_000;
const STOP_MS_MAX = 15_000;
const POLL_MS = 20;

export interface Child {
  readonly name: string;
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

/**
 * Its output goes to <directory>/<name>.log. Resolves when `ready.path` is answered with
 * `ready.status`.
 */
export async function startChild(options: {
  name: string;
  command: readonly string[];
  port: number;
  env: Readonly<Record<string, string>>;
  directory: string;
  ready: { path: string; status: number };
}): Promise<Child> {
  const { name, port, ready } = options;
  const log = join(options.directory, `${name}.log`);
  const output = openSync(log, 'a');
  const child = Bun.spawn([...options.command], {
    env: { ...process.env, ...options.env },
    // A pipe that closes with this process, for any reason.
    stdio: ['pipe', output, output],
  });
  async function stop(): Promise<void> {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
    await child.exited;
    clearTimeout(timer);
  }
  async function kill(): Promise<void> {
    child.kill('SIGKILL');
    await child.exited;
  }
  const deadline = performance.now() + READY_MS_MAX;
  while ((await statusOf(`http://127.0.0.1:${port}${ready.path}`)) !== ready.status) {
    if (child.exitCode !== null || performance.now() > deadline) {
      await stop();
      throw new Error(`${name} does not start:\n${await Bun.file(log).text()}`);
    }
    await Bun.sleep(POLL_MS);
  }
  return { name, port, pid: child.pid, stop, kill };
}

async function statusOf(url: string): Promise<number | undefined> {
  try {
    return (await fetch(url)).status;
  } catch {
    return undefined;
  }
}
