// Workers that are killed, frozen and cut off while they deliver: every event arrives, and more than once only where a worker had it.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { audit } from '../../ledger/store/audit.ts';
import { withSeed } from '../support/random.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { Sink } from '../workers/engine/sink.ts';
import { startWorker, type WorkerProcess } from './worker-process.ts';

const KILLS = 20;
const ARRIVALS_BEFORE_KILL_MAX = 100;
/** As many as an organisation may have, and a group. */
const ENDPOINTS_OF_ONE = 50;
/** More than one worker has tickets of: when it dies, others can still be worked on. */
const ENDPOINTS = 2 * ENDPOINTS_OF_ONE;
const BACKLOG_MAX = 300;
const STOPS = 4;
const CUTS = 10;
const RESUMES_MS_MAX = 10_000;
const GATE = 7;

let server: TestServer;
let sink: Sink;
let worker: WorkerProcess;

beforeEach(async () => {
  server = await startServer();
  sink = new Sink();
  worker = await startWorker(server.databaseUrl);
});
afterEach(async () => {
  worker.signal('SIGCONT');
  await worker.kill();
  expect(await audit(server.sql)).toEqual([]);
  await server.stop();
  await sink.stop();
});

/** The organisation's own first, then those of its group. */
async function endpoints(count: number): Promise<string[]> {
  const { organisation, group } = server;
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const [path, { testKey: key }] =
      index < ENDPOINTS_OF_ONE
        ? (['/webhook-endpoints', organisation] as const)
        : (['/partner/webhook-endpoints', group] as const);
    const body = { url: `${sink.url}/${index}`, event_types: ['customer.created'] };
    const { status, text, json } = await server.call('POST', path, { key, body });
    if (status !== 201) throw new Error(text);
    ids.push(json.id);
  }
  return ids;
}

async function anEvent(): Promise<void> {
  const { status } = await server.call('POST', '/customers', { body: {} });
  expect(status).toBe(201);
}

async function owed(): Promise<{ all: number; delivered: number; failures: number }> {
  const [row] = await server.sql<{ all: number; delivered: number; failures: number }[]>`
    select count(*)::int as all, count(*) filter (where status = 'delivered')::int as delivered,
      (select max(failures) from webhook_endpoints)::int as failures
    from deliveries`;
  return row!;
}

const allDelivered = () =>
  until(
    'all are delivered',
    async () => {
      const { all, delivered } = await owed();
      return delivered === all;
    },
    30_000,
  );

/** Deliveries that never arrived, or more often than once and once again for each worker that died with them. */
async function wronglyArrived(inHand: ReadonlySet<string>): Promise<string[]> {
  const rows = await server.sql<{ id: string; key: string }[]>`
    select d.id, w.url || ' ' || d.event_id as key from deliveries d join webhook_endpoints w on w.id = d.endpoint_id`;
  const arrived = Map.groupBy(sink.arrivals, ({ url, id }) => `${url} ${id}`);
  const died = Map.groupBy(inHand, (taken) => taken.split(' ')[1]!);
  return rows.flatMap(({ id, key }) => {
    const times = arrived.get(key)?.length ?? 0;
    const most = 1 + (died.get(id)?.length ?? 0);
    return times >= 1 && times <= most ? [] : [`${id} arrived ${times} times, at most ${most}`];
  });
}

/** Until so many more have arrived. */
function moreArrive(count: number): Promise<void> {
  const enough = sink.arrivals.length + count;
  return until('more arrives', () => sink.arrivals.length >= enough);
}

