import { afterAll, beforeAll, expect, test } from 'bun:test';
import { clock } from '../../src/platform/clock.ts';
import { newToken } from '../../src/platform/crypto/tokens.ts';
import { ids } from '../../src/platform/ids.ts';
import { createDemoOrganisation } from '../../src/accounts/onboarding.ts';
import { runAdmin, spawnAdmin } from '../support/admin.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  // All that is there is audited, and taken away.
  server = await startServer({ own: true });
});
afterAll(() => server.stop());

const admin = (...args: string[]) => runAdmin(args, server.databaseUrl);
const json = async (...args: string[]) => {
  const { exitCode, stdout, stderr } = await admin(...args, '--json');
  expect([exitCode, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
};

test('org create gives two keys that work, each in its mode', async () => {
  const made = await json('org', 'create', '--name', 'Acme', '--group', server.group.id);
  expect(Object.keys(made)).toEqual(['organization_id', 'test_key', 'live_key']);
  expect(made.test_key).toMatch(/^svc_test_[0-9A-Za-z]{43}$/);
  expect(made.live_key).toMatch(/^svc_live_[0-9A-Za-z]{43}$/);
  for (const key of [made.test_key, made.live_key]) {
    expect((await server.call('GET', '/meters', { key })).status).toBe(200);
  }
  const [row] =
    await server.sql`select group_id from organisations where id = ${made.organization_id}`;
  expect(row!['group_id']).toBe(server.group.id);
});

test('org list names every organisation, the oldest first, and needs nothing to be known', async () => {
  const made = await json('org', 'create', '--name', 'Newest', '--group', server.group.id);
  const list = await json('org', 'list');
  expect(list.map((one: { organization_id: string }) => one.organization_id)).toEqual(
    expect.arrayContaining([server.organisation.id, server.other.id]),
  );
  expect(list.at(-1)).toEqual({
    organization_id: made.organization_id,
    name: 'Newest',
    group_id: server.group.id,
    created_at: expect.any(String),
  });
});

test('group create gives keys that no organisation route takes', async () => {
  const made = await json('group', 'create', '--name', 'Partners');
  expect(made.test_key).toMatch(/^svc_group_test_[0-9A-Za-z]{43}$/);
  expect((await server.call('GET', '/meters', { key: made.test_key })).status).toBe(403);
});

test('key create, list and revoke', async () => {
  const org = server.other.id;
  const until = '2099-01-01T00:00:00.000Z';
  const made = await json('key', 'create', '--org', org, '--mode', 'live', '--expires-at', until);
  expect(made).toEqual({
    id: made.id,
    key: expect.stringMatching(/^svc_live_/),
    mode: 'live',
    name: null,
    scopes: ['all'],
    expires_at: until,
  });
  const worker = ['--name', 'worker', '--scopes', 'metering'];
  expect(await json('key', 'create', '--org', org, ...worker)).toMatchObject({
    name: 'worker',
    scopes: ['metering'],
  });
  expect((await json('key', 'create', '--org', org)).mode).toBe('test');
  const group = await json('key', 'create', '--group', server.group.id);
  expect(group.key).toMatch(/^svc_group_test_/);
  await json('key', 'revoke', made.id);
  const { data } = await json('key', 'list', '--org', org);
  expect(data).toHaveLength(5);
  expect(data.find(({ id }: { id: string }) => id === made.id)).toEqual({
    id: made.id,
    name: null,
    mode: 'live',
    scopes: ['all'],
    last4: made.key.slice(-4),
    created_at: expect.any(String),
    expires_at: until,
    revoked_at: expect.any(String),
    last_used_at: null,
    created_by: null,
  });
  expect(JSON.stringify(data)).not.toContain('svc_');
});

test('the admin command prints what it did, and its exit code says whether it succeeded', async () => {
  const run = (...args: string[]) => spawnAdmin(args, server.databaseUrl);
  const [done, refused, senseless] = await Promise.all([
    run('key', 'list', '--org', server.organisation.id),
    run('key', 'list', '--org', ids.next()),
    run('key', 'create'),
  ]);
  expect(done).toEqual({ exitCode: 0, stdout: expect.stringContaining('mode: test'), stderr: '' });
  const of = expect.stringMatching(/^there is no /);
  expect(refused).toEqual({ exitCode: 1, stdout: '', stderr: of });
  const usage = expect.stringContaining('usage: npx bun@1.4.5 run admin');
  expect(senseless).toEqual({ exitCode: 2, stdout: '', stderr: usage });
});

test('admin audit finds nothing where nothing is wrong', async () => {
  expect(await json('audit')).toEqual({ findings: [] });
});

test('admin retention says what it deleted, or would delete in a dry run', async () => {
  const nothing = {
    rows: {
      transfers: 0,
      reservations: 0,
      members: 0,
      idempotency: 0,
      checkouts: 0,
      portal_tokens: 0,
      method_attempts: 0,
      processor_hints: 0,
      deliveries: 0,
      events: 0,
      mails: 0,
      denials: 0,
      denial_counts: 0,
      sign_in_links: 0,
      stretch_marks: 0,
      changes: 0,
      sessions: 0,
      invitations: 0,
    },
    closed: [],
    busy: false,
  };
  expect(await json('retention', '--dry-run')).toEqual({ dry_run: true, ...nothing });
  expect(await json('retention')).toEqual({ dry_run: false, ...nothing });
});

test('of two admin retention runs at once one is skipped, which is no failure', async () => {
  await server.sql.begin(async (transaction) => {
    await transaction`select pg_advisory_xact_lock(7206520)`;
    expect(await json('retention')).toEqual({ skipped: 'another one is at it' });
  });
});

// prettier-ignore
const BAD: [string, string[]][] = [
  ['nothing',                []],
  ['an unknown command',     ['org', 'destroy']],
  ['a name of a prototype',  ['constructor']],
  ['no name',                ['org', 'create']],
  ['an empty name',          ['org', 'create', '--name', ' ']],
  ['an unknown option',      ['org', 'create', '--nam', 'x']],
  ['an option of another',   ['audit', '--name', 'x']],
  ['a dry run of an audit',  ['audit', '--dry-run']],
  ['no organisation',        ['key', 'create']],
  ['a group as well',        ['key', 'create', '--org', ids.next(), '--group', ids.next()]],
  ['no id',                  ['key', 'list', '--org', 'acme']],
  ['a mode',                 ['key', 'create', '--org', ids.next(), '--mode', 'prod']],
  ['a scope',                ['key', 'create', '--org', ids.next(), '--scopes', 'write']],
  ["a group's scope",        ['key', 'create', '--group', ids.next(), '--scopes', 'read']],
  ['a time that has been',   ['key', 'create', '--org', ids.next(), '--expires-at', '2020-01-01T00:00:00Z']],
  ['a time that is none',    ['key', 'create', '--org', ids.next(), '--expires-at', '1d']],
  ['two key ids',            ['key', 'revoke', ids.next(), ids.next()]],
  ['too much',               ['audit', 'all']],
];

test.each(BAD)('the admin command exits with 2 and its usage for %s', async (_what, args) => {
  const { exitCode, stdout, stderr } = await admin(...args);
  expect([exitCode, stdout]).toEqual([2, '']);
  expect(stderr).toContain('usage: npx bun@1.4.5 run admin');
});

// prettier-ignore
const REFUSED: [string, string[]][] = [
  ['org create --group',  ['org', 'create', '--name', 'x', '--group']],
  ['key create --org',    ['key', 'create', '--org']],
  ['key list --org',      ['key', 'list', '--org']],
  ['key revoke',          ['key', 'revoke']],
];

test.each(REFUSED)(
  'the admin command exits with 1 for %s of an unknown organisation',
  async (_what, args) => {
    const { exitCode, stdout, stderr } = await admin(...args, ids.next());
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toStartWith('there is no ');
  },
);

test('an admin command whose database does not answer prints one line, without the password', async () => {
  const { exitCode, stderr } = await runAdmin(['audit'], 'postgres://u:topsecret@127.0.0.1:1/x');
  expect(exitCode).toBe(1);
  expect(stderr).not.toContain('topsecret');
  expect(stderr.trim().split('\n')).toHaveLength(1);
});

test('the first start makes a demo organisation once, and never beside another one', async () => {
  const setting = { sql: server.sql, ids, now: clock.now(), newToken };
  expect(await createDemoOrganisation(setting)).toBeNull();
  await server.sql`truncate organisations cascade`;
  const demos = await Promise.all([
    createDemoOrganisation(setting),
    createDemoOrganisation(setting),
  ]);
  const [demo, ...rest] = demos.filter((made) => made !== null);
  expect(rest).toEqual([]);
  expect((await server.call('GET', '/meters', { key: demo!.testKey })).status).toBe(200);
  const link = `/dashboard/sign-in/${demo!.signInToken}`;
  const page = await server.call('GET', link, { key: null });
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('owner@example.com')]);
});
