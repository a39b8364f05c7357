import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openSecrets } from '../../../src/platform/crypto/secrets.ts';
import { EVENT_TYPES } from '../../../src/records/events.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { TEST_SECRETS_KEY } from '../../support/settings.ts';
import { URL_OF_NOBODY } from './owed.ts';

/** Its types are the first of the catalogue (test/http/events/catalogue.test.ts). */
const CONTRACT = 24;

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const SECRET = /^whsec_[A-Za-z0-9+/]{32}$/;
const url = URL_OF_NOBODY;
const create = (body: object, headers: Record<string, string> = {}) =>
  server.call('POST', '/webhook-endpoints', { body, headers });

test('POST of a webhook endpoint answers every field, and the secret', async () => {
  const reply = await create({ url, event_types: ['*'], description: 'Mine', status: 'disabled' });
  expect(reply.status).toBe(201);
  expect(reply.json).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
    url,
    event_types: ['*'],
    description: 'Mine',
    status: 'disabled',
    disabled_reason: null,
    failing_since: null,
    created_at: expect.stringMatching(ISO),
    updated_at: expect.stringMatching(ISO),
    secret: expect.stringMatching(SECRET),
  });
});

test('a webhook endpoint without event_types gets the types of the contract but usage.recorded, and is enabled', async () => {
  const { json } = await create({ url });
  const contract = EVENT_TYPES.slice(0, CONTRACT);
  expect(json.event_types).toEqual(contract.filter((type) => type !== 'usage.recorded'));
  expect([json.status, json.description]).toEqual(['enabled', null]);
});

test("an endpoint's secret is shown once, and stored encrypted", async () => {
  const { json } = await create({ url });
  const { secret, ...shown } = json;
  for (const path of [`/webhook-endpoints/${json.id}`, '/webhook-endpoints?limit=200']) {
    const reply = await server.call('GET', path);
    expect(reply.text).not.toContain(secret);
    expect(reply.text).not.toContain('whsec_');
  }
  expect((await server.call('GET', `/webhook-endpoints/${json.id}`)).json).toEqual(shown);
  const [row] = await server.sql`select secret from webhook_endpoints where id = ${json.id}`;
  expect(row!['secret'].toString('latin1')).not.toContain(secret.slice(6));
  expect(openSecrets(TEST_SECRETS_KEY).open(row!['secret'], json.id)).toBe(secret);
  expect(server.logged.join('\n')).not.toContain('whsec_');
});

test('POST of an endpoint again with its key replays to the byte; its secret is stored encrypted', async () => {
  const headers = { 'idempotency-key': 'endpoint-1' };
  const first = await create({ url }, headers);
  const again = await create({ url }, headers);
  expect([again.status, again.text]).toEqual([201, first.text]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  const rows =
    await server.sql`select body from idempotency where organisation_id = ${server.organisation.id}`;
  expect(rows).toHaveLength(1);
  expect(rows[0]!['body']).not.toContain('whsec_');
  expect(Buffer.from(rows[0]!['body'], 'base64').toString('latin1')).not.toContain('whsec_');
  const other = await create({ url, description: 'another' }, headers);
  expect([other.status, other.json.error.type]).toEqual([422, 'idempotency_key_reused']);
});

test('of several POSTs of an endpoint with one key at once, one makes it', async () => {
  const headers = { 'idempotency-key': 'endpoint-2' };
  const body = { url, description: 'once' };
  await Promise.all(Array.from({ length: 8 }, () => create(body, headers)));
  expect(await server.sql`select 1 from webhook_endpoints where description = 'once'`).toHaveLength(
    1,
  );
});

// prettier-ignore
const URLS: [string, string][] = [
  ['a public address',                 'https://93.184.215.14/hook?a=b'],
  ['a port over 1023',                 'https://hooks.example:8443/'],
  ['this machine, for a test key',     'http://localhost:4000/hook'],
  ['this machine, by its address',     'http://127.0.0.1:4000/hook'],
];

test.each(URLS)('a webhook endpoint takes %s as it was sent', async (_what, address) => {
  const reply = await create({ url: address });
  expect([reply.status, reply.json.url]).toEqual([201, address]);
});
