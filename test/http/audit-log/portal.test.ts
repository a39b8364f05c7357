// What a customer does in its portal is in the audit log of the merchant, in the customer's name.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { listOperations } from '../edge/operations.ts';
import {
  CHALLENGED,
  DECLINED,
  GOOD,
  openPortal,
  type Portal,
  subscribe,
} from '../portal/customer.ts';
import { rowsOf } from './reading.ts';

setDefaultTimeout(60_000);

let server: TestServer;
let portal: Portal;
beforeAll(async () => {
  server = await startServer({ settings: (url) => ({ appUrl: url }) });
  portal = await openPortal(server, { email: 'ada@example.com' });
});
afterAll(() => server.stop());

const mine = async ({ customer }: Portal, operation: string) =>
  (await rowsOf(server.sql, operation)).filter((row) => row['actor_id'] === customer);

test('every portal form is in the audit log', () => {
  const silent = listOperations().flatMap(({ access, method, operation }) =>
    access === 'portal' && operation.audit === 'nothing' ? [method] : [],
  );
  expect(new Set(silent)).toEqual(new Set(['GET']));
});

test('a card saved in the portal leaves one audit log row; a declined card leaves none', async () => {
  expect((await portal.saveCard(DECLINED)).status).toBe(402);
  expect(await mine(portal, 'replacePaymentMethod')).toEqual([]);
  expect((await portal.saveCard(GOOD)).status).toBe(303);
  const [row, ...more] = await mine(portal, 'replacePaymentMethod');
  expect(more).toEqual([]);
  expect(row).toMatchObject({
    organisation_id: server.organisation.id,
    mode: 'test',
    actor_kind: 'customer',
    actor_label: 'ada@example.com',
    session_id: portal.tokenId,
    address: '127.0.0.1',
    object_type: 'customer',
    object_id: portal.customer,
    status: 303,
  });
  const { json } = await server.call('GET', `/audit-log?actor_kind=customer`);
  expect(json.data).toMatchObject([
    { actor: { kind: 'customer', id: portal.customer, session_id: portal.tokenId } },
  ]);
});

test('a card that needs 3-D Secure in the portal is logged once, when the customer returns', async () => {
  const asked = await openPortal(server, { external_customer_id: 'asked' });
  const away = (await asked.saveCard(CHALLENGED)).headers.get('location') ?? '';
  expect(await mine(asked, 'replacePaymentMethod')).toEqual([]);
  const here = (address: string) => server.url + address.slice(address.indexOf('/', 8));
  const body = new URLSearchParams({ answer: 'complete' });
  const there = await fetch(here(away), { method: 'POST', body, redirect: 'manual' });
  const returned = here(there.headers.get('location') ?? '');
  for (const _ of [1, 2]) {
    expect((await fetch(returned, { redirect: 'manual' })).status).toBe(303);
    const rows = await mine(asked, 'replacePaymentMethod');
    expect(rows.map((row) => row['actor_label'])).toEqual(['asked']);
  }
});

test('a cancellation in the portal, by form or by API, logs what it changed', async () => {
  const { id } = await subscribe(server, portal.customer);
  const fields = { subscription_id: id, mode: 'at_period_end' };
  expect((await portal.submit('cancel', fields)).status).toBe(303);
  const [form] = await mine(portal, 'cancelInPortal');
  expect(form).toMatchObject({ object_type: 'subscription', object_id: id, status: 303 });
  expect([form!.before, form!.after]).toMatchObject([
    { cancel_at_period_end: false },
    { cancel_at_period_end: true },
  ]);
  const headers = { 'idempotency-key': 'once', 'x-request-id': 'of-a-test' };
  for (const _ of [1, 2]) {
    const reply = await portal.post('uncancel', { subscription_id: id }, { headers });
    expect([reply.status, reply.headers.get('x-request-id')]).toEqual([200, 'of-a-test']);
  }
  const rows = await mine(portal, 'uncancelInPortal');
  expect(rows).toMatchObject([
    { status: 200, request_id: 'of-a-test', after: { cancel_at_period_end: false } },
  ]);
});

test("a refused portal action leaves no audit log row, nor does another customer's subscription", async () => {
  const stranger = await openPortal(server, { email: 'eve@example.com' });
  const { id } = await subscribe(server, portal.customer);
  for (const [action, body, status] of [
    ['cancel', { subscription_id: id }, 404],
    ['pause', { subscription_id: 'x' }, 400],
  ] as const) {
    expect((await stranger.post(action, body)).status).toBe(status);
  }
  expect((await stranger.get(`cancel?subscription_id=${id}`)).status).toBe(404);
  const { customer } = stranger;
  const rows = await server.sql`select operation from audit_log where actor_id = ${customer}`;
  expect([...rows]).toEqual([]);
});
