import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { GOOD, openPortal, type Portal, subscribe } from './customer.ts';

setDefaultTimeout(60_000);

let server: TestServer;
let portal: Portal;
beforeAll(async () => {
  server = await startServer({ settings: (url) => ({ appUrl: url }) });
  portal = await openPortal(server);
  await portal.saveCard(GOOD);
});
afterAll(() => server.stop());

test.each(['pause', 'resume', 'uncancel', 'unschedule'])(
  '%s in the portal of an ended subscription is 409',
  async (action) => {
    const { id } = await subscribe(server, portal.customer);
    await portal.post('cancel', { subscription_id: id, mode: 'immediate' });
    const ended = (await server.call('GET', `/subscriptions/${id}`)).json;
    const { status, json } = await portal.post(action, { subscription_id: id });
    const message = `it cannot ${action} now; legal now: nothing`;
    expect([status, json]).toEqual([409, { error: { type: 'invalid_state', message } }]);
    const form = await portal.submit(action, { subscription_id: id });
    expect([form.status, form.text.includes('This cannot be done now.')]).toEqual([409, true]);
    expect((await server.call('GET', `/subscriptions/${id}`)).json).toEqual(ended);
  },
);

test('canceling an ended subscription in the portal changes nothing', async () => {
  const { id } = await subscribe(server, portal.customer);
  const body = { subscription_id: id, mode: 'immediate' };
  const first = await portal.post('cancel', body);
  const again = await portal.post('cancel', body);
  expect([again.status, again.text]).toEqual([200, first.text]);
});
