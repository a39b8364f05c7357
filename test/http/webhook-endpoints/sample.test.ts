import { afterAll, beforeAll, expect, test } from 'bun:test';
import { issuesOf, validator } from '../../../src/http/edge/validate.ts';
import { EVENT_ENVELOPES } from '../../../src/http/wire/payloads/envelopes.ts';
import { EVENT_TYPES } from '../../../src/records/events.ts';
import { audit } from '../../../src/database/audit.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { anEvent, deliveriesOf, endpointOf, hearDue, unaccounted } from './owed.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const send = (id: string, body?: object, headers: Record<string, string> = {}) =>
  server.call('POST', `/webhook-endpoints/${id}/test`, { headers, ...(body && { body }) });

test.each(EVENT_TYPES.map((type) => [type]))(
  'a sample of %s is sent to the endpoint',
  async (type) => {
    const { id } = await endpointOf(server, { event_types: ['tag.deleted'] });
    const reply = await send(id, { type });
    expect(reply.status).toBe(200);
    expect(reply.json).toEqual({
      id: expect.any(String),
      event_id: expect.any(String),
      event_type: type,
      endpoint_id: id,
      status: 'pending',
      attempts: [],
      next_attempt_at: expect.any(String),
    });
    const fits = validator(EVENT_ENVELOPES[type].schema);
    const { json: event } = await server.call('GET', `/events/${reply.json.event_id}`);
    expect(event).toMatchObject({ id: reply.json.event_id, type });
    expect(event.data).toMatchObject({
      test: true,
      id: event.id,
      eventType: type,
      organizationId: server.organisation.id,
      mode: 'test',
      sequence: 1,
    });
    expect(issuesOf(fits, event)).toEqual([]);
    // No stored object has the ids of a sample.
    const { objectId, accountId } = event.data;
    const known = await server.sql`select 1 from customers where id in (${objectId}, ${accountId})`;
    expect(known).toHaveLength(0);
  },
);

test('a sample goes to no other endpoint and is in no list, and the books balance', async () => {
  const mine = await endpointOf(server, { event_types: ['*'] });
  const others = [
    (await endpointOf(server, { event_types: ['*'] })).id,
    (
      await server.call('POST', '/partner/webhook-endpoints', {
        key: server.group.testKey,
        body: { url: mine.url, event_types: ['*'] },
      })
    ).json.id,
  ];
  const { json } = await send(mine.id);
  // The first type that it subscribes to; with a subscription to all, payment.succeeded.
  expect(json.event_type).toBe('payment.succeeded');
  expect(await deliveriesOf(server, mine.id)).toMatchObject([
    { id: json.id, event: json.event_id },
  ]);
  for (const id of others) expect(await deliveriesOf(server, id)).toEqual([]);
  const listed = await server.call('GET', '/events?limit=200');
  const ids = listed.json.data.map((event: { id: string }) => event.id);
  expect(ids).not.toContain(json.event_id);
  expect(await unaccounted(server)).toEqual([]);
  expect(await audit(server.sql)).toEqual([]);
});

test('a sample without a type is of the first type that the endpoint subscribes to', async () => {
  const { id } = await endpointOf(server, { event_types: ['invoice.updated', 'tag.created'] });
  expect((await send(id)).json.event_type).toBe('invoice.updated');
  expect((await send(id, {})).json.event_type).toBe('invoice.updated');
});

test('a sample does not wait for a paused endpoint, and wakes the workers', async () => {
  const { id } = await endpointOf(server);
  await server.sql`update webhook_endpoints set paused_until = now() + interval '1 hour' where id = ${id}`;
  const due = await hearDue(server);
  await send(id);
  expect(await due.told(1)).toEqual([id]);
  await due.stop();
  const [row] = await server.sql`select paused_until from webhook_endpoints where id = ${id}`;
  expect(row).toEqual({ paused_until: null });
});

test('a sample again with its key is sent once, and refused for another endpoint', async () => {
  const { id } = await endpointOf(server);
  const other = await endpointOf(server);
  const headers = { 'idempotency-key': 'sample-1' };
  const first = await send(id, {}, headers);
  const again = await send(id, {}, headers);
  expect([again.status, again.text]).toEqual([200, first.text]);
  expect(await deliveriesOf(server, id)).toHaveLength(1);
  expect((await send(other.id, {}, headers)).status).toBe(422);
});

test('a sample is not sent to a disabled endpoint', async () => {
  const { id } = await endpointOf(server, { status: 'disabled' });
  const reply = await send(id);
  expect([reply.status, reply.json.error.type]).toEqual([409, 'invalid_state']);
  expect(await deliveriesOf(server, id)).toEqual([]);
  await anEvent(server);
  expect(await deliveriesOf(server, id)).toMatchObject([{ status: 'held' }]);
});
