import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { FAILS_LATER, GOOD, openPortal, type Portal, subscribe } from './customer.ts';

setDefaultTimeout(60_000);

let server: TestServer;
let portal: Portal;
beforeAll(async () => {
  server = await startServer({ settings: (url) => ({ appUrl: url }) });
  portal = await openPortal(server);
  await portal.saveCard(GOOD);
});
afterAll(() => server.stop());

const read = async (id: string) => (await server.call('GET', `/subscriptions/${id}`)).json;

test('a resume in the portal after the paid period, whose card fails, stays paused until another pays', async () => {
  const { id } = await subscribe(server, portal.customer);
  await portal.post('pause', { subscription_id: id });
  await portal.saveCard(FAILS_LATER);
  await server.call('POST', '/test-clock', { body: { advance: 'P2M' } });
  const page = await portal.get(`resume?subscription_id=${id}`);
  expect(page.text).toContain('is charged at once');

  const { status, json } = await portal.post('resume', { subscription_id: id });
  expect([status, json.error.type]).toEqual([402, 'payment_failed']);
  expect((await read(id)).status).toBe('paused');
  const form = await portal.submit('resume', { subscription_id: id });
  expect([form.status, form.text.includes('The payment did not go through')]).toEqual([402, true]);
  expect((await read(id)).status).toBe('paused');

  await portal.saveCard(GOOD);
  const resumed = await portal.post('resume', { subscription_id: id });
  expect([resumed.status, resumed.json.status]).toEqual([200, 'active']);
  const started = Date.parse(resumed.json.current_period_start);
  const now = Date.parse((await server.call('GET', '/test-clock')).json.now);
  expect(Math.abs(now - started)).toBeLessThan(60_000);
});
