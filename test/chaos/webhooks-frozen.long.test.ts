// Workers are frozen, and killed in the middle of a step, while they deliver: every event arrives,
// and more than once only where a worker had taken it. Kills at random: webhooks.long.test.ts.
import { expect, test } from 'bun:test';
import { until } from '../support/until.ts';
import {
  allDelivered,
  anEvent,
  bed,
  endpoints,
  ENDPOINTS,
  openBedForEach,
  owed,
  wronglyArrived,
} from './deliveries.ts';
import { startWorker } from './worker-process.ts';

const GATE = 7;

openBedForEach();

test('a worker frozen for too long finds its deliveries done by others, and its results do not count', async () => {
  const [id] = await endpoints(1);
  const become = (status: string) =>
    bed.server.call('PATCH', `/webhook-endpoints/${id}`, { body: { status } });
  await become('disabled');
  const stuck: ((response: Response) => void)[] = [];
  bed.sink.answer = () => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    stuck.push(resolve);
    return promise;
  };
  const events = 4;
  for (let made = 0; made < events; made += 1) await anEvent();
  await become('enabled');
  await until('all are in its hands', () => stuck.length === events);
  bed.worker.signal('SIGSTOP');
  bed.sink.answer = () => new Response();
  const second = await startWorker(bed.server.databaseUrl);
  try {
    await allDelivered();
    // What it hears when it wakes: failures that are out of date.
    for (const answer of stuck) answer(new Response(null, { status: 500 }));
    bed.worker.signal('SIGCONT');
    await until('its attempts are written down', async () => {
      const [row] = await bed.server.sql`select count(*)::int from delivery_attempts`;
      return row!['count'] === 2 * events;
    });
    expect(await owed()).toEqual({ all: events, delivered: events, failures: 0 });
    expect(bed.sink.arrivals).toHaveLength(2 * events);
  } finally {
    await second.kill();
  }
  // It works again, under another name.
  await anEvent();
  await allDelivered();
}, 60_000);

test('kill -9 in the middle of a relay step: it is ended or taken over, nothing is lost or doubled', async () => {
  await endpoints(ENDPOINTS);
  const { sql } = bed.server;
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
    await bed.worker.kill();
    bed.worker = await startWorker(bed.server.databaseUrl);
    // As the server does when it notices that the client is gone.
    if (isEnded) await sql`select pg_terminate_backend(${(await stuck())[0]?.pid ?? 0})`;
    await gate`select pg_advisory_unlock(${GATE})`;
    gate.release();
    await until('it is passed on', async () => (await sql`select from event_queue`).length === 0);
    await allDelivered();
  }
  expect(bed.sink.arrivals).toHaveLength(2 * ENDPOINTS);
  expect(await wronglyArrived(new Set())).toEqual([]);
}, 60_000);
