// Reads beside others that take parameters: they take none, and one that is sent is refused.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

test.each(['/reports/overview', '/organization/security'])(
  '%s takes no query parameters',
  async (path) => {
    expect((await server.call('GET', path)).status).toBe(200);
    for (const [query, name] of [
      ['?day=2026-01-01', 'day'],
      ['?limit=1', 'limit'],
      ['?__proto__=1', '__proto__'],
    ] as const) {
      const { status, json } = await server.call('GET', path + query);
      expect([query, status, json.error?.issues]).toEqual([
        query,
        400,
        [{ path: [name], message: 'is not a known field' }],
      ]);
    }
    expect((await server.call('GET', `${path}?day=1`, { key: null })).status).toBe(401);
  },
);
