import { afterAll, beforeAll, expect, test } from 'bun:test';
import { EXPONENTS } from '../../../ledger/kernel/currencies.ts';
import { findPublicProduct } from '../../../src/records/products.ts';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const post = (path: string, body?: object, headers: Record<string, string> = {}) =>
  server.call('POST', path, { ...(body && { body }), headers });
const create = async (body: object) => (await post('/products', body)).json;
const read = async (id: string) => (await server.call('GET', `/products/${id}`)).json;

test('POST /products answers 201 with every field', async () => {
  const reply = await post('/products', { name: 'Plan' });
  expect(reply.status).toBe(201);
  expect(reply.json).toEqual({
    id: expect.stringMatching(UUID),
    name: 'Plan',
    description: '',
    prices: [],
    slug: expect.stringMatching(/^plan-[0-9a-f]{12}$/),
    status: 'active',
    metadata: {},
    created_at: expect.stringMatching(ISO),
    updated_at: expect.stringMatching(ISO),
  });
  expect(await read(reply.json.id)).toEqual(reply.json);
});

test('POST /products takes every field, with the prices in their order', async () => {
  const made = await create({
    name: 'Pro <b>plan</b>',
    description: 'All of it',
    slug: 'pro_plan-1',
    status: 'unpublished',
    metadata: { tier: 'gold' },
    prices: [
      { amount: '1000', currency: 'JPY', type: 'one_time' },
      { amount: '12.5', currency: 'USD', type: 'recurring', interval: 'month' },
      { amount: '12', currency: 'KWD', interval: 'week', interval_count: 2, trial_days: 14 },
      { amount: '0', currency: 'EUR' },
    ],
  });
  const common = { id: expect.stringMatching(UUID), status: 'active', created_at: made.created_at };
  expect(made).toMatchObject({
    name: 'Pro <b>plan</b>',
    description: 'All of it',
    slug: 'pro_plan-1',
    status: 'unpublished',
    metadata: { tier: 'gold' },
  });
  expect(made.prices).toEqual([
    { ...common, amount: '1000', currency: 'JPY', type: 'one_time' },
    {
      ...common,
      amount: '12.50',
      currency: 'USD',
      type: 'recurring',
      interval: 'month',
      interval_count: 1,
      trial_days: 0,
    },
    {
      ...common,
      amount: '12.000',
      currency: 'KWD',
      type: 'recurring',
      interval: 'week',
      interval_count: 2,
      trial_days: 14,
    },
    { ...common, amount: '0.00', currency: 'EUR', type: 'one_time' },
  ]);
  expect(await read(made.id)).toEqual(made);
});

test('a product has a price in every currency, and none loses a coin', async () => {
  const prices = [...EXPONENTS].map(([currency, exponent]) => ({
    amount: exponent === 0 ? '999999999999' : `999999999999.${'1234'.slice(0, exponent)}`,
    currency,
  }));
  const { id } = await create({ name: 'Everywhere', prices });
  const { prices: stored } = await read(id);
  expect(stored.map(({ amount, currency }: (typeof prices)[0]) => ({ amount, currency }))).toEqual(
    prices,
  );
});

// prettier-ignore
test.each([
  ['Crème Brûlée, 2 pièces!', /^creme-brulee-2-pieces-[0-9a-f]{12}$/],
  ['--- ',                    /^product-[0-9a-f]{12}$/],
  ['日本',                     /^product-[0-9a-f]{12}$/],
  ['ﬁne',                     /^fine-[0-9a-f]{12}$/],
  ['x'.repeat(255),           /^x{48}-[0-9a-f]{12}$/],
  [`${'x'.repeat(47)} y`,     /^x{47}-[0-9a-f]{12}$/],
])('POST of a product named %s makes a slug', async (name, slug) => {
  expect((await create({ name })).slug).toMatch(slug);
});

test('two products of one name have two slugs', async () => {
  const [first, second] = [await create({ name: 'Twin' }), await create({ name: 'Twin' })];
  expect(first.slug).not.toBe(second.slug);
});

test('PATCH of a product changes the given fields and nothing else', async () => {
  const made = await create({ name: 'Old', description: 'old', metadata: { a: '1', b: '2' } });
  const patch = (body: object) => server.call('PATCH', `/products/${made.id}`, { body });
  const first = await patch({ name: 'New', metadata: { a: '3' }, slug: 'brand-new' });
  expect(first.status).toBe(200);
  expect(first.json).toEqual({
    ...made,
    name: 'New',
    metadata: { a: '3' },
    slug: 'brand-new',
    updated_at: expect.stringMatching(ISO),
  });
  const second = await patch({ description: '', status: 'unpublished' });
  const expected = { description: '', status: 'unpublished', updated_at: expect.anything() };
  expect(second.json).toEqual({ ...first.json, ...expected });
  expect((await patch({ slug: 'brand-new' })).status).toBe(200);
  expect(await read(made.id)).toEqual({ ...second.json, updated_at: expect.anything() });
});

test('archive and publish of a product answer it, again too', async () => {
  const { id } = await create({ name: 'Seasonal' });
  for (const [action, status] of [
    ['archive', 'archived'],
    ['archive', 'archived'],
    ['publish', 'active'],
    ['publish', 'active'],
  ] as const) {
    const reply = await post(`/products/${id}/${action}`);
    expect([reply.status, reply.json.id, reply.json.status]).toEqual([200, id, status]);
    expect((await read(id)).status).toBe(status);
  }
  await server.call('PATCH', `/products/${id}`, { body: { status: 'unpublished' } });
  expect((await post(`/products/${id}/publish`)).json.status).toBe('active');
});

