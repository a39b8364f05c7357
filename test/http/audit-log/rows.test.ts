// Each operation leaves exactly one row in the audit log, or none where it is routine; a repeated
// call leaves none more; and no row has a secret that was sent or answered.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type FakeAccount, openStripeFake, type StripeFake } from '../../processors/stripe/fake.ts';
import { Shop } from '../../payments/shop.ts';
import type { Call, Reply } from '../../support/server.ts';
import { UNHURRIED } from '../../support/settling.ts';
import { listOperations } from '../edge/operations.ts';
import { Club } from '../subscriptions/subscribing.ts';
import { EVERY_WRITE, type Write } from './every-write.ts';
import { rowsOf } from './reading.ts';

setDefaultTimeout(60_000);

let fake: StripeFake;
let account: FakeAccount;
let club: Club;
/** All that was sent and answered in this file. */
const said: string[] = [];
beforeAll(async () => {
  fake = await openStripeFake();
  account = fake.newAccount();
  const settings = { ...UNHURRIED, stripeApiUrl: new URL(fake.url) };
  const shop = await Shop.open({ settings });
  const call = shop.server.call.bind(shop.server);
  const heard = async (method: string, path: string, sent: Call = {}): Promise<Reply> => {
    const reply = await call(method, path, sent);
    said.push(JSON.stringify(sent), reply.text);
    return reply;
  };
  Object.assign(shop.server, { call: heard });
  club = new Club(shop);
});
afterAll(async () => {
  await club.shop.server.stop();
  await fake.close();
});

const KEYED = listOperations().flatMap(({ name, method, access, operation }) =>
  access === 'portal' || access === 'open' ? [] : [{ name, method, operation }],
);
const OPERATIONS = KEYED.flatMap(({ name, operation }) => {
  const { audit } = operation;
  return audit === 'nothing' ? [] : [{ name, operation, audit }];
});
const named = (name: string) =>
  OPERATIONS.find((one) => one.name.replaceAll(/:(\w+)/g, '{$1}') === name)!;

function send({ method, path, body, key }: Write, headers: Record<string, string> = {}) {
  return club.shop.server.call(method, path, {
    ...(body !== undefined && { body }),
    ...(key !== undefined && { key }),
    headers,
  });
}

const rows = (operation: string) => rowsOf(club.shop.server.sql, operation);

test('every write of the service is tried here', () => {
  const known = OPERATIONS.map(({ name }) => name.replaceAll(/:(\w+)/g, '{$1}'));
  expect(Object.keys(EVERY_WRITE).sort()).toEqual(known.sort());
});

/** Each says in its body what to read. */
const READING_POSTS = [
  'POST /subscriptions/:id/change/preview',
  'POST /subscriptions/:id/cancel/preview',
  'POST /subscriptions/:id/resume/preview',
  'POST /subscriptions/:id/end-trial/preview',
];

test('what writes nothing to the audit log only reads', () => {
  const silent = KEYED.filter(({ operation }) => operation.audit === 'nothing');
  const reads = KEYED.filter(
    ({ method, name }) => method === 'GET' || READING_POSTS.includes(name),
  );
  expect(silent.map(({ name }) => name)).toEqual(reads.map(({ name }) => name));
});

test('what a metering key may do leaves no row in the audit log', () => {
  const metering = OPERATIONS.filter(({ operation }) => operation.scopes.includes('metering'));
  expect(metering.length).toBeGreaterThan(8);
  const logged = metering.filter(({ audit }) => audit.isRoutine !== true);
  expect(logged.map(({ name }) => name)).toEqual([]);
});

test("an audit log row's state before has the shape of the answer", () => {
  const reads = new Set(
    KEYED.flatMap(({ method, operation }) => (method === 'GET' ? operation : [])),
  );
  for (const { operation, audit } of OPERATIONS) {
    if (audit.before === undefined) continue;
    expect([operation.operationId, reads.has(audit.before)]).toEqual([operation.operationId, true]);
    const answer = operation.answers[200];
    if (answer === undefined) continue;
    const isOne = JSON.stringify(audit.before.answers[200]) === JSON.stringify(answer);
    expect([operation.operationId, isOne]).toEqual([operation.operationId, true]);
  }
});

/** Of these a mode has one: they have no id. */
const ONE_OF_A_MODE = new Set(['logo', 'processor', 'test_clock', 'security']);

let keys = 0;

