// The same by the operator's commands, beside a running server.
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ids } from '../../../src/platform/ids.ts';
import type { FakeAccount } from '../../processors/stripe/fake.ts';
import { runAdmin, spawnAdmin } from '../../support/admin.ts';
import { freePort } from '../../support/free-port.ts';
import { testServices } from '../../support/services.ts';
import { TEST_SECRETS_KEY } from '../../support/settings.ts';
import { type Bank, type Merchant, openBank } from './connected.ts';

setDefaultTimeout(60_000);

/** Without a key. */
const DATA_DIR = mkdtempSync(join(tmpdir(), 'tollhouse-processor-'));
const keyText = (key: Uint8Array) => Buffer.from(key).toString('base64');
const SECRETS_KEY = keyText(TEST_SECRETS_KEY);
const ANOTHER_KEY = keyText(new Uint8Array(32).fill(8));

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
afterAll(async () => {
  rmSync(DATA_DIR, { recursive: true });
  await bank.stop();
});

const environment = () => ({ SECRETS_KEY, STRIPE_API_URL: bank.fake.url });

function admin(
  args: readonly string[],
  { input = '', env = environment() }: { input?: string; env?: Record<string, string> } = {},
) {
  const { databaseUrl } = bank.server;
  return runAdmin([...args, '--json'], databaseUrl, env, input);
}
const of = (verb: string, mode = 'test') => ['processor', verb, '--org', mine.id, '--mode', mode];

test('the admin command sets, shows and removes a Stripe key, and the server uses it at once', async () => {
  // As an operator does: the key comes through a pipe.
  const asked = [...of('set'), '--json'];
  const { databaseUrl } = bank.server;
  const set = await spawnAdmin(asked, databaseUrl, environment(), `${account.testKey}\n`);
  expect([set.exitCode, set.stderr]).toEqual([0, '']);
  expect(set.stdout + set.stderr).not.toContain(account.testKey.slice(8));
  const { json } = await mine.get();
  expect(JSON.parse(set.stdout)).toEqual(json);
  expect(json).toMatchObject({ account: account.id, status: 'active' });
  // Where the server is, although the command was not told.
  expect(bank.fake.books(account.id, 'test').endpoints.map(({ url }) => url)).toEqual([
    mine.hook(),
  ]);
  expect(JSON.parse((await admin(of('show'))).stdout)).toEqual(json);
  expect((await admin(of('remove'))).exitCode).toBe(0);
  expect((await mine.get()).status).toBe(404);
  expect((await mine.told()).map(({ changes, actor }) => [changes.join(' '), actor])).toEqual([
    ['account secretKey webhookSecret', 'admin'],
    ['account', 'admin'],
  ]);
});

test('the admin command reads a webhook secret on the second line', async () => {
  const key = account.restrictedKey('live', ['accounts_kyc_basic_read']);
  const set = await admin(of('set', 'live'), { input: `\n ${key}\r\nwhsec_ofTheMerchant` });
  expect([set.exitCode, JSON.parse(set.stdout)]).toEqual([
    0,
    expect.objectContaining({ mode: 'live', status: 'active' }),
  ]);
});

// prettier-ignore
const REFUSED: [string, () => Parameters<typeof admin>, string][] = [
  ['nothing on stdin',       () => [of('set')],                                                     'secret_key must be'],
  ['a live key',             () => [of('set'), { input: account.liveKey }],                         'secret_key is a key of'],
  ['what is no secret',      () => [of('set'), { input: `${account.testKey}\nsecret` }],            'webhook_secret must be'],
  ['a long text',            () => [of('set'), { input: 'x'.repeat(10_000) }],                      'too much on stdin'],
  ['nobody',                 () => [['processor', 'show', '--org', ids.next()]],                    'there is no organisation'],
  ['nothing to show',        () => [of('show')],                                                    'no processor is connected'],
  ['nothing to remove',      () => [of('remove')],                                                  'no processor is connected'],
];
test.each(REFUSED)(
  'the admin command of the processor exits with 1 for %s',
  async (_what, args, said) => {
    const { exitCode, stdout, stderr } = await admin(...args());
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toContain(said);
    expect(stderr).not.toContain(account.testKey.slice(8));
    expect(await mine.rows()).toEqual([]);
  },
);

test('the admin command stores no Stripe key that a server could not decrypt', async () => {
  const env = { STRIPE_API_URL: bank.fake.url, DATA_DIR };
  const input = account.testKey;
  const without = await admin(of('set'), { input, env });
  expect([without.exitCode, without.stderr.trim()]).toEqual([
    1,
    'SECRETS_KEY must be that of the servers',
  ]);
  await mine.connect(account.testKey);
  const other = await admin(of('set'), { input, env: { ...env, SECRETS_KEY: ANOTHER_KEY } });
  expect([other.exitCode, other.stderr]).toEqual([1, expect.stringContaining('another key')]);
});

test('a server with another SECRETS_KEY does not start, even where only a processor key is encrypted', async () => {
  await mine.connect(account.testKey);
  expect(await bank.server.sql`select from webhook_endpoints`).toHaveLength(0);
  const main = join(import.meta.dir, '../../../src/main.ts');
  const child = Bun.spawn([process.execPath, main], {
    env: {
      ...process.env,
      DATABASE_URL: bank.server.databaseUrl,
      REDIS_URL: testServices().redisUrl,
      PORT: String(await freePort()),
      SECRETS_KEY: ANOTHER_KEY,
    },
    stdout: 'ignore',
    stderr: 'pipe',
    // One that starts all the same.
    timeout: 30_000,
  });
  const stderr = await child.stderr.text();
  expect([await child.exited, stderr]).toEqual([
    1,
    'the secrets in the database were encrypted with another key: set SECRETS_KEY to that one\n',
  ]);
});
