import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import {
  anEvent,
  deliveriesOf,
  endpointOf,
  hearDue,
  settledAs,
  takenByWorker,
  unaccounted,
  URL_OF_NOBODY,
} from '../webhook-endpoints/owed.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ edited: true });
});
afterAll(() => server.stop());

const get = (id: string, key?: string) =>
  server.call('GET', `/deliveries/${id}`, { ...(key !== undefined && { key }) });
const retry = (id: string, key?: string) =>
  server.call('POST', `/deliveries/${id}/retry`, { ...(key !== undefined && { key }) });

async function aDelivery() {
  const endpoint = await endpointOf(server, { event_types: ['customer.created'] });
  await anEvent(server);
  const [row] = await deliveriesOf(server, endpoint.id);
  return { endpoint, id: row!['id'] as string };
}

test('GET of a delivery answers what the list shows', async () => {
  const { endpoint, id } = await aDelivery();
  const list = await server.call('GET', `/webhook-endpoints/${endpoint.id}/deliveries`);
  const one = await get(id);
  expect([one.status, one.json]).toEqual([200, list.json.data[0]]);
});

test('GET /deliveries keeps the history of a deleted endpoint', async () => {
  const { endpoint, id } = await aDelivery();
  await settledAs(server, id, 'delivered');
  const before = (await get(id)).json;
  await server.call('DELETE', `/webhook-endpoints/${endpoint.id}`);
  expect((await get(id)).json).toEqual(before);
});

test.each([['delivered'], ['exhausted']] as const)(
  'POST /retry of a delivery that was %s begins its schedule again',
  async (status) => {
    const { endpoint, id } = await aDelivery();
    await settledAs(server, id, status);
    await server.sql`update webhook_endpoints set paused_until = now() + interval '1 hour' where id = ${endpoint.id}`;
    const due = await hearDue(server);
    const reply = await retry(id);
    expect([reply.status, reply.json.status]).toEqual([200, 'pending']);
    expect(Date.parse(reply.json.next_attempt_at)).toBeLessThanOrEqual(Date.now());
    expect(await deliveriesOf(server, endpoint.id)).toMatchObject([
      { status: 'pending', attempts: 0, firstAt: null, settledAt: null },
    ]);
    expect(await due.told(1)).toEqual([endpoint.id]);
    await due.stop();
    const [paused] =
      await server.sql`select paused_until from webhook_endpoints where id = ${endpoint.id}`;
    expect(paused).toEqual({ paused_until: null });
    expect(await unaccounted(server)).toEqual([]);
  },
);

test('POST /retry of a waiting delivery makes it due and goes on in its schedule', async () => {
  const { endpoint, id } = await aDelivery();
  const first = new Date(Date.now() - 3_600_000);
  await server.sql`
    update deliveries set attempts = 7, first_at = ${first}, next_at = now() + interval '1 hour' where id = ${id}`;
  const reply = await retry(id);
  expect(Date.parse(reply.json.next_attempt_at)).toBeLessThanOrEqual(Date.now());
  expect(await deliveriesOf(server, endpoint.id)).toMatchObject([{ attempts: 7, firstAt: first }]);
});

test('POST /retry of a delivery being sent, or whose endpoint is disabled or gone, is 409', async () => {
  const flying = await aDelivery();
  await takenByWorker(server, flying.id);
  const disabled = await aDelivery();
  await server.call('PATCH', `/webhook-endpoints/${disabled.endpoint.id}`, {
    body: { status: 'disabled' },
  });
  const deleted = await aDelivery();
  await server.call('DELETE', `/webhook-endpoints/${deleted.endpoint.id}`);
  for (const { endpoint, id } of [flying, disabled, deleted]) {
    const before = await deliveriesOf(server, endpoint.id);
    const reply = await retry(id);
    expect([reply.status, reply.json.error.type]).toEqual([409, 'invalid_state']);
    expect(await deliveriesOf(server, endpoint.id)).toEqual(before);
  }
});

test('a delivery that is unknown, or of another organisation, is 404', async () => {
  const { id, endpoint } = await aDelivery();
  await settledAs(server, id, 'delivered');
  const { json: shared } = await server.call('POST', '/partner/webhook-endpoints', {
    key: server.group.testKey,
    body: { url: URL_OF_NOBODY, event_types: ['*'] },
  });
  await anEvent(server);
  const [ofGroup] = await deliveriesOf(server, shared.id);
  const { organisation, other } = server;
  const tries: [string, string][] = [
    ['01890000-0000-7000-8000-000000000000', organisation.testKey],
    ['nothing', organisation.testKey],
    ['%ff', organisation.testKey],
    [id, organisation.liveKey],
    [id, other.testKey],
    [ofGroup!['id'], organisation.testKey],
  ];
  for (const [delivery, key] of tries) {
    for (const reply of [await get(delivery, key), await retry(delivery, key)]) {
      expect([reply.status, reply.json.error.type]).toEqual([404, 'not_found']);
    }
  }
  expect(await deliveriesOf(server, endpoint.id)).toMatchObject([{ id, status: 'delivered' }, {}]);
  for (const reply of [
    await get(id, server.group.testKey),
    await retry(id, server.group.testKey),
  ]) {
    expect([reply.status, reply.json.error.type]).toEqual([403, 'forbidden']);
  }
});
