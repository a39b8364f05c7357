import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openSecrets } from '../../../src/platform/crypto/secrets.ts';
import { relayAll } from '../../support/relayed.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { TEST_SECRETS_KEY } from '../../support/settings.ts';
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
  server = await startServer({ own: true });
});
afterAll(() => server.stop());

const patch = (id: string, body: object) =>
  server.call('PATCH', `/webhook-endpoints/${id}`, { body });
const statusesOf = async (id: string) =>
  (await deliveriesOf(server, id)).map((delivery) => delivery['status']);

test('PATCH of a webhook endpoint changes the named fields, and nothing else', async () => {
  const { secret: _secret, ...made } = await endpointOf(server, { description: 'Mine' });
  expect((await patch(made.id, {})).json).toEqual(made);
  const changed = await patch(made.id, {
    url: 'https://hooks.example/2',
    event_types: ['customer.created'],
    description: null,
  });
  expect(changed.status).toBe(200);
  expect(changed.json).toEqual({
    ...made,
    url: 'https://hooks.example/2',
    event_types: ['customer.created'],
    description: null,
    updated_at: changed.json.updated_at,
  });
  expect(changed.json.updated_at > made.updated_at).toBe(true);
  expect((await server.call('GET', `/webhook-endpoints/${made.id}`)).json).toEqual(changed.json);
});

test('a disabled endpoint holds its deliveries; enabled, all of them are due at once', async () => {
  const { id } = await endpointOf(server, { event_types: ['customer.created'] });
  await anEvent(server);
  const [waiting] = await deliveriesOf(server, id);
  await server.sql`
    update deliveries set attempts = 4, first_at = now() - interval '20 hours', next_at = now() + interval '3 hours'
    where id = ${waiting!['id']}`;
  const due = await hearDue(server);
  await patch(id, { status: 'disabled' });
  await anEvent(server);
  expect(await statusesOf(id)).toEqual(['held', 'held']);
  await due.told();

  await patch(id, { status: 'enabled' });
  const [first, second, ...rest] = await deliveriesOf(server, id);
  expect(rest).toEqual([]);
  for (const delivery of [first!, second!]) {
    expect(delivery).toMatchObject({ status: 'pending', attempts: 0, firstAt: null });
    expect(delivery['nextAt'].getTime()).toBeLessThanOrEqual(Date.now());
  }
  expect(await due.told(1)).toEqual([id]);
  await due.stop();
  expect(await unaccounted(server)).toEqual([]);
});

test('disabling an endpoint leaves finished deliveries, and those that a worker has', async () => {
  const { id } = await endpointOf(server, { event_types: ['customer.created'] });
  for (let i = 0; i < 3; i += 1) await anEvent(server);
  const [delivered, exhausted, flying] = await deliveriesOf(server, id);
  await settledAs(server, delivered!['id'], 'delivered');
  await settledAs(server, exhausted!['id'], 'exhausted');
  await takenByWorker(server, flying!['id']);
  const before = await deliveriesOf(server, id);
  await patch(id, { status: 'disabled' });
  expect(await deliveriesOf(server, id)).toEqual(before);
  await patch(id, { status: 'enabled' });
  expect(await deliveriesOf(server, id)).toEqual(before);
});

test('enabling an endpoint, also again, or changing its url forgets its failures', async () => {
  const { id } = await endpointOf(server);
  for (const body of [{ status: 'enabled' }, { url: 'https://hooks.example/moved' }]) {
    await server.sql`
      update webhook_endpoints set failures = 9, exhausted = 3, failing_since = now(), paused_until = now() + interval '5 minutes',
        disabled_reason = 'failing' where id = ${id}`;
    const before = (await server.call('GET', `/webhook-endpoints/${id}`)).json;
    expect([before.disabled_reason, before.failing_since]).toEqual(['failing', expect.any(String)]);
    await patch(id, { description: 'not a new start' });
    expect(
      await server.sql`select 1 from webhook_endpoints where id = ${id} and failures = 9`,
    ).toHaveLength(1);
    await patch(id, body);
    const [row] = await server.sql`
      select failures, exhausted, failing_since, paused_until from webhook_endpoints where id = ${id}`;
    expect(row).toEqual({ failures: 0, exhausted: 0, failing_since: null, paused_until: null });
  }
  expect((await patch(id, { status: 'enabled' })).json.disabled_reason).toBeNull();
});

