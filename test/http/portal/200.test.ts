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

test('cancel at the end of the period is the default, and uncancel undoes it', async () => {
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

test('pause of what is overdue: what is owed goes on being collected, and a new card pays it', async () => {
  const broke = await openPortal(server, { email: 'broke@example.com' });
  const { id } = await subscribe(server, broke.customer);
  const read = async () => (await server.call('GET', `/subscriptions/${id}`)).json;
  expect((await read()).overdue_state).toBe('warning');
  const form = await broke.get(`pause?subscription_id=${id}`);
  expect(form.text).toContain('What is unpaid is still collected.');
  const { status, json } = await broke.post('pause', { subscription_id: id });
  expect([status, json.status, json.overdue_state]).toEqual([200, 'paused', 'warning']);
  expect((await broke.saveCard(GOOD)).status).toBe(303);
  expect(await read()).toMatchObject({ status: 'paused', overdue_state: 'clear' });
  const { data } = (await server.call('GET', `/invoices?subscription_id=${id}`)).json;
  expect(data).toMatchObject([{ status: 'paid' }]);
});

test('cancel at once ends it, and a subscribed endpoint gets the event', async () => {
  const { id } = await subscribe(server, portal.customer);
  const ended = await act('cancel', { subscription_id: id, mode: 'immediate' });
  expect(ended).toMatchObject({ id, status: 'canceled' });
  expect(ended.ended_at).not.toBeNull();
  expect(await eventsOf(id)).toEqual(['created', 'canceled', 'expired']);
});

test('pause and resume inside the paid period: nothing is charged again', async () => {
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

test('pause until a time, with invoices', async () => {
  const { id } = await subscribe(server, portal.customer);
  const resumes_at = new Date(Date.now() + 40 * 86_400_000).toISOString();
  const body = { subscription_id: id, resumes_at, keep_invoices: true };
  expect(await act('pause', body)).toMatchObject({
    status: 'paused',
    resumes_at,
    keep_invoices: true,
  });
});

test('what the portal answers is what the API shows', async () => {
  const { id } = await subscribe(server, portal.customer);
  const answered = await act('pause', { subscription_id: id, resumes_at: null });
  expect((await server.call('GET', `/subscriptions/${id}`)).json).toEqual(answered);
});

test('an id in capitals is the same id', async () => {
  const { id } = await subscribe(server, portal.customer);
  const body = { subscription_id: id.toUpperCase() };
  expect((await act('pause', body)).status).toBe('paused');
  expect((await act('resume', body)).status).toBe('active');
  expect((await act('cancel', { ...body, mode: 'immediate' })).status).toBe('canceled');
  expect((await server.call('GET', `/subscriptions/${id}`)).json.status).toBe('canceled');
});
