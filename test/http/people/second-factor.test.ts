// The second factor: enrolled, asked for, counted once; recovery codes; and without it nothing.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { runAdmin } from '../../support/admin.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { TEST_SETTINGS } from '../../support/settings.ts';
import { aMember, App, enrolled, placeOf, signedIn, type Tab } from './tab.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const home = () => `/dashboard/${server.organisation.id}/test`;
const AT = '/dashboard/second-factor';

/** Gives a code, as the page does. */
async function give(tab: Tab, code: string, to = home()) {
  await tab.get(`${AT}?to=${encodeURIComponent(to)}`);
  return tab.post(AT, { code, to });
}

test('an authenticator app reads the QR code, and its first code enrols the second factor', async () => {
  const user = await aMember(server);
  const tab = await signedIn(server, user);
  const first = (await tab.get('/dashboard/account')).text;
  expect(first).toContain('<svg');
  // However often it is asked for, it is the same.
  expect((await tab.get('/dashboard/account')).text).toBe(first);
  const wrong = await tab.post('/dashboard/account', { act: 'enrol', code: '000000' });
  expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('is wrong')]);
  const before = tab.cookie;
  const { recoveryCodes } = await enrolled(tab);
  expect(new Set(recoveryCodes).size).toBe(10);
  expect(tab.cookie).not.toBe(before);
  expect((await tab.get(home())).status).toBe(200);
  // What it had before is nobody's.
  expect(placeOf(await tab.beside().get(home()))).toBe('');
  const stolen = tab.beside();
  stolen.cookie = before;
  expect(placeOf(await stolen.get(home()))).toStartWith('/dashboard/sign-in');
});

test("a second factor's secret is stored encrypted, recovery codes as hashes", async () => {
  const user = await aMember(server);
  const tab = await signedIn(server, user);
  const page = (await tab.get('/dashboard/account')).text;
  const secret = /secret=(\w+)/.exec(page)![1]!;
  const { recoveryCodes } = await enrolled(tab);
  const [dump] = await server.sql<{ text: string }[]>`
    select (select string_agg(u::text, '') from users u)
      || (select string_agg(r::text, '') from recovery_codes r) as text`;
  for (const text of [dump!.text, server.logged.join('')]) {
    for (const each of [secret, Buffer.from(secret).toString('hex'), recoveryCodes[0]!]) {
      expect(text).not.toContain(each);
    }
  }
});

test('a session opens no page before its second factor is given', async () => {
  const user = await aMember(server);
  const { app } = await enrolled(await signedIn(server, user));
  const half = await signedIn(server, user);
  for (const path of [home(), `${home()}/keys`, '/dashboard/account']) {
    expect(placeOf(await half.get(path))).toStartWith(AT);
  }
  await half.get(AT);
  const posted = await half.post(`${home()}/keys/new`, { scopes: 'all' });
  expect(placeOf(posted)).toStartWith(AT);
  const acted = await half.post('/dashboard/account', { act: 'rename', name: 'Mallory' });
  expect(placeOf(acted)).toStartWith(AT);
  const before = half.cookie;
  const given = await give(half, ` ${app.code().slice(0, 3)} ${app.code().slice(3)} `);
  expect([given.status, placeOf(given)]).toEqual([303, home()]);
  expect(half.cookie).not.toBe(before);
  expect((await half.get(home())).status).toBe(200);
  const fixed = half.beside();
  fixed.cookie = before;
  expect(placeOf(await fixed.get(home()))).toStartWith('/dashboard/sign-in');
});

test('a code of the second factor counts once, and none before it counts', async () => {
  const user = await aMember(server);
  const { app } = await enrolled(await signedIn(server, user));
  const tabs = [await signedIn(server, user), await signedIn(server, user)];
  for (const tab of tabs) await tab.get(AT);
  const code = app.code();
  const replies = await Promise.all(tabs.map((tab) => tab.post(AT, { code, to: home() })));
  const statuses = replies.map(({ status }) => status);
  expect(statuses.toSorted((a, b) => a - b)).toEqual([303, 400]);
  const late = await signedIn(server, user);
  for (const used of [code, app.code(-1)]) expect((await give(late, used)).status).toBe(400);
  expect((await give(late, app.code(1))).status).toBe(303);
});

test('a code of another time, another user or another shape is wrong', async () => {
  const user = await aMember(server);
  const { app } = await enrolled(await signedIn(server, user));
  const { app: other } = await enrolled(await signedIn(server, await aMember(server)));
  const half = await signedIn(server, user);
  const far = [app.code(-4), app.code(4), other.code()].filter((code) => code !== app.code());
  for (const code of [...far, '', '12345', '1234567', `${app.code()}0`, '1e5', 'x'.repeat(5000)]) {
    expect([code, (await give(half, code)).status]).toEqual([code, 400]);
  }
  expect((await give(half, app.code())).status).toBe(303);
});

test('a recovery code stands in for a code once, for its user', async () => {
  const user = await aMember(server);
  const { recoveryCodes } = await enrolled(await signedIn(server, user));
  const stranger = await aMember(server);
  await enrolled(await signedIn(server, stranger));
  const [code = '', second = ''] = recoveryCodes;
  expect((await give(await signedIn(server, stranger), code)).status).toBe(400);
  const tabs = [await signedIn(server, user), await signedIn(server, user)];
  for (const tab of tabs) await tab.get(AT);
  const replies = await Promise.all(tabs.map((tab) => tab.post(AT, { code, to: home() })));
  const statuses = replies.map(({ status }) => status);
  expect(statuses.toSorted((a, b) => a - b)).toEqual([303, 400]);
  const typed = await signedIn(server, user);
  expect((await give(typed, ` ${second.toUpperCase().replaceAll('-', ' ')}`)).status).toBe(303);
  expect((await typed.get('/dashboard/account')).text).toContain('8 recovery codes');
});

