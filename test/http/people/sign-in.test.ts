// Signing in by a link: once, for a quarter of an hour, into a session of its own.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { aLink, aMember, placeOf, signedIn, Tab } from './tab.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const home = () => `/dashboard/${server.organisation.id}/test`;

test('the page of a sign-in link names the user, and its button signs in', async () => {
  const user = await aMember(server);
  const link = await aLink(server, user.id);
  const tab = new Tab(server);
  // Whoever reads mails for viruses follows links, and uses none of them up.
  for (const _ of [1, 2]) {
    const page = await tab.get(link);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining(user.email)]);
    expect([tab.cookie, page.headers.getSetCookie()]).toEqual([null, []]);
  }
  const used = await tab.post(link);
  expect([used.status, used.headers.get('cache-control')]).toEqual([303, 'no-store']);
  const shown = await tab.open(placeOf(used));
  expect([shown.status, shown.text]).toEqual([200, expect.stringContaining('One')]);
  expect(shown.headers.getSetCookie()).toEqual([]);
});

test('a sign-in link works once', async () => {
  const user = await aMember(server);
  const link = await aLink(server, user.id);
  expect((await new Tab(server).post(link)).status).toBe(303);
  for (const again of [await new Tab(server).post(link), await new Tab(server).get(link)]) {
    expect([again.status, again.headers.getSetCookie()]).toEqual([410, []]);
    expect(again.text).not.toContain(user.email);
  }
});

test('of many tabs that use a sign-in link at once one is signed in', async () => {
  const user = await aMember(server);
  const link = await aLink(server, user.id);
  const replies = await Promise.all(Array.from({ length: 8 }, () => new Tab(server).post(link)));
  expect(replies.filter(({ status }) => status === 303)).toHaveLength(1);
  expect(replies.filter(({ status }) => status === 410)).toHaveLength(7);
  const [row] = await server.sql`select count(*) from sessions where user_id = ${user.id}`;
  expect(row!['count']).toBe(1n);
});

test('a sign-in link ends after 15 minutes', async () => {
  const user = await aMember(server);
  const shift = async (minutes: number) => {
    const link = await aLink(server, user.id);
    await server.sql`
      update sign_in_links set expires_at = expires_at - ${`${minutes} minutes`}::interval
      where user_id = ${user.id}`;
    return [(await new Tab(server).get(link)).status, (await new Tab(server).post(link)).status];
  };
  expect(await shift(14)).toEqual([200, 303]);
  expect(await shift(15)).toEqual([410, 410]);
});

test("a disabled user's sign-in links and sessions do not work", async () => {
  const user = await aMember(server);
  const tab = await signedIn(server, user);
  const link = await aLink(server, user.id);
  await server.sql`update users set disabled_at = now() where id = ${user.id}`;
  expect((await new Tab(server).get(link)).status).toBe(410);
  expect((await new Tab(server).post(link)).status).toBe(410);
  expect(placeOf(await tab.get(home()))).toStartWith('/dashboard/sign-in');
});

test.each(['x', 'a'.repeat(43), `${'a'.repeat(42)}'`, '%00', '%F0%9F%98%80'.repeat(11), '..%2f..'])(
  'nobody is signed in by %s',
  async (token) => {
    for (const reply of [
      await new Tab(server).get(`/dashboard/sign-in/${token}`),
      await new Tab(server).post(`/dashboard/sign-in/${token}`),
    ]) {
      expect([reply.status, reply.headers.getSetCookie()]).toEqual([410, []]);
    }
  },
);

test('each sign-in is a session of its own, and ends the one that the browser had', async () => {
  const [one, two] = [await aMember(server), await aMember(server)];
  const tab = await signedIn(server, one);
  const before = tab.beside();
  await tab.post(await aLink(server, two.id));
  expect(tab.cookie).not.toBe(before.cookie);
  expect(placeOf(await before.get(home()))).toStartWith('/dashboard/sign-in');
  expect((await tab.get('/dashboard/account')).text).toContain(two.email);
});

test('a session cookie that somebody else planted is not used after a sign-in', async () => {
  const user = await aMember(server);
  const planted = 'a'.repeat(43);
  const tab = new Tab(server, planted);
  await tab.post(await aLink(server, user.id));
  expect(tab.cookie).not.toBe(planted);
  expect(placeOf(await new Tab(server, planted).get(home()))).toStartWith('/dashboard/sign-in');
});

test('a form of another site signs nobody in', async () => {
  const user = await aMember(server);
  const link = await aLink(server, user.id);
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'sec-fetch-site': 'cross-site',
  };
  const reply = await server.call('POST', link, { key: null, raw: 'to=x', headers });
  expect([reply.status, reply.headers.getSetCookie()]).toEqual([403, []]);
  expect((await new Tab(server).post(link)).status).toBe(303);
});

test('a sign-in leads to the page that was asked for, and to no other site', async () => {
  const user = await aMember(server);
  const arrive = async (to: string) => {
    const tab = new Tab(server);
    const link = await aLink(server, user.id);
    const shown = await tab.get(`${link}?to=${encodeURIComponent(to)}`);
    const named = /name="to" value="([^"]*)"/.exec(shown.text)?.[1]?.replaceAll('&amp;', '&');
    const first = await tab.post(link, { to });
    return [named, placeOf(await tab.get(placeOf(first)))];
  };
  const there = `${home()}/customers?search=a&limit=5`;
  expect(await arrive(there)).toEqual([there, there]);
  for (const elsewhere of [
    'https://example.com/',
    '//example.com/dashboard',
    '/\\example.com/dashboard',
    '/dashboard\\..\\..\\x',
    '/dashboard/../portal/x',
    '/dashboard/%2e%2e/x',
    '/dashboardx',
    'javascript:alert(1)',
    `/dashboard/${'a'.repeat(2000)}`,
    '',
  ]) {
    expect([elsewhere, ...(await arrive(elsewhere))]).toEqual([elsewhere, undefined, '/dashboard']);
  }
});

test('a sign-in in a browser that keeps no cookie says why it failed', async () => {
  const user = await aMember(server);
  const tab = new Tab(server);
  const used = await tab.post(await aLink(server, user.id));
  tab.cookie = null;
  const page = await tab.get(placeOf(used));
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('https')]);
});

test('the address of the service alone leads a browser to the dashboard, and a program nowhere', async () => {
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  const ask = (method: string, headers: Record<string, string>) =>
    fetch(`${server.url}/`, { method, headers, redirect: 'manual' });
  for (const method of ['GET', 'HEAD']) {
    const led = await ask(method, { accept });
    expect([led.status, led.headers.get('location')]).toEqual([302, '/dashboard']);
  }
  for (const [method, headers] of [
    ['GET', { accept: '*/*' }],
    ['GET', { accept: 'application/json' }],
    ['POST', { accept }],
    ['OPTIONS', { accept }],
  ] as const) {
    const reply = await ask(method, headers);
    expect(reply.status).toBe(404);
    expect(await reply.json()).toMatchObject({ error: { type: 'not_found' } });
  }
});

test('the sign-in page without a mail server says how an operator helps', async () => {
  const tab = new Tab(server);
  const page = await tab.get('/dashboard/sign-in');
  expect(page.text).toContain('npx bun@1.4.5 run admin user sign-in');
  const asked = await tab.post('/dashboard/sign-in', { email: 'a@example.com' });
  expect([asked.status, asked.text]).toEqual([409, page.text]);
});
