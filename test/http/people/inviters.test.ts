// An invitation does not outlive the right of the member or the key that made it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { revokeKey } from '../../../src/records/api-keys.ts';
import { holdMember, removeMember, type Role, ROLES } from '../../../src/records/members.ts';
import { Member } from '../../dashboard/member.ts';
import { runAdmin } from '../../support/admin.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { aMember, enrolled, type Person, signedIn, Tab } from './tab.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await aMember(server);
});
afterAll(() => server.stop());

const FORM = '/settings/invitations/new';
let names = 0;
const anEmail = () => `guest${(names += 1)}@example.com`;
const call = (method: string, path: string, body?: object) =>
  server.call(method, path, { key: server.organisation.liveKey, ...(body && { body }) });

type Inviter = Person & { readonly member: Member };

async function anOwner(): Promise<Inviter> {
  const person = await aMember(server);
  const tab = await signedIn(server, person);
  await enrolled(tab);
  return { ...person, member: new Member(tab, `/dashboard/${server.organisation.id}/live`) };
}

/** The path of the link. */
async function invites({ member }: Inviter, role: Role, email = anEmail()): Promise<string> {
  const { status, text } = await member.send(FORM, { email, role });
  expect([status, text]).toEqual([200, expect.stringContaining('/dashboard/invitations/')]);
  return /\/dashboard\/invitations\/\w{43}/.exec(text)![0];
}

/** The roles for which the user has open invitations. */
async function openOf({ email }: Pick<Person, 'email'>): Promise<Role[]> {
  const { json } = await call('GET', '/invitations?limit=200');
  const all: { role: Role; status: string; invited_by: string | null }[] = json.data;
  const open = all.filter((each) => each.invited_by === email && each.status === 'open');
  return ROLES.filter((role) => open.some((each) => each.role === role));
}

test.each([
  ['owner', ROLES],
  ['admin', ['admin', 'support', 'read_only']],
  ['support', []],
  ['read_only', []],
  ['nobody', []],
] as const)('of the open invitations of an owner who becomes %s stay %j', async (role, stay) => {
  const [inviter, other] = [await anOwner(), await anOwner()];
  const links = new Map<Role, string>();
  for (const each of ROLES) links.set(each, await invites(inviter, each));
  await invites(other, 'owner');
  const path = `/members/${inviter.memberId}`;
  const isRemoved = role === 'nobody';
  const left = await (isRemoved ? call('DELETE', path) : call('PATCH', path, { role }));
  expect(left.status).toBe(isRemoved ? 204 : 200);
  expect([await openOf(inviter), await openOf(other)]).toEqual([[...stay], ['owner']]);
  for (const [of, link] of links) {
    const { status } = await new Tab(server).post(link, { name: 'Eve' });
    expect([of, status]).toEqual([of, (stay as readonly Role[]).includes(of) ? 303 : 410]);
  }
});

test.each([
  ['of the organization', true],
  ['of the installation', false],
] as const)(
  'the open invitations of a user whom the command line removes end: %s',
  async (_, isOfOne) => {
    const inviter = await anOwner();
    await invites(inviter, 'owner');
    await invites(inviter, 'read_only');
    const where = isOfOne ? ['--org', server.organisation.id] : [];
    const args = ['user', 'remove', '--email', inviter.email, ...where, '--json'];
    const { exitCode, stdout } = await runAdmin(args, server.databaseUrl);
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, { invitations_ended: 2 }]);
    expect(await openOf(inviter)).toEqual([]);
  },
);

const remove = (email: string) => [
  'user',
  'remove',
  '--org',
  server.organisation.id,
  '--email',
  email,
];

/** By the operator, and not by an invitation that it may have. Its id as a member. */
async function joins(email: string): Promise<string> {
  const where = ['--org', server.organisation.id, '--email', email];
  expect((await runAdmin(['user', 'create', ...where], server.databaseUrl)).exitCode).toBe(0);
  const [row] = await server.sql<{ id: string }[]>`
    select m.id from organisation_members m join users u on u.id = m.user_id
    where u.email = ${email} and organisation_id = ${server.organisation.id}`;
  return row!.id;
}

/** What the one who is invited gets: by the link, and by the page of its account. */
async function comesBack(email: string, link: string): Promise<number[]> {
  const [user] = await server.sql<{ id: string }[]>`select id from users where email = ${email}`;
  const tab = await signedIn(server, user!);
  const [invitation] = await server.sql<{ id: string }[]>`
    select id from invitations where email = ${email} order by id desc limit 1`;
  await tab.get('/dashboard/account');
  const joined = await tab.post('/dashboard/account', { act: 'join', id: invitation!.id });
  return [joined.status, (await tab.post(link)).status];
}

test('an invitation for somebody who becomes a member otherwise ends', async () => {
  const [inviter, email] = [await anOwner(), anEmail()];
  const [link, other] = [await invites(inviter, 'admin', email), await invites(inviter, 'admin')];
  const memberId = await joins(email);
  expect((await call('DELETE', `/members/${memberId}`)).status).toBe(204);
  expect(await comesBack(email, link)).toEqual([409, 410]);
  expect((await new Tab(server).post(other, { name: 'Eve' })).status).toBe(303);
});

