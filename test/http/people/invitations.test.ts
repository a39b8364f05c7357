// Invitations: mailed, accepted once, by whom they are for.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mailSettings, openPostOffice, type PostOffice } from '../../mail/post-office.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { TEST_SETTINGS } from '../../support/settings.ts';
import { aMember, enrolled, placeOf, signedIn, Tab } from './tab.ts';

let office: PostOffice;
let server: TestServer;
beforeAll(async () => {
  office = await openPostOffice();
  const limits = { ...TEST_SETTINGS.limits, invitations: 1000 };
  server = await startServer({ settings: { mail: mailSettings(office), limits } });
  await aMember(server);
});
afterAll(async () => {
  await server.stop();
  await office.stop();
});

const key = () => server.organisation.liveKey;
let names = 0;
const anEmail = () => `invited${(names += 1)}@example.com`;
const post = (body: object, headers: Record<string, string> = {}) =>
  server.call('POST', '/invitations', { key: key(), body, headers });

/** The id, and the path of the mailed link. */
async function invited(email: string, role = 'support') {
  const { status, json, text } = await post({ email, role });
  expect([status, text]).toEqual([201, text]);
  const mails = await office.to(email);
  const link = /http:\/\/localhost(\/dashboard\/invitations\/\w{43})/.exec(
    mails.at(-1)!.text!,
  )![1]!;
  return { id: json.id as string, link, mail: mails.at(-1)!, json };
}

async function membersOf(email: string): Promise<{ role: string }[]> {
  const rows = await server.sql<{ role: string }[]>`
    select role from organisation_members m join users u on u.id = m.user_id
    where u.email = ${email} and organisation_id = ${server.organisation.id}`;
  return [...rows];
}

test('an invited stranger gets a mail, joins with a name, and is signed in', async () => {
  const email = anEmail();
  const { id, link, mail, json } = await invited(email, 'admin');
  expect(json).toEqual({
    id,
    email,
    role: 'admin',
    status: 'open',
    invited_by: null,
    created_at: expect.any(String),
    expires_at: new Date(Date.parse(json.created_at) + 7 * 86_400_000).toISOString(),
    mailed: true,
    // The mailbox proves whose address it is.
    url: null,
  });
  expect(mail.subject).toBe('You are invited to One');
  const tab = new Tab(server);
  expect((await tab.get(link)).text).toContain(email);
  // The link alone does nothing.
  expect([await membersOf(email), tab.cookie]).toEqual([[], null]);
  const joined = await tab.post(link, { name: '<b>Grace</b>' });
  const home = await tab.open(placeOf(joined));
  expect([home.status, home.text]).toEqual([200, expect.stringContaining('&lt;b&gt;Grace')]);
  expect(await membersOf(email)).toMatchObject([{ role: 'admin' }]);
  const list = await server.call('GET', '/invitations', { key: key() });
  expect(list.json.data[0]).toMatchObject({ id, status: 'accepted' });
  expect((await new Tab(server).post(link, { name: 'x' })).status).toBe(410);
  expect((await server.call('DELETE', `/invitations/${id}`, { key: key() })).status).toBe(409);
});

test('of those who accept an invitation at once one joins', async () => {
  const email = anEmail();
  const { link } = await invited(email);
  const tabs = Array.from({ length: 6 }, () => new Tab(server));
  const replies = await Promise.all(tabs.map((tab) => tab.post(link, { name: 'Eve' })));
  expect(replies.filter(({ status }) => status === 303)).toHaveLength(1);
  expect(tabs.filter(({ cookie }) => cookie !== null)).toHaveLength(1);
  expect(await membersOf(email)).toHaveLength(1);
});

test('an invited user who exists signs in first: the link does not skip that', async () => {
  const { organisation, other } = server;
  const user = await aMember(server, 'support', { email: anEmail(), organisationId: other.id });
  const { link } = await invited(user.email, 'owner');
  const stranger = await signedIn(server, await aMember(server));
  for (const tab of [new Tab(server), stranger]) {
    for (const reply of [await tab.get(link), await tab.post(link, { name: 'x' })]) {
      expect([reply.status, reply.headers.getSetCookie()]).toEqual([403, []]);
    }
  }
  expect(await membersOf(user.email)).toEqual([]);
  const tab = await signedIn(server, user);
  expect((await tab.get(link)).status).toBe(200);
  expect(placeOf(await tab.post(link))).toBe(`/dashboard/${organisation.id}/test`);
  expect(await membersOf(user.email)).toMatchObject([{ role: 'owner' }]);
});