test('POST adds a price to a product; an archived price stays, behind the active ones', async () => {
  const body = { name: 'Priced', prices: [{ amount: '1', currency: 'USD' }] };
  const { id, prices } = await create(body);
  const added = await post(`/products/${id}/prices`, { amount: '2.25', currency: 'USD' });
  expect(added.status).toBe(201);
  expect(added.json).toEqual({
    id: expect.stringMatching(UUID),
    amount: '2.25',
    currency: 'USD',
    type: 'one_time',
    status: 'active',
    created_at: expect.stringMatching(ISO),
  });
  const archived = { ...prices[0], status: 'archived' };
  for (let again = 0; again < 2; again += 1) {
    const reply = await post(`/products/${id}/prices/${prices[0].id}/archive`);
    expect([reply.status, reply.json]).toEqual([200, archived]);
  }
  expect((await read(id)).prices).toEqual([added.json, archived]);
});

test('GET /products lists newest first, in pages, by status, each with its own prices', async () => {
  const key = server.other.testKey;
  for (const n of [1, 2, 3]) {
    const prices = Array.from({ length: n }, () => ({ amount: `${n}.00`, currency: 'USD' }));
    const body = { name: `p${n}`, prices, ...(n === 2 && { status: 'archived' }) };
    await server.call('POST', '/products', { key, body });
  }
  const list = async (query: string) => {
    const { json } = await server.call('GET', `/products${query}`, { key });
    const names = json.data.map((product: { name: string }) => product.name);
    return [names.join(' '), json.limit, json.offset, json.has_more];
  };
  expect(await list('')).toEqual(['p3 p2 p1', 50, 0, false]);
  expect(await list('?limit=2')).toEqual(['p3 p2', 2, 0, true]);
  expect(await list('?limit=2&offset=1')).toEqual(['p2 p1', 2, 1, false]);
  expect(await list('?limit=200&offset=9')).toEqual(['', 200, 9, false]);
  expect(await list('?status=archived')).toEqual(['p2', 50, 0, false]);
  expect(await list('?status=active')).toEqual(['p3 p1', 50, 0, false]);
  expect(await list('?name_prefix=P')).toEqual(['p3 p2 p1', 50, 0, false]);
  expect(await list('?name_prefix=p2')).toEqual(['p2', 50, 0, false]);
  expect(await list('?name_prefix=p&status=active&limit=1')).toEqual(['p3', 1, 0, true]);
  // No pattern: each character is itself.
  for (const none of ['%25', '_', '2', 'p%25']) {
    expect(await list(`?name_prefix=${none}`)).toEqual(['', 50, 0, false]);
  }
  const { json } = await server.call('GET', '/products', { key });
  const amounts = json.data.map(({ prices }: { prices: { amount: string }[] }) =>
    prices.map(({ amount }) => amount),
  );
  expect(amounts).toEqual([['3.00', '3.00', '3.00'], ['2.00', '2.00'], ['1.00']]);
});

test('an Idempotency-Key creates one product, however many at once', async () => {
  const body = { name: 'Once', slug: 'once', prices: [{ amount: '1', currency: 'USD' }] };
  const headers = { 'idempotency-key': 'product-1' };
  const burst = Array.from({ length: 10 }, () => post('/products', body, headers));
  const replies = [...(await Promise.all(burst)), await post('/products', body, headers)];
  const made = replies.filter(({ status }) => status === 201);
  expect(
    replies.map(({ status }) => status).filter((status) => ![201, 409].includes(status)),
  ).toEqual([]);
  expect(new Set(made.map(({ text }) => text)).size).toBe(1);
  expect(made.at(-1)!.headers.get('idempotency-replayed')).toBe('true');
  expect(await server.sql`select 1 from products where name = 'Once'`).toHaveLength(1);
});

test('an Idempotency-Key adds one price, and is of one product', async () => {
  const [one, two] = [await create({ name: 'A' }), await create({ name: 'B' })];
  const price = { amount: '1', currency: 'USD' };
  const headers = { 'idempotency-key': 'price-1' };
  const add = (id: string) => post(`/products/${id}/prices`, price, headers);
  const first = await add(one.id);
  const again = await add(one.id.toUpperCase());
  expect([again.status, again.text]).toEqual([201, first.text]);
  expect((await add(two.id)).status).toBe(422);
  expect((await read(one.id)).prices).toHaveLength(1);
  expect((await read(two.id)).prices).toEqual([]);
});

test('a buy link finds an active product of any organisation, by id, prefixed id or slug', async () => {
  const { organisation, other, sql } = server;
  const call = { key: other.liveKey, body: { name: 'Public', slug: 'public' } };
  const { json: product } = await server.call('POST', '/products', call);
  const references = [product.id, `prod_${product.id}`, product.id.toUpperCase(), 'public'];
  for (const reference of references) {
    const found = await findPublicProduct(sql, reference);
    expect([found?.scope, found?.product.id]).toEqual([
      { organisationId: other.id, mode: 'live' },
      product.id,
    ]);
  }
  const nothing = [
    'PUBLIC',
    'prod_public',
    'nobody',
    '',
    'a\0b',
    organisation.id,
    `x${product.id}`,
  ];
  for (const reference of nothing) expect(await findPublicProduct(sql, reference)).toBeNull();
  await server.call('POST', `/products/${product.id}/archive`, { key: other.liveKey });
  for (const reference of references) expect(await findPublicProduct(sql, reference)).toBeNull();
});
