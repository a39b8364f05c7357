// An invalid token: a 401, whatever else the request says, as JSON to a program and as a page to a
// browser.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { GOOD, openPortal, type Portal, portalOf, subscribe, UNKNOWN } from './customer.ts';

setDefaultTimeout(60_000);

let server: TestServer;
let portal: Portal;
let id: string;
beforeAll(async () => {
  server = await startServer({ settings: (url) => ({ appUrl: url }) });
  portal = await openPortal(server, { name: 'Ada Lovelace' });
  await portal.saveCard(GOOD);
  ({ id } = await subscribe(server, portal.customer));
});
afterAll(() => server.stop());

const ACTIONS = ['cancel', 'pause', 'resume', 'uncancel', 'unschedule'];
const PAGES = [
  '',
  '/cancel',
  '/pause',
  '/resume',
  '/uncancel',
  '/unschedule',
  '/payment-method',
  `/invoices/${UNKNOWN}`,
];

async function expectClosed(token: string): Promise<void> {
  for (const action of ACTIONS) {
    const bodies = [{ subscription_id: id }, {}, { subscription_id: UNKNOWN }];
    for (const body of bodies) {
      const path = `/portal/${token}/${action}`;
      const { status, json } = await server.call('POST', path, { key: null, body });
      expect([status, json.error.type]).toEqual([401, 'unauthorized']);
    }
    const raw = new URLSearchParams({ subscription_id: id });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const form = await server.call('POST', `/portal/${token}/${action}`, {
      key: null,
      raw,
      headers,
    });
    expect([form.status, form.headers.get('content-type')]).toEqual([
      401,
      'text/html; charset=utf-8',
    ]);
  }
  for (const page of PAGES) {
    const { status, text, headers } = await server.call('GET', `/portal/${token}${page}`, {
      key: null,
    });
    expect([page, status, headers.get('content-type')]).toEqual([
      page,
      401,
      'text/html; charset=utf-8',
    ]);
    expect(text).toContain('This link is invalid or has expired');
    for (const secret of ['Ada', 'One', 'Atlas', '4242', portal.customer])
      expect(text).not.toContain(secret);
  }
}

test.each(['x', UNKNOWN, '0'.repeat(43), 'a'.repeat(44), '%00'.repeat(43), "'%20or%201=1--"])(
  'a portal token is a 401: %s',
  (token) => expectClosed(token),
);

test('an expired portal token is a 401', async () => {
  const { token, tokenId } = await portalOf(server, portal.customer);
  await server.sql`
    update portal_tokens set created_at = now() - interval '2 days', expires_at = now() - interval '1 ms' where id = ${tokenId}`;
  await expectClosed(token);
});

test('a revoked portal token is a 401 from then on', async () => {
  const other = await portalOf(server, portal.customer);
  expect((await other.get()).status).toBe(200);
  await server.call('DELETE', `/portal-tokens/${other.tokenId}`);
  await expectClosed(other.token);
  expect((await portal.get()).status).toBe(200);
});

test('an API key does not open a portal, and a portal token is no API key', async () => {
  await expectClosed(server.organisation.testKey);
  const { status } = await server.call('GET', '/customers', { key: portal.token });
  expect(status).toBe(401);
});

test('no portal token is in the log', async () => {
  await portal.get();
  await portal.post('cancel', {});
  expect(server.logged.join('\n')).toContain('/portal/*/cancel');
  // The path of a mistyped address contains a token, too.
  for (const path of [
    `/Portal/${portal.token}`,
    `/app/portal/${portal.token}`,
    `/portal%2F${portal.token}`,
  ]) {
    expect((await server.call('GET', path, { key: null })).status).toBe(404);
  }
  await server.call('GET', '/sandbox/challenges/the-key', { key: null });
  expect(server.logged.join('\n')).toContain('/sandbox/challenges/*');
  expect(server.logged.join('\n')).not.toMatch(new RegExp(`${portal.token}|the-key`));
});
