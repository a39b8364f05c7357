// Claims for several endpoints in one statement.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { timers } from '../../../src/platform/clock.ts';
import { ids } from '../../../src/platform/ids.ts';
import { openLog } from '../../../src/platform/log.ts';
import { Claimer, type Taken } from '../../../workers/claimer.ts';
import { Bed } from './bed.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await Bed.start({ engines: 0 });
});
afterAll(() => bed.stop());

const claimerOf = (worker: () => string, sql = bed.server.sql): Claimer =>
  new Claimer({ sql, clock: bed.clock, timers, log: openLog('error'), worker });
const rowsOf = (taken: Taken | null): string[] => (taken?.due ?? []).map((due) => due.deliveryId);

test('each claimer gets deliveries of its own endpoint, and none is given twice', async () => {
  const body = { url: 'http://localhost:65000/' };
  const [one, two, idle] = [
    await bed.endpoint(body.url),
    await bed.endpoint(body.url),
    await bed.endpoint(body.url, { event_types: ['tag.created'] }),
  ];
  const off = await bed.endpoint(body.url, { status: 'disabled' });
  await bed.events(5);
  const probed = await bed.endpoint(body.url);
  await bed.server.sql`update webhook_endpoints set failures = 5 where id = ${probed.id}`;
  await bed.events(2);
  let name = ids.next();
  const claimer = claimerOf(() => name);
  const asked = [
    claimer.take(idle.id, 4),
    claimer.take(one.id, 2),
    claimer.take(one.id, 2),
    claimer.take(two.id, 100),
    claimer.take(off.id, 4),
    claimer.take(probed.id, 4),
    claimer.take(one.id, 600),
  ];
  // Its first statement is under way; the next ones are under another name.
  name = ids.next();
  const taken = await Promise.all(asked);
  expect(taken.map((each) => rowsOf(each).length)).toEqual([0, 2, 2, 7, 0, 1, 3]);
  const all = taken.flatMap(rowsOf);
  expect(new Set(all).size).toBe(all.length);
  for (const [index, asker] of [idle, one, one, two, off, probed, one].entries()) {
    const each = taken[index] ?? null;
    if (each === null) continue;
    expect(each.target.endpointId).toBe(asker.id);
    const deliveries = await bed.deliveries(asker.id);
    const held = rowsOf(each).map((row) => deliveries.find((found) => found.id === row)?.worker);
    expect(new Set(held)).toEqual(new Set([each.worker]));
  }
  expect(taken.flatMap((each) => each?.worker ?? [])).toEqual(Array(5).fill(name));
});

test('a claimer hears that the database does not answer, and the next one is served', async () => {
  const { id } = await bed.endpoint('http://localhost:65000/');
  await bed.events(1);
  let name = 'no id of a worker';
  const claimer = claimerOf(() => name);
  const failed = await Promise.allSettled([claimer.take(id, 1), claimer.take(id, 1)]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  name = ids.next();
  expect(rowsOf(await claimer.take(id, 1))).toHaveLength(1);
});

test('a silent database connection holds up no endpoint of the next claim', async () => {
  const [stuck, other] = [
    await bed.endpoint('http://localhost:65000/'),
    await bed.endpoint('http://localhost:65000/'),
  ];
  await bed.events(1);
  const speaks = Promise.withResolvers<void>();
  let statements = 0;
  const sql = new Proxy(bed.server.sql, {
    apply: async (target, self, args) => {
      statements += 1;
      if (statements === 1) await speaks.promise;
      return Reflect.apply(target, self, args) as unknown;
    },
  });
  const worker = ids.next();
  const claimer = claimerOf(() => worker, sql);
  const late = claimer.take(stuck.id, 1);
  expect(rowsOf(await claimer.take(other.id, 1))).toHaveLength(1);
  speaks.resolve();
  expect(rowsOf(await late)).toHaveLength(1);
  // It claims alone again.
  expect(rowsOf(await claimer.take(other.id, 1))).toEqual([]);
});
