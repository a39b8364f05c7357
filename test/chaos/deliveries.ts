// A server whose events go to many endpoints, and a worker that delivers them: which duplicates a
// killed worker may cause, and which not.
import { afterEach, beforeEach, expect } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { withSeed } from '../support/random.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { Sink } from '../workers/engine/sink.ts';
import { startWorker, type WorkerProcess } from './worker-process.ts';

const ARRIVALS_BEFORE_KILL_MAX = 100;
/** The limit of an organisation, plus a group. */
const ENDPOINTS_OF_ONE = 50;
/** More than one worker has slots for: when it dies, others must still be delivered. */
export const ENDPOINTS = 2 * ENDPOINTS_OF_ONE;
const BACKLOG_MAX = 300;
const RESUMES_MS_MAX = 10_000;

/** Those of the running test. */
export const bed = {} as { server: TestServer; sink: Sink; worker: WorkerProcess };

export function openBedForEach(): void {
  beforeEach(async () => {
    bed.server = await startServer();
    bed.sink = new Sink();
    bed.worker = await startWorker(bed.server.databaseUrl);
  });
  afterEach(async () => {
    bed.worker.signal('SIGCONT');
    await bed.worker.kill();
    expect(await audit(bed.server.sql)).toEqual([]);
    await bed.server.stop();
    await bed.sink.stop();
  });
}

/** The organisation's own first, then those of its group. */
export async function endpoints(count: number): Promise<string[]> {
  const { organisation, group } = bed.server;
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const [path, { testKey: key }] =
      index < ENDPOINTS_OF_ONE
        ? (['/webhook-endpoints', organisation] as const)
        : (['/partner/webhook-endpoints', group] as const);
    const body = { url: `${bed.sink.url}/${index}`, event_types: ['customer.created'] };
    const { status, text, json } = await bed.server.call('POST', path, { key, body });
    if (status !== 201) throw new Error(text);
    ids.push(json.id);
  }
  return ids;
}

export async function anEvent(): Promise<void> {
  const { status } = await bed.server.call('POST', '/customers', { body: {} });
  expect(status).toBe(201);
}

export async function owed(): Promise<{ all: number; delivered: number; failures: number }> {
  const [row] = await bed.server.sql<{ all: number; delivered: number; failures: number }[]>`
    select count(*)::int as all, count(*) filter (where status = 'delivered')::int as delivered,
      (select max(failures) from webhook_endpoints)::int as failures
    from deliveries`;
  return row!;
}

export const allDelivered = () =>
  until(
    'all are delivered',
    async () => {
      const { all, delivered } = await owed();
      return delivered === all;
    },
    30_000,
  );

/**
 * Deliveries that never arrived, or arrived more than once plus once for each worker that died
 * while it had them.
 */
export async function wronglyArrived(inHand: ReadonlySet<string>): Promise<string[]> {
  const rows = await bed.server.sql<{ id: string; key: string }[]>`
    select d.id, w.url || ' ' || d.event_id as key from deliveries d join webhook_endpoints w on w.id = d.endpoint_id`;
  const arrived = Map.groupBy(bed.sink.arrivals, ({ url, id }) => `${url} ${id}`);
  const died = Map.groupBy(inHand, (taken) => taken.split(' ')[1]!);
  return rows.flatMap(({ id, key }) => {
    const times = arrived.get(key)?.length ?? 0;
    const most = 1 + (died.get(id)?.length ?? 0);
    return times >= 1 && times <= most ? [] : [`${id} arrived ${times} times, at most ${most}`];
  });
}

/** Resolves when this many more have arrived. */
export function moreArrive(count: number): Promise<void> {
  const enough = bed.sink.arrivals.length + count;
  return until('more arrives', () => bed.sink.arrivals.length >= enough);
}

/** Events by one caller, with a bound on how many are undelivered. */
export function startLoad() {
  const stopping = new AbortController();
  let made = 0;
  const isRoom = (): boolean => made * ENDPOINTS - bed.sink.arrivals.length < BACKLOG_MAX;
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await anEvent();
      made += 1;
      await until('there is room', isRoom, 60_000);
    }
  })();
  return {
    stop() {
      stopping.abort();
      return running;
    },
  };
}

/** Kills the worker this many times under load, at random. */
export async function killWorker(kills: number): Promise<void> {
  await endpoints(ENDPOINTS);
  await withSeed(async (random) => {
    const load = startLoad();
    const inHand = new Set<string>();
    const resumes: number[] = [];
    for (let kill = 0; kill < kills; kill += 1) {
      await moreArrive(random.integer(1, ARRIVALS_BEFORE_KILL_MAX));
      await bed.worker.kill();
      const held = await bed.server.sql`select worker, id from deliveries where worker is not null`;
      for (const row of held) inHand.add(`${row['worker']} ${row['id']}`);
      const killed = performance.now();
      bed.worker = await startWorker(bed.server.databaseUrl);
      await moreArrive(1);
      resumes.push(performance.now() - killed);
    }
    await load.stop();
    await allDelivered();
    expect(await wronglyArrived(inHand)).toEqual([]);
    expect(Math.max(...resumes)).toBeLessThan(RESUMES_MS_MAX);
    // Otherwise no kill came during a delivery.
    expect(inHand.size).toBeGreaterThan(0);
  });
}
