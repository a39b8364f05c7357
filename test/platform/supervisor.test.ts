import { afterAll, expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { daemon } from '../../src/platform/embedded/processes.ts';
import { supervise, type ServiceSpec } from '../../src/platform/embedded/supervisor.ts';
import { RecordedLog } from './fixture.ts';

const directory = mkdtempSync(join(tmpdir(), 'tollhouse-supervisor-'));
const READY = join(directory, 'ready');
const RUN = 'touch $READY; exec sleep 1000';

afterAll(() => {
  rmSync(directory, { recursive: true });
});

test('a child that ends while starting fails the start with its last line', async () => {
  const failure = await failureOf(
    supervise(spec('echo first; echo broken; exit 3'), new RecordedLog()),
  );
  expect(failure).toBe('ServiceFailure: Toll does not start (exit code 3): broken');
});

test('a program that does not exist fails the start', async () => {
  const missing = spec('');
  const launch = () => spawn(join(directory, 'missing'));
  expect(await failureOf(supervise({ ...missing, launch }, new RecordedLog()))).toContain('ENOENT');
});

test('a start that fails later is tried again, and the log says so', async () => {
  const recorded = new RecordedLog();
  // It runs at first; after its death it fails until the flag exists.
  const flag = join(directory, 'flag');
  const supervised = await supervise(spec(`[ -e ${flag} ] && exit 4; ${RUN}`), recorded);
  await Bun.write(flag, '');
  const failed = recorded.next('Toll: a service does not start');
  process.kill(supervised.pid() ?? 0, 'SIGKILL');
  await failed;
  const again = recorded.next('Toll: a service runs again');
  rmSync(flag);
  await again;
  expect(supervised.pid()).toBeGreaterThan(0);
  await supervised.stop();
  expect(supervised.pid()).toBeUndefined();
});

test('a supervisor stopped between two starts starts nothing more', async () => {
  const recorded = new RecordedLog();
  const supervised = await supervise(spec(RUN), recorded);
  const died = recorded.next('Toll: a service died, starting it again');
  process.kill(supervised.pid() ?? 0, 'SIGKILL');
  await died;
  await supervised.stop();
  expect(supervised.pid()).toBeUndefined();
  expect(recorded.lines).toEqual(['Toll: a service died, starting it again']);
});

test('a child that ignores the first signal gets the next', async () => {
  const script = `trap '' TERM; touch $READY; while :; do sleep 0.01; done`;
  const supervised = await supervise(spec(script), new RecordedLog());
  const pid = supervised.pid() ?? 0;
  await supervised.stop();
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

/** Ready when the script has touched $READY. */
function spec(script: string): ServiceSpec {
  return {
    name: 'Toll',
    ...daemon({
      file: '/bin/sh',
      args: ['-c', `READY=${READY}; ${script}`],
      account: undefined,
      logFile: join(directory, 'log'),
    }),
    stopSteps: [
      { signal: 'SIGTERM', waitMs: 100 },
      { signal: 'SIGKILL', waitMs: 1000 },
    ],
    prepare() {
      rmSync(READY, { force: true });
      return Promise.resolve();
    },
    async ready(_child, signal) {
      while (!signal.aborted && !existsSync(READY)) await Bun.sleep(1);
    },
  };
}

function failureOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => '',
    (error: unknown) => String(error),
  );
}
