// Users from the command line.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { administer } from '../../../src/admin/administer.ts';
import { ids } from '../../../src/platform/ids.ts';
import { runAdmin } from '../../support/admin.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { aMember, placeOf, signedIn, Tab } from './tab.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const admin = (...args: string[]) =>
  runAdmin(['user', ...args], server.databaseUrl, { APP_URL: 'https://app.example.com/' });
async function json(...args: string[]) {
  const { exitCode, stdout, stderr } = await admin(...args, '--json');
  expect([exitCode, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}
const home = () => `/dashboard/${server.organisation.id}/test`;

test('the command line makes a user and a member, and prints a link that signs in once', async () => {
  const org = server.organisation.id;
  const asked = ['create', '--org', org, '--email', 'Root@example.com'];
  const made = await json(...asked, '--name', 'Root');
  expect(made).toEqual({
    user_id: expect.any(String),
    email: 'Root@example.com',
    // The least, where none is named.
    role: 'read_only',
    sign_in_url: expect.stringMatching(
      /^https:\/\/app\.example\.com\/dashboard\/sign-in\/[0-9A-Za-z]{43}$/,
    ),
    expires_at: expect.any(String),
  });
  const tab = new Tab(server);
  await tab.post(new URL(made.sign_in_url).pathname);
  expect((await tab.get(home())).text).toContain('Root');
  // Again: the same user in the same role, with another link.
  const again = await json(...asked.with(4, 'root@example.com'), '--role', 'support');
  expect(again).toMatchObject({ user_id: made.user_id, role: 'read_only', email: made.email });
  expect(again.sign_in_url).not.toBe(made.sign_in_url);
  const list = await json('list', '--org', org);
  expect(list).toEqual([
    {
      user_id: made.user_id,
      email: 'Root@example.com',
      name: 'Root',
      role: 'read_only',
      second_factor: false,
      created_at: expect.any(String),
    },
  ]);
});

test('the command line removes a member, never the last owner; without an organisation it disables', async () => {
  const org = server.other.id;
  const owner = await aMember(server, 'owner', { organisationId: org });
  const user = await aMember(server, 'admin', { organisationId: org });
  await json('remove', '--org', org, '--email', user.email);
  const again = await admin('remove', '--org', org, '--email', user.email);
  expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining('no member')]);
  const last = await admin('remove', '--org', org, '--email', owner.email);
  expect([last.exitCode, last.stderr]).toEqual([1, expect.stringContaining('last owner')]);
  const tab = await signedIn(server, user);
  expect(await json('remove', '--email', user.email)).toMatchObject({
    disabled: true,
    sessions_ended: 1,
  });
  expect(placeOf(await tab.get('/dashboard/account'))).toStartWith('/dashboard/sign-in');
  // Made again, it signs in again.
  await json('create', '--org', org, '--email', user.email, '--role', 'support');
  expect((await (await signedIn(server, user)).get('/dashboard/account')).status).toBe(200);
});

test('a disabled user who is made again comes back to that organisation alone, in the role that is named', async () => {
  const [one, two] = [server.organisation.id, server.other.id];
  const user = await aMember(server, 'owner');
  await aMember(server, 'owner', { email: user.email, organisationId: two });
  await aMember(server, 'owner', { organisationId: two });
  await json('remove', '--email', user.email);
  const made = await json('create', '--org', one, '--email', user.email, '--role', 'support');
  expect(made).toMatchObject({ user_id: user.id, role: 'support', memberships_ended: 2 });
  const tab = new Tab(server);
  await tab.post(new URL(made.sign_in_url).pathname);
  expect((await tab.get(home())).status).toBe(200);
  expect((await tab.get(`/dashboard/${two}/test`)).status).toBe(404);
  const roles = await server.sql`
    select organisation_id as org, role from organisation_members where user_id = ${user.id}`;
  expect([...roles]).toEqual([{ org: one, role: 'support' }]);
});