test('after 50 wrong codes only a recovery code is accepted', async () => {
  const user = await aMember(server);
  const { app, recoveryCodes } = await enrolled(await signedIn(server, user));
  const half = await signedIn(server, user);
  await half.get(AT);
  const wrong = app.code() === '000000' ? '000001' : '000000';
  for (let n = 0; n < 50; n += 1) await half.post(AT, { code: wrong, to: home() });
  expect((await give(half, app.code())).status).toBe(400);
  expect((await give(half, recoveryCodes[0]!)).status).toBe(303);
  expect((await give(await signedIn(server, user), app.code(1))).status).toBe(303);
});

test('enrolling a second factor ends the other sessions, and so does removing it', async () => {
  const user = await aMember(server);
  const [one, two] = [await signedIn(server, user), await signedIn(server, user)];
  const { app } = await enrolled(one);
  expect(placeOf(await two.get(home()))).toStartWith('/dashboard/sign-in');
  const half = await signedIn(server, user);
  // Only shortly after a code.
  await server.sql`
    update sessions set second_factor_at = now() - interval '10 minutes' where user_id = ${user.id}`;
  await one.get('/dashboard/account');
  const refused = await one.post('/dashboard/account', { act: 'remove-second-factor' });
  expect(placeOf(refused)).toStartWith(AT);
  expect((await give(one, app.code())).status).toBe(303);
  await one.get('/dashboard/account');
  const removed = await one.post('/dashboard/account', { act: 'remove-second-factor' });
  expect(placeOf(removed)).toBe('/dashboard/account?done=removed');
  expect((await one.get(home())).status).toBe(200);
  // What was waiting for a code is not let in without one.
  expect(placeOf(await half.get(home()))).toStartWith('/dashboard/sign-in');
});

test('where the organisation requires a second factor, a member without one may enrol it, no more', async () => {
  const user = await aMember(server);
  const { organisation } = server;
  const tab = await signedIn(server, user);
  const insist = (value: boolean) =>
    server.call('PATCH', '/organization/security', {
      key: organisation.liveKey,
      body: { require_second_factor: value },
    });
  await insist(true);
  for (const path of [home(), `${home()}/customers`, `${home()}/keys/new`]) {
    expect(placeOf(await tab.get(path))).toBe('/dashboard/account?enroll=1');
  }
  await tab.get('/dashboard/account');
  const posted = await tab.post(`${home()}/keys/new`, { scopes: 'all' });
  expect(placeOf(posted)).toBe('/dashboard/account?enroll=1');
  await enrolled(tab);
  expect((await tab.get(home())).status).toBe(200);
  await insist(false);
});

test('making a live key asks for a code again; in test mode it does not', async () => {
  const user = await aMember(server);
  const tab = await signedIn(server, user);
  const live = `/dashboard/${server.organisation.id}/live/keys/new`;
  const make = async (path: string) => {
    await tab.get(path);
    return tab.post(path, { scopes: 'read', name: 'made', _key: crypto.randomUUID() });
  };
  expect(placeOf(await make(live))).toBe('/dashboard/account?enroll=1');
  expect((await make(live.replace('/live/', '/test/'))).text).toContain('svc_test_');
  const { app } = await enrolled(tab);
  expect((await make(live)).text).toContain('svc_live_');
  await server.sql`
    update sessions set second_factor_at = now() - interval '10 minutes' where user_id = ${user.id}`;
  expect(placeOf(await make(live))).toStartWith(AT);
  expect((await give(tab, app.code(), live)).status).toBe(303);
  expect((await make(live)).text).toContain('svc_live_');
});

test('the operator removes a lost second factor, and ends the sessions', async () => {
  const user = await aMember(server);
  const tab = await signedIn(server, user);
  await enrolled(tab);
  const args = ['user', 'reset-second-factor', '--email', user.email, '--json'];
  const { exitCode, stdout } = await runAdmin(args, server.databaseUrl);
  expect([exitCode, JSON.parse(stdout)]).toEqual([
    0,
    { user_id: user.id, email: user.email, had_second_factor: true, sessions_ended: 1 },
  ]);
  expect(placeOf(await tab.get(home()))).toStartWith('/dashboard/sign-in');
  expect((await (await signedIn(server, user)).get(home())).status).toBe(200);
});

test('codes of the second factor are rate limited for each user', async () => {
  const limits = { ...TEST_SETTINGS.limits, signIns: 3 };
  const limited = await startServer({ alone: true, settings: { limits } });
  try {
    const user = await aMember(limited);
    const tab = await signedIn(limited, user);
    const app = new App((await tab.get('/dashboard/account')).text);
    const wrong = app.code() === '000000' ? '000001' : '000000';
    const enrol = (code: string) => tab.post('/dashboard/account', { act: 'enrol', code });
    for (let n = 0; n < 3; n += 1) expect((await enrol(wrong)).status).toBe(400);
    expect((await enrol(app.code())).status).toBe(429);
    const other = await signedIn(limited, await aMember(limited));
    await enrolled(other);
  } finally {
    await limited.stop();
  }
});
