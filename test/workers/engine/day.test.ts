// The whole day of a delivery whose receiver never answers, and of an endpoint with more deliveries
// than can be tried.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { audit } from '../../../src/database/audit.ts';
import { until } from '../../support/until.ts';
import { Bed } from './bed.ts';
import { Sink } from './sink.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await Bed.start();
});
afterAll(async () => {
  expect(await audit(bed.server.sql)).toEqual([]);
  await bed.stop();
});

const HOUR = 3600;
/** As published: seconds from the first attempt. */
// prettier-ignore
const OFFSETS = [
  0, 5, 15, 35, 75, 155, 315, 635, 21 * 60 + 15, 42 * 60 + 35, HOUR + 25 * 60 + 15, 2 * HOUR + 50 * 60 + 35, 5 * HOUR + 41 * 60 + 15,
  8 * HOUR + 41 * 60 + 15, 11 * HOUR + 41 * 60 + 15, 14 * HOUR + 41 * 60 + 15, 17 * HOUR + 41 * 60 + 15, 20 * HOUR + 41 * 60 + 15,
  23 * HOUR + 41 * 60 + 15,
];

test('a delivery is tried by the published schedule for a day, and then it is exhausted', async () => {
  const sink = new Sink();
  sink.answer = () => new Response(null, { status: 500 });
  const { id } = await bed.endpoint(sink.url);
  const began = bed.clock.at;
  await bed.events(1);
  for (let attempts = 1; ; attempts += 1) {
    await bed.attempted(id, attempts);
    const [delivery] = await bed.deliveries(id);
    if (delivery!.status !== 'pending') break;
    // Not a millisecond earlier: only then a sweep finds it.
    bed.pass(delivery!.nextAt.getTime() - bed.clock.at);
  }
  const offsets = (await bed.attempts(id)).map(({ at }) => (at.getTime() - began) / 1000);
  expect(offsets).toEqual(OFFSETS);
  expect(sink.arrivals).toHaveLength(OFFSETS.length);
  const [delivery] = await bed.deliveries(id);
  expect(delivery).toMatchObject({ status: 'exhausted', attempts: OFFSETS.length });
  expect(await bed.health(id)).toMatchObject({ status: 'enabled', exhausted: 1, failures: 19 });
  bed.pass(48 * HOUR * 1000);
  await bed.sweeps();
  expect(sink.arrivals).toHaveLength(OFFSETS.length);
  await sink.stop();
});

test('an endpoint that fails for a day is disabled, and nothing is tried later than that', async () => {
  const sink = new Sink();
  sink.answer = () => new Response(null, { status: 500 });
  const { id } = await bed.endpoint(sink.url);
  const began = bed.clock.at;
  // More than can be tried: after five failures there are only probes, with the oldest delivery.
  await bed.events(5);
  await bed.attempted(id, 5);
  await owe(id, 500);
  // One step at a time: a probe each, or enough deliveries were given up.
  const isDisabled = async () => (await bed.health(id))['status'] === 'disabled';
  const movedOn = async (before: number) => sink.arrivals.length > before || (await isDisabled());
  let passedS = 0;
  while (!(await isDisabled())) {
    const before = sink.arrivals.length;
    bed.pass(STEP_S * 1000);
    passedS += STEP_S;
    await until('a probe', () => movedOn(before));
    await bed.attempted(id, sink.arrivals.length);
  }
  // The first five were given up when their day was over, and then the probes, one after the other.
  expect(passedS).toBeWithin(24 * HOUR, 28 * HOUR);
  expect(await bed.health(id)).toMatchObject({ reason: 'failing', failingSince: new Date(began) });
  await until('nothing is pending', async () =>
    (await bed.deliveries(id)).every(({ status }) => status !== 'pending'),
  );
  const owed = Map.groupBy(await bed.deliveries(id), ({ status }) => status);
  expect([...owed.keys()].toSorted()).toEqual(['exhausted', 'held']);
  const late = await bed.server.sql`
    select d.id, a.at, d.first_at from deliveries d join delivery_attempts a on a.delivery_id = d.id
    where d.endpoint_id = ${id} and a.at > d.first_at + interval '24 hours 1 minute'`;
  expect([...late]).toEqual([]);
  expect(owed.get('exhausted')!.length).toBeGreaterThanOrEqual(10);
  await sink.stop();
}, 60_000);

/** Half an hour. */
const STEP_S = 1800;

/** Customers and their events, without the API. */
async function owe(endpointId: string, count: number): Promise<void> {
  const { sql, organisation } = bed.server;
  await sql`
    insert into events (id, organisation_id, mode, type, object_type, object_id, account_id, sequence, at, data, endpoint_id)
    select uuidv7(), ${organisation.id}, 'test', 'customer.created', 'CUSTOMER', id, id, 1, now(), '{}', ${endpointId}
    from (select uuidv7() as id from generate_series(1, ${count})) as made`;
}
