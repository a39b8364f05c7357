// PUT /meters/{slug}: for scripts that declare the wanted state and run any number of times.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { BOUNDS } from '../../../src/platform/bounds.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { TEST_SETTINGS } from '../../support/settings.ts';

const METERS_MAX = 12;

let server: TestServer;
beforeAll(async () => {
  const bounds = { ...TEST_SETTINGS.bounds, meters: METERS_MAX };
  server = await startServer({ settings: { bounds } });
});
afterAll(() => server.stop());

const put = (slug: string, body: unknown = {}, call: object = {}) =>
  server.call('PUT', `/meters/${encodeURIComponent(slug)}`, { body, ...call });

test('PUT makes a meter, then changes the given fields, then changes nothing', async () => {
  const fixed = { event_name: 'call', aggregation: 'max', value_property: 'n', scale: 2 };
  const made = await put('one', { ...fixed, name: 'One', unit: 'calls', metadata: { a: 'b' } });
  expect([made.status, made.json]).toMatchObject([201, { slug: 'one', ...fixed, name: 'One' }]);
  const changed = await put('one', { ...fixed, slug: 'one', name: 'Two', unit: null });
  expect([changed.status, changed.json]).toMatchObject([
    200,
    { id: made.json.id, name: 'Two', unit: null, metadata: { a: 'b' } },
  ]);
  const same = await put('one', { ...fixed, name: 'Two' });
  expect([same.status, same.text]).toEqual([200, changed.text]);
  const archived = await put('one', { status: 'archived' });
  expect(archived.json).toMatchObject({ ...fixed, status: 'archived' });
  expect((await put('one', { unique_property: null, value_property: null })).status).toBe(200);
});

test('PUT of a meter needs nothing but the slug', async () => {
  const { status, json } = await put('bare', { description: null, status: 'archived' });
  expect([status, json]).toMatchObject([
    201,
    { slug: 'bare', name: 'bare', description: null, scale: 6, status: 'archived' },
  ]);
});

// prettier-ignore
const FIXED: [string, unknown][] = [
  ['event_name',      'another'],
  ['aggregation',     'count'],
  ['value_property',  'm'],
  ['unique_property', 'm'],
  ['scale',           3],
  ['carry',           true],
];

test.each(FIXED)('PUT cannot change %s of a meter', async (field, value) => {
  await put('fixed', { event_name: 'call', value_property: 'n', scale: 2 });
  const before = await server.call('GET', '/meters/fixed');
  const { status, json } = await put('fixed', { name: 'Other', [field]: value });
  const issues = [{ path: [field], message: 'cannot be changed' }];
  expect([status, json.error.issues]).toEqual([400, issues]);
  expect((await server.call('GET', '/meters/fixed')).text).toBe(before.text);
});

test('PUT of a unique meter needs its property only where it makes the meter', async () => {
  const unique = { aggregation: 'unique' };
  const { status, json } = await put('people', unique);
  expect([status, json.error.issues[0].path]).toEqual([400, ['unique_property']]);
  expect((await put('people', { ...unique, unique_property: 'user' })).status).toBe(201);
  expect((await put('people', unique)).status).toBe(200);
});

test('PUT makes a meter that carries its last value, and answers it as it was made', async () => {
  const { status, json } = await put('disk', { carry: true });
  expect([status, json.error.issues[0].path]).toEqual([400, ['carry']]);
  const carried = { aggregation: 'last', carry: true };
  const made = await put('disk', carried);
  expect([made.status, made.json]).toMatchObject([201, carried]);
  expect((await put('disk', { carry: true })).text).toBe(made.text);
  expect((await put('disk', { carry: false })).json.error.issues[0].path).toEqual(['carry']);
  expect((await server.call('GET', '/meters/disk')).json).toEqual(made.json);
});

// prettier-ignore
const REFUSED: [string, string, unknown, string[]][] = [
  ['another slug in the body', 'x',   { slug: 'y' },  ['slug']],
  ['capitals',                 'X',   {},             ['slug']],
  ['a slash',                  'a/b', {},             ['slug']],
  ['a NUL',                    'a\0', {},             ['slug']],
  ['a new line',               'a\n', {},             ['slug']],
  ['an unknown field',         'x',   { nam: 'x' },   ['nam']],
];

test.each(REFUSED)('PUT of a meter with %s is refused', async (_what, slug, body, path) => {
  const { status, json } = await put(slug, body);
  expect([status, json.error.issues?.[0].path]).toEqual([400, path]);
});

test('of many PUTs of a meter at once one makes it, and the limit on meters holds', async () => {
  const key = server.other.testKey;
  const slugs = Array.from({ length: METERS_MAX + 2 }, (_, index) => `m${index}`);
  const replies = await Promise.all(
    [...slugs, ...slugs, ...slugs].map(async (slug) => ({
      slug,
      ...(await put(slug, {}, { key })),
    })),
  );
  for (const [slug, same] of Map.groupBy(replies, (reply) => reply.slug)) {
    const statuses = same.map(({ status }) => status).sort((a, b) => a - b);
    expect([
      [200, 200, 201],
      [409, 409, 409],
    ]).toContainEqual(statuses);
    // Sent again, the call finds what was made and names what was not.
    const again = await put(slug, { name: 'Again' }, { key });
    expect(again.status).toBe(statuses.includes(201) ? 200 : 409);
    if (again.status === 409) expect(again.json.error.message).toContain(BOUNDS.meters.variable);
  }
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(METERS_MAX);
});

test('an Idempotency-Key has no effect on PUT of a meter', async () => {
  const headers = { 'idempotency-key': 'k' };
  expect((await put('keyed', { name: 'A' }, { headers })).status).toBe(201);
  const { status, json } = await put('keyed', { name: 'B' }, { headers });
  expect([status, json.name]).toEqual([200, 'B']);
});
