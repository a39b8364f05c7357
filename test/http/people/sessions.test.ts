// Sessions: how long they last, how they end, on each node.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { newPlace } from '../../support/new-place.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { aLink, aMember, enrolled, placeOf, signedIn, type Tab } from './tab.ts';

let server: TestServer;
let second: TestServer;
beforeAll(async () => {
  server = await startServer({ node: await newPlace() });
  second = await startServer({ node: await newPlace(), beside: server });
});
afterAll(async () => {
  await second.stop();
  await server.stop();
});

/** Of the account's page, on both nodes: 200 while the session lasts. */
async function opens(tab: Tab): Promise<number[]> {
  const tabs = [tab.beside(server), tab.beside(second)];
  const replies = await Promise.all(tabs.map((each) => each.get('/dashboard/account')));
  return replies.map(({ status }) => status);
}

const OPEN = [200, 200];
const ENDED = [303, 303];

test('a session of one node works on the other', async () => {
  const tab = await signedIn(server, await aMember(server));
  expect(await opens(tab)).toEqual(OPEN);
  // Not without the token of its pages.
  expect((await tab.post('/dashboard/account', { act: 'sign-out' })).status).toBe(403);
  expect(await opens(tab)).toEqual(OPEN);
  await tab.get('/dashboard/account');
  const out = await tab.beside().post('/dashboard/account', { act: 'sign-out' });
  expect(out.status).toBe(403);
  await tab.post('/dashboard/account', { act: 'sign-out' });
  expect([tab.cookie, await opens(tab)]).toEqual([null, ENDED]);
});

test("a session's cookie is stored as a hash, and is in no log", async () => {
  const user = await aMember(server);
  const link = await aLink(server, user.id);
  const tab = await signedIn(server, user);
  const [dump] = await server.sql<{ text: string }[]>`
    select (select string_agg(s::text, '') from sessions s)
      || (select string_agg(l::text, '') from sign_in_links l) as text`;
  const secrets = [tab.cookie!, link.slice(link.lastIndexOf('/') + 1)];
  for (const secret of secrets) {
    for (const text of [dump!.text, server.logged.join(''), second.logged.join('')]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(Buffer.from(secret).toString('hex'));
    }
  }
});

test('a session ends after 12 hours without a request, and each one by its user prolongs it', async () => {
  const user = await aMember(server);
  const tab = await signedIn(server, user);
  const sleep = (hours: number, minutes = 0) => server.sql`
    update sessions set seen_at = seen_at - make_interval(hours => ${hours}, mins => ${minutes}),
      created_at = created_at - make_interval(hours => ${hours}, mins => ${minutes})
    where user_id = ${user.id}`;
  for (const _ of [1, 2]) {
    await sleep(11, 50);
    expect((await tab.get('/dashboard/account')).status).toBe(200);
  }
  // As a page asks for itself.
  const headers = { cookie: `__Host-tollhouse=${tab.cookie}`, 'x-live': '1' };
  await sleep(11, 50);
  const reply = await fetch(`${server.url}/dashboard/account`, { headers });
  expect([reply.status, reply.redirected]).toEqual([200, false]);
  await sleep(0, 10);
  expect(await opens(tab)).toEqual(ENDED);
});

test('a session ends after 7 days, however busy it is', async () => {
  const user = await aMember(server);
  const tab = await signedIn(server, user);
  // By the clock that the server reads: PostgreSQL's is finer and may be ahead within a
  // millisecond.
  const age = (ms: number) => server.sql`
    update sessions set created_at = ${new Date(Date.now() - ms)} where user_id = ${user.id}`;
  const week = 7 * 86_400_000;
  await age(week - 60_000);
  expect(await opens(tab)).toEqual(OPEN);
  await age(week);
  expect(await opens(tab)).toEqual(ENDED);
});

test("a second factor's code does not prolong the 7 days of a session", async () => {
  const user = await aMember(server);
  const tab = await signedIn(server, user);
  const [before] = await server.sql`select created_at from sessions where user_id = ${user.id}`;
  await tab.get('/dashboard/account');
  await enrolled(tab);
  const [after] = await server.sql`select created_at from sessions where user_id = ${user.id}`;
  expect(after).toEqual(before);
});

test('a session is ended by another one of its user, and all of them at once', async () => {
  const user = await aMember(server);
  const stranger = await signedIn(server, await aMember(server));
  const [one, two, three] = [
    await signedIn(server, user),
    await signedIn(second, user),
    await signedIn(server, user),
  ];
  const listed = (await one.get('/dashboard/account')).text;
  expect(listed).toContain('Test &lt;b&gt;browser&lt;/b&gt;');
  const ids = [...listed.matchAll(/name="session" value="([\w-]+)"/g)].map(([, id]) => id!);
  expect(ids).toHaveLength(2);
  // Of somebody else it is nothing.
  await stranger.get('/dashboard/account');
  await stranger.post('/dashboard/account', { act: 'end-session', session: ids[0]! });
  expect(await opens(three)).toEqual(OPEN);
  // Newest first.
  await one.post('/dashboard/account', { act: 'end-session', session: ids[0]! });
  expect([await opens(one), await opens(two), await opens(three)]).toEqual([OPEN, OPEN, ENDED]);
  await two.get('/dashboard/account');
  const reply = await two.post('/dashboard/account', { act: 'sign-out-everywhere' });
  expect([placeOf(reply), two.cookie]).toEqual(['/dashboard/sign-in', null]);
  expect([await opens(one), await opens(stranger)]).toEqual([ENDED, OPEN]);
});

test("a removed member's session sees nothing of the organisation, at once", async () => {
  const user = await aMember(server, 'admin');
  const tab = await signedIn(server, user);
  const home = `/dashboard/${server.organisation.id}/test`;
  expect((await tab.get(home)).status).toBe(200);
  await server.sql`delete from organisation_members where user_id = ${user.id}`;
  for (const node of [server, second]) expect((await tab.beside(node).get(home)).status).toBe(404);
});

test('a user has at most so many sessions: the oldest ends', async () => {
  const user = await aMember(server);
  const first = await signedIn(server, user);
  for (let n = 0; n < 49; n += 1) await signedIn(server, user);
  expect(await opens(first)).toEqual(OPEN);
  await signedIn(server, user);
  expect(await opens(first)).toEqual(ENDED);
});
