// Blocked writes of one organisation delay no other: they hold some of the connections, never all.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

setDefaultTimeout(60_000);

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

test('forty invoices that wait for their numbers hold up no other organisation', async () => {
  const { organisation, other, sql } = server;
  const { json } = await server.call('POST', '/customers', { body: {} });
  const lines = [{ description: 'Hours', unit_amount: '1.00' }];
  const body = { customer_id: json.id, currency: 'USD', lines };
  const bill = () => server.call('POST', '/invoices', { body });
  expect((await bill()).status).toBe(201);
  const bills = await sql.begin(async (transaction) => {
    await transaction`select from invoice_counters where organisation_id = ${organisation.id} for update`;
    const waiting = Array.from({ length: 40 }, bill);
    for (let n = 0; n < 10; n += 1) {
      const made = await server.call('POST', '/customers', { key: other.testKey, body: {} });
      expect(made.status).toBe(201);
    }
    return { waiting };
  });
  const replies = await Promise.all(bills.waiting);
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 201));
});
