// What users do at the door is in the audit log of their organisations, once each, from where and
// by which request; guessing does not fill it.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { type IdentityProvider, openIdentityProvider, passThrough } from './identity-provider.ts';
import { TEST_SETTINGS } from '../../support/settings.ts';
import { mailSettings, openPostOffice, type PostOffice } from '../../mail/post-office.ts';
import { aLink, aMember, enrolled, type Person, placeOf, signedIn, Tab } from './tab.ts';

setDefaultTimeout(30_000);

let office: PostOffice;
let provider: IdentityProvider;
let server: TestServer;
beforeAll(async () => {
  office = await openPostOffice();
  provider = await openIdentityProvider(`${TEST_SETTINGS.appUrl}/dashboard/oidc/callback`);
  const mail = mailSettings(office);
  server = await startServer({ settings: { mail, oidc: provider.settings } });
});
afterAll(async () => {
  await server.stop();
  await provider.stop();
  await office.stop();
});

type Row = Readonly<Record<string, unknown>> & {
  readonly operation: string;
  readonly after: Readonly<Record<string, unknown>> | null;
};

/** Of one user, as the API gives them, oldest first. */
async function rowsOf({ id }: Pick<Person, 'id'>, key = server.organisation.liveKey) {
  const { status, json } = await server.call('GET', `/audit-log?actor=${id}&limit=200`, { key });
  expect(status).toBe(200);
  return (json.data as Row[]).toReversed();
}

const said = async (user: Pick<Person, 'id'>, key?: string) =>
  (await rowsOf(user, key)).map(({ operation, after }) => [operation, after]);

test('a sign-in and sign-out are logged: who, from where, by which request, in both modes', async () => {
  const user = await aMember(server);
  const tab = new Tab(server);
  const entered = await tab.post(await aLink(server, user.id));
  await tab.get('/dashboard/account');
  await tab.post('/dashboard/sign-out');
  for (const key of [server.organisation.liveKey, server.organisation.testKey]) {
    const [came, went, ...more] = await rowsOf(user, key);
    const session = came!['object'] as { id: string };
    expect(more).toEqual([]);
    expect(came).toMatchObject({
      operation: 'signIn',
      mode: null,
      actor: { kind: 'user', id: user.id, label: user.email, session_id: session.id },
      address: '127.0.0.1',
      user_agent: 'Test <b>browser</b>',
      request_id: entered.headers.get('x-request-id')!,
      object: { type: 'session' },
      status: 303,
      before: null,
      after: { by: 'link' },
    });
    expect(went).toMatchObject({ operation: 'signOut', object: { id: session.id } });
  }
  const csv = await server.call('GET', `/audit-log.csv?actor=${user.id}`);
  expect(csv.text.match(/,sign(?:In|Out),session,/g)).toHaveLength(2);
});

test('each organisation of the user has the sign-in in its audit log, and no other', async () => {
  const { organisation, other } = server;
  const user = await aMember(server, 'support');
  await signedIn(server, user);
  expect(await said(user, other.liveKey)).toEqual([]);
  await aMember(server, 'owner', { email: user.email, organisationId: other.id });
  await signedIn(server, user);
  expect(await said(user, other.liveKey)).toEqual([['signIn', { by: 'link' }]]);
  expect(await said(user, organisation.liveKey)).toHaveLength(2);
});

test('a sign-in of a user without an organisation is logged for the installation', async () => {
  const user = await aMember(server, 'support');
  await server.sql`delete from organisation_members where id = ${user.memberId}`;
  await signedIn(server, user);
  const rows = await server.sql`
    select operation, organisation_id from audit_log where actor_id = ${user.id}`;
  expect([...rows]).toEqual([{ operation: 'signIn', organisation_id: null }]);
});

test('the second factor is logged: enrolled, given, by recovery code, removed', async () => {
  const user = await aMember(server);
  const other = await signedIn(server, user);
  const tab = await signedIn(server, user);
  const { app, recoveryCodes } = await enrolled(tab);
  expect((await other.get('/dashboard/account')).status).toBe(303);
  const again = await signedIn(server, user);
  await again.get('/dashboard/second-factor');
  expect((await again.post('/dashboard/second-factor', { code: app.code() })).status).toBe(303);
  await again.get('/dashboard/second-factor');
  const [code = ''] = recoveryCodes;
  expect((await again.post('/dashboard/second-factor', { code })).status).toBe(303);
  await again.get('/dashboard/account');
  await again.post('/dashboard/account', { act: 'remove-second-factor' });
  const signIn = ['signIn', { by: 'link' }];
  expect(await said(user)).toEqual([
    signIn,
    signIn,
    ['enableSecondFactor', { sessions_ended: 1 }],
    signIn,
    ['giveSecondFactor', null],
    ['useRecoveryCode', { recovery_codes_left: 9 }],
    ['disableSecondFactor', { sessions_ended: 1 }],
  ]);
  const [row] = await server.sql<{ text: string }[]>`
    select string_agg(a::text, '') as text from audit_log a where actor_id = ${user.id}`;
  for (const secret of [...recoveryCodes, tab.cookie!, again.cookie!]) {
    expect(row!.text).not.toContain(secret);
  }
});