test('DELETE of an endpoint drops its deliveries, keeps the history, and new events are not owed', async () => {
  const { id } = await endpointOf(server, { event_types: ['customer.created'] });
  const stays = await endpointOf(server, { event_types: ['customer.created'] });
  for (let i = 0; i < 3; i += 1) await anEvent(server);
  const [delivered, held] = await deliveriesOf(server, id);
  await settledAs(server, delivered!['id'], 'delivered');
  await server.sql`update deliveries set status = 'held' where id = ${held!['id']}`;
  const reply = await server.call('DELETE', `/webhook-endpoints/${id}`);
  expect([reply.status, reply.text]).toEqual([204, '']);
  expect(await statusesOf(id)).toEqual(['delivered', 'exhausted', 'exhausted']);
  const rows = await deliveriesOf(server, id);
  expect(rows.every((row) => row['settledAt'] instanceof Date)).toBe(true);
  await anEvent(server);
  expect(await deliveriesOf(server, id)).toHaveLength(3);
  expect(await statusesOf(stays.id)).toEqual(['pending', 'pending', 'pending', 'pending']);
  expect(await unaccounted(server)).toEqual([]);
});

test('POST /rotate-secret shows the new secret once, and the old one signs too for 24 hours', async () => {
  const made = await endpointOf(server);
  const path = `/webhook-endpoints/${made.id.toUpperCase()}/rotate-secret`;
  const headers = { 'idempotency-key': 'rotate-1' };
  const first = await server.call('POST', path, { headers });
  expect([first.status, Object.keys(first.json)]).toEqual([
    200,
    ['secret', 'previous_secret_until'],
  ]);
  expect(first.json.secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
  const left = Date.parse(first.json.previous_secret_until) - Date.now();
  expect(left / 3_600_000).toBeCloseTo(24, 1);
  const stored = async () => {
    const [row] = await server.sql`
      select secret, previous_secret as previous from webhook_endpoints where id = ${made.id}`;
    const secrets = openSecrets(TEST_SECRETS_KEY);
    return [secrets.open(row!['secret'], made.id), secrets.open(row!['previous'], made.id)];
  };
  expect(await stored()).toEqual([first.json.secret, made.secret]);
  const again = await server.call('POST', path, { headers });
  expect([again.status, again.text]).toEqual([200, first.text]);
  expect(await stored()).toEqual([first.json.secret, made.secret]);
  const [kept] =
    await server.sql`select body from idempotency where organisation_id = ${server.organisation.id}`;
  expect(kept!['body']).not.toContain('whsec_');
  const second = await server.call('POST', path);
  expect(await stored()).toEqual([second.json.secret, first.json.secret]);
});

test('GET /deliveries lists newest first, with every attempt, and filters', async () => {
  const { id } = await endpointOf(server, {
    event_types: ['customer.created', 'customer.updated'],
  });
  const event = await anEvent(server);
  const customer = (await server.sql`select object_id from events where id = ${event}`)[0]![
    'object_id'
  ];
  await server.call('PATCH', `/customers/${customer}`, { body: { name: 'New' } });
  await relayAll(server.sql);
  const [created, updated] = await deliveriesOf(server, id);
  await settledAs(server, created!['id'], 'delivered');
  const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
  await server.sql`
    insert into delivery_attempts (delivery_id, at, status_code, error, duration_ms, address, response_head)
    values (${created!['id']}, ${at(5)}, 200, null, 12, '203.0.113.7', 'ok'),
      (${created!['id']}, ${at(0)}, null, 'timeout', 10000, null, null)`;
  const path = `/webhook-endpoints/${id}/deliveries`;
  const { json } = await server.call('GET', path);
  expect(json).toEqual({
    data: [
      {
        id: updated!['id'],
        event_id: updated!['event'],
        event_type: 'customer.updated',
        endpoint_id: id,
        status: 'pending',
        attempts: [],
        next_attempt_at: updated!['nextAt'].toISOString(),
      },
      {
        id: created!['id'],
        event_id: event,
        event_type: 'customer.created',
        endpoint_id: id,
        status: 'delivered',
        attempts: [
          {
            at: at(0).toISOString(),
            status_code: null,
            error: 'timeout',
            duration_ms: 10_000,
            response_head: null,
          },
          {
            at: at(5).toISOString(),
            status_code: 200,
            error: null,
            duration_ms: 12,
            response_head: 'ok',
          },
        ],
        next_attempt_at: null,
      },
    ],
    limit: 50,
    offset: 0,
    has_more: false,
  });
  const ids = async (query: string) =>
    (await server.call('GET', `${path}${query}`)).json.data.map((row: { id: string }) => row.id);
  expect(await ids('?status=delivered')).toEqual([created!['id']]);
  expect(await ids('?status=held')).toEqual([]);
  expect(await ids('?event_type=customer.updated')).toEqual([updated!['id']]);
  expect(await ids('?limit=1&offset=1')).toEqual([created!['id']]);
});
