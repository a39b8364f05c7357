// Workers are killed, stopped and cut off many times while they deliver.
import { expect, test } from 'bun:test';
import { until } from '../support/until.ts';
import {
  allDelivered,
  bed,
  endpoints,
  ENDPOINTS,
  killWorker,
  moreArrive,
  openBedForEach,
  startLoad,
  wronglyArrived,
} from './deliveries.ts';
import { startWorker } from './worker-process.ts';

const KILLS = 8;
const STOPS = 2;
const CUTS = 5;

openBedForEach();

test('webhook deliveries under kill -9 of the worker at random: none is lost', async () => {
  await killWorker(KILLS);
}, 180_000);

test('SIGTERM to a worker under load finishes deliveries in flight, and nothing arrives twice', async () => {
  await endpoints(ENDPOINTS);
  const load = startLoad();
  for (let stop = 0; stop < STOPS; stop += 1) {
    await moreArrive(ENDPOINTS);
    bed.worker.signal('SIGTERM');
    expect(await bed.worker.exited).toBe(0);
    const left = await bed.server.sql`
      select id from deliveries where worker is not null union all select id from delivery_workers`;
    expect([...left]).toEqual([]);
    bed.worker = await startWorker(bed.server.databaseUrl);
  }
  await load.stop();
  await allDelivered();
  expect(await wronglyArrived(new Set())).toEqual([]);
}, 40_000);

test('webhook deliveries survive database connections that are cut again and again', async () => {
  await endpoints(ENDPOINTS);
  const load = startLoad();
  for (let cut = 0; cut < CUTS; cut += 1) {
    await moreArrive(ENDPOINTS);
    await bed.server.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'tollhouse deliveries'`;
  }
  await load.stop();
  await allDelivered();
  expect(await wronglyArrived(new Set())).toEqual([]);
  await until('it listens again', async () => {
    const listening = await bed.server.sql`
      select from pg_stat_activity
      where datname = current_database() and application_name = 'tollhouse deliveries' and query like 'listen "tollhouse_%'`;
    return listening.length > 0;
  });
}, 40_000);
