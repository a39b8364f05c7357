import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Call, startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let product: { id: string; slug: string; prices: { id: string }[] };
beforeAll(async () => {
  server = await startServer();
  const body = { name: 'Mine', slug: 'mine', prices: [{ amount: '1', currency: 'USD' }] };
  product = (await server.call('POST', '/products', { body })).json;
});
afterAll(() => server.stop());

const UNKNOWN = '01890000-0000-7000-8000-000000000000';
const price = { amount: '1', currency: 'USD' };

// prettier-ignore
const CALLS: [string, string, Call][] = [
  ['GET',   '/products/:id',           {}],
  ['PATCH', '/products/:id',           { body: { name: 'Stolen' } }],
  ['POST',  '/products/:id/archive',   {}],
  ['POST',  '/products/:id/publish',   {}],
  ['POST',  '/products/:id/prices',    { body: price }],
  ['POST',  '/products/:id/prices/:price/archive', {}],
];

// prettier-ignore
const REFERENCES: [string, () => string][] = [
  ['an unknown id',  () => UNKNOWN],
  ['a slug',         () => product.slug],
  ['a prefixed id',  () => `prod_${product.id}`],
  ['nonsense',       () => 'x'],
  ['NUL',            () => 'a%00'],
  ['broken UTF-8',   () => '%ff'],
  ['a longer id',    () => `${product.id}0`],
];

test.each(CALLS)(
  "%s %s of a product: unknown, malformed and another organisation's are the same 404",
  async (method, path, call) => {
    const { organisation, other } = server;
    const bodies = new Set<string>();
    const pathOf = (id: string) => path.replace(':id', id).replace(':price', product.prices[0]!.id);
    for (const [what, reference] of REFERENCES) {
      const reply = await server.call(method, pathOf(reference()), call);
      expect([what, reply.status]).toEqual([what, 404]);
      bodies.add(reply.text);
    }
    for (const key of [other.testKey, other.liveKey, organisation.liveKey]) {
      const reply = await server.call(method, pathOf(product.id), { ...call, key });
      expect(reply.status).toBe(404);
      bodies.add(reply.text);
    }
    expect([...bodies].map((text) => JSON.parse(text).error.type)).toEqual(['not_found']);
    expect((await server.call('GET', `/products/${product.id}`)).json).toEqual(product);
  },
);

test('archiving a price that is unknown, malformed or of another product is 404', async () => {
  const body = { name: 'Second', prices: [price] };
  const { json: second } = await server.call('POST', '/products', { body });
  for (const id of [UNKNOWN, 'x', 'a%00', product.id, product.prices[0]!.id]) {
    const reply = await server.call('POST', `/products/${second.id}/prices/${id}/archive`);
    expect([id, reply.status]).toEqual([id, 404]);
  }
  expect((await server.call('GET', `/products/${product.id}`)).json).toEqual(product);
});

test('GET /products lists none of another organisation or mode', async () => {
  const { organisation, other } = server;
  for (const key of [other.testKey, other.liveKey, organisation.liveKey]) {
    expect((await server.call('GET', '/products', { key })).json.data).toEqual([]);
  }
});

test('a 404 of a product is not kept under its Idempotency-Key', async () => {
  const headers = { 'idempotency-key': 'later' };
  await server.call('POST', `/products/${UNKNOWN}/prices`, { body: price, headers });
  expect(
    await server.sql`select 1 from idempotency where organisation_id = ${server.organisation.id}`,
  ).toHaveLength(0);
});
