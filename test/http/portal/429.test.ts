import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { TEST_SETTINGS } from '../../support/settings.ts';
import { openPortal, portalOf, UNKNOWN } from './customer.ts';

setDefaultTimeout(60_000);

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ settings: { limits: { ...TEST_SETTINGS.limits, portal: 5 } } });
});
afterAll(() => server.stop());

test('a portal token has so many requests a minute, pages and actions together', async () => {
  const portal = await openPortal(server);
  for (let count = 0; count < 2; count += 1) expect((await portal.get()).status).toBe(200);
  const body = { subscription_id: UNKNOWN };
  for (let count = 0; count < 3; count += 1) {
    expect((await portal.post('cancel', body)).status).toBe(404);
  }
  const { status, json, headers } = await portal.post('cancel', body);
  expect([status, json.error.type]).toEqual([429, 'rate_limited']);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  expect([headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).toEqual(['5', '0']);
  const page = await portal.get();
  expect([page.status, page.headers.get('content-type')]).toEqual([
    429,
    'text/html; charset=utf-8',
  ]);
  expect(page.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(page.text).toContain('Too many requests');
  // Another token of the same customer has its own limit.
  expect((await (await portalOf(server, portal.customer)).get()).status).toBe(200);
});
