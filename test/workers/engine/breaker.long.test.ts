// A failing endpoint is only probed; once it answers, it gets all that waits.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { until } from '../../support/until.ts';
import { Bed } from './bed.ts';
import { Sink } from './sink.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await Bed.start();
});
afterAll(() => bed.stop());

/** An endpoint that has failed five times in a row, and so is paused. */
async function failing(at = bed) {
  const sink = new Sink();
  sink.answer = () => new Response(null, { status: 500 });
  const { id } = await at.endpoint(sink.url);
  const events = await at.events(5);
  await at.attempted(id, 5);
  const { pausedUntil, failures } = await at.health(id);
  expect({ pausedUntil, failures }).toEqual({
    pausedUntil: new Date(at.clock.at + 5000),
    failures: 5,
  });
  return { sink, id, events };
}

test('four failed deliveries in a row do not pause an endpoint', async () => {
  const sink = new Sink();
  sink.answer = () => new Response(null, { status: 500 });
  const { id } = await bed.endpoint(sink.url);
  await bed.events(4);
  await bed.attempted(id, 4);
  expect(await bed.health(id)).toMatchObject({ failures: 4, pausedUntil: null });
  sink.answer = () => new Response();
  bed.pass(5000);
  await bed.all(id, 'delivered');
  expect(await bed.health(id)).toMatchObject({ failures: 0, failingSince: null });
  await sink.stop();
});

test('after five failures an endpoint gets one probe at a time, and what waits loses no attempt', async () => {
  const { sink, id } = await failing();
  await bed.events(3);
  bed.pass(4999);
  await bed.sweeps();
  expect(sink.arrivals).toHaveLength(5);
  for (let probe = 1; probe <= 4; probe += 1) {
    const { pausedUntil } = await bed.health(id);
    bed.pass((pausedUntil as Date).getTime() - bed.clock.at);
    await bed.attempted(id, 5 + probe);
    await bed.sweeps();
    expect(sink.arrivals).toHaveLength(5 + probe);
  }
  const tries = (await bed.deliveries(id)).map((delivery) => delivery.attempts);
  // The three that came during the pause have waited longest, then the first of the five.
  expect(tries.toSorted((a, b) => a - b)).toEqual([1, 1, 1, 1, 1, 1, 1, 2]);
  await bed.server.call('DELETE', `/webhook-endpoints/${id}`);
  await sink.stop();
});

/** How long an endpoint has failed, and how long it is paused. */
// prettier-ignore
const PAUSES: [failingS: number, pauseS: number][] = [
  [5,         5],
  [60,        30],
  [300,       150],
  [600,       300],
  [12 * 3600, 300],
];

test.each(PAUSES)(
  'an endpoint that has failed for %d s is paused for %d s',
  async (failingS, pauseS) => {
    const { sink, id } = await failing();
    bed.pass(failingS * 1000);
    await bed.attempted(id, 6);
    expect((await bed.health(id))['pausedUntil']).toEqual(new Date(bed.clock.at + pauseS * 1000));
    await bed.server.call('DELETE', `/webhook-endpoints/${id}`);
    await sink.stop();
  },
);

test('an endpoint that hangs is probed by one request', async () => {
  const { sink, id } = await failing();
  sink.answer = () => 'hang';
  bed.pass(20_000);
  await bed.attempted(id, 6);
  await bed.sweeps();
  expect(sink.hanging).toBe(1);
  await bed.server.call('DELETE', `/webhook-endpoints/${id}`);
  await sink.stop();
});

test('a probe that is answered wakes all waiting deliveries at once, however late they were planned', async () => {
  const { sink, id, events } = await failing();
  const { sql } = bed.server;
  // As after hours of failures.
  await sql`update deliveries set next_at = ${new Date(bed.clock.at + 3 * 3_600_000)}, attempts = 14
    where endpoint_id = ${id}`;
  const more = await bed.events(20);
  sink.answer = () => new Response();
  bed.pass(5000);
  await bed.all(id, 'delivered');
  expect(sink.ids.slice(5).toSorted()).toEqual([...events, ...more].toSorted());
  expect(await bed.health(id)).toMatchObject({
    failures: 0,
    exhausted: 0,
    failingSince: null,
    pausedUntil: null,
  });
  await sink.stop();
});

test('all deliveries of an endpoint are woken, also where one answer wakes only a part', async () => {
  const own = await Bed.start({ faster: 10 });
  const { sink, id } = await failing(own);
  const { sql } = own.server;
  const backlog = 4500;
  await sql`
    insert into events (id, organisation_id, mode, type, object_type, object_id, sequence, at, data, endpoint_id)
    select uuidv7(), organisation_id, mode, 'customer.created', 'CUSTOMER', gen_random_uuid(), 1, now(), '{}', id
    from webhook_endpoints, generate_series(1, ${backlog}) where id = ${id}`;
  await sql`update deliveries set next_at = ${new Date(own.clock.at + 3 * 3_600_000)}, attempts = 14
    where endpoint_id = ${id}`;
  await own.events(1);
  sink.answer = () => new Response();
  own.pass(5000);
  await own.all(id, 'delivered');
  expect(sink.arrivals).toHaveLength(5 + 5 + backlog + 1);
  expect(await own.health(id)).toMatchObject({ failures: 0, failingSince: null });
  await sink.stop();
  await own.stop();
}, 60_000);

test('a requested retry is sent although the endpoint is paused', async () => {
  const { sink, id } = await failing();
  sink.answer = () => new Response();
  const [delivery] = await bed.deliveries(id);
  await bed.server.call('POST', `/deliveries/${delivery!.id}/retry`);
  await until('it arrives', () => sink.arrivals.length > 5);
  await bed.all(id, 'delivered');
  await sink.stop();
});
