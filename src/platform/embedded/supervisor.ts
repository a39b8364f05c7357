// Keeps one child process running until it is told to stop.
//
//   starting ──ready──▶ running ──dies──▶ waiting ──backoff──▶ starting        any ──stop()──▶ stopped
//
// Who calls: openServices(), once for each service that we start ourselves, and the fleet, once for
// each node.
// Holds: at most one child at a time; what an earlier run left is cleared before every start; the
// wait between starts doubles from BACKOFF_MS_MIN to BACKOFF_MS_MAX and begins anew after a run of
// HEALTHY_MS. It never gives up: the service is useless without its database, and says so in the
// log.
// Fails: only the first start, by rejecting; later ones are logged and tried again.
// Does not: notice a child that lives and does not answer. The service's client detects that.
import type { ChildProcess } from 'node:child_process';
import { promises as timers } from 'node:timers';
import { ServiceFailure } from '../failure.ts';
import { exitOf, type StopStep } from './processes.ts';

const BACKOFF_MS_MIN = 100;
const BACKOFF_MS_MAX = 5000;
const HEALTHY_MS = 30_000;

/** What we need of a pino logger. */
export interface Log {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface ServiceSpec {
  readonly name: string;
  /** Polite first. The last one should be SIGKILL. */
  readonly stopSteps: readonly StopStep[];
  /** Clears what an earlier run left. */
  prepare(): Promise<void>;
  launch(): ChildProcess;
  /** Resolves when the child answers, or when `signal` says that it has gone. */
  ready(child: ChildProcess, signal: AbortSignal): Promise<void>;
  /** Of one that ended before it was ready. */
  lastWords(): string;
}

export interface Supervised {
  /** The child at this moment; undefined between two. */
  pid(): number | undefined;
  /** Ends the child and does not start it again. Safe to call more than once. */
  stop(): Promise<void>;
}

interface Running {
  readonly child: ChildProcess;
  readonly exited: Promise<string>;
}

/** Resolves when the child is ready. @throws ServiceFailure where the first start fails */
export async function supervise(spec: ServiceSpec, log: Log): Promise<Supervised> {
  const stopping = new AbortController();
  let running: Running | undefined = await start(spec, stopping.signal);

  async function watch(): Promise<void> {
    let deaths = 0;
    while (running !== undefined) {
      const since = performance.now();
      const how = await running.exited;
      running = undefined;
      if (stopping.signal.aborted) return;
      deaths = performance.now() - since < HEALTHY_MS ? deaths + 1 : 1;
      log.error({ service: spec.name, how }, 'a service died, starting it again');
      running = await startAgain({ spec, log, deaths, signal: stopping.signal });
      if (running !== undefined) {
        log.warn({ service: spec.name, pid: running.child.pid }, 'a service runs again');
      }
    }
  }

  const watching = watch();
  return {
    pid: () => running?.child.pid,
    async stop() {
      stopping.abort();
      if (running !== undefined) await terminate(running, spec.stopSteps);
      await watching;
    },
  };
}

async function startAgain(options: {
  spec: ServiceSpec;
  log: Log;
  deaths: number;
  signal: AbortSignal;
}): Promise<Running | undefined> {
  const { spec, log, signal } = options;
  for (let attempt = options.deaths - 1; !signal.aborted; attempt += 1) {
    const waitMs = Math.min(BACKOFF_MS_MIN * 2 ** Math.min(attempt, 10), BACKOFF_MS_MAX);
    await timers.setTimeout(waitMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) break;
    try {
      return await start(spec, signal);
    } catch (error) {
      if (!signal.aborted)
        log.error({ service: spec.name, err: error }, 'a service does not start');
    }
  }
  return undefined;
}

async function start(spec: ServiceSpec, stopping: AbortSignal): Promise<Running> {
  await spec.prepare();
  const child = spec.launch();
  const running = { child, exited: exitOf(child) };
  const gone = new AbortController();
  const failed = running.exited.then((how) => {
    gone.abort();
    throw new ServiceFailure(`${spec.name} does not start (${how}): ${spec.lastWords()}`);
  });
  // The promise that loses the race must not become an unhandled rejection.
  failed.catch(() => undefined);
  const onStop = () => {
    terminate(running, spec.stopSteps).catch(() => undefined);
  };
  stopping.addEventListener('abort', onStop);
  try {
    const started = child.pid !== undefined;
    await (started ? Promise.race([spec.ready(child, gone.signal), failed]) : failed);
    if (gone.signal.aborted) await failed;
    return running;
  } catch (error) {
    await terminate(running, spec.stopSteps);
    throw error;
  } finally {
    stopping.removeEventListener('abort', onStop);
  }
}

async function terminate(running: Running, steps: readonly StopStep[]): Promise<void> {
  for (const { signal, waitMs } of steps) {
    running.child.kill(signal);
    const timer = new AbortController();
    const waited = timers
      .setTimeout(waitMs, 'waited', { signal: timer.signal })
      .catch(() => 'waited');
    const first = await Promise.race([running.exited, waited]);
    timer.abort();
    if (first !== 'waited') return;
  }
}
