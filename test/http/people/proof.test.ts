// Where no mails are sent, whoever invites passes the link on, so it proves nothing of who has the
// mailbox: who has come by one is not taken for the owner of the address, and goes when the owner
// comes.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { runAdmin } from '../../support/admin.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { TEST_SETTINGS } from '../../support/settings.ts';
import { mailSettings, openPostOffice, type PostOffice } from '../../mail/post-office.ts';
import { type IdentityProvider, openIdentityProvider, passThrough } from './identity-provider.ts';
import { aMember, enrolled, placeOf, signedIn, Tab } from './tab.ts';

setDefaultTimeout(30_000);

const ACCOUNT = '/dashboard/account';

let office: PostOffice;
let provider: IdentityProvider;
/** Sends no mails. */
let server: TestServer;
let mailing: TestServer;
beforeAll(async () => {
  office = await openPostOffice();
  provider = await openIdentityProvider(`${TEST_SETTINGS.appUrl}/dashboard/oidc/callback`);
  const limits = { ...TEST_SETTINGS.limits, invitations: 1000 };
  server = await startServer({ settings: { oidc: provider.settings, limits } });
  mailing = await startServer({ settings: { mail: mailSettings(office), limits } });
});
afterAll(async () => {
  await server.stop();
  await mailing.stop();
  await provider.stop();
  await office.stop();
});

let names = 0;
const anEmail = () => `victim${(names += 1)}@corp.example`;

async function invite(key: string, email: string, on = server) {
  const body = { email, role: 'admin' };
  const { status, json, text } = await on.call('POST', '/invitations', { key, body });
  expect([status, text]).toEqual([201, text]);
  return { id: json.id as string, link: json.url === null ? null : new URL(json.url).pathname };
}

/** Somebody who has an organisation here has invited this address to it, and opens the link. */
async function impostor(email: string): Promise<Tab> {
  const { link } = await invite(server.other.liveKey, email);
  const tab = new Tab(server);
  expect((await tab.post(link!, { name: 'Mallory' })).status).toBe(303);
  expect((await tab.get(ACCOUNT)).status).toBe(200);
  return tab;
}

async function idOf(email: string, { sql } = server): Promise<string> {
  const [user] = await sql<{ id: string }[]>`select id from users where email = ${email}`;
  return user!.id;
}

async function belongs(email: string, on = server): Promise<boolean> {
  const rows = await on.sql`
    select from organisation_members m join users u on u.id = m.user_id
    where u.email = ${email} and organisation_id = ${on.organisation.id}`;
  return rows.length > 0;
}

async function proofsOf(email: string, key = server.other.liveKey, on = server) {
  const path = `/audit-log?operation=proveAddress&actor=${await idOf(email, on)}`;
  const { json } = await on.call('GET', path, { key });
  return json.data.map(({ after }: { after: object }) => after);
}

const isOut = async (tab: Tab) => placeOf(await tab.get(ACCOUNT)).startsWith('/dashboard/sign-in');
const join = async (tab: Tab, id: string) => (await tab.post(ACCOUNT, { act: 'join', id })).status;

test('who has come by a copied invitation neither sees nor accepts what others send to the address', async () => {
  const email = anEmail();
  const tab = await impostor(email);
  const { id } = await invite(server.organisation.liveKey, email);
  const { text } = await tab.get(ACCOUNT);
  expect([text.includes(id), text.includes('To see invitations here')]).toEqual([false, true]);
  expect(await join(tab, id)).toBe(409);
  expect(await belongs(email)).toBe(false);
});

test('the link that another organisation passes on is accepted, and proves no more', async () => {
  const email = anEmail();
  const tab = await impostor(email);
  const { link } = await invite(server.organisation.liveKey, email);
  expect((await new Tab(server).post(link!)).status).toBe(403);
  expect((await tab.post(link!)).status).toBe(303);
  expect([await belongs(email), await proofsOf(email)]).toEqual([true, []]);
  expect((await tab.get(ACCOUNT)).text).toContain('To see invitations here');
});

test('the first link that signs the owner of an address in ends what was before it, and no later one', async () => {
  const email = anEmail();
  const tab = await impostor(email);
  await enrolled(tab);
  const { id } = await invite(server.organisation.liveKey, email);
  const owner = await signedIn(server, { id: await idOf(email) });
  expect(await isOut(tab)).toBe(true);
  // No code of the other's app is asked for.
  const { text } = await owner.get(ACCOUNT);
  expect([text.includes(id), text.includes('To see invitations here')]).toEqual([true, false]);
  expect(await join(owner, id)).toBe(303);
  expect(await belongs(email)).toBe(true);
  expect(await proofsOf(email)).toEqual([
    { by: 'link', sessions_ended: 1, had_second_factor: true },
  ]);
  await enrolled(owner);
  await signedIn(server, { id: await idOf(email) });
  expect(await isOut(owner)).toBe(false);
  const half = await signedIn(server, { id: await idOf(email) });
  expect(placeOf(await half.get(ACCOUNT))).toStartWith('/dashboard/second-factor');
  expect(await proofsOf(email)).toHaveLength(1);
});

