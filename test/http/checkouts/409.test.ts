import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { checkout, product } from './fixture.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ edited: true });
});
afterAll(() => server.stop());

test.each([['processing'], ['paid'], ['canceled']])(
  'expire of a checkout that is %s is 409',
  async (status) => {
    const { id: product_id } = await product(server);
    const { id } = (await checkout(server, { product_id })).json;
    await server.sql`
    update checkouts set status = ${status}, payment_id = ${id},
      paid_at = case when ${status} = 'paid' then now() end
    where id = ${id}`;
    const reply = await server.call('POST', `/checkouts/${id}/expire`);
    expect([reply.status, reply.json.error]).toEqual([
      409,
      { type: 'invalid_state', message: 'only an active checkout can be expired' },
    ]);
    expect((await server.call('GET', `/checkouts/${id}`)).json.status).toBe(status);
  },
);
