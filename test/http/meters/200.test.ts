import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const create = async (body: object) => (await server.call('POST', '/meters', { body })).json;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

test('POST /meters answers 201 with every field, and defaults for what was left out', async () => {
  const reply = await server.call('POST', '/meters', { body: { slug: 'api_calls' } });
  expect(reply.status).toBe(201);
  expect(reply.json).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
    slug: 'api_calls',
    name: 'api_calls',
    description: null,
    event_name: 'api_calls',
    aggregation: 'sum',
    value_property: null,
    unique_property: null,
    unit: null,
    scale: 6,
    carry: false,
    metadata: {},
    status: 'active',
    credit_costs: [],
    created_at: expect.stringMatching(ISO),
    updated_at: expect.stringMatching(ISO),
  });
});

test('POST /meters keeps every field that was sent', async () => {
  const body = {
    slug: 'seats',
    name: 'Seats',
    description: 'People who came',
    event_name: 'login',
    aggregation: 'unique',
    value_property: 'n',
    unique_property: 'user',
    unit: 'seat',
    scale: 0,
    metadata: { team: 'a', __proto__x: 'b', '': undefined, ключ: 'значение' },
  };
  const made = await create(body);
  expect(made).toMatchObject(JSON.parse(JSON.stringify(body)));
  expect((await server.call('GET', `/meters/${made.id}`)).json).toEqual(made);
});

test('GET finds a meter by id and by slug; where a slug is the id of another, the id wins', async () => {
  const first = await create({ slug: 'first' });
  const shadow = await create({ slug: first.id });
  expect((await server.call('GET', '/meters/first')).json).toEqual(first);
  expect((await server.call('GET', `/meters/${first.id}`)).json).toEqual(first);
  expect((await server.call('GET', `/meters/${shadow.id}`)).json).toEqual(shadow);
});

test('PATCH of a meter changes the named fields and nothing else', async () => {
  const made = await create({ slug: 'patched', name: 'Before', description: 'd', unit: 'u' });
  const body = { name: 'After', unit: null, metadata: { a: 'b' }, status: 'archived' };
  const reply = await server.call('PATCH', '/meters/patched', { body });
  expect(reply.status).toBe(200);
  expect(reply.json).toEqual({ ...made, ...body, updated_at: expect.stringMatching(ISO) });
  expect((await server.call('PATCH', `/meters/${made.id}`, { body: {} })).json.name).toBe('After');
});

test('DELETE of a meter is 204; the meter is gone and its slug is free', async () => {
  const made = await create({ slug: 'gone' });
  const reply = await server.call('DELETE', '/meters/gone');
  expect([reply.status, reply.text]).toEqual([204, '']);
  expect((await server.call('GET', `/meters/${made.id}`)).status).toBe(404);
  expect((await server.call('DELETE', `/meters/${made.id}`)).status).toBe(404);
  const again = await create({ slug: 'gone' });
  expect(again.id).not.toBe(made.id);
  // The history stays.
  expect(
    await server.sql`select id from meters where slug = 'gone' and organisation_id = ${server.organisation.id}`,
  ).toHaveLength(2);
});

test('GET /meters lists newest first, in pages', async () => {
  const key = server.other.testKey;
  for (const slug of ['a', 'b', 'c']) await server.call('POST', '/meters', { key, body: { slug } });
  const list = async (query: string) => {
    const { json } = await server.call('GET', `/meters${query}`, { key });
    return [
      json.data.map(({ slug }: { slug: string }) => slug).join(''),
      json.limit,
      json.offset,
      json.has_more,
    ];
  };
  expect(await list('')).toEqual(['cba', 50, 0, false]);
  expect(await list('?limit=2')).toEqual(['cb', 2, 0, true]);
  expect(await list('?limit=2&offset=2')).toEqual(['a', 2, 2, false]);
  expect(await list('?limit=3')).toEqual(['cba', 3, 0, false]);
  expect(await list('?limit=200&offset=9')).toEqual(['', 200, 9, false]);
});

test('test and live mode have separate meters under the same slug', async () => {
  await create({ slug: 'both', name: 'in test' });
  const key = server.organisation.liveKey;
  const live = await server.call('POST', '/meters', {
    key,
    body: { slug: 'both', name: 'in live' },
  });
  expect(live.status).toBe(201);
  expect((await server.call('GET', '/meters/both')).json.name).toBe('in test');
  expect((await server.call('GET', '/meters/both', { key })).json.name).toBe('in live');
});