test.each(Object.keys(EVERY_WRITE))('%s leaves an audit log row', async (name) => {
  const { audit, operation: stated } = named(name);
  const operation = stated.operationId;
  const write = await EVERY_WRITE[name]!(club, account);
  const before = await rows(operation);
  const headers = { 'idempotency-key': `key ${(keys += 1)}`, 'x-request-id': 'of-a-test' };
  const { status, text, headers: answered } = await send(write, headers);
  expect([status < 300, text]).toEqual([true, text]);
  const added = (await rows(operation)).slice(before.length);
  expect(added).toHaveLength(audit.isRoutine === true ? 0 : 1);
  if (write.method === 'POST') {
    const again = await send(write, headers);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([
      status,
      operation === 'checkEntitlements' ? null : 'true',
    ]);
    expect((await rows(operation)).slice(before.length)).toEqual(added);
  }
  const [row] = added;
  if (row === undefined) return;
  const { organisation, other, group } = club.shop.server;
  const isOfGroup = write.path.startsWith('/partner/');
  const isOfOther = write.key === other.testKey;
  expect(row).toMatchObject({
    organisation_id: isOfGroup ? null : isOfOther ? other.id : organisation.id,
    group_id: isOfGroup ? group.id : null,
    mode: audit.isOfBothModes === true ? null : 'test',
    actor_kind: 'key',
    actor_label: expect.stringMatching(/…[0-9A-Za-z]{4}$/),
    address: '127.0.0.1',
    user_agent: expect.stringContaining('Bun/'),
    request_id: 'of-a-test',
    status,
  });
  expect(answered.get('x-request-id')).toBe('of-a-test');
  expect([row.operation, row.object_type, row.object_id === null]).toEqual([
    operation,
    audit.object,
    ONE_OF_A_MODE.has(audit.object),
  ]);
  const isDeleted = write.method === 'DELETE';
  expect([operation, row.after === null]).toEqual([operation, isDeleted]);
});

test('a refused call leaves no audit log row', async () => {
  const { sql } = club.shop.server;
  const count = async () => (await sql`select count(*)::int as n from audit_log`)[0]!['n'];
  const before = await count();
  const refused: [string, string, object | undefined, number][] = [
    ['POST', '/products', {}, 400],
    ['PATCH', '/products/01890000-0000-7000-8000-000000000000', { name: 'x' }, 404],
    ['DELETE', '/organization/processor', undefined, 404],
    ['PUT', '/nowhere', {}, 404],
  ];
  for (const [method, path, body, status] of refused) {
    expect([path, (await send({ method, path, ...(body && { body }) })).status]).toEqual([
      path,
      status,
    ]);
  }
  const key = (await club.post('/api-keys', { scopes: ['read'] })).json.key;
  const forbidden = await send({ method: 'POST', path: '/products', body: { name: 'x' }, key });
  expect(forbidden.status).toBe(403);
  const stranger = await send({ method: 'POST', path: '/products', body: {}, key: 'svc_test_x' });
  expect(stranger.status).toBe(401);
  // The key that was made for it.
  expect(await count()).toBe(before + 1);
});

test('two calls at once under one Idempotency-Key leave one audit log row', async () => {
  const write = { method: 'POST', path: '/products', body: { name: 'At once' } };
  const headers = { 'idempotency-key': 'at once' };
  const before = await rows('createProduct');
  const replies = await Promise.all(Array.from({ length: 5 }, () => send(write, headers)));
  expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
  const added = (await rows('createProduct')).slice(before.length);
  expect(added.map((row) => [row.object_id, row.after?.['name']])).toEqual([
    [replies[0]!.json.id, 'At once'],
  ]);
});

test('no audit log row has a secret that was sent or answered', async () => {
  const secrets = new Set<string>([account.testKey]);
  const text = said.join('\n').replaceAll('\\"', '"');
  for (const [, value = ''] of text.matchAll(
    /"(?:key|secret|secret_key|webhook_secret|token)":"([^"]+)"/g,
  )) {
    secrets.add(value);
  }
  const { organisation, other, group } = club.shop.server;
  for (const { testKey, liveKey } of [organisation, other, group]) {
    secrets.add(testKey).add(liveKey);
  }
  // Keys, endpoints' secrets, the processor's key and portals' tokens are among them.
  for (const kind of [/^svc_test_/, /^whsec_/, /^sk_test_/, /^[0-9A-Za-z]{43}$/]) {
    expect([...secrets].some((secret) => kind.test(secret))).toBe(true);
  }
  const stored = await club.shop.server.sql<{ text: string }[]>`
    select audit_log::text as text from audit_log`;
  const all = stored.map((row) => row.text).join('\n');
  expect(stored.length).toBeGreaterThan(40);
  for (const secret of secrets) {
    // By more than its end, which names a key.
    expect([secret.slice(0, 8), all.includes(secret.slice(-12))]).toEqual([
      secret.slice(0, 8),
      false,
    ]);
  }
  expect(all).not.toMatch(/svc_(?:test|live)|svc_group|whsec_|in-the-query|[0-9A-Za-z]{43}/);
});
