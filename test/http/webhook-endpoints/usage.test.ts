// `usage.recorded` is written for an organisation with an endpoint that subscribes to it, from the
// next request on, and for no other.
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { timers } from '../../../src/platform/clock.ts';
import { ids } from '../../../src/platform/ids.ts';
import { createOrganisation } from '../../../src/accounts/onboarding.ts';
import { listListeners, openEventListeners } from '../../../src/metering/event-listeners.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { endpointOf, URL_OF_NOBODY } from './owed.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ own: true });
});
afterAll(() => server.stop());

/** How many `usage.recorded` one call writes. */
async function told(key: string): Promise<number> {
  const slug = `m${ids.next()}`;
  const customer = await server.call('POST', '/customers', { key, body: {} });
  await server.call('POST', '/meters', { key, body: { slug, name: slug } });
  const body = { feature_key: slug, customer_id: customer.json.id };
  const reply = await server.call('POST', '/track', { key, body });
  expect(reply.status).toBe(200);
  const { json } = await server.call('GET', '/events?type=usage.recorded&limit=200', { key });
  return json.data.filter(
    (event: { data: { featureKey: string } }) => event.data.featureKey === slug,
  ).length;
}

test('usage events are written as endpoints for them come, change and go, in their own mode', async () => {
  const { testKey, liveKey } = server.other;
  expect(await told(testKey)).toBe(0);
  const plain = await endpointOf(server, {}, testKey);
  expect(await told(testKey)).toBe(0);
  const named = await endpointOf(server, { event_types: ['usage.recorded'] }, testKey);
  expect([await told(testKey), await told(liveKey)]).toEqual([1, 0]);
  // Events for a disabled endpoint are held for it.
  const disabled = { status: 'disabled' };
  await server.call('PATCH', `/webhook-endpoints/${named.id}`, { key: testKey, body: disabled });
  expect(await told(testKey)).toBe(1);
  await server.call('DELETE', `/webhook-endpoints/${named.id}`, { key: testKey });
  expect(await told(testKey)).toBe(0);
  const all = { event_types: ['*'] };
  await server.call('PATCH', `/webhook-endpoints/${plain.id}`, { key: testKey, body: all });
  expect(await told(testKey)).toBe(1);
  await server.call('DELETE', `/webhook-endpoints/${plain.id}`, { key: testKey });
  expect(await told(testKey)).toBe(0);
});

const asAnotherProcess = () =>
  openEventListeners({
    list: () => listListeners(server.sql),
    changes: server.changes,
    timers,
  });

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await setImmediate();
}

test("a group's endpoint gets usage of every member, also of one that joins later, in every process", async () => {
  const elsewhere = await asAnotherProcess();
  const scopeOf = (organisationId: string) => ({ organisationId, mode: 'live' as const });
  const practice = scopeOf(server.organisation.id);
  expect(elsewhere.wants(practice, 'usage.recorded')).toBe(false);
  const { liveKey: key } = server.group;
  const body = { url: URL_OF_NOBODY, event_types: ['*'] };
  const endpoint = await server.call('POST', '/partner/webhook-endpoints', { key, body });
  await until(() => elsewhere.wants(practice, 'usage.recorded'));
  expect(elsewhere.wants(scopeOf(server.other.id), 'usage.recorded')).toBe(false);
  expect(elsewhere.wants({ ...practice, mode: 'test' }, 'usage.recorded')).toBe(false);
  const joined = await createOrganisation(
    { sql: server.sql, ids, now: Date.now() },
    { name: 'Three', groupId: server.group.id },
  );
  if (typeof joined === 'string') throw new Error(joined);
  await until(() => elsewhere.wants(scopeOf(joined.id), 'usage.recorded'));
  await server.call('DELETE', `/partner/webhook-endpoints/${endpoint.json.id}`, { key });
  await until(() => !elsewhere.wants(practice, 'usage.recorded'));
});

test('while endpoint changes elsewhere are not heard, usage events are written for everyone', async () => {
  const elsewhere = await asAnotherProcess();
  const nobody = { organisationId: server.other.id, mode: 'live' as const };
  expect(elsewhere.wants(nobody, 'usage.recorded')).toBe(false);
  server.proxy.freeze();
  await until(() => elsewhere.wants(nobody, 'usage.recorded'));
  server.proxy.thaw();
  await until(() => !elsewhere.wants(nobody, 'usage.recorded'));
});
