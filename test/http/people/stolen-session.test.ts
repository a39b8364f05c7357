// A session of somebody without a second factor, in the hands of a thief: it enrols none.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { aLink, aMember, App, enrolled, type Person, placeOf, signedIn, type Tab } from './tab.ts';

const MINUTE = 60_000;
const AT = '/dashboard/account';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

/** Its sessions began so long before. */
const age = (user: Person, ms: number) => server.sql`
  update sessions set created_at = ${new Date(Date.now() - ms)} where user_id = ${user.id}`;
const hasFactor = async (user: Person) => {
  const [row] = await server.sql`select totp_confirmed_at from users where id = ${user.id}`;
  return row?.['totp_confirmed_at'] !== null;
};
const again = (page: string) =>
  /href="([^"]*again=1[^"]*)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';

async function signsIn(tab: Tab, user: Person, to: string): Promise<void> {
  const link = await aLink(server, user.id);
  await tab.get(`${link}?to=${encodeURIComponent(to)}`);
  const reply = await tab.post(link, { to });
  expect(reply.status).toBe(303);
  await tab.open(placeOf(reply));
}

test("15 minutes after the sign-in the second factor's secret is not shown and no code is taken", async () => {
  const user = await aMember(server);
  const tab = await signedIn(server, user);
  const app = new App((await tab.get(AT)).text);
  await age(user, 15 * MINUTE);
  const { text } = await tab.get(`${AT}?enroll=1`);
  expect(text).toContain('Sign in again');
  expect([text.includes('otpauth:'), text.includes('<svg')]).toEqual([false, false]);
  // By what was seen before, too.
  const reply = await tab.post(AT, { act: 'enrol', code: app.code() });
  expect([reply.status, placeOf(reply)]).toEqual([303, `${AT}?enroll=1`]);
  expect(await hasFactor(user)).toBe(false);
  // So what is risky stays closed.
  const live = `/dashboard/${server.organisation.id}/live`;
  await tab.get(`${live}/keys/new`);
  const made = await tab.post(`${live}/keys/new`, { scopes: 'read' });
  expect([made.status, placeOf(made)]).toEqual([303, `${AT}?enroll=1`]);
});

test('just before 15 minutes after the sign-in the second factor can be enrolled', async () => {
  const user = await aMember(server);
  const tab = await signedIn(server, user);
  await age(user, 14 * MINUTE);
  await enrolled(tab);
  expect(await hasFactor(user)).toBe(true);
});

test('a user who signs in again is led back and enrols, and a stolen session has ended', async () => {
  const user = await aMember(server);
  const tab = await signedIn(server, user);
  await age(user, 60 * MINUTE);
  const stolen = tab.beside();
  const to = again((await tab.get(AT)).text);
  const page = await tab.get(to);
  // The sign-in is shown, and the session goes on until then.
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('<h1>Sign in</h1>')]);
  expect((await tab.get(AT)).status).toBe(200);
  await signsIn(tab, user, new URL(to, server.url).searchParams.get('to') ?? '');
  expect(tab.page).toContain('enroll one below');
  await enrolled(tab);
  expect(placeOf(await stolen.get(AT))).toStartWith('/dashboard/sign-in');
});

test('a user who removes the second factor with a code can enrol another at once', async () => {
  const user = await aMember(server);
  const tab = await signedIn(server, user);
  const { app } = await enrolled(tab);
  await age(user, 60 * MINUTE);
  await tab.get(AT);
  await tab.post(AT, { act: 'remove-second-factor' });
  expect(await hasFactor(user)).toBe(false);
  const next = new App((await tab.get(AT)).text);
  expect(next.code()).not.toBe(app.code());
  await enrolled(tab);
  expect(await hasFactor(user)).toBe(true);
});
