// Who has a delivery: one worker at a time, and never again one that expired.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { audit } from '../../../src/database/audit.ts';
import { ids } from '../../../src/platform/ids.ts';
import { settle, signOn, expireWorkers } from '../../../workers/claims.ts';
import { until } from '../../support/until.ts';
import { Bed } from './bed.ts';
import { Sink } from './sink.ts';

let bed: Bed;
let sink: Sink;
beforeEach(async () => {
  bed = await Bed.start({ engines: 2, faster: 10 });
  sink = new Sink();
});
afterEach(async () => {
  expect(await audit(bed.server.sql)).toEqual([]);
  await bed.stop();
  await sink.stop();
});

test('two engines on one database deliver each event once', async () => {
  const endpoints = await Promise.all(
    Array.from({ length: 8 }, (_, index) => bed.endpoint(`${sink.url}/${index}`)),
  );
  const made = await Promise.all(Array.from({ length: 5 }, () => bed.events(6)));
  for (const { id } of endpoints) await bed.all(id, 'delivered');
  const expected = endpoints.flatMap(() => made.flat());
  expect(sink.ids.toSorted()).toEqual(expected.toSorted());
});

test('deliveries of a dead worker are due again, also what it claimed after it expired', async () => {
  const { id } = await bed.endpoint(sink.url, { status: 'disabled' });
  const [first, second] = await bed.events(2);
  const { sql } = bed.server;
  const dead = ids.next();
  await signOn(sql, dead);
  await sql`update webhook_endpoints set status = 'enabled' where id = ${id}`;
  const taken = new Date(bed.clock.at + 60_000);
  await sql`
    update deliveries set status = 'pending', next_at = ${taken},
      worker = case when event_id = ${first!} then ${dead} else uuidv7() end
    where endpoint_id = ${id}`;
  await until('the one without a worker arrives', () => sink.arrivals.length > 0);
  expect(sink.ids).toEqual([second!]);
  await sql`update delivery_workers set seen_at = now() - interval '6 seconds' where id = ${dead}`;
  await bed.all(id, 'delivered');
  expect(sink.ids).toEqual([second!, first!]);
});

test('results of a worker that has expired do not count, against its endpoint neither', async () => {
  const { id } = await bed.endpoint(sink.url, { status: 'disabled' });
  sink.answer = () => 'hang';
  const events = await bed.events(4);
  await bed.server.call('PATCH', `/webhook-endpoints/${id}`, { body: { status: 'enabled' } });
  await until('all are in hand', () => sink.hanging === 4);
  const { sql } = bed.server;
  sink.answer = () => new Response();
  // As if both had been silent for too long: they notice at their next sweep and take new names.
  bed.pass(1);
  await sql`delete from delivery_workers`;
  await expireWorkers(sql, 0);
  await bed.all(id, 'delivered');
  expect(sink.ids.toSorted()).toEqual([...events, ...events].toSorted());
  // The late attempts time out and are logged, nothing else.
  await until('all attempts are written down', async () => (await bed.attempts(id)).length === 8);
  expect((await bed.deliveries(id)).map(({ attempts }) => attempts)).toEqual(Array(4).fill(1));
  expect(await bed.health(id)).toMatchObject({ failures: 0, failingSince: null });
});

test('a requested retry and a success lock delivery and endpoint without a deadlock', async () => {
  // A requested retry locks its delivery, then the endpoint; a success after failures locks them in
  // the opposite order.
  const { id } = await bed.endpoint(sink.url);
  sink.answer = () => new Response(null, { status: 500 });
  await bed.events(6);
  await bed.attempted(id, 5);
  const { sql } = bed.server;
  const deliveries = await bed.deliveries(id);
  sink.answer = () => new Response();
  await sql`update deliveries set next_at = next_at + interval '1 hour' where id <> ${deliveries[0]!.id}`;
  const arrived = sink.arrivals.length;
  await sql.begin(async (transaction) => {
    await transaction`select from deliveries where id = ${deliveries[1]!.id} for update`;
    bed.pass(10_000);
    await until('the probe is answered', () => sink.arrivals.length > arrived);
    await until('it is revived', async () => (await bed.health(id))['failures'] === 0);
    await transaction`update webhook_endpoints set paused_until = null where id = ${id}`;
  });
  bed.pass(4 * 3_600_000);
  await bed.all(id, 'delivered');
});

test('a delivery in flight when its endpoint is disabled counts as it ends', async () => {
  const { id } = await bed.endpoint(sink.url);
  const answers: ((response: Response) => void)[] = [];
  sink.answer = () => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    answers.push(resolve);
    return promise;
  };
  await bed.server.call('PATCH', `/webhook-endpoints/${id}`, { body: { status: 'disabled' } });
  await bed.events(2);
  await bed.server.call('PATCH', `/webhook-endpoints/${id}`, { body: { status: 'enabled' } });
  await until('both are in hand', () => answers.length === 2);
  await bed.server.call('PATCH', `/webhook-endpoints/${id}`, { body: { status: 'disabled' } });
  answers[0]!(new Response());
  answers[1]!(new Response(null, { status: 500 }));
  await until('both are settled', async () =>
    (await bed.deliveries(id)).every(({ status }) => status !== 'pending'),
  );
  const statuses = (await bed.deliveries(id)).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual(['delivered', 'held']);
});

test('a delivery that one worker has claimed no other takes, however long it hangs', async () => {
  const { id } = await bed.endpoint(sink.url);
  sink.answer = () => 'hang';
  const events = await bed.events(2);
  await until('both are in hand', () => sink.hanging === 2);
  bed.pass(6000);
  await bed.sweeps(6);
  expect(new Set(sink.ids)).toEqual(new Set(events));
  // On a busy machine an attempt has ended by then, and was tried again: that is another one.
  const arrived = sink.arrivals.length;
  expect(arrived - (await bed.attempts(id)).length).toBeLessThanOrEqual(events.length);
});

test('a claim whose answer was lost is released by the worker that made it', async () => {
  const { id } = await bed.endpoint(sink.url, { status: 'disabled' });
  const events = await bed.events(2);
  const { sql } = bed.server;
  // The state after a claim of six seconds ago.
  await sql`
    update deliveries set status = 'pending', worker = (select id from delivery_workers limit 1),
      next_at = ${new Date(bed.clock.at + 54_000)}
    where endpoint_id = ${id}`;
  await sql`update webhook_endpoints set status = 'enabled' where id = ${id}`;
  await bed.all(id, 'delivered');
  expect(sink.ids.toSorted()).toEqual(events.toSorted());
});

test('the result of a delivery that the database has lost is not written', async () => {
  const result = {
    deliveryId: ids.next(),
    endpointId: ids.next(),
    status: 'delivered',
    nextAt: bed.clock.at,
    at: bed.clock.at,
    statusCode: 200,
    error: null,
    durationMs: 5,
    address: '127.0.0.1',
    responseHead: '',
  } as const;
  const { sql } = bed.server;
  expect(await settle(sql, ids.next(), [result])).toEqual([result.deliveryId]);
  expect(await sql`select 1 from delivery_attempts`).toHaveLength(0);
});
