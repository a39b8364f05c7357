import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import {
  anEvent,
  deliveriesOf,
  endpointOf,
  hearDue,
  settledAs,
  takenByWorker,
  unaccounted,
} from './owed.ts';

let server: TestServer;
beforeAll(async () => {
  // Each node runs two replays at once.
  server = await startServer({ alone: true });
});
beforeEach(async () => {
  await server.sql`truncate events, deliveries, event_fanouts`;
});
afterAll(() => server.stop());

const ALL = { since: '2026-01-01T00:00:00Z', until: '2099-01-01T00:00:00Z' };
const replay = (id: string, body: object, headers: Record<string, string> = {}) =>
  server.call('POST', `/webhook-endpoints/${id}/replay`, { body, headers });
const due = async (id: string) =>
  (await deliveriesOf(server, id)).filter(
    (row) => row['status'] === 'pending' && row['worker'] === null && row['nextAt'] <= new Date(),
  );

test('a replay sends past events again, each with a schedule of its own, and wakes the workers', async () => {
  const { id } = await endpointOf(server);
  for (let i = 0; i < 3; i += 1) await anEvent(server);
  const [first, second] = await deliveriesOf(server, id);
  await settledAs(server, first!['id'], 'delivered');
  await settledAs(server, second!['id'], 'exhausted');
  const told = await hearDue(server);
  const reply = await replay(id, ALL);
  expect([reply.status, reply.json]).toEqual([200, { count: 3 }]);
  expect(await told.told(1)).toEqual([id]);
  await told.stop();
  const rows = await due(id);
  expect(rows).toHaveLength(3);
  for (const row of rows)
    expect(row).toMatchObject({ attempts: 0, firstAt: null, settledAt: null });
  expect(await unaccounted(server)).toEqual([]);
});

test('a replay sends events the endpoint never got: from before it, and of types it is not subscribed to', async () => {
  await anEvent(server);
  const { id } = await endpointOf(server, { event_types: ['tag.created'] });
  await anEvent(server);
  expect((await replay(id, ALL)).json).toEqual({ count: 0 });
  for (const types of [['customer.created'], ['*']]) {
    expect((await replay(id, { ...ALL, types, dry_run: true })).json).toEqual({ count: 2 });
    expect((await replay(id, { ...ALL, types })).json).toEqual({ count: 2 });
    expect(await due(id)).toHaveLength(2);
  }
  expect(await unaccounted(server)).toEqual([]);
  const owed = await server.sql`select owed from event_fanouts`;
  expect(owed.every((row) => row['owed'] >= 1)).toBe(true);
});

test("a replay's range begins with since and ends before until", async () => {
  const { id } = await endpointOf(server);
  const events = [await anEvent(server), await anEvent(server), await anEvent(server)];
  for (const [day, event] of events.entries()) {
    await server.sql`update events set at = ${new Date(Date.UTC(2026, 0, day + 1))} where id = ${event}`;
  }
  for (const row of await deliveriesOf(server, id)) await settledAs(server, row['id'], 'delivered');
  const range = { since: '2026-01-02T00:00:00.000Z', until: '2026-01-03T01:00:00.000+01:00' };
  expect((await replay(id, range)).json).toEqual({ count: 1 });
  expect((await due(id)).map((row) => row['event'])).toEqual([events[1]]);
});

test('a replay with dry_run counts the same and changes nothing', async () => {
  const { id } = await endpointOf(server);
  await anEvent(server);
  const [row] = await deliveriesOf(server, id);
  await settledAs(server, row!['id'], 'delivered');
  const before = await deliveriesOf(server, id);
  expect((await replay(id, { ...ALL, dry_run: true })).json).toEqual({ count: 1 });
  expect(await deliveriesOf(server, id)).toEqual(before);
});

test('a replay leaves what a worker is sending to it, and does not count that', async () => {
  const { id } = await endpointOf(server);
  for (let i = 0; i < 2; i += 1) await anEvent(server);
  const [flying] = await deliveriesOf(server, id);
  await takenByWorker(server, flying!['id']);
  const [before] = await deliveriesOf(server, id);
  expect((await replay(id, { ...ALL, dry_run: true })).json).toEqual({ count: 1 });
  expect((await replay(id, ALL)).json).toEqual({ count: 1 });
  expect((await deliveriesOf(server, id))[0]).toEqual(before);
});

test('a replay has no samples and no events of other modes or organisations', async () => {
  const { id } = await endpointOf(server);
  await server.call('POST', `/webhook-endpoints/${id}/test`);
  await anEvent(server, server.organisation.liveKey);
  await anEvent(server, server.other.testKey);
  expect((await replay(id, { ...ALL, types: ['*'] })).json).toEqual({ count: 0 });
});

test('replays one by one or two at once make one delivery of every event for each endpoint', async () => {
  for (let i = 0; i < 20; i += 1) await anEvent(server);
  const types = ['customer.created'];
  const endpoints = await Promise.all([
    endpointOf(server, { event_types: ['tag.created'] }),
    endpointOf(server, { event_types: ['tag.created'] }),
  ]);
  // Two at once are done; a third is told to retry, so that replays leave resources to others.
  const all = [...endpoints, ...endpoints, ...endpoints];
  // None is done before one was refused.
  const gate = await server.sql.reserve();
  await gate`begin`;
  await gate`lock table deliveries in exclusive mode`;
  const replying = all.map(({ id }) => replay(id, { ...ALL, types }));
  await Promise.race(replying);
  await gate`commit`;
  gate.release();
  const replies = await Promise.all(replying);
  const refused = replies.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThan(0);
  for (const { status, headers } of refused) {
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  }
  for (const { id } of endpoints) expect((await replay(id, { ...ALL, types })).status).toBe(200);
  for (const { id } of endpoints) expect(await deliveriesOf(server, id)).toHaveLength(20);
  expect(await unaccounted(server)).toEqual([]);
});

test('a replay again with its key is done once', async () => {
  const { id } = await endpointOf(server);
  await anEvent(server);
  const headers = { 'idempotency-key': 'replay-1' };
  const first = await replay(id, ALL, headers);
  const [row] = await deliveriesOf(server, id);
  await settledAs(server, row!['id'], 'delivered');
  const again = await replay(id, ALL, headers);
  expect([again.status, again.text]).toEqual([200, first.text]);
  expect(await due(id)).toEqual([]);
  expect((await replay(id, { ...ALL, dry_run: true }, headers)).status).toBe(422);
});

test.each([[false], [true]])(
  'a replay to a disabled endpoint is refused, dry_run %p',
  async (dryRun) => {
    const { id } = await endpointOf(server, { status: 'disabled' });
    await anEvent(server);
    const reply = await replay(id, { ...ALL, dry_run: dryRun });
    expect([reply.status, reply.json.error.type]).toEqual([409, 'invalid_state']);
    expect(await deliveriesOf(server, id)).toMatchObject([{ status: 'held' }]);
  },
);
