// How often one address may ask for logos: for those that are there, and for those that are not.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { png } from '../../support/images.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { TEST_SETTINGS } from '../../support/settings.ts';

const LIMIT = 3;

let server: TestServer;
beforeAll(async () => {
  const limits = { ...TEST_SETTINGS.limits, logos: LIMIT };
  server = await startServer({ settings: { proxyHops: 1, limits } });
});
afterAll(() => server.stop());

const show = (path: string, address: string) =>
  fetch(server.url + path, { headers: { 'x-forwarded-for': address } });

test('GET of logos beyond the rate limit is 429, for that address alone', async () => {
  const data = png(9, 9).toString('base64');
  const { json } = await server.call('PUT', '/organization/logo', { body: { data } });
  const { pathname } = new URL(json.url);
  const unknown = `/logos/${'0'.repeat(40)}`;
  const statuses: number[] = [];
  for (const path of [pathname, unknown, pathname, pathname, unknown]) {
    statuses.push((await show(path, '203.0.113.7')).status);
  }
  expect(statuses).toEqual([200, 404, 200, 429, 429]);
  const refused = await show(pathname, '203.0.113.7');
  expect(refused.headers.get('ratelimit-limit')).toBe(String(LIMIT));
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({ error: { type: 'rate_limited' } });
  expect((await show(pathname, '203.0.113.8')).status).toBe(200);
});
