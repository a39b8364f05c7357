import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { openSecrets } from '../../../src/platform/crypto/secrets.ts';
import type { FakeAccount } from '../../processors/stripe/fake.ts';
import type { Reply } from '../../support/server.ts';
import { TEST_SECRETS_KEY, TEST_SETTINGS } from '../../support/settings.ts';
import { type Bank, type Merchant, openBank } from './connected.ts';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

setDefaultTimeout(60_000);

let bank: Bank;
let mine: Merchant;
let account: FakeAccount;
beforeAll(async () => {
  bank = await openBank();
});
beforeEach(async () => {
  mine = await bank.merchant();
  account = bank.fake.newAccount();
});
afterAll(() => bank.stop());

const secrets = openSecrets(TEST_SECRETS_KEY);
const endpoints = (of = account, mode: 'test' | 'live' = 'test') =>
  bank.fake.books(of.id, mode).endpoints;
const keyOf = (row: Record<string, unknown> | undefined) =>
  secrets.open(row!['sealed_key'] as Buffer, row!['id'] as string);
const refusedAt = (reply: Reply) => [
  reply.status,
  reply.json.error.type,
  reply.json.error.issues.map((issue: { path: string[] }) => issue.path.join('.')).join(' '),
];

test('PUT of a Stripe key tries it, GET shows the account, and neither shows the key', async () => {
  const reply = await mine.connect(account.testKey);
  expect([reply.status, reply.json]).toEqual([
    200,
    {
      type: 'stripe',
      account: account.id,
      mode: 'test',
      last4: account.testKey.slice(-4),
      status: 'active',
      checked_at: expect.stringMatching(ISO),
    },
  ]);
  const read = await mine.get();
  expect([read.status, read.json]).toEqual([200, reply.json]);
  expect(reply.text + read.text).not.toContain(account.testKey.slice(8));
  const [row] = await mine.rows();
  expect(keyOf(row)).toBe(account.testKey);
});

test('each mode has a Stripe account of its own', async () => {
  expect((await mine.get('live')).status).toBe(404);
  await mine.connect(account.testKey);
  expect((await mine.get('live')).status).toBe(404);
  const live = await mine.connect(account.liveKey, 'live');
  expect([live.status, live.json.mode, live.json.account]).toEqual([200, 'live', account.id]);
  expect((await mine.remove('test')).status).toBe(204);
  expect((await mine.get('live')).json).toEqual(live.json);
  expect(endpoints(account, 'live').map(({ url }) => url)).toEqual([mine.hook('live')]);
});

test('another organisation sees nothing of a connected Stripe account', async () => {
  await mine.connect(account.testKey);
  const other = await bank.merchant();
  expect((await other.get()).status).toBe(404);
  expect((await other.remove()).status).toBe(404);
  expect((await mine.get()).status).toBe(200);
});

test('PUT of another key of the same Stripe account replaces it, and webhooks go on', async () => {
  await mine.connect(account.testKey);
  const [before] = await mine.rows();
  const rolled = account.rollKey('test');
  const reply = await mine.connect(rolled);
  expect([reply.status, reply.json.last4, reply.json.status]).toEqual([
    200,
    rolled.slice(-4),
    'active',
  ]);
  const rows = await mine.rows();
  expect(rows).toHaveLength(1);
  expect(keyOf(rows[0])).toBe(rolled);
  for (const name of ['id', 'webhook_endpoint_id', 'sealed_webhook_secret', 'connected_at']) {
    expect([name, rows[0]![name]]).toEqual([name, before![name]]);
  }
  expect(endpoints()).toHaveLength(1);
});

test('a restricted Stripe key that may not register webhooks takes over the registered endpoint', async () => {
  await mine.connect(account.testKey);
  const restricted = account.restrictedKey('test', ['accounts_kyc_basic_read']);
  expect((await mine.connect(restricted)).json.status).toBe('active');
  expect(endpoints()).toHaveLength(1);
});

