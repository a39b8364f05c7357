import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Call, type Reply, startServer, type TestServer } from '../../support/server.ts';
import { checkouts, discount, product } from '../checkouts/fixture.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const open = (reference: string, body?: object, call: Call = {}): Promise<Reply> =>
  server.call('POST', `/buy-links/${reference}/checkout`, { key: null, body, ...call });

const FORMS: [string, (made: { id: string; slug: string }) => string, (id: string) => string][] = [
  ['its id', ({ id }) => id, (id) => id],
  ['its id in upper case', ({ id }) => id.toUpperCase(), (id) => id],
  ['prod_ and its id', ({ id }) => `prod_${id}`, (id) => `prod_${id}`],
  ['its slug', ({ slug }) => slug, (id) => id],
];

test.each(FORMS)(
  'a buy link opens a checkout by %s, without a key',
  async (_what, reference, product_id) => {
    const made = await product(server);
    const { status, json } = await open(reference(made));
    expect(status).toBe(200);
    expect(json).toEqual({
      id: json.id,
      url: `http://localhost/pay/${json.token}`,
      token: expect.stringMatching(/^[0-9A-Za-z]{43}$/),
      product_id: product_id(made.id),
      amount: '10.00',
      currency: 'USD',
      status: 'active',
      type: 'one_time',
    });
    const { json: seen } = await server.call('GET', `/checkouts/${json.id}`);
    expect(seen).toMatchObject({
      url: json.url,
      product_id: made.id,
      customer_email: null,
      metadata: {},
    });
  },
);

test('each call of a buy link opens a new checkout', async () => {
  const { id } = await product(server);
  const made = await Promise.all(Array.from({ length: 5 }, () => open(id)));
  expect(new Set(made.map(({ json }) => json.token)).size).toBe(5);
});

test('a buy link keeps the discount code and success_url as sent', async () => {
  await discount(server, { code: 'TENTH', percent_off: 10 });
  const { id } = await product(server);
  const success_url = 'https://shop.example/{CHECKOUT_TOKEN}?a=1#b';
  const { status, json } = await open(id, { discount_code: 'tenth', success_url });
  expect([status, json.amount]).toEqual([200, '9.00']);
  expect((await server.call('GET', `/checkouts/${json.id}`)).json.success_url).toBe(success_url);
});

test("null in a buy link's body is as if the field were left out", async () => {
  const { id } = await product(server);
  const { status, json } = await open(id, { discount_code: null, success_url: null });
  expect([status, json.amount]).toEqual([200, '10.00']);
  expect((await server.call('GET', `/checkouts/${json.id}`)).json.success_url).toBeNull();
});

test("a buy link's checkout is in the buyer's currency, where the product has it", async () => {
  const { id } = await product(server, {
    prices: [
      ['10.00', 'USD'],
      ['9.00', 'EUR'],
    ],
  });
  const from = (language: string) => open(id, {}, { headers: { 'accept-language': language } });
  expect((await from('de-DE')).json).toMatchObject({ amount: '9.00', currency: 'EUR' });
  expect((await from('en-GB')).json).toMatchObject({ amount: '10.00', currency: 'USD' });
});

test("a buy link's checkout belongs to the organisation and mode of the product", async () => {
  const { other, organisation } = server;
  const { id } = await product(server, { key: other.testKey });
  const { json } = await open(id);
  for (const key of [organisation.testKey, other.liveKey]) {
    expect((await server.call('GET', `/checkouts/${json.id}`, { key })).status).toBe(404);
  }
  const { status } = await server.call('GET', `/checkouts/${json.id}`, { key: other.testKey });
  expect(status).toBe(200);
});

test.each([
  ['an unknown id', '01890000-0000-7000-8000-000000000000'],
  ['an unknown id with prod_', 'prod_01890000-0000-7000-8000-000000000000'],
  ['an unknown slug', 'nothing'],
  ['what cannot be a slug', 'No%20Such'],
  ['NUL', 'a%00'],
  ['broken UTF-8', '%ff'],
])('a buy link is 404 for %s', async (_what, reference) => {
  const { status, json } = await open(reference);
  expect([status, json.error.type]).toEqual([404, 'not_found']);
});

test.each(['archived', 'unpublished'])(
  'a buy link is 404 for a product that is %s',
  async (state) => {
    const made = await product(server, { body: { status: state } });
    for (const reference of [made.id, `prod_${made.id}`, made.slug]) {
      const { status, json } = await open(reference);
      expect([status, json.error.type]).toEqual([404, 'not_found']);
    }
  },
);

// prettier-ignore
test.each<[string, object, string]>([
  ['http',                       { success_url: 'http://shop.example/' },            'success_url'],
  ['javascript:',                { success_url: 'javascript:alert(1)' },             'success_url'],
  ["another's e-mail",           { customer_email: 'a@example.com' },                'customer_email'],
  ['metadata',                   { metadata: {} },                                   'metadata'],
])('a buy link is 400 for %s', async (_what, body, at) => {
  const { id } = await product(server);
  const before = await checkouts(server);
  const { status, json } = await open(id, body);
  expect([status, json.error.type]).toEqual([400, 'invalid_request']);
  expect(json.error.issues.map(({ path }: { path: string[] }) => path)).toEqual([[at]]);
  expect(await checkouts(server)).toBe(before);
});

test('a buy link of a live product refuses a loopback success_url, of a test product it takes it', async () => {
  const { liveKey: key } = server.organisation;
  const success_url = 'http://localhost:3000/';
  const live = await product(server, { key });
  expect((await open(live.id, { success_url })).json.error.issues[0].path).toEqual(['success_url']);
  const { id } = await product(server);
  expect((await open(id, { success_url })).status).toBe(200);
});

test('a buy link is 400 checkout_create_failed where no checkout can be made of it', async () => {
  await discount(server, { code: 'EUROS', amount_off: '1.00', currency: 'EUR' });
  const { id } = await product(server);
  const none = await product(server, { prices: [] });
  const live = await product(server, { key: server.organisation.liveKey });
  const before = await checkouts(server);
  for (const reply of [
    await open(none.id),
    await open(id, { discount_code: 'EUROS' }),
    await open(id, { discount_code: 'NOPE' }),
    await open(live.id),
  ]) {
    expect([reply.status, reply.json.error.type]).toEqual([400, 'checkout_create_failed']);
  }
  expect(await checkouts(server)).toBe(before);
});
