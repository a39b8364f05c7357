// Started as root, the program runs every process that talks to the outside under the account of
// the embedded services, from a directory that only root may enter. It still starts, restarts and
// stops them as before.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type ChildProcess, spawn } from 'node:child_process';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { endProcesses, processesIn } from '../../src/platform/embedded/processes.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import { idsOf } from './ids-of.ts';

setDefaultTimeout(180_000);

/** A busy machine needs long to start and to recover a database. */
const PATIENCE_MS = 60_000;

const ROOT = join(import.meta.dir, '../..');
const asRoot = process.getuid?.() === 0 && process.platform === 'linux' ? test : test.skip;

/** A clone in a home directory of mode 700. */
let home: string;
const running = new Set<ChildProcess>();
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'tollhouse-rights-'));
  for (const name of ['src', 'ledger', 'workers', 'package.json', 'tsconfig.json']) {
    cpSync(join(ROOT, name), join(home, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(home, 'node_modules'));
});
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  for (const name of readdirSync(home).filter((each) => each.startsWith('data'))) {
    const services = realpathSync(join(home, name, 'services'));
    const pids = ['postgres', 'redis'].flatMap((each) =>
      processesIn(join(services, each), undefined),
    );
    await endProcesses({ name, pids, steps: [{ signal: 'SIGKILL', waitMs: 5000 }] });
    rmSync(services, { recursive: true, force: true });
  }
  rmSync(home, { recursive: true });
});

type Started = {
  readonly child: ChildProcess;
  readonly url: string;
  readonly exited: Promise<number | null>;
  /** Resolves with the next line that contains this. */
  said(text: string): Promise<string>;
};

async function start(dataDir: string, args: string[] = []): Promise<Started> {
  const port = await freePort();
  const {
    npm_command: _,
    npm_lifecycle_event: __,
    DATABASE_URL: ___,
    REDIS_URL: ____,
    ...env
  } = process.env;
  const child = spawn(process.execPath, ['src/main.ts', ...args], {
    cwd: home,
    env: { ...env, PORT: String(port), HOST: '127.0.0.1', DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      running.delete(child);
      resolve(code);
    });
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  let read = 0;
  const said = async (text: string): Promise<string> => {
    let found = '';
    await until(
      `"${text}" is said`,
      () => {
        while (read < lines.length && found === '') {
          const line = lines[read++]!;
          if (line.includes(text)) found = line;
        }
        return found !== '';
      },
      PATIENCE_MS,
    );
    return found;
  };
  return { child, url: `http://127.0.0.1:${port}`, exited, said };
}

const post = (url: string, key: string, path: string, body: object) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const clusterOf = (dataDir: string) =>
  join(realpathSync(join(home, dataDir, 'services')), 'postgres');

asRoot('one process as nobody: it serves, starts its services again, and stops', async () => {
  const first = await start('data');
  const key = /svc_test_\w+/.exec(await first.said('  svc_test_'))![0];
  await first.said('listening');
  expect(idsOf(first.child.pid!).has(0)).toBe(false);
  expect((await post(first.url, key, '/meters', { slug: 'calls' })).status).toBe(201);

  const pids = processesIn(clusterOf('data'), undefined);
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await first.said('a service runs again');
  await until(
    'it writes again',
    async () => {
      const { status } = await post(first.url, key, '/customers', {});
      return status === 201;
    },
    PATIENCE_MS,
  );
  const used = { feature_key: 'calls', customer_id: crypto.randomUUID() };
  await until(
    'it answers from the ledger',
    async () => {
      const { status } = await post(first.url, key, '/check', used);
      return status === 404;
    },
    PATIENCE_MS,
  );

  first.child.kill('SIGTERM');
  expect(await first.exited).toBe(0);
  expect(processesIn(clusterOf('data'), undefined)).toEqual([]);

  const second = await start('data');
  await second.said('listening');
  expect((await post(second.url, key, '/meters', { slug: 'calls' })).status).toBe(409);
  second.child.kill('SIGTERM');
  expect(await second.exited).toBe(0);
});

asRoot('several nodes run as nobody, also one that is started again', async () => {
  const fleet = await start('data-of-nodes', ['--processes', '2']);
  await fleet.said('it serves no requests');
  const nodes = () =>
    readFileSync(`/proc/${fleet.child.pid}/task/${fleet.child.pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .map(Number)
      .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('main.ts'));
  const before = nodes();
  expect(before).toHaveLength(2);
  for (const pid of before) expect(idsOf(pid).has(0)).toBe(false);
  process.kill(before[0]!, 'SIGKILL');
  await fleet.said('a service runs again');
  const after = nodes();
  expect(after).toHaveLength(2);
  for (const pid of after) expect(idsOf(pid).has(0)).toBe(false);
  expect((await fetch(`${fleet.url}/health`)).status).toBe(200);
  fleet.child.kill('SIGTERM');
  expect(await fleet.exited).toBe(0);
});
