// Who is not signed in sees nothing of the dashboard.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { DASHBOARD_PAGES } from '../../src/dashboard/pages.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const addressOf = (path: string): string =>
  `/dashboard/${server.organisation.id}/test${path.replaceAll(/:\w+/g, 'x')}`;

test('each page of the dashboard leads a stranger to the sign-in, and back afterwards', async () => {
  for (const { path } of DASHBOARD_PAGES) {
    const address = addressOf(path);
    const reply = await fetch(server.url + address, { redirect: 'manual' });
    const to = `/dashboard/sign-in?to=${encodeURIComponent(address)}`;
    expect([path, reply.status, reply.headers.get('location')]).toEqual([path, 303, to]);
  }
});

test('an API key opens no page of the dashboard', async () => {
  const headers = { authorization: `Bearer ${server.organisation.testKey}` };
  const reply = await fetch(server.url + addressOf(''), { headers, redirect: 'manual' });
  expect(reply.status).toBe(303);
});

test('a dashboard form of another site is refused before anything is read', async () => {
  for (const { path, act } of DASHBOARD_PAGES) {
    if (act === undefined) continue;
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'cross-site',
    };
    const reply = await server.call('POST', addressOf(path), { key: null, raw: 'a=b', headers });
    expect([path, reply.status]).toEqual([path, 403]);
  }
});
