// With running workers and a receiver that counts: what the API shows as sent is what arrives.
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { anEvent, deliveriesOf, endpointOf, unaccounted } from './owed.ts';

let server: TestServer;
const arrived: { readonly id: string; readonly type: string; readonly test: boolean }[] = [];
let answer = 200;
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { id, type, data } = (await request.json()) as {
      id: string;
      type: string;
      data: { test?: boolean };
    };
    arrived.push({ id, type, test: data.test === true });
    return new Response(null, { status: answer });
  },
});
const url = `http://127.0.0.1:${receiver.port}/`;

beforeAll(async () => {
  server = await startServer({ deliver: true });
});
beforeEach(() => {
  arrived.length = 0;
  answer = 200;
});
afterAll(async () => {
  await server.stop();
  await receiver.stop(true);
});

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await setImmediate();
}

/** Until every delivery of the endpoint has `status`. */
const untilAll = (id: string, status: string) =>
  until(async () => (await deliveriesOf(server, id)).every((row) => row['status'] === status));

test('a sample arrives, is marked as one, and is delivered', async () => {
  const { id } = await endpointOf(server, { url, event_types: ['tag.created'] });
  const { json } = await server.call('POST', `/webhook-endpoints/${id}/test`, {
    body: { type: 'payment.refunded' },
  });
  await untilAll(id, 'delivered');
  expect(arrived).toEqual([{ id: json.event_id, type: 'payment.refunded', test: true }]);
  const { json: delivery } = await server.call('GET', `/deliveries/${json.id}`);
  expect(delivery).toMatchObject({ status: 'delivered', next_attempt_at: null });
  expect(delivery.attempts).toMatchObject([{ status_code: 200, error: null }]);
});

test('a replay sends exactly as many deliveries as it says, and a retry one', async () => {
  const before = [await anEvent(server), await anEvent(server)];
  const { id } = await endpointOf(server, { url, event_types: ['customer.created'] });
  const after = [await anEvent(server), await anEvent(server), await anEvent(server)];
  await until(() => arrived.length === 3);
  await untilAll(id, 'delivered');
  const range = { since: '2026-01-01T00:00:00Z', until: '2099-01-01T00:00:00Z' };
  const { json } = await server.call('POST', `/webhook-endpoints/${id}/replay`, { body: range });
  await until(async () => (await deliveriesOf(server, id)).length === json.count);
  await untilAll(id, 'delivered');
  const ids = arrived.map((event) => event.id).toSorted();
  expect(ids).toEqual([...before, ...after, ...after].toSorted());
  expect(json).toEqual({ count: before.length + after.length });

  const [one] = await deliveriesOf(server, id);
  await server.call('POST', `/deliveries/${one!['id']}/retry`);
  await until(() => arrived.length === ids.length + 1);
  await untilAll(id, 'delivered');
  expect(arrived.at(-1)!.id).toBe(one!['event']);
  await server.call('DELETE', `/webhook-endpoints/${id}`);
});

test('deliveries held while an endpoint was disabled arrive when it is enabled', async () => {
  const { id } = await endpointOf(server, {
    url,
    event_types: ['customer.created'],
    status: 'disabled',
  });
  const events = [await anEvent(server), await anEvent(server)];
  expect(arrived).toEqual([]);
  await server.call('PATCH', `/webhook-endpoints/${id}`, { body: { status: 'enabled' } });
  await untilAll(id, 'delivered');
  expect(arrived.map((event) => event.id).toSorted()).toEqual(events.toSorted());
  await server.call('DELETE', `/webhook-endpoints/${id}`);
});

test('an endpoint that answers 410 is disabled, holds deliveries, and resumes when enabled', async () => {
  const { id } = await endpointOf(server, { url, event_types: ['customer.created'] });
  answer = 410;
  await anEvent(server);
  const path = `/webhook-endpoints/${id}`;
  await until(async () => (await server.call('GET', path)).json.status === 'disabled');
  expect((await server.call('GET', path)).json.disabled_reason).toBe('gone');
  await anEvent(server);
  await untilAll(id, 'held');
  answer = 200;
  arrived.length = 0;
  const enabled = await server.call('PATCH', path, { body: { status: 'enabled' } });
  expect(enabled.json).toMatchObject({ status: 'enabled', disabled_reason: null });
  await untilAll(id, 'delivered');
  expect(arrived).toHaveLength(2);
  expect(await unaccounted(server)).toEqual([]);
});