test.each([
  ['the API', async (_: string, id: string) => (await call('DELETE', `/members/${id}`)).status],
  [
    'the command line',
    async (email: string) => (await runAdmin(remove(email), server.databaseUrl)).exitCode,
  ],
] as const)('a member whom %s removes does not come back by an invitation', async (by, leave) => {
  const [inviter, email] = [await anOwner(), anEmail()];
  const memberId = await joins(email);
  const link = await invites(inviter, 'admin', `not.yet.${email}`);
  // As where it was made at the same time as the member.
  await server.sql`update invitations set email = ${email} where email = ${`not.yet.${email}`}`;
  expect(await leave(email, memberId)).toBe(by === 'the API' ? 204 : 0);
  expect(await comesBack(email, link)).toEqual([409, 410]);
});

/** Until a statement like this waits for a lock, or the call is answered all the same. */
const untilWaits = (statement: string, isAnswered: () => boolean): Promise<void> =>
  until('the invitation waits, or is made', async () => {
    const waiting = await server.sql`
      select from pg_stat_activity where datname = current_database()
        and wait_event_type = 'Lock' and query like ${statement}`;
    return isAnswered() || waiting.length > 0;
  });

test('an invitation that is made while its member is removed is refused', async () => {
  const inviter = await anOwner();
  await inviter.member.read(FORM);
  let isAnswered = false;
  let asked: ReturnType<Tab['post']> | undefined;
  await server.sql.begin(async (sql) => {
    const member = await holdMember(sql, server.organisation.id, inviter.memberId);
    const removed = { member: member!, now: Date.now() };
    expect(await removeMember(sql, server.organisation.id, removed)).toBe('removed');
    asked = inviter.member.send(FORM, { email: anEmail(), role: 'owner' }).finally(() => {
      isAnswered = true;
    });
    await untilWaits('%organisation_members%for share%', () => isAnswered);
  });
  expect((await asked!).status).toBe(403);
  expect(await openOf(inviter)).toEqual([]);
});

type Key = { readonly id: string; readonly key: string };
type Invited = { readonly id: string; readonly link: string };

async function aKey(body: object = {}): Promise<Key> {
  const { status, json } = await call('POST', '/api-keys', body);
  expect(status).toBe(201);
  return json;
}

async function invitedBy({ key }: Key): Promise<Invited> {
  const body = { email: anEmail(), role: 'owner' };
  const { status, json } = await server.call('POST', '/invitations', { key, body });
  expect([status, json.status, json.invited_by]).toEqual([201, 'open', null]);
  return { id: json.id, link: new URL(json.url).pathname };
}

const shown = async ({ id }: Invited) => {
  const { json } = await call('GET', '/invitations?limit=200');
  return json.data.find((each: { id: string }) => each.id === id);
};
const opens = async ({ link }: Invited): Promise<number> =>
  (await new Tab(server).post(link, { name: 'Eve' })).status;

test.each([
  ['another key', ({ id }: Key) => call('DELETE', `/api-keys/${id}`)],
  ['the command line', ({ id }: Key) => runAdmin(['key', 'revoke', id], server.databaseUrl)],
])('the open invitations of a key that %s revokes end, and no others', async (_, revoke) => {
  const [maker, other] = [await aKey(), await aKey()];
  const [joined, open, foreign] = [
    await invitedBy(maker),
    await invitedBy(maker),
    await invitedBy(other),
  ];
  expect(await opens(joined)).toBe(303);
  await revoke(maker);
  expect([await opens(open), await opens(foreign)]).toEqual([410, 303]);
  expect([await shown(joined), await shown(open)]).toMatchObject([
    { status: 'accepted' },
    { status: 'revoked' },
  ]);
});

test('the open invitations of a key that is rotated end with its overlap', async () => {
  const [soon, late] = [await aKey(), await aKey()];
  const [over, open] = [await invitedBy(soon), await invitedBy(late)];
  const rotate = (id: string, overlap: number) =>
    call('POST', `/api-keys/${id}/rotate`, { overlap_seconds: overlap });
  expect((await rotate(soon.id, 0)).status).toBe(201);
  expect((await rotate(late.id, 3600)).status).toBe(201);
  const { json } = await call('GET', '/api-keys?limit=200');
  const ends = json.data.find(({ id }: Key) => id === late.id).expires_at;
  expect([await shown(over), await shown(open)]).toMatchObject([
    { status: 'expired' },
    { status: 'open', expires_at: ends },
  ]);
  expect([await opens(over), await opens(open)]).toEqual([410, 303]);
});

test('an invitation of a key that expires ends with it, and after a week at the latest', async () => {
  const ends = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  const [early, never] = [ends(2), ends(30)];
  const soon = await shown(await invitedBy(await aKey({ expires_at: early })));
  const late = await shown(await invitedBy(await aKey({ expires_at: never })));
  expect(soon.expires_at).toBe(early);
  const weekLater = Date.parse(late.created_at) + 7 * 86_400_000;
  expect(late.expires_at).toBe(new Date(weekLater).toISOString());
});

test('an invitation that a key makes while it is revoked is refused', async () => {
  const maker = await aKey();
  const email = anEmail();
  let isAnswered = false;
  let asked: ReturnType<TestServer['call']> | undefined;
  await server.sql.begin(async (sql) => {
    await revokeKey(sql, { id: maker.id, now: Date.now() });
    const body = { email, role: 'owner' };
    asked = server.call('POST', '/invitations', { key: maker.key, body }).finally(() => {
      isAnswered = true;
    });
    await untilWaits('%api_keys%for no key update%', () => isAnswered);
  });
  expect((await asked!).status).toBe(401);
  const { json } = await call('GET', '/invitations?limit=200');
  expect(json.data.map((each: { email: string }) => each.email)).not.toContain(email);
});
