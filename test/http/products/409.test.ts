import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const TAKEN = { type: 'conflict', message: 'another product has this slug' };

test('POST of a product with a slug of any organisation or mode is 409, also at once', async () => {
  const { organisation, other, sql } = server;
  const keys = [organisation.testKey, organisation.liveKey, other.testKey, other.liveKey];
  const body = { name: 'Wanted', slug: 'wanted', prices: [{ amount: '1', currency: 'USD' }] };
  const replies = await Promise.all(
    [...keys, ...keys].map((key) => server.call('POST', '/products', { key, body })),
  );
  const statuses = replies.map(({ status }) => status).sort((a, b) => a - b);
  expect(statuses).toEqual([201, 409, 409, 409, 409, 409, 409, 409]);
  expect(replies.find(({ status }) => status === 409)!.json.error).toEqual(TAKEN);
  expect(await sql`select 1 from products where slug = 'wanted'`).toHaveLength(1);
  expect(
    await sql`select 1 from prices join products p on p.id = product_id where p.slug = 'wanted'`,
  ).toHaveLength(1);
});

test('PATCH of a product to a taken slug is 409 and changes nothing, also at once', async () => {
  const made = await Promise.all(
    Array.from({ length: 5 }, () => server.call('POST', '/products', { body: { name: 'x' } })),
  );
  const body = { slug: 'fought-over', name: 'Winner' };
  const replies = await Promise.all(
    made.map(({ json }) => server.call('PATCH', `/products/${json.id}`, { body })),
  );
  const statuses = replies.map(({ status }) => status).sort((a, b) => a - b);
  expect(statuses).toEqual([200, 409, 409, 409, 409]);
  expect(replies.find(({ status }) => status === 409)!.json.error).toEqual(TAKEN);
  expect(await server.sql`select 1 from products where name = 'Winner'`).toHaveLength(1);
});

test('a product has at most 200 prices, also at once', async () => {
  const price = { amount: '1', currency: 'USD' };
  const prices = Array.from({ length: 198 }, () => price);
  const { json } = await server.call('POST', '/products', { body: { name: 'Many', prices } });
  const path = `/products/${json.id}/prices`;
  const replies = await Promise.all(
    Array.from({ length: 6 }, () => server.call('POST', path, { body: price })),
  );
  const statuses = replies.map(({ status }) => status).sort((a, b) => a - b);
  expect(statuses).toEqual([201, 201, 409, 409, 409, 409]);
  expect(replies.find(({ status }) => status === 409)!.json.error.type).toBe('conflict');
  expect((await server.call('GET', `/products/${json.id}`)).json.prices).toHaveLength(200);
});