test('a user who is no longer in an organisation does not come back to it by another', async () => {
  const [one, two] = [server.organisation.id, server.other.id];
  const user = await aMember(server, 'admin');
  await aMember(server, 'admin', { email: user.email, organisationId: two });
  await json('remove', '--org', two, '--email', user.email);
  const made = await json('create', '--org', one, '--email', user.email);
  // Who may sign in stays what it is.
  expect(made).toEqual({
    user_id: user.id,
    email: user.email,
    role: 'admin',
    sign_in_url: expect.any(String),
    expires_at: expect.any(String),
  });
  const roles = await server.sql`
    select organisation_id as org, role from organisation_members where user_id = ${user.id}`;
  expect([...roles]).toEqual([{ org: one, role: 'admin' }]);
});

test('the command line prints a link for a user who gets no mail; it signs in once', async () => {
  const user = await aMember(server);
  const link = await json('sign-in', '--email', user.email.toUpperCase());
  expect(link).toEqual({
    user_id: user.id,
    email: user.email,
    sign_in_url: expect.stringMatching(
      /^https:\/\/app\.example\.com\/dashboard\/sign-in\/[0-9A-Za-z]{43}$/,
    ),
    expires_at: expect.any(String),
  });
  const path = new URL(link.sign_in_url).pathname;
  const tab = new Tab(server);
  await tab.post(path);
  expect((await tab.get(home())).status).toBe(200);
  expect((await new Tab(server).post(path)).status).toBe(410);
});

test('the command line signs nobody in who may not sign in any more', async () => {
  const user = await aMember(server, 'admin', { organisationId: server.other.id });
  await json('remove', '--email', user.email);
  const refused = await admin('sign-in', '--email', user.email);
  expect([refused.exitCode, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toContain('may not sign in');
});

test('a link leads to the server that was started last, where the command knows no other', async () => {
  const user = await aMember(server);
  const { PORT: _, APP_URL: __, BASE_URL: ___, ...env } = process.env;
  let stdout = '';
  const exitCode = await administer(['user', 'sign-in', '--email', user.email, '--json'], {
    environment: { ...env, DATABASE_URL: server.databaseUrl },
    input: () => new Blob([]).stream(),
    print: (line) => void (stdout += line),
    error: (line) => void (stdout += line),
  });
  expect(exitCode).toBe(0);
  const [{ app_url: appUrl } = { app_url: '' }] = await server.sql<{ app_url: string }[]>`
    select app_url from installation`;
  expect(JSON.parse(stdout).sign_in_url).toStartWith(`${appUrl}/dashboard/sign-in/`);
});

test('the command line ends all sessions of a user', async () => {
  const user = await aMember(server);
  const tabs = [await signedIn(server, user), await signedIn(server, user)];
  expect(await json('sign-out', '--email', user.email)).toMatchObject({ sessions_ended: 2 });
  for (const tab of tabs) expect(placeOf(await tab.get(home()))).toStartWith('/dashboard/sign-in');
});

test.each([
  [['create', '--email', 'a@example.com']],
  [['create', '--org', 'x', '--email', 'a@example.com']],
  [['create', '--org', ids.next(), '--email', 'a b@example.com']],
  [['create', '--org', ids.next()]],
  [['create', '--org', ids.next(), '--email', 'a@example.com', '--role', 'god']],
  [['create', '--org', ids.next(), '--email', 'a@example.com', '--name', '']],
  [['list']],
  [['sign-out']],
  [['sign-in']],
  [['sign-in', '--email', 'a b@example.com']],
])('the command line refuses the arguments %j', async (args) => {
  const { exitCode, stdout, stderr } = await admin(...args);
  expect([exitCode, stdout]).toEqual([2, '']);
  expect(stderr).toContain('usage:');
});

test.each([
  [['create', '--org', ids.next(), '--email', 'a@example.com']],
  [['remove', '--email', 'nobody@example.com']],
  [['sign-in', '--email', 'nobody@example.com']],
  [['sign-out', '--email', 'nobody@example.com']],
  [['reset-second-factor', '--email', 'nobody@example.com']],
])('the command line finds nobody for %j', async (args) => {
  const { exitCode, stdout, stderr } = await admin(...args);
  expect([exitCode, stdout]).toEqual([1, '']);
  expect(stderr).toStartWith('there is no ');
});
