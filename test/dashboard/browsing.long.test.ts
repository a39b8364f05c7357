// The dashboard in a real browser: signing in and out, with the keyboard alone, without JavaScript,
// in the frame and in the hands of another site.
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { openBrowser } from '../pages/browser.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { openSeat, type Seat, signIn } from './browser.ts';

setDefaultTimeout(60_000);

const COOKIE = '__Host-tollhouse';

let server: TestServer;
let browser: Browser;
let base: string;
/** Pages of other sites: at `localhost`, which is another site than 127.0.0.1. */
let evil: ReturnType<typeof Bun.serve>;
let evilPage = '';
const evilUrl = () => `http://localhost:${evil.port}/`;
beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), openBrowser()]);
  base = `${server.url}/dashboard/${server.organisation.id}/test`;
  evil = Bun.serve({
    port: 0,
    fetch: () => new Response(evilPage, { headers: { 'content-type': 'text/html' } }),
  });
});
afterAll(async () => {
  await browser.close();
  await evil.stop(true);
  await server.stop();
});

let seat: Seat;
beforeEach(async () => {
  seat = await openSeat(browser);
});

const cookie = async () =>
  (await seat.context.cookies()).find(({ name }) => name === COOKIE) ?? null;

const keyNames = async () =>
  (await server.call('GET', '/api-keys?limit=200')).json.data.map(
    (key: { name: string }) => key.name,
  );

test('a sign-in by link sets a cookie for this host, over TLS, and for no script', async () => {
  await signIn(seat, server);
  expect(seat.page.url()).toBe(base);
  expect(await cookie()).toMatchObject({
    domain: '127.0.0.1',
    path: '/',
    httpOnly: true,
    secure: true,
    sameSite: 'Lax',
    expires: -1,
  });
  expect(await seat.page.evaluate('document.cookie')).toBe('');
  expect(seat.complaints).toEqual([]);
});

test('the dashboard works without JavaScript: sign-in, a form, its refusal, sign-out', async () => {
  seat = await openSeat(browser, { javaScriptEnabled: false });
  const { page } = seat;
  await signIn(seat, server);
  await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
  await page.getByRole('link', { name: 'New endpoint' }).click();
  await page.getByLabel('URL').fill('http://192.168.0.1/');
  await page.getByLabel('Description').fill('Mine');
  await page.getByRole('button', { name: 'Create endpoint' }).click();
  expect(await page.getByRole('alert').innerText()).toContain('url');
  expect(await page.getByLabel('Description').inputValue()).toBe('Mine');
  await page.getByLabel('URL').fill('https://hooks.example/mine');
  await page.getByRole('button', { name: 'Create endpoint' }).click();
  expect(await page.getByText('whsec_').innerText()).toContain('whsec_');
  await page.getByRole('button', { name: 'Sign out' }).click();
  expect(new URL(page.url()).pathname).toBe('/dashboard/sign-in');
});

test('a sign-out shows nothing more, by the back button neither, and ends the session', async () => {
  await signIn(seat, server);
  const { page } = seat;
  await page.goto(`${base}/keys`);
  const held = (await cookie())?.value;
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL((url) => url.pathname === '/dashboard/sign-in');
  expect(await cookie()).toBeNull();
  await page.goBack();
  expect(new URL(page.url()).pathname).toBe('/dashboard/sign-in');
  const again = await fetch(`${base}/keys`, {
    headers: { cookie: `${COOKIE}=${held}` },
    redirect: 'manual',
  });
  expect(again.status).toBe(303);
});

