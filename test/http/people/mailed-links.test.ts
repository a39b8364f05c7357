// Links that users ask for: mailed to the address that the user has, and told to nobody else.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mailSettings, openPostOffice, type PostOffice } from '../../mail/post-office.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { TEST_SETTINGS } from '../../support/settings.ts';
import { aMember, placeOf, Tab } from './tab.ts';

let office: PostOffice;
let server: TestServer;
beforeAll(async () => {
  office = await openPostOffice();
  server = await startServer({ settings: { mail: mailSettings(office) } });
});
afterAll(async () => {
  await server.stop();
  await office.stop();
});

let names = 0;
const anEmail = () => `Asks${(names += 1)}@example.com`;
const ask = (email: string, to?: string, on = server) =>
  new Tab(on).post('/dashboard/sign-in', { email, ...(to !== undefined && { to }) });
const LINK = /http:\/\/localhost(\/dashboard\/sign-in\/\w{43}\S*)/;

/** Resolves when all that was asked for before is mailed or not. */
async function settled(): Promise<void> {
  const marker = await aMember(server, 'support', { email: anEmail() });
  await ask(marker.email);
  await office.to(marker.email);
  await office.read();
}

const mailsTo = (email: string) => office.taken.filter(({ recipient }) => recipient === email);

test('the mailed link signs in, and leads on to the page that was asked for', async () => {
  const user = await aMember(server, 'owner', { email: anEmail() });
  const to = `/dashboard/${server.organisation.id}/test/customers`;
  // However it is typed.
  expect((await ask(` ${user.email.toLowerCase()} `, to)).status).toBe(200);
  const [mail] = await office.to(user.email);
  expect([mail!.subject, mail!.from?.value]).toEqual([
    'Your sign-in link',
    [{ address: 'billing@tollhouse.example', name: 'Tollhouse' }],
  ]);
  const link = LINK.exec(mail!.text!)![1]!;
  const tab = new Tab(server);
  const shown = await tab.get(link);
  const [, named = ''] = /name="to" value="([^"]*)"/.exec(shown.text) ?? [];
  expect(named).toBe(to);
  await tab.post(link.replace(/\?.*/, ''), { to: named });
  expect((await tab.get(to)).status).toBe(200);
});

test('a request for a sign-in link gets the same answer for a user, nobody and a disabled user', async () => {
  const user = await aMember(server, 'owner', { email: anEmail() });
  const disabled = await aMember(server, 'owner', { email: anEmail() });
  await server.sql`update users set disabled_at = now() where id = ${disabled.id}`;
  const emails = [user.email, anEmail(), disabled.email];
  const answers: string[] = [];
  for (const email of emails) {
    const { status, text, headers } = await ask(email);
    for (const name of ['date', 'x-request-id']) headers.delete(name);
    answers.push(JSON.stringify([status, text.replaceAll(email, 'E'), [...headers]]));
  }
  expect(new Set(answers).size).toBe(1);
  await office.to(user.email);
  await settled();
  expect(emails.map((email) => mailsTo(email).length)).toEqual([1, 0, 0]);
});

test("a sign-in link is not mailed to an address that looks like a user's", async () => {
  // In other alphabets, letters that upper and lower case make one of.
  const user = await aMember(server, 'owner', { email: 'kelvin.is@example.com' });
  for (const email of [
    '\u212Aelvin.is@example.com',
    'kelvin.\u0131s@example.com',
    'kelvin.i\u017F@example.com',
  ]) {
    expect((await ask(email)).status).toBe(200);
  }
  await settled();
  expect(mailsTo(user.email)).toEqual([]);
});

test('a user has at most so many open sign-in links', async () => {
  const user = await aMember(server, 'owner', { email: anEmail() });
  for (let n = 0; n < 8; n += 1) await ask(user.email);
  await office.to(user.email, 5);
  await settled();
  expect(mailsTo(user.email)).toHaveLength(5);
});

test.each([
  '',
  'x',
  'a@b@c.example',
  'a@example.com, b@example.com',
  'a@example.com\r\nBcc: b@example.com',
  '<script>@example.com',
  `${'a'.repeat(300)}@example.com`,
])('a sign-in link for %j asks again, showing what was typed', async (email) => {
  const { status, text } = await ask(email);
  expect([status, text]).toEqual([400, expect.stringContaining('Enter an e-mail address')]);
  expect(text).not.toContain('<script>@');
});

test('sign-in links are rate limited by address, and by client for many addresses', async () => {
  const limits = { ...TEST_SETTINGS.limits, signIns: 3 };
  const limited = await startServer({
    alone: true,
    settings: { mail: mailSettings(office), limits, proxyHops: 1 },
  });
  try {
    const from = (address: string, email: string) =>
      limited.call('POST', '/dashboard/sign-in', {
        key: null,
        raw: new URLSearchParams({ email }),
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'x-forwarded-for': address,
        },
      });
    const statuses: number[] = [];
    for (let n = 0; n < 4; n += 1) statuses.push((await from('192.0.2.1', anEmail())).status);
    const one = anEmail();
    for (let n = 0; n < 4; n += 1) statuses.push((await from(`198.51.100.${n}`, one)).status);
    expect(statuses).toEqual([200, 200, 200, 429, 200, 200, 200, 429]);
  } finally {
    await limited.stop();
  }
});

test('a sign-in link is mailed later by a mail server that was busy, and the page does not wait', async () => {
  const user = await aMember(server, 'owner', { email: anEmail() });
  let refused = 0;
  office.rcpt = (to) => (to === user.email && (refused += 1) === 1 ? 450 : 250);
  expect((await ask(user.email)).status).toBe(200);
  const [mail] = await office.to(user.email);
  expect([refused, mail!.text]).toEqual([2, expect.stringMatching(LINK)]);
  office.rcpt = () => 250;
});

test('a signed-in user needs no sign-in link', async () => {
  const user = await aMember(server, 'owner', { email: anEmail() });
  await ask(user.email);
  const [mail] = await office.to(user.email);
  const tab = new Tab(server);
  await tab.post(LINK.exec(mail!.text!)![1]!);
  expect(placeOf(await tab.get('/dashboard/sign-in'))).toBe('/dashboard');
});