/** Events by one caller, as long as not too many are on their way. */
function startLoad() {
  const stopping = new AbortController();
  let made = 0;
  const isRoom = (): boolean => made * ENDPOINTS - sink.arrivals.length < BACKLOG_MAX;
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

test('kill -9 of the worker at random under load', async () => {
  await endpoints(ENDPOINTS);
  await withSeed(async (random) => {
    const load = startLoad();
    const inHand = new Set<string>();
    const resumes: number[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      await moreArrive(random.integer(1, ARRIVALS_BEFORE_KILL_MAX));
      await worker.kill();
      const held = await server.sql`select worker, id from deliveries where worker is not null`;
      for (const row of held) inHand.add(`${row['worker']} ${row['id']}`);
      const killed = performance.now();
      worker = await startWorker(server.databaseUrl);
      await moreArrive(1);
      resumes.push(performance.now() - killed);
    }
    await load.stop();
    await allDelivered();
    expect(await wronglyArrived(inHand)).toEqual([]);
    expect(Math.max(...resumes)).toBeLessThan(RESUMES_MS_MAX);
    // Otherwise no kill hit a delivery that was on its way.
    expect(inHand.size).toBeGreaterThan(0);
  });
}, 120_000);

test('SIGTERM under load: what is in hand is finished, and nothing arrives twice', async () => {
  await endpoints(ENDPOINTS);
  const load = startLoad();
  for (let stop = 0; stop < STOPS; stop += 1) {
    await moreArrive(ENDPOINTS);
    worker.signal('SIGTERM');
    expect(await worker.exited).toBe(0);
    const left = await server.sql`
      select id from deliveries where worker is not null union all select id from delivery_workers`;
    expect([...left]).toEqual([]);
    worker = await startWorker(server.databaseUrl);
  }
  await load.stop();
  await allDelivered();
  expect(await wronglyArrived(new Set())).toEqual([]);
}, 40_000);

test('a worker that was frozen for too long finds that others have done its work, and that its results do not count', async () => {
  const [id] = await endpoints(1);
  const become = (status: string) =>
    server.call('PATCH', `/webhook-endpoints/${id}`, { body: { status } });
  await become('disabled');
  const stuck: ((response: Response) => void)[] = [];
  sink.answer = () => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    stuck.push(resolve);
    return promise;
  };
  const events = 4;
  for (let made = 0; made < events; made += 1) await anEvent();
  await become('enabled');
  await until('all are in its hands', () => stuck.length === events);
  worker.signal('SIGSTOP');
  sink.answer = () => new Response();
  const second = await startWorker(server.databaseUrl);
  try {
    await allDelivered();
    // What it hears when it wakes: failures that are none any more.
    for (const answer of stuck) answer(new Response(null, { status: 500 }));
    worker.signal('SIGCONT');
    await until('its attempts are written down', async () => {
      const [row] = await server.sql`select count(*)::int from delivery_attempts`;
      return row!['count'] === 2 * events;
    });
    expect(await owed()).toEqual({ all: events, delivered: events, failures: 0 });
    expect(sink.arrivals).toHaveLength(2 * events);
  } finally {
    await second.kill();
  }
  // It works again, under another name.
  await anEvent();
  await allDelivered();
}, 40_000);

test('its connections to the database are cut again and again', async () => {
  await endpoints(ENDPOINTS);
  const load = startLoad();
  for (let cut = 0; cut < CUTS; cut += 1) {
    await moreArrive(ENDPOINTS);
    await server.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'tollhouse deliveries'`;
  }
  await load.stop();
  await allDelivered();
  expect(await wronglyArrived(new Set())).toEqual([]);
  await until('it listens again', async () => {
    const listening = await server.sql`
      select from pg_stat_activity where datname = current_database() and query like 'listen "tollhouse_%'`;
    return listening.length > 0;
  });
}, 40_000);

test('kill -9 in the middle of a step of the relay: the server ends it or another worker does, and nothing is lost or twice', async () => {
  await endpoints(ENDPOINTS);
  const { sql } = server;
  await sql.unsafe(`
    create function wait_at_gate() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(${GATE}); return null; end $$;
    create trigger gate before insert on event_fanouts for each statement execute function wait_at_gate()`);
  for (const isEnded of [false, true]) {
    const gate = await sql.reserve();
    await gate`select pg_advisory_lock(${GATE})`;
    await anEvent();
    const stuck = () => sql<{ pid: number }[]>`
      select pid from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`;
    await until('a step is half way', async () => (await stuck()).length === 1);
    await worker.kill();
    worker = await startWorker(server.databaseUrl);
    // As the server does where it notices that nobody waits for the answer.
    if (isEnded) await sql`select pg_terminate_backend(${(await stuck())[0]?.pid ?? 0})`;
    await gate`select pg_advisory_unlock(${GATE})`;
    gate.release();
    await until('it is passed on', async () => (await sql`select from event_queue`).length === 0);
    await allDelivered();
  }
  expect(sink.arrivals).toHaveLength(2 * ENDPOINTS);
  expect(await wronglyArrived(new Set())).toEqual([]);
}, 60_000);
