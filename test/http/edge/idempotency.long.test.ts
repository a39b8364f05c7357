// A call whose key is in use waits 5 s, over HTTP: key-turns.test.ts has the same by its own clock.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

test('of two calls with one Idempotency-Key, one waits 5 s and is told to come back', async () => {
  const call = { body: { slug: 'slower' }, headers: { 'idempotency-key': 'k' } };
  const send = () => server.call('POST', '/meters', call);
  await server.sql.begin(async (sql) => {
    await sql`select 1 from organisations where id = ${server.organisation.id} for update`;
    const began = performance.now();
    // The first one waits for the row, and the second waits for the first.
    const told = await Promise.race([send(), send()]);
    expect([told.status, told.json.error.type]).toEqual([409, 'idempotency_in_progress']);
    expect(told.headers.get('retry-after')).toBe('1');
    expect(performance.now() - began).toBeGreaterThan(4900);
  });
}, 60_000);