test('a secret of a second factor that was shown before the proof is not the one of the owner', async () => {
  const email = anEmail();
  const tab = await impostor(email);
  const secretIn = (page: string) => /secret=(\w+)/.exec(page)![1]!;
  const shown = secretIn((await tab.get(ACCOUNT)).text);
  const owner = await signedIn(server, { id: await idOf(email) });
  expect(secretIn((await owner.get(ACCOUNT)).text)).not.toBe(shown);
});

test('an identity provider proves the address', async () => {
  const email = anEmail();
  const tab = await impostor(email);
  await enrolled(tab);
  const { id } = await invite(server.organisation.liveKey, email);
  const owner = new Tab(server);
  provider.claims = { email, email_verified: true };
  const back = await passThrough(placeOf(await owner.get('/dashboard/oidc')));
  expect((await owner.get(`/dashboard/oidc/callback${back.search}`)).status).toBe(303);
  expect(await isOut(tab)).toBe(true);
  expect((await owner.get(ACCOUNT)).text).toContain(id);
  expect(await proofsOf(email)).toMatchObject([{ by: 'oidc', had_second_factor: true }]);
});

test('an identity provider that has not verified the address proves nothing', async () => {
  const email = anEmail();
  const tab = await impostor(email);
  const owner = new Tab(server);
  provider.claims = { email, email_verified: false };
  const back = await passThrough(placeOf(await owner.get('/dashboard/oidc')));
  expect((await owner.get(`/dashboard/oidc/callback${back.search}`)).status).toBe(403);
  expect([await isOut(tab), await proofsOf(email)]).toEqual([false, []]);
});

test('the operator who makes a member makes it of the owner of the address alone', async () => {
  const email = anEmail();
  const tab = await impostor(email);
  await enrolled(tab);
  const args = ['user', 'create', '--org', server.organisation.id, '--email', email, '--json'];
  const { exitCode, stdout } = await runAdmin(args, server.databaseUrl);
  const made = JSON.parse(stdout);
  expect([exitCode, made]).toMatchObject([0, { sessions_ended: 1, had_second_factor: true }]);
  expect(await isOut(tab)).toBe(true);
  const owner = new Tab(server);
  await owner.post(new URL(made.sign_in_url).pathname);
  const home = `/dashboard/${server.organisation.id}/test`;
  expect((await owner.get(home)).status).toBe(200);
});

test('the link that an operator prints for a user proves the address when it is used', async () => {
  const email = anEmail();
  const tab = await impostor(email);
  const args = ['user', 'sign-in', '--email', email, '--json'];
  const { stdout } = await runAdmin(args, server.databaseUrl);
  expect(await isOut(tab)).toBe(false);
  await new Tab(server).post(new URL(JSON.parse(stdout).sign_in_url).pathname);
  expect([await isOut(tab), await proofsOf(email)]).toMatchObject([true, [{ by: 'link' }]]);
});

/** The path of the link that was mailed last. */
async function mailed(email: string): Promise<string> {
  const mail = (await office.to(email)).at(-1)!;
  return /http:\/\/localhost(\/dashboard\/\S+)/.exec(mail.text!)![1]!;
}

test('a mailed invitation makes a user whose address is proven', async () => {
  const email = anEmail();
  await invite(mailing.other.liveKey, email, mailing);
  const tab = new Tab(mailing);
  expect((await tab.post(await mailed(email), { name: 'Ida' })).status).toBe(303);
  const { id } = await invite(mailing.organisation.liveKey, email, mailing);
  expect((await tab.get(ACCOUNT)).text).toContain(id);
  expect(await join(tab, id)).toBe(303);
  expect(await belongs(email, mailing)).toBe(true);
});

test('a mailed invitation proves the address of a user who accepts it, and ends the other sessions', async () => {
  const person = await aMember(mailing, 'support', {
    email: anEmail(),
    organisationId: mailing.other.id,
  });
  const [tab, other] = [await signedIn(mailing, person), await signedIn(mailing, person)];
  await mailing.sql`update users set email_proven_at = null where id = ${person.id}`;
  await invite(mailing.organisation.liveKey, person.email, mailing);
  expect((await tab.post(await mailed(person.email))).status).toBe(303);
  expect([await isOut(tab), await isOut(other)]).toEqual([false, true]);
  expect(await belongs(person.email, mailing)).toBe(true);
  const { liveKey } = mailing.organisation;
  expect(await proofsOf(person.email, liveKey, mailing)).toEqual([
    { by: 'invitation', sessions_ended: 1, had_second_factor: false },
  ]);
});

test('the owner of an address that somebody else is a user of comes in by a mailed link, and joins', async () => {
  const person = await aMember(mailing, 'support', {
    email: anEmail(),
    organisationId: mailing.other.id,
  });
  const stranger = await signedIn(mailing, person);
  await mailing.sql`update users set email_proven_at = null where id = ${person.id}`;
  await invite(mailing.organisation.liveKey, person.email, mailing);
  const link = await mailed(person.email);
  const owner = new Tab(mailing);
  expect((await owner.post(link)).status).toBe(403);
  await owner.post('/dashboard/sign-in', { email: person.email, to: link });
  await office.to(person.email, 2);
  await owner.post((await mailed(person.email)).replace(/\?.*/, ''));
  expect(await isOut(stranger)).toBe(true);
  expect((await owner.post(link)).status).toBe(303);
  expect(await belongs(person.email, mailing)).toBe(true);
});