test('after PUT of another Stripe account new payments use it, and the first keeps its key', async () => {
  await mine.connect(account.testKey);
  const second = bank.fake.newAccount();
  const reply = await mine.connect(second.testKey);
  expect([reply.status, reply.json.account]).toEqual([200, second.id]);
  const [current, ended] = await mine.rows();
  expect([current!['account'], current!['ended_at']]).toEqual([second.id, null]);
  expect([ended!['account'], ended!['ended_at']]).toEqual([account.id, expect.any(Date)]);
  expect(keyOf(ended)).toBe(account.testKey);
  expect([endpoints(account).length, endpoints(second).length]).toEqual([0, 1]);
  // And back: there is one row for each account.
  await mine.connect(account.testKey);
  const rows = await mine.rows();
  expect(rows.map((row) => [row['account'], row['ended_at'] === null])).toEqual([
    [account.id, true],
    [second.id, false],
  ]);
  expect([endpoints(account).length, endpoints(second).length]).toEqual([1, 0]);
});

test('DELETE disconnects Stripe once, keeps the key, and removes the endpoint at Stripe', async () => {
  await mine.connect(account.testKey);
  expect((await mine.remove()).status).toBe(204);
  expect((await mine.get()).status).toBe(404);
  const again = await mine.remove();
  expect([again.status, again.json.error.type]).toEqual([404, 'not_found']);
  expect(endpoints()).toEqual([]);
  const [row] = await mine.rows();
  expect(keyOf(row)).toBe(account.testKey);
  expect([row!['webhook_endpoint_id'], row!['sealed_webhook_secret']]).toEqual([null, null]);
});

test('DELETE disconnects Stripe while Stripe is away', async () => {
  await mine.connect(account.testKey);
  bank.fake.away(true);
  try {
    expect((await mine.remove()).status).toBe(204);
  } finally {
    bank.fake.away(false);
  }
  expect((await mine.get()).status).toBe(404);
  // What Stripe goes on to send is still known.
  expect((await mine.rows())[0]!['sealed_webhook_secret']).not.toBeNull();
  expect((await mine.connect(account.testKey)).status).toBe(200);
  expect(endpoints()).toHaveLength(1);
});

test('the webhook endpoint at Stripe is registered once, even where an answer was lost', async () => {
  bank.fake.next({ method: 'POST', path: /^\/v1\/webhook_endpoints$/ }, 'lose_answer');
  const lost = await mine.connect(account.testKey);
  expect([lost.status, lost.headers.get('retry-after')]).toEqual([503, '5']);
  expect((await mine.get()).status).toBe(404);
  expect(endpoints()).toHaveLength(1);
  expect((await mine.connect(account.testKey)).json.status).toBe('active');
  await mine.connect(account.testKey);
  const [endpoint, ...more] = endpoints();
  expect(more).toEqual([]);
  expect(endpoint!.id).toBe((await mine.rows())[0]!['webhook_endpoint_id'] as string);
  expect(endpoint!.url).toBe(mine.hook());
  expect(endpoint!.enabled_events).toContain('checkout.session.completed');
  expect(endpoint!.api_version).toBe('2026-10-28.endive');
});

