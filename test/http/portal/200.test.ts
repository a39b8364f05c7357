// The four actions as the merchant's backend calls them: JSON in, the subscription out, and one
// event for each change.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { GOOD, openPortal, type Portal, subscribe } from './customer.ts';

setDefaultTimeout(60_000);

let server: TestServer;
let portal: Portal;
beforeAll(async () => {
  server = await startServer({ settings: (url) => ({ appUrl: url }) });
  portal = await openPortal(server, { email: 'ada@example.com', external_customer_id: 'ada' });
  await portal.saveCard(GOOD);
});
afterAll(() => server.stop());

const eventsOf = async (id: string): Promise<string[]> => {
  const rows = await server.sql<{ type: string }[]>`
    select type from events where object_id = ${id} and type like 'subscription.%' order by sequence`;
  return rows.map(({ type }) => type.replace('subscription.', ''));
};

async function act(action: string, body: object) {
  const { status, json, text } = await portal.post(action, body);
  expect([action, status, text]).toEqual([action, 200, text]);
  return json;
}

test('the portal cancels at the end of the period by default, and uncancel undoes it', async () => {
  const { id } = await subscribe(server, portal.customer);
  const before = (await server.call('GET', `/subscriptions/${id}`)).json;
  const scheduled = await act('cancel', { subscription_id: id });
  expect(scheduled).toMatchObject({
    id,
    status: 'active',
    cancel_at_period_end: true,
    cancellation_effective_at: before.current_period_end,
  });
  expect(await act('cancel', { subscription_id: id, mode: 'at_period_end' })).toEqual(scheduled);
  const kept = await act('uncancel', { subscription_id: id });
  expect(kept).toMatchObject({ status: 'active', cancel_at_period_end: false, canceled_at: null });
  expect(await act('uncancel', { subscription_id: id })).toEqual(kept);
  expect(await eventsOf(id)).toEqual(['created', 'canceled', 'updated']);
});

test('a pause of an overdue subscription in the portal keeps dunning on, and a new card pays what is owed', async () => {
  const broke = await openPortal(server, { email: 'broke@example.com' });
  const { id } = await subscribe(server, broke.customer);
  const read = async () => (await server.call('GET', `/subscriptions/${id}`)).json;
  expect((await read()).overdue_state).toBe('warning');
  const form = await broke.get(`pause?subscription_id=${id}`);
  expect(form.text).toContain('Unpaid invoices are still collected.');
  const { status, json } = await broke.post('pause', { subscription_id: id });
  expect([status, json.status, json.overdue_state]).toEqual([200, 'paused', 'warning']);
  expect((await broke.saveCard(GOOD)).status).toBe(303);
  expect(await read()).toMatchObject({ status: 'paused', overdue_state: 'clear' });
  const { data } = (await server.call('GET', `/invoices?subscription_id=${id}`)).json;
  expect(data).toMatchObject([{ status: 'paid' }]);
});

test('a cancellation at once in the portal ends the subscription, and its endpoint gets the event', async () => {
  const { id } = await subscribe(server, portal.customer);
  const ended = await act('cancel', { subscription_id: id, mode: 'immediate' });
  expect(ended).toMatchObject({ id, status: 'canceled' });
  expect(ended.ended_at).not.toBeNull();
  expect(await eventsOf(id)).toEqual(['created', 'canceled', 'expired']);
});

test('pause and resume in the portal within the paid period charge nothing again', async () => {
  const { id } = await subscribe(server, portal.customer);
  const before = (await server.call('GET', `/subscriptions/${id}`)).json;
  const paused = await act('pause', { subscription_id: id });
  expect(paused).toMatchObject({ status: 'paused', resumes_at: null, keep_invoices: false });
  expect(paused.paused_at).not.toBeNull();
  expect(await act('pause', { subscription_id: id })).toEqual(paused);
  const resumed = await act('resume', { subscription_id: id });
  expect(resumed).toMatchObject({
    status: 'active',
    paused_at: null,
    current_period_end: before.current_period_end,
  });
  expect(await act('resume', { subscription_id: id })).toEqual(resumed);
  expect(await eventsOf(id)).toEqual(['created', 'updated', 'updated']);
  const { data } = (await server.call('GET', `/payments?subscription_id=${id}`)).json;
  expect(data).toHaveLength(1);
});

test('the portal pauses until a time, with invoices', async () => {
  const { id } = await subscribe(server, portal.customer);
  const resumes_at = new Date(Date.now() + 40 * 86_400_000).toISOString();
  const body = { subscription_id: id, resumes_at, keep_invoices: true };
  expect(await act('pause', body)).toMatchObject({
    status: 'paused',
    resumes_at,
    keep_invoices: true,
  });
});

test('the portal answers a subscription as the API shows it', async () => {
  const { id } = await subscribe(server, portal.customer);
  const answered = await act('pause', { subscription_id: id, resumes_at: null });
  expect((await server.call('GET', `/subscriptions/${id}`)).json).toEqual(answered);
});

test('the portal takes an id in upper case', async () => {
  const { id } = await subscribe(server, portal.customer);
  const body = { subscription_id: id.toUpperCase() };
  expect((await act('pause', body)).status).toBe('paused');
  expect((await act('resume', body)).status).toBe('active');
  expect((await act('cancel', { ...body, mode: 'immediate' })).status).toBe('canceled');
  expect((await server.call('GET', `/subscriptions/${id}`)).json.status).toBe('canceled');
});
