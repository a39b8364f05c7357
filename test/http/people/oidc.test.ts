// Signing in by an identity provider: a real one, on this machine.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { TEST_SETTINGS } from '../../support/settings.ts';
import { type IdentityProvider, openIdentityProvider, passThrough } from './identity-provider.ts';
import { aMember, enrolled, placeOf, signedIn, Tab } from './tab.ts';

const CALLBACK = `${TEST_SETTINGS.appUrl}/dashboard/oidc/callback`;

let provider: IdentityProvider;
let server: TestServer;
beforeAll(async () => {
  provider = await openIdentityProvider(CALLBACK);
  server = await startServer({ settings: { oidc: provider.settings } });
});
beforeEach(() => {
  provider.grants.length = 0;
});
afterAll(async () => {
  await server.stop();
  await provider.stop();
});

const home = () => `/dashboard/${server.organisation.id}/test`;

/** Goes to the provider; the address of the provider's page. */
async function begin(tab: Tab, to?: string): Promise<string> {
  const then = to === undefined ? '' : `?to=${encodeURIComponent(to)}`;
  const reply = await tab.get(`/dashboard/oidc${then}`);
  expect([reply.status, placeOf(reply)]).toEqual([303, expect.stringContaining('/auth?')]);
  return placeOf(reply);
}

/** Comes back with what the provider has given. */
const comeBack = (tab: Tab, back: URL) => tab.get(`/dashboard/oidc/callback${back.search}`);

/** The whole way. */
async function signInAs(email: unknown, isVerified: unknown = true, tab = new Tab(server)) {
  provider.claims = { email, email_verified: isVerified };
  return comeBack(tab, await passThrough(await begin(tab)));
}

test('a user who signs in by OpenID Connect is signed in here, and led on', async () => {
  const user = await aMember(server);
  const tab = new Tab(server);
  const page = await tab.get(`/dashboard/sign-in?to=${encodeURIComponent(home())}`);
  expect(page.text).toContain('/dashboard/oidc?to=');
  provider.claims = { email: user.email.toUpperCase(), email_verified: true };
  const address = await begin(tab, home());
  const asked = new URL(address).searchParams;
  expect(Object.fromEntries(asked)).toMatchObject({
    redirect_uri: CALLBACK,
    response_type: 'code',
    code_challenge_method: 'S256',
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
  });
  const reply = await comeBack(tab, await passThrough(address));
  expect((await tab.open(placeOf(reply))).text).toContain('One');
  expect((await tab.get(home())).status).toBe(200);
  expect(tab.away).toBeNull();
});

test('an OpenID Connect sign-in of an unknown user is refused, with the same words for each', async () => {
  const user = await aMember(server);
  const disabled = await aMember(server);
  await server.sql`update users set disabled_at = now() where id = ${disabled.id}`;
  const pages = new Set<string>();
  for (const [email, isVerified] of [
    ['nobody@example.com', true],
    [disabled.email, true],
    [user.email, false],
    [user.email, null],
    [user.email, 'true'],
    [undefined, true],
    [{ toString: user.email }, true],
    [`${user.email}\u0000`, true],
    [user.email.replace('e', '\u0435'), true],
  ] as const) {
    const tab = new Tab(server);
    const { status, text } = await signInAs(email, isVerified, tab);
    expect([email, isVerified, status, tab.cookie]).toEqual([email, isVerified, 403, null]);
    pages.add(text);
  }
  expect(pages.size).toBe(1);
});

test('an OpenID Connect sign-in still asks for the second factor', async () => {
  const user = await aMember(server);
  await enrolled(await signedIn(server, user));
  const tab = new Tab(server);
  expect((await signInAs(user.email, true, tab)).status).toBe(303);
  expect(placeOf(await tab.get(home()))).toStartWith('/dashboard/second-factor');
});

test('an OpenID Connect sign-in begins a session of its own', async () => {
  const [one, two] = [await aMember(server), await aMember(server)];
  const tab = await signedIn(server, one);
  const before = tab.cookie;
  await signInAs(two.email, true, tab);
  expect(tab.cookie).not.toBe(before);
  expect(placeOf(await new Tab(server, before).get(home()))).toStartWith('/dashboard/sign-in');
});

