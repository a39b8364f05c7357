// Which processor takes what is new, and which one is asked about what was taken.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Mode } from '../../ledger/kernel/tenant.ts';
import { createOrganisation } from '../../src/accounts/onboarding.ts';
import { timers } from '../../src/platform/clock.ts';
import { openSecrets } from '../../src/platform/crypto/secrets.ts';
import { ids } from '../../src/platform/ids.ts';
import {
  listenForChanges,
  notifyChange,
  type OpenChanges,
} from '../../src/platform/postgres/changes.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import type { Processors } from '../../src/processors/processor.ts';
import { type OpenedAccount, openProcessors } from '../../src/processors/registry.ts';
import { openSandbox } from '../../src/processors/sandbox.ts';
import { listProcessorAccounts } from '../../src/records/processor-accounts.ts';
import { freshDatabase, type FreshDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const KEY = 'sk_test_planted';
const secrets = openSecrets(Buffer.alloc(32, 7));

let database: FreshDatabase;
let sql: Sql;
let changes: OpenChanges;
const errors: string[] = [];

beforeAll(async () => {
  database = await freshDatabase();
  sql = openPool(database.url, { max: 2, applicationName: 'test' });
  changes = await listenForChanges({ url: database.url, timers, warn: () => undefined });
});
afterAll(async () => {
  await changes.close();
  await sql.end();
  await database.drop();
});

/** The accounts that were opened, and what answers in place of their processors: the sandbox. */
async function open(): Promise<{ processors: Processors; opened: OpenedAccount[] }> {
  const opened: OpenedAccount[] = [];
  const origin = 'https://bank.example';
  const sandbox = openSandbox({ sql, timers, settleMs: 0, origin, challengeUrl: (key) => key })({
    now: () => Date.now(),
  });
  const processors = await openProcessors({
    sandboxFor: () => sandbox,
    list: (organisationId) => listProcessorAccounts(sql, organisationId),
    open(account) {
      opened.push(account);
      return { ...sandbox, name: account.name };
    },
    secrets,
    changes,
    timers,
    log: {
      info: () => undefined,
      warn: () => undefined,
      error: (_fields, message) => void errors.push(message),
    },
  });
  return { processors, opened };
}

async function organisation(): Promise<string> {
  const made = await createOrganisation(
    { sql, ids, now: Date.now() },
    { name: 'One', groupId: null },
  );
  if (typeof made === 'string') throw new Error(made);
  return made.id;
}

async function connect(
  organisationId: string,
  { mode, account, key = KEY }: { mode: Mode; account: string; key?: string },
): Promise<string> {
  const id = ids.next();
  await sql`update processor_accounts set ended_at = now()
    where organisation_id = ${organisationId} and mode = ${mode} and ended_at is null`;
  await sql`
    insert into processor_accounts (id, organisation_id, mode, type, account, sealed_key, last4, checked_at, connected_at)
    values (${id}, ${organisationId}, ${mode}, 'stripe', ${account}, ${secrets.seal(key, id)}, 'nted', now(), now())`;
  await notifyChange(sql, 'processor', organisationId);
  return id;
}

test('without an account test mode has the sandbox, and live mode no processor', async () => {
  const { processors } = await open();
  const organisationId = await organisation();
  const [tested, live] = [
    { organisationId, mode: 'test' } as const,
    { organisationId, mode: 'live' } as const,
  ];
  expect(processors.taking(tested)?.name).toBe('sandbox');
  expect(processors.taking(live)).toBeNull();
  expect(processors.named(tested, 'sandbox')?.name).toBe('sandbox');
  expect(processors.named(live, 'sandbox')).toBeNull();
  expect(processors.named(tested, 'stripe:acct_1')).toBeNull();
});

test('a new account takes new payments in its mode alone, as soon as it is connected', async () => {
  const { processors, opened } = await open();
  const organisationId = await organisation();
  const live = { organisationId, mode: 'live' } as const;
  const id = await connect(organisationId, { mode: 'live', account: 'acct_1' });
  await until('it takes what is new', () => processors.taking(live) !== null);
  expect(processors.taking(live)?.name).toBe('stripe:acct_1');
  expect(processors.taking({ organisationId, mode: 'test' })?.name).toBe('sandbox');
  expect(processors.taking({ organisationId: await organisation(), mode: 'live' })).toBeNull();
  expect(processors.named(live, 'stripe:acct_1')?.name).toBe('stripe:acct_1');
  // It is opened once, with its key in the clear.
  expect(opened).toEqual([{ id, tenant: live, name: 'stripe:acct_1', key: KEY }]);
});

test('an account that another has replaced is asked about the payments it took', async () => {
  const { processors } = await open();
  const organisationId = await organisation();
  const tenant = { organisationId, mode: 'test' } as const;
  await connect(organisationId, { mode: 'test', account: 'acct_1' });
  await connect(organisationId, { mode: 'test', account: 'acct_2' });
  await until(
    'the second one takes what is new',
    () => processors.taking(tenant)?.name === 'stripe:acct_2',
  );
  expect(processors.named(tenant, 'stripe:acct_1')?.name).toBe('stripe:acct_1');
  expect(processors.named(tenant, 'sandbox')?.name).toBe('sandbox');
  // Ended without another one.
  await sql`update processor_accounts set ended_at = now() where organisation_id = ${organisationId} and ended_at is null`;
  await notifyChange(sql, 'processor', organisationId);
  await until('the sandbox takes what is new', () => processors.taking(tenant)?.name === 'sandbox');
  expect(processors.named(tenant, 'stripe:acct_2')?.name).toBe('stripe:acct_2');
});

test('another key of the account is used once it is stored', async () => {
  const { processors, opened } = await open();
  const organisationId = await organisation();
  const tenant = { organisationId, mode: 'test' } as const;
  const id = await connect(organisationId, { mode: 'test', account: 'acct_1' });
  await until('the first key is read', () => processors.taking(tenant)?.name === 'stripe:acct_1');
  await sql`update processor_accounts set sealed_key = ${secrets.seal('sk_test_next', id)} where id = ${id}`;
  await notifyChange(sql, 'processor', organisationId);
  await until(
    'the next key is read',
    () => processors.taking(tenant) !== null && opened.at(-1)?.key === 'sk_test_next',
  );
  expect(opened.map(({ key }) => key)).toEqual([KEY, 'sk_test_next']);
});

test('a processor key that does not decrypt sells nothing, and is logged', async () => {
  const { processors } = await open();
  const organisationId = await organisation();
  const tenant = { organisationId, mode: 'test' } as const;
  const id = await connect(organisationId, { mode: 'test', account: 'acct_1' });
  await sql`update processor_accounts set sealed_key = ${secrets.seal(KEY, 'another')} where id = ${id}`;
  await notifyChange(sql, 'processor', organisationId);
  await until('the key does not open', () => processors.taking(tenant) === null);
  expect(errors).toEqual(['the key of a processor cannot be decrypted']);
});