test('account changes are logged: the name, one session ended, all sessions ended', async () => {
  const user = await aMember(server);
  const [tab, second] = [await signedIn(server, user), await signedIn(server, user)];
  const before = await rowsOf(user);
  const ofSecond = (before[1]!['object'] as { id: string }).id;
  await tab.get('/dashboard/account');
  await tab.post('/dashboard/account', { act: 'rename', name: 'Grace' });
  const end = () => tab.post('/dashboard/account', { act: 'end-session', session: ofSecond });
  // A second time it ends nothing.
  for (const _ of [1, 2]) expect((await end()).status).toBe(303);
  expect((await second.get('/dashboard/account')).status).toBe(303);
  await tab.post('/dashboard/account', { act: 'sign-out-everywhere' });
  const rows = (await rowsOf(user)).slice(2);
  expect(rows.map(({ operation, before: was, after }) => [operation, was, after])).toEqual([
    ['renameUser', { name: 'Ada' }, { name: 'Grace' }],
    ['revokeSession', null, null],
    ['revokeSessions', null, { sessions_ended: 1 }],
  ]);
});

test('a sign-in as another user in the same browser is logged as a sign-out too', async () => {
  const [one, two] = [await aMember(server), await aMember(server)];
  const tab = await signedIn(server, one);
  await tab.post(await aLink(server, two.id));
  expect(await said(one)).toEqual([
    ['signIn', { by: 'link' }],
    ['signOut', null],
  ]);
  expect(await said(two)).toEqual([['signIn', { by: 'link' }]]);
});

test('an OpenID Connect sign-in is logged, and the refusal of a disabled user', async () => {
  const user = await aMember(server);
  const come = async () => {
    const tab = new Tab(server);
    provider.claims = { email: user.email, email_verified: true };
    const back = await passThrough(placeOf(await tab.get('/dashboard/oidc')));
    return (await tab.get(`/dashboard/oidc/callback${back.search}`)).status;
  };
  expect(await come()).toBe(303);
  await server.sql`update users set disabled_at = now() where id = ${user.id}`;
  expect(await come()).toBe(403);
  expect(await said(user)).toEqual([
    ['signIn', { by: 'oidc' }],
    ['refuseSignIn', { reason: 'user_disabled' }],
  ]);
});

test('an accepted invitation is logged for the organisation that invited', async () => {
  const { organisation, other } = server;
  const email = 'invited@example.com';
  const invite = (key: string) =>
    server.call('POST', '/invitations', { key, body: { email, role: 'support' } });
  const linkOf = async () => {
    const mail = (await office.to(email)).at(-1)!;
    return /(\/dashboard\/invitations\/\w{43})/.exec(mail.text!)![1]!;
  };
  const { json } = await invite(organisation.liveKey);
  const tab = new Tab(server);
  expect((await tab.post(await linkOf(), { name: 'Ida' })).status).toBe(303);
  const [user] = await server.sql<{ id: string }[]>`select id from users where email = ${email}`;
  const [accepted, signIn] = await rowsOf(user!);
  expect(accepted).toMatchObject({
    operation: 'acceptInvitation',
    actor: { label: email, session_id: null },
    object: { type: 'invitation', id: json.id },
    after: { role: 'support', member_id: expect.any(String) },
  });
  expect([signIn!.operation, signIn!.after]).toEqual(['signIn', { by: 'invitation' }]);
  const second = (await invite(other.liveKey)).json;
  await tab.get('/dashboard/account');
  await tab.post('/dashboard/account', { act: 'join', id: second.id });
  const [joined, ...more] = await rowsOf(user!, other.liveKey);
  expect([joined!.operation, more]).toEqual(['acceptInvitation', []]);
});

test('a refused sign-in of a known user is logged, ten times an hour', async () => {
  const user = await aMember(server);
  const link = await aLink(server, user.id);
  expect((await new Tab(server).post(link)).status).toBe(303);
  expect((await new Tab(server).post(link)).status).toBe(410);
  // Nobody is known by what was made up.
  const made = `/dashboard/sign-in/${'a'.repeat(43)}`;
  expect((await new Tab(server).post(made)).status).toBe(410);
  const tab = await signedIn(server, user);
  await enrolled(tab);
  await tab.get('/dashboard/second-factor');
  const wrong = () => tab.post('/dashboard/second-factor', { code: 'x' });
  for (let n = 0; n < 12; n += 1) expect((await wrong()).status).toBe(400);
  const refused = async () =>
    (await rowsOf(user)).filter(({ operation }) => operation === 'refuseSignIn');
  const rows = await refused();
  expect(rows.map(({ after, status }) => [after!['reason'], status])).toEqual([
    ['link_used', 410],
    ...Array.from({ length: 9 }, () => ['wrong_code', 400]),
  ]);
  expect((await wrong()).status).toBe(400);
  expect(await refused()).toHaveLength(10);
});

test('an action on the dashboard is logged with the request and browser of the page', async () => {
  const user = await aMember(server);
  const tab = await signedIn(server, user);
  const at = `/dashboard/${server.organisation.id}/test/products/new`;
  await tab.get(at);
  const done = await tab.post(at, { name: 'Of a page' });
  expect(done.status).toBe(303);
  const row = (await rowsOf(user, server.organisation.testKey)).at(-1);
  expect(row).toMatchObject({
    operation: 'createProduct',
    request_id: done.headers.get('x-request-id')!,
    user_agent: 'Test <b>browser</b>',
  });
});