test('a webhook endpoint that was deleted or disabled at Stripe is registered anew', async () => {
  await mine.connect(account.testKey);
  const [first] = endpoints();
  const own = async (method: string, path: string, body?: string) =>
    fetch(`${bank.fake.url}/v1/webhook_endpoints${path}`, {
      method,
      headers: {
        authorization: `Bearer ${account.testKey}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      ...(body !== undefined && { body }),
    });
  await own('POST', `/${first!.id}`, 'disabled=true');
  await mine.connect(account.testKey);
  const [second, ...more] = endpoints();
  expect(more).toEqual([]);
  expect([second!.id === first!.id, second!.status]).toEqual([false, 'enabled']);
  await own('DELETE', `/${second!.id}`);
  expect((await mine.connect(account.testKey)).json.status).toBe('active');
  expect(endpoints()).toHaveLength(1);
});

test('a Stripe key that may not register takes the secret of an endpoint the merchant made', async () => {
  const restricted = account.restrictedKey('test', ['accounts_kyc_basic_read']);
  const without = await mine.connect(restricted);
  expect([without.status, without.json.status]).toEqual([200, 'webhook_secret_required']);
  const body = { type: 'stripe', secret_key: restricted, webhook_secret: 'whsec_ofTheMerchant' };
  const named = await mine.put(body);
  expect([named.status, named.json.status]).toEqual([200, 'active']);
  expect(named.text).not.toContain('ofTheMerchant');
  const [row] = await mine.rows();
  expect(secrets.open(row!['sealed_webhook_secret'] as Buffer, row!['id'] as string)).toBe(
    'whsec_ofTheMerchant',
  );
  // It stays when the key is replaced, also by one that may register.
  expect((await mine.connect(account.testKey)).json.status).toBe('active');
  expect((await mine.rows())[0]!['sealed_webhook_secret']).toEqual(row!['sealed_webhook_secret']);
  expect(endpoints()).toEqual([]);
});

test("the merchant's own webhook endpoint replaces the one that was registered at Stripe", async () => {
  await mine.connect(account.testKey);
  const body = {
    type: 'stripe',
    secret_key: account.testKey,
    webhook_secret: 'whsec_ofTheMerchant',
  };
  expect((await mine.put(body)).json.status).toBe('active');
  expect(endpoints()).toEqual([]);
});

// prettier-ignore
const KEYS: [string, () => string][] = [
  ['of the other mode',         () => account.liveKey],
  ['restricted, other mode',    () => account.restrictedKey('live', [])],
  ['publishable',               () => 'pk_test_51HqLyjWDarjtT1zdp7dc'],
  ['publishable, other mode',   () => 'pk_live_51HqLyjWDarjtT1zdp7dc'],
  ['a webhook secret',          () => 'whsec_51HqLyjWDarjtT1zdp7dc'],
  ['one of ours',               () => mine.testKey],
  ['nothing',                   () => ''],
  ['with a blank',              () => `${account.testKey} `],
  ['with a line break',         () => `${account.testKey}\n`],
  ['with a header in it',       () => 'sk_test_aaaaaaaaaaa\r\nX-Admin: 1'],
  ['of 256',                    () => `sk_test_${'a'.repeat(248)}`],
  ['of a megabyte',             () => `sk_test_${'a'.repeat(900_000)}`],
  ['that Stripe does not know', () => 'sk_test_51HqLyjWDarjtT1zdp7dc'],
  ['that was rolled',           () => { const { testKey } = account; account.rollKey('test'); return testKey; }],
  ['that may do nothing',       () => account.restrictedKey('test', [])],
];
test.each(KEYS)(
  'PUT of a Stripe key %s is 400, changes nothing and does not quote it',
  async (_what, make) => {
    const key = make();
    const reply = await mine.connect(key);
    expect(refusedAt(reply)).toEqual([400, 'invalid_request', 'secret_key']);
    if (key !== '') expect(reply.text).not.toContain(key.trim().slice(0, 16));
    expect(await mine.rows()).toEqual([]);
    expect(await mine.told()).toEqual([]);
    expect(endpoints()).toEqual([]);
  },
);

test('PUT of an invalid Stripe key says what is wrong with it', async () => {
  const said = async (key: string) => (await mine.connect(key)).json.error.message;
  expect(await said('pk_test_51HqLyjWDarjtT1zdp7dc')).toContain('publishable');
  expect(await said(account.liveKey)).toContain('live mode');
  expect(await said('sk_test_51HqLyjWDarjtT1zdp7dc')).toContain('refused by Stripe');
  expect(await said(account.restrictedKey('test', []))).toContain('permission');
});

// prettier-ignore
const BODIES: [string, object, string][] = [
  ['no type',                { secret_key: 'sk_test_51HqLyjWDarjtT1zdp7dc' },                         'type'],
  ['another processor',      { type: 'adyen', secret_key: 'sk_test_51HqLyjWDarjtT1zdp7dc' },          'type'],
  ['no key',                 { type: 'stripe' },                                                      'secret_key'],
  ['a key as a number',      { type: 'stripe', secret_key: 1 },                                       'secret_key'],
  ['a misspelt field',       { type: 'stripe', secret_key: 'sk_test_51HqLyjWDar', webhook: 'x' },     'webhook'],
  ['a key as the secret',    { type: 'stripe', secret_key: 'sk_test_51HqLyjWDar', webhook_secret: 'sk_test_51HqLyjWDar' }, 'webhook_secret'],
  ['an empty secret',        { type: 'stripe', secret_key: 'sk_test_51HqLyjWDar', webhook_secret: '' }, 'webhook_secret'],
  ['a long secret',          { type: 'stripe', secret_key: 'sk_test_51HqLyjWDar', webhook_secret: `whsec_${'a'.repeat(250)}` }, 'webhook_secret'],
];
test.each(BODIES)('PUT of the processor with %s is 400', async (_what, body, at) => {
  expect(refusedAt(await mine.put(body))).toEqual([400, 'invalid_request', at]);
  expect(await mine.rows()).toEqual([]);
});

// prettier-ignore
const AWAY: [string, () => void][] = [
  ['does not answer',  () => bank.fake.away(true)],
  ['fails',            () => bank.fake.next({ method: 'GET', path: /^\/v1\/account$/ }, 'error_500')],
  ['is too busy',      () => bank.fake.next({ method: 'GET', path: /^\/v1\/account$/ }, 'rate_limit')],
  ['goes meanwhile',   () => bank.fake.next({ method: 'GET', path: /^\/v1\/webhook_endpoints$/ }, 'error_500')],
];
test.each(AWAY)(
  'PUT of a Stripe key is 503 where Stripe %s, and the connected account stays',
  async (_what, fail) => {
    await mine.connect(account.testKey);
    const before = await mine.rows();
    fail();
    const reply = await mine.connect(bank.fake.newAccount().testKey);
    bank.fake.away(false);
    expect([reply.status, reply.json?.error?.type, reply.headers.get('retry-after')]).toEqual([
      503,
      'service_unavailable',
      '5',
    ]);
    expect(await mine.rows()).toEqual(before);
  },
);

test('each change of the processor is an event with what changed and by whom; a repetition is not', async () => {
  await mine.connect(account.testKey);
  await mine.connect(account.testKey);
  await mine.connect(account.rollKey('test'));
  const [key] = await bank.server.sql`
    select id from api_keys where organisation_id = ${mine.id} and mode = 'test'`;
  await mine.connect(bank.fake.newAccount().testKey);
  await mine.remove();
  await mine.remove();
  const events = await mine.told();
  expect(events.map(({ changes }) => changes.join(' '))).toEqual([
    'account secretKey webhookSecret',
    'secretKey',
    'account secretKey webhookSecret',
    'account',
  ]);
  for (const event of events) {
    expect(event).toMatchObject({ key: 'processor', actor: key!['id'], objectId: mine.id });
  }
  expect(await mine.told('live')).toEqual([]);
});

test('of several PUTs of a Stripe key at once one is connected in the end, with one endpoint', async () => {
  const others = [account, ...Array.from({ length: 3 }, () => bank.fake.newAccount())];
  const replies = await Promise.all(others.map(({ testKey }) => mine.connect(testKey)));
  // One that waits for too long is told to come again.
  expect(replies.filter(({ status }) => ![200, 503].includes(status))).toEqual([]);
  const { json } = await mine.get();
  const rows = await mine.rows();
  const current = rows.filter((row) => row['ended_at'] === null);
  expect(current.map((row) => row['account'])).toEqual([json.account]);
  for (const one of others) {
    expect([one.id, endpoints(one).length]).toEqual([one.id, one.id === json.account ? 1 : 0]);
  }
});

test("Stripe is called at the operator's address, and nowhere else", async () => {
  const before = bank.fake.requests().length;
  await mine.connect(account.testKey);
  const paths = bank.fake
    .requests()
    .slice(before)
    .map(({ method, path }) => `${method} ${path}`);
  expect(paths).toEqual([
    'GET /v1/account',
    'GET /v1/webhook_endpoints',
    'POST /v1/webhook_endpoints',
  ]);
});

test('Stripe keys are tried at most so often, in each mode', async () => {
  const limits = { ...TEST_SETTINGS.limits, processorKeys: 2 };
  const strict = await openBank({ settings: { limits } });
  const merchant = await strict.merchant();
  const { testKey, liveKey } = strict.fake.newAccount();
  const tried = () => strict.fake.requests().filter(({ path }) => path === '/v1/account').length;
  await merchant.connect('sk_test_51HqLyjWDarjtT1zdp7dc');
  expect((await merchant.connect(testKey)).status).toBe(200);
  const before = tried();
  const limited = await merchant.connect(testKey);
  expect([limited.status, limited.json.error.type]).toEqual([429, 'rate_limited']);
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(tried()).toBe(before);
  expect((await merchant.connect(liveKey, 'live')).status).toBe(200);
  await strict.stop();
});