test('the dashboard makes a key by keyboard alone', async () => {
  await signIn(seat, server);
  const { page } = seat;
  const focused = () =>
    page.evaluate(
      '(document.activeElement.labels?.[0] ?? document.activeElement).textContent.trim()',
    );
  /** Tabs until this has the focus. */
  const tabTo = async (text: string) => {
    for (let at = 0; at < 60; at += 1) {
      await page.keyboard.press('Tab');
      if ((await focused()) === text) return;
    }
    throw new Error(`the keyboard does not reach ${text}`);
  };
  await tabTo('Skip to the content');
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.activeElement.id')).toBe('main');
  await page.goto(base);
  await tabTo('API keys');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${base}/keys`);
  await tabTo('New key');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${base}/keys/new`);
  await tabTo('Name');
  await page.keyboard.type('By keyboard');
  await tabTo('Scope');
  await page.keyboard.press('ArrowDown');
  await tabTo('Create key');
  await page.keyboard.press('Enter');
  await page.getByText('It is shown only once').waitFor();
  const { data } = (await server.call('GET', '/api-keys?limit=200')).json;
  expect(data[0]).toMatchObject({ name: 'By keyboard', scopes: ['read'] });
  expect(seat.complaints).toEqual([]);
});

test('a refused dashboard form has the focus on its error', async () => {
  await signIn(seat, server);
  const { page } = seat;
  await page.goto(`${base}/settings/organization`);
  await page.getByLabel('Time zone').fill('Mars/Base');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').waitFor();
  expect(await page.evaluate("document.activeElement.getAttribute('role')")).toBe('alert');
  expect(await page.getByLabel('Time zone').getAttribute('aria-invalid')).toBe('true');
});

test('no other site can frame the dashboard', async () => {
  await signIn(seat, server);
  const { page } = seat;
  // The same site, another origin: the cookie would be sent.
  evilPage = `<iframe src="${base}/keys/new"></iframe>`;
  const refused = page.waitForEvent('console', {
    predicate: (message) => message.text().includes('frame-ancestors'),
  });
  await page.goto(`http://127.0.0.1:${evil.port}/`);
  await refused;
  const [, framed] = page.frames();
  expect((await framed?.content()) ?? '').not.toContain('New API key');
});

test.each([
  ['another site', () => evilUrl()],
  [
    'another origin of this site, which gets the cookie along',
    () => `http://127.0.0.1:${evil.port}/`,
  ],
])('a dashboard form of %s does nothing, even with the token', async (_, url) => {
  await signIn(seat, server);
  const { page } = seat;
  await page.goto(`${base}/keys/new`);
  const token = (await page.locator('main [name=_token]').getAttribute('value')) ?? '';
  evilPage = `<form method="post" action="${base}/keys/new"><input name="_token" value="${token}">
    <input name="name" value="Stolen"><input name="scopes" value="all"><button>Win</button></form>`;
  await page.goto(url());
  await page.getByRole('button').click();
  await page.waitForURL((at) => at.href === `${base}/keys/new`);
  expect(await page.locator('h1').innerText()).toBe('This form cannot be sent');
  expect(await keyNames()).not.toContain('Stolen');
});

test("a dashboard form without its token, or with another session's, does nothing", async () => {
  await signIn(seat, server);
  const other = await openSeat(browser);
  await signIn(other, server);
  await other.page.goto(`${base}/keys/new`);
  const foreign = (await other.page.locator('main [name=_token]').getAttribute('value')) ?? '';
  for (const token of [null, '', 'x', foreign]) {
    const { page } = seat;
    await page.goto(`${base}/keys/new`);
    await page.getByLabel('Name').fill('Forged');
    await page.evaluate(
      `(() => { const field = document.querySelector('main [name=_token]');
        ${token === null ? 'field.remove()' : `field.value = ${JSON.stringify(token)}`}; })()`,
    );
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('This form cannot be sent').waitFor();
  }
  expect(await keyNames()).not.toContain('Forged');
});

test('the dashboard tells test and live apart in words, address and title', async () => {
  await signIn(seat, server);
  const { page } = seat;
  await page.goto(`${base}/customers`);
  expect(await page.getByRole('region', { name: 'Mode' }).innerText()).toContain('Test mode');
  expect(await page.title()).toEndWith('(test)');
  await page.getByRole('link', { name: 'Go to live mode' }).click();
  await page.waitForURL((url) => url.pathname.endsWith('/live'));
  expect(await page.getByRole('region', { name: 'Mode' }).innerText()).toContain('real money');
  expect(await page.title()).toEndWith('(live)');
  expect(await page.getByRole('link', { name: 'Test clock' }).count()).toBe(0);
});
