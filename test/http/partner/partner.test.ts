import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { openSecrets } from '../../../src/platform/crypto/secrets.ts';
import { createGroup, createOrganisation } from '../../../src/accounts/onboarding.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { TEST_SECRETS_KEY } from '../../support/settings.ts';
import { anEvent, deliveriesOf, unaccounted, URL_OF_NOBODY } from '../webhook-endpoints/owed.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const url = URL_OF_NOBODY;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const PATH = '/partner/webhook-endpoints';
const call = (method: string, path: string, body?: object, key = server.group.testKey) =>
  server.call(method, path, { key, ...(body !== undefined && { body }) });
const create = async (body: object, key?: string) => (await call('POST', PATH, body, key)).json;

test("POST of a group's webhook endpoint answers every field, and the secret once", async () => {
  const reply = await call('POST', PATH, { url });
  expect(reply.status).toBe(201);
  const { secret, ...made } = reply.json;
  expect(made).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
    group_id: server.group.id,
    url,
    event_types: ['payment.refunded', 'payment.refund_failed'],
    environment: 'test',
    status: 'enabled',
    created_at: expect.stringMatching(ISO),
  });
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
  const one = await call('GET', `${PATH}/${made.id}`);
  expect([one.status, one.json]).toEqual([200, made]);
  expect((await call('GET', PATH)).json.data).toEqual([made]);
  const [row] = await server.sql`select secret from webhook_endpoints where id = ${made.id}`;
  expect(openSecrets(TEST_SECRETS_KEY).open(row!['secret'], made.id)).toBe(secret);
});

test("a group's webhook endpoint has the mode of the key", async () => {
  const { liveKey } = server.group;
  expect((await create({ url }, liveKey)).environment).toBe('live');
  const local = await call('POST', PATH, { url: 'http://localhost:4000/' });
  expect(local.status).toBe(201);
  const live = await call('POST', PATH, { url: 'http://localhost:4000/' }, liveKey);
  expect([live.status, live.json.error.issues[0].path]).toEqual([400, ['url']]);
});

test("POST of a group's endpoint again with its key replays; the key of an organisation is another", async () => {
  const headers = { 'idempotency-key': 'partner-1' };
  const { testKey: key } = server.group;
  const first = await server.call('POST', PATH, { key, headers, body: { url } });
  const again = await server.call('POST', PATH, { key, headers, body: { url } });
  expect([again.status, again.text]).toEqual([201, first.text]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  const [kept] = await server.sql`
    select body from idempotency where organisation_id = ${server.group.id}`;
  expect(kept!['body']).not.toContain('whsec_');
  const own = await server.call('POST', '/webhook-endpoints', { headers, body: { url } });
  expect([own.status, own.headers.get('idempotency-replayed')]).toEqual([201, null]);
});

test("a group's endpoint gets the events of every organisation in the group, in its mode, and no others", async () => {
  const setting = { sql: server.sql, ids, now: Date.now() };
  const second = await createOrganisation(setting, { name: 'Two', groupId: server.group.id });
  if (typeof second === 'string') throw new Error(second);
  const { id } = await create({ url, event_types: ['customer.created'] });
  const first = await anEvent(server);
  const other = await anEvent(server, second.testKey);
  await anEvent(server, server.organisation.liveKey);
  await anEvent(server, server.other.testKey);
  const owed = await deliveriesOf(server, id);
  expect(owed.map((row) => row['event'])).toEqual([first, other]);
  expect(await unaccounted(server)).toEqual([]);
});

test("a group's webhook endpoint is changed, its secret rotated, and deleted", async () => {
  const { secret, ...made } = await create({ url });
  const path = `${PATH}/${made.id}`;
  const body = { url: 'https://hooks.example/new', event_types: ['*'], status: 'disabled' };
  const changed = await call('PATCH', path, body);
  expect([changed.status, changed.json]).toEqual([200, { ...made, ...body }]);
  await anEvent(server);
  expect(await deliveriesOf(server, made.id)).toMatchObject([{ status: 'held' }]);
  await call('PATCH', path, { status: 'enabled' });
  expect(await deliveriesOf(server, made.id)).toMatchObject([{ status: 'pending' }]);
  const rotated = await call('POST', `${path}/rotate-secret`);
  expect(rotated.json.secret).toMatch(/^whsec_/);
  expect(rotated.json.secret).not.toBe(secret);
  expect((await call('DELETE', path)).status).toBe(204);
  expect((await call('GET', path)).status).toBe(404);
  expect(await deliveriesOf(server, made.id)).toMatchObject([{ status: 'exhausted' }]);
});

// prettier-ignore
const BODIES: [string, object, string][] = [
  // what                body                                    at
  ['no url',             {},                                     'url'],
  ['no https',           { url: 'http://hooks.example/' },       'url'],
  ['a private address',  { url: 'https://192.168.0.1/' },        'url'],
  ['no type',            { url, event_types: [] },               'event_types'],
  ['an unknown type',    { url, event_types: ['refund'] },       'event_types.0'],
  ['* beside a type',    { url, event_types: ['*', 'tag.created'] }, 'event_types.0'],
  ['a description',      { url, description: 'x' },              'description'],
  ['a status',           { url, status: 'disabled' },            'status'],
];

test.each(BODIES)("POST of a group's webhook endpoint with %s is 400", async (_what, body, at) => {
  const before = await server.sql`select count(*) from webhook_endpoints`;
  const reply = await call('POST', PATH, body);
  expect([reply.status, reply.json.error.type]).toEqual([400, 'invalid_request']);
  expect(reply.json.error.issues.map((issue: { path: string[] }) => issue.path.join('.'))).toEqual([
    at,
  ]);
  expect(await server.sql`select count(*) from webhook_endpoints`).toEqual(before);
});

// prettier-ignore
const ROUTES: [string, string, object | undefined][] = [
  ['GET',    '',                undefined],
  ['PATCH',  '',                { status: 'disabled' }],
  ['DELETE', '',                undefined],
  ['POST',   '/rotate-secret',  undefined],
];

test.each(ROUTES)(
  '%s %s of an endpoint of another group or organisation is 404',
  async (method, suffix, body) => {
    const mine = await create({ url });
    const own = (await server.call('POST', '/webhook-endpoints', { body: { url } })).json;
    const stranger = await createGroup({ sql: server.sql, ids, now: Date.now() }, { name: 'Else' });
    const before = await server.sql`select * from webhook_endpoints order by id`;
    const { testKey, liveKey } = server.group;
    const tries: [string, string][] = [
      [mine.id, liveKey],
      [mine.id, stranger.testKey],
      [own.id, testKey],
      ['01890000-0000-7000-8000-000000000000', testKey],
      ['%ff', testKey],
    ];
    for (const [id, key] of tries) {
      const reply = await call(method, `${PATH}/${id}${suffix}`, body, key);
      expect([reply.status, reply.json.error.type]).toEqual([404, 'not_found']);
    }
    expect(await server.sql`select * from webhook_endpoints order by id`).toEqual(before);
  },
);

test("an organisation's key is refused by the routes of groups", async () => {
  const { testKey: key } = server.organisation;
  const replies = [
    await call('POST', PATH, { url: 'not judged' }, key),
    await call('GET', PATH, undefined, key),
  ];
  for (const [method, suffix, body] of ROUTES) {
    replies.push(await call(method, `${PATH}/x${suffix}`, body, key));
  }
  for (const reply of replies) {
    expect([reply.status, reply.json.error.type]).toEqual([403, 'forbidden']);
  }
});