test('a session without its second factor accepts no invitation', async () => {
  const { other } = server;
  const user = await aMember(server, 'support', { email: anEmail(), organisationId: other.id });
  await enrolled(await signedIn(server, user));
  const { link, id } = await invited(user.email);
  const half = await signedIn(server, user);
  expect((await half.post(link)).status).toBe(403);
  await half.get('/dashboard/second-factor');
  const joined = await half.post('/dashboard/account', { act: 'join', id });
  expect(placeOf(joined)).toStartWith('/dashboard/second-factor');
  expect(await membersOf(user.email)).toEqual([]);
});

test('the account page shows the invitations for its address, and no other user accepts them', async () => {
  const { other } = server;
  const user = await aMember(server, 'support', { email: anEmail(), organisationId: other.id });
  // The address is the same, however it is written.
  const { id } = await invited(user.email.replace('i', 'I'), 'read_only');
  const stranger = await signedIn(
    server,
    await aMember(server, 'owner', { organisationId: other.id }),
  );
  await stranger.get('/dashboard/account');
  expect((await stranger.post('/dashboard/account', { act: 'join', id })).status).toBe(409);
  const tab = await signedIn(server, user);
  expect((await tab.get('/dashboard/account')).text).toContain(id);
  expect((await tab.post('/dashboard/account', { act: 'join', id })).status).toBe(303);
  expect(await membersOf(user.email)).toMatchObject([{ role: 'read_only' }]);
});

test('a new invitation replaces the old; withdrawn and week-old ones do not work', async () => {
  const email = anEmail();
  const first = await invited(email);
  await office.read();
  office.taken.length = 0;
  const second = await invited(email, 'admin');
  expect((await new Tab(server).get(first.link)).status).toBe(410);
  expect((await new Tab(server).get(second.link)).status).toBe(200);
  for (const _ of [1, 2]) {
    const gone = await server.call('DELETE', `/invitations/${second.id}`, { key: key() });
    expect(gone.status).toBe(204);
  }
  expect((await new Tab(server).post(second.link, { name: 'x' })).status).toBe(410);
  const third = await invited(anEmail());
  // By the clock that the server reads: PostgreSQL's is finer and may be ahead within a
  // millisecond.
  await server.sql`update invitations set expires_at = ${new Date()} where id = ${third.id}`;
  expect((await new Tab(server).post(third.link, { name: 'x' })).status).toBe(410);
  const { json } = await server.call('GET', '/invitations?limit=3', { key: key() });
  const states = json.data.map(({ status }: { status: string }) => status);
  expect(states).toEqual(['expired', 'revoked', 'revoked']);
});

test('an invitation of another organisation is 404', async () => {
  const { id, link } = await invited(anEmail());
  const stranger = server.other.liveKey;
  expect((await server.call('DELETE', `/invitations/${id}`, { key: stranger })).status).toBe(404);
  const { json } = await server.call('GET', '/invitations?limit=200', { key: stranger });
  expect(json.data.some((each: { id: string }) => each.id === id)).toBe(false);
  expect((await new Tab(server).get(link)).status).toBe(200);
});

test('a member cannot be invited', async () => {
  const user = await aMember(server, 'support', { email: anEmail() });
  for (const email of [user.email, user.email.toUpperCase()]) {
    const { status, json } = await post({ email, role: 'owner' });
    expect([status, json.error.type]).toEqual([409, 'conflict']);
  }
});

test('a repeated invitation request invites once, and mails once', async () => {
  const email = anEmail();
  const headers = { 'idempotency-key': 'invite once' };
  const first = await post({ email, role: 'support' }, headers);
  const again = await post({ email, role: 'support' }, headers);
  expect([again.status, again.text]).toEqual([201, first.text]);
  await office.to(email);
  await invited(anEmail());
  await office.read();
  expect(office.taken.filter(({ recipient }) => recipient === email)).toHaveLength(1);
});

test.each([
  'x',
  'a@b',
  'a b@example.com',
  '<a@example.com>',
  'a@example.com\r\nBcc: b@example.com',
  `${'a'.repeat(250)}@example.com`,
])('%j is no address to invite', async (email) => {
  const { status, json } = await post({ email, role: 'support' });
  expect([status, json.error.type]).toEqual([400, 'invalid_request']);
});

test("an invitation's link is in no answer, row or log", async () => {
  const { link } = await invited(anEmail());
  const token = link.slice(link.lastIndexOf('/') + 1);
  const [row] = await server.sql<{ text: string }[]>`
    select (select string_agg(i::text, '') from invitations i)
      || (select string_agg(a::text, '') from audit_log a) as text`;
  const list = await server.call('GET', '/invitations', { key: key() });
  for (const text of [row!.text, list.text, server.logged.join('')]) {
    expect(text).not.toContain(token);
  }
});
