// Signing in and out, and forms from elsewhere, as a browser without a script meets them; in a
// browser someone signs in and is refused once. The rest in a browser: browsing.long.test.ts.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { DASHBOARD_PAGES } from '../../src/dashboard/pages.ts';
import { openBrowser } from '../pages/browser.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { aLink, aMember, Tab } from '../http/people/tab.ts';
import { openSeat, signIn } from './browser.ts';
import { memberOf } from './member.ts';

setDefaultTimeout(60_000);

const COOKIE = '__Host-tollhouse';

let server: TestServer;
let base: string;
beforeAll(async () => {
  server = await startServer();
  base = `${server.url}/dashboard/${server.organisation.id}/test`;
});
afterAll(() => server.stop());

const keyNames = async () =>
  (await server.call('GET', '/api-keys?limit=200')).json.data.map(
    (key: { name: string }) => key.name,
  );

/** The token of the page's own form, not that of the button that signs out. */
const tokenIn = (page: string): string =>
  /<main[\s\S]*?name="_token" value="([\w-]+)"/.exec(page)?.[1] ?? '';

test('in a browser a link signs in, the cookie is for no script, and a refusal takes the focus', async () => {
  const browser = await openBrowser();
  const seat = await openSeat(browser);
  const { page } = seat;
  await signIn(seat, server);
  expect(page.url()).toBe(base);
  const cookies = await seat.context.cookies();
  expect(cookies.find(({ name }) => name === COOKIE)).toMatchObject({
    domain: '127.0.0.1',
    path: '/',
    httpOnly: true,
    secure: true,
    sameSite: 'Lax',
    expires: -1,
  });
  expect(await page.evaluate('document.cookie')).toBe('');
  await page.goto(`${base}/settings/organization`);
  await page.getByLabel('Time zone').fill('Mars/Base');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').waitFor();
  expect(await page.evaluate("document.activeElement.getAttribute('role')")).toBe('alert');
  expect(await page.getByLabel('Time zone').getAttribute('aria-invalid')).toBe('true');
  expect(seat.complaints).toEqual([]);
  await browser.close();
});

test('a planted session cookie is replaced by the sign-in, and opens nothing', async () => {
  const planted = 'a'.repeat(43);
  const tab = new Tab(server, planted);
  await tab.post(await aLink(server, (await aMember(server)).id));
  expect(tab.cookie).not.toBe(planted);
  const path = new URL(base).pathname;
  expect((await tab.get(path)).status).toBe(200);
  expect((await new Tab(server, planted).get(path)).status).toBe(303);
});

test('after a sign-out nothing is shown, no page was cached, and the session has ended', async () => {
  const member = await memberOf(server);
  const page = await member.get('/keys');
  expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect(page.text).toContain('action="/dashboard/sign-out"');
  const held = new Tab(server, member.tab.cookie);
  const reply = await member.tab.post('/dashboard/sign-out');
  expect([reply.status, reply.headers.get('location'), member.tab.cookie]).toEqual([
    303,
    '/dashboard/sign-in',
    null,
  ]);
  expect((await held.get(`${member.base}/keys`)).status).toBe(303);
});

test('no page of the dashboard lets another site frame it', async () => {
  const member = await memberOf(server);
  for (const { path } of DASHBOARD_PAGES) {
    if (path.includes(':') || path.endsWith('.csv')) continue;
    const { headers } = await member.get(path);
    const policy = headers.get('content-security-policy');
    expect([path, policy]).toEqual([path, expect.stringContaining("frame-ancestors 'none'")]);
  }
});

test.each(['cross-site', 'same-site'])(
  'a dashboard form of another site does nothing, even with the token: %s',
  async (site) => {
    const { tab } = await memberOf(server);
    const token = tokenIn((await tab.get(new URL(`${base}/keys/new`).pathname)).text);
    expect(token).not.toBe('');
    const reply = await fetch(`${base}/keys/new`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ _token: token, name: 'Stolen', scopes: 'all' }),
      headers: {
        cookie: `${COOKIE}=${tab.cookie}`,
        'sec-fetch-site': site,
        origin: 'http://localhost:1',
      },
    });
    expect([reply.status, await reply.text()]).toEqual([
      403,
      expect.stringContaining('This form cannot be sent'),
    ]);
    expect(await keyNames()).not.toContain('Stolen');
  },
);

test("a dashboard form without its token, or with another session's, does nothing", async () => {
  const member = await memberOf(server);
  const other = await memberOf(server);
  const foreign = tokenIn(await other.read('/keys/new'));
  for (const token of [null, '', 'x', foreign]) {
    const own = tokenIn(await member.read('/keys/new'));
    expect([own === '', own === foreign]).toEqual([false, false]);
    member.tab.page = '';
    const fields = { name: 'Forged', scopes: 'read', ...(token !== null && { _token: token }) };
    const reply = await member.tab.post(`${member.base}/keys/new`, fields);
    expect([token, reply.status, reply.text]).toEqual([
      token,
      403,
      expect.stringContaining('This form cannot be sent'),
    ]);
  }
  expect(await keyNames()).not.toContain('Forged');
});

test('the dashboard tells test and live apart in words, address and title', async () => {
  const trial = await (await memberOf(server)).read('/customers');
  expect(trial).toContain('Test mode');
  expect(trial).toMatch(/\(test\)<\/title>/);
  expect(trial).toMatch(/href="[^"]*\/live[^"]*"[^>]*>\s*Go to live mode/);
  expect(trial).toContain('Test clock');
  const live = await (await memberOf(server, { mode: 'live' })).read('/customers');
  expect(live).toContain('real money');
  expect(live).toMatch(/\(live\)<\/title>/);
  expect(live).not.toContain('Test clock');
});
