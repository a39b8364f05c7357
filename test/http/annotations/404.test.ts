import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Reply } from '../../support/server.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import {
  aCustomer,
  add,
  anInvoice,
  aSubscription,
  nothing,
  type ObjectRef,
  RESOURCES,
  told,
} from './annotating.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

function expectNotFound({ status, json }: Reply): void {
  expect([status, json.error.type]).toEqual([404, 'not_found']);
}

const strangers = (): string[] => [
  server.other.testKey,
  server.other.liveKey,
  server.organisation.liveKey,
];

// prettier-ignore
const OBJECTS: [string, () => Promise<ObjectRef>][] = [
  ['a customer that is not there', async () => nothing('customer')],
  ['an invoice that is not there', async () => nothing('invoice')],
  ['a subscription that is not there', async () => nothing('subscription')],
  ["a customer's id as an invoice's", async () => ({ ...(await aCustomer(server)), object_type: 'invoice' })],
  ["an invoice's id as a customer's", async () => ({ ...(await anInvoice(server)), object_type: 'customer' })],
];

describe.each(RESOURCES)('%s', (path, resource) => {
  test.each(OBJECTS)('POST on %s is 404, and stores nothing', async (_what, object) => {
    const on = await object();
    expectNotFound(await add(server, resource, on));
    const { json } = await server.call('GET', `${path}?object_id=${on.object_id}`);
    expect(json.data).toEqual([]);
  });

  test.each([['customer'], ['invoice'], ['subscription']])(
    'POST on a %s of another organisation or mode is 404',
    async (type) => {
      const customer = await aCustomer(server);
      const objects: Record<string, () => ObjectRef | Promise<ObjectRef>> = {
        customer: () => customer,
        invoice: () => anInvoice(server),
        subscription: () => aSubscription(server, customer.object_id),
      };
      const on = await objects[type]!();
      for (const key of strangers()) expectNotFound(await add(server, resource, on, { key }));
      const { json } = await server.call('GET', `${path}?object_id=${on.object_id}`);
      expect(json.data).toEqual([]);
    },
  );

  test('a 404 is not kept under its Idempotency-Key: POST succeeds once the object is there', async () => {
    const headers = { 'idempotency-key': `${path} later` };
    const body = { ...nothing('customer') };
    expectNotFound(await add(server, resource, body, { headers }));
    expectNotFound(await add(server, resource, body, { headers }));
  });

  test('an annotation of another organisation or mode is neither listed nor deleted', async () => {
    const { json: made } = await add(server, resource, await aCustomer(server));
    for (const key of strangers()) {
      expectNotFound(await server.call('DELETE', `${path}/${made.id}`, { key }));
      const { json } = await server.call('GET', `${path}?object_id=${made.object_id}`, { key });
      expect(json.data).toEqual([]);
    }
    expect(await told(server, made.id)).toHaveLength(1);
    expect((await server.call('DELETE', `${path}/${made.id}`)).status).toBe(204);
  });

  test.each([['x'], ['01890000-0000-7000-8000-000000000000'], ['%00'], ["'"], ['%ff']])(
    'DELETE of the id %s is 404',
    async (id) => {
      expectNotFound(await server.call('DELETE', `${path}/${id}`));
    },
  );

  test('DELETE by the route of the other kind of annotation is 404', async () => {
    const [, other] = RESOURCES.find(([each]) => each !== path)!;
    const { json: made } = await add(server, other, await aCustomer(server));
    expectNotFound(await server.call('DELETE', `${path}/${made.id}`));
    expect((await server.call('DELETE', `${other.path}/${made.id}`)).status).toBe(204);
  });
});