test('an OpenID Connect callback counts once, in the browser that was sent to the provider', async () => {
  const user = await aMember(server);
  provider.claims = { email: user.email, email_verified: true };
  const tab = new Tab(server);
  const back = await passThrough(await begin(tab));
  const away = tab.away;
  // Somebody else's browser: with nothing, and with a sign-in of its own.
  const stranger = new Tab(server);
  expect((await comeBack(stranger, back)).status).toBe(403);
  await begin(stranger);
  expect([(await comeBack(stranger, back)).status, stranger.cookie]).toEqual([403, null]);
  expect(provider.grants).toEqual([]);
  expect((await comeBack(tab, back)).status).toBe(303);
  const again = new Tab(server);
  again.away = away;
  expect([(await comeBack(again, back)).status, again.cookie]).toEqual([403, null]);
  expect(provider.grants).toEqual(['success', expect.any(String)]);
});

test('an OpenID Connect callback that was altered signs nobody in', async () => {
  const user = await aMember(server);
  provider.claims = { email: user.email, email_verified: true };
  for (const [name, value] of [
    ['state', 'x'],
    ['code', 'x'],
    ['iss', 'https://evil.example'],
    ['error', 'access_denied'],
    ['state', null],
    ['code', null],
  ] as const) {
    const tab = new Tab(server);
    const back = await passThrough(await begin(tab));
    if (value === null) back.searchParams.delete(name);
    else back.searchParams.set(name, value);
    const { status } = await comeBack(tab, back);
    expect([name, value, status, tab.cookie, tab.away]).toEqual([name, value, 403, null, null]);
  }
});

test('an OpenID Connect code with another PKCE verifier is refused', async () => {
  const user = await aMember(server);
  provider.claims = { email: user.email, email_verified: true };
  const [one, two] = [new Tab(server), new Tab(server)];
  const own = await passThrough(await begin(one));
  const others = await passThrough(await begin(two));
  own.searchParams.set('code', others.searchParams.get('code')!);
  expect([(await comeBack(one, own)).status, one.cookie]).toEqual([403, null]);
});

test('an OpenID Connect sign-in that takes more than ten minutes begins again', async () => {
  const user = await aMember(server);
  let now = Date.now();
  const clock = { now: () => now, monotonic: () => performance.now() };
  const late = await startServer({ alone: true, clock, settings: { oidc: provider.settings } });
  try {
    await aMember(late, 'owner', { email: user.email });
    provider.claims = { email: user.email, email_verified: true };
    const tab = new Tab(late);
    const back = await passThrough(await begin(tab));
    now += 10 * 60_000;
    expect([(await comeBack(tab, back)).status, tab.cookie]).toEqual([403, null]);
  } finally {
    await late.stop();
  }
});

test('the OpenID Connect cookie is encrypted, and a forged one is ignored', async () => {
  const tab = new Tab(server);
  const address = await begin(tab, home());
  const kept = Buffer.from(tab.away!, 'base64url').toString('latin1');
  const { state } = Object.fromEntries(new URL(address).searchParams);
  expect(kept).not.toContain(state!);
  const back = await passThrough(address);
  for (const away of ['x', tab.away!.slice(1), `${tab.away!.slice(0, -2)}AA`]) {
    const other = new Tab(server);
    other.away = away;
    expect((await comeBack(other, back)).status).toBe(403);
  }
});

test('an OpenID Connect provider that does not answer is reported, and asked again later', async () => {
  const settings = { ...provider.settings, issuer: new URL('http://127.0.0.1:1') };
  const alone = await startServer({ alone: true, settings: { oidc: settings } });
  try {
    for (const _ of [1, 2]) {
      const reply = await new Tab(alone).get('/dashboard/oidc');
      expect([reply.status, reply.headers.getSetCookie()]).toEqual([503, []]);
    }
  } finally {
    await alone.stop();
  }
});

test('without an OpenID Connect provider its routes do not exist', async () => {
  const none = await startServer();
  try {
    expect((await new Tab(none).get('/dashboard/oidc')).status).toBe(404);
    expect((await new Tab(none).get('/dashboard/oidc/callback?code=x&state=y')).status).toBe(404);
    expect((await new Tab(none).get('/dashboard/sign-in')).text).not.toContain('oidc');
  } finally {
    await none.stop();
  }
});

test('no secret of an OpenID Connect sign-in is in the log', () => {
  const text = server.logged.join('');
  expect(text).not.toContain(provider.settings.clientSecret);
  expect(text).not.toMatch(/code=|verifier|id_token/);
});
