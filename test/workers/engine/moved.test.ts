// An endpoint gets another URL while the old one still answers.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ deliver: true });
});
afterAll(() => server.stop());

test("a 410 of an endpoint's old url does not disable it at the new one", async () => {
  const asked = Promise.withResolvers<void>();
  const moved = Promise.withResolvers<void>();
  const old = Bun.serve({
    port: 0,
    async fetch() {
      asked.resolve();
      await moved.promise;
      return new Response(null, { status: 410 });
    },
  });
  const heard: string[] = [];
  const fresh = Bun.serve({
    port: 0,
    fetch(request) {
      heard.push(request.headers.get('webhook-id') ?? '');
      return new Response(null, { status: 204 });
    },
  });
  try {
    const url = `http://localhost:${old.port}/`;
    const { id } = (await server.call('POST', '/webhook-endpoints', { body: { url } })).json;
    await server.call('POST', '/customers', { body: { email: 'a@example.com' } });
    await asked.promise;
    const body = { url: `http://localhost:${fresh.port}/` };
    await server.call('PATCH', `/webhook-endpoints/${id}`, { body });
    moved.resolve();
    // What the old URL refused is held until the sweep finds the endpoint enabled.
    await until('the new address is told', () => Promise.resolve(heard.length === 1), 10_000);
    const after = (await server.call('GET', `/webhook-endpoints/${id}`)).json;
    expect(after.status).toBe('enabled');
  } finally {
    await Promise.all([old.stop(true), fresh.stop(true)]);
  }
}, 60_000);
