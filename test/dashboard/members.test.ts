// Members, invitations and security on the dashboard: who may do what to whom.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { ids } from '../../src/platform/ids.ts';
import type { Role } from '../../src/records/members.ts';
import { aMember, enrolled, placeOf, Tab } from '../http/people/tab.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { type Member, memberOf } from './member.ts';

setDefaultTimeout(30_000);

let server: TestServer;
let owner: Member;
let admin: Member;
beforeAll(async () => {
  server = await startServer();
  owner = await memberOf(server, { role: 'owner' });
  admin = await memberOf(server, { role: 'admin' });
  for (const { tab } of [owner, admin]) await enrolled(tab);
});
afterAll(() => server.stop());

const AT = '/settings/members';

async function roleOf(memberId: string): Promise<Role | undefined> {
  const [row] = await server.sql<{ role: Role }[]>`
    select role from organisation_members where id = ${memberId}`;
  return row?.role;
}

/** Sends what the form of a page would, past the page. */
async function force(member: Member, path: string, fields: Record<string, string>) {
  await member.get(AT);
  return member.tab.post(member.base + path, { ...fields, _key: ids.next() });
}

test('an owner changes and removes a member in the dashboard', async () => {
  const { memberId, email } = await aMember(server, 'support');
  expect(await owner.read(AT)).toContain(email);
  await owner.act(`${AT}/${memberId}`, { role: 'admin' });
  expect(await roleOf(memberId)).toBe('admin');
  const shown = await owner.act(`${AT}/${memberId}/remove`);
  expect(shown.text).not.toContain(email);
  expect(await roleOf(memberId)).toBeUndefined();
});

test('an admin makes no owner in the dashboard, and changes none', async () => {
  const { memberId } = await aMember(server, 'support');
  const { memberId: ofOwner } = await aMember(server, 'owner');
  for (const [path, fields] of [
    [`${AT}/${memberId}`, { role: 'owner' }],
    [`${AT}/${ofOwner}`, { role: 'read_only' }],
    [`${AT}/${ofOwner}/remove`, {}],
    ['/settings/invitations/new', { email: 'friend@example.com', role: 'owner' }],
  ] as const) {
    const reply = await force(admin, path, fields);
    expect([path, reply.status]).toEqual([path, 403]);
  }
  expect([await roleOf(memberId), await roleOf(ofOwner)]).toEqual(['support', 'owner']);
  const security = await force(admin, '/settings/security', { refund_step_up_amount: '0' });
  expect(security.status).toBe(403);
  await admin.act(`${AT}/${memberId}`, { role: 'read_only' });
  expect(await roleOf(memberId)).toBe('read_only');
});

test.each(['support', 'read_only'] as const)(
  '%s sees the members in the dashboard and changes nothing',
  async (role) => {
    const member = await memberOf(server, { role });
    const { memberId } = await aMember(server, 'support');
    const page = await member.read(AT);
    expect(page).not.toMatch(/settings\/(?:members\/|invitations\/|security)/);
    for (const [path, fields] of [
      [`${AT}/${memberId}`, { role: 'owner' }],
      [`${AT}/${memberId}/remove`, {}],
      ['/settings/invitations/new', { email: 'friend@example.com', role: 'read_only' }],
      ['/settings/security', { refund_step_up_amount: '0' }],
    ] as const) {
      expect([path, (await member.get(path)).status]).toEqual([path, 403]);
      expect([path, (await force(member, path, fields)).status]).toEqual([path, 403]);
    }
    expect(await roleOf(memberId)).toBe('support');
  },
);

test('members of another organisation are 404 in the dashboard', async () => {
  const { memberId } = await aMember(server, 'support', { organisationId: server.other.id });
  for (const path of [`${AT}/${memberId}`, `${AT}/${memberId}/remove`]) {
    expect((await owner.get(path)).status).toBe(404);
    expect((await force(owner, path, { role: 'owner' })).status).toBe(404);
  }
  expect(await roleOf(memberId)).toBe('support');
});

test('the last owner cannot be removed in the dashboard, and the page says why', async () => {
  const last = await memberOf(server, { role: 'owner', organisationId: server.other.id });
  await enrolled(last.tab);
  const [row] = await server.sql<{ id: string }[]>`
    select id from organisation_members
    where organisation_id = ${server.other.id} and role = 'owner'`;
  const refused = await last.send(`${AT}/${row!.id}/remove`);
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('keeps an owner')]);
  expect(await roleOf(row!.id)).toBe('owner');
});

const LINK = /\/dashboard\/invitations\/([0-9A-Za-z]{43})(?![0-9A-Za-z])/g;

test('without a mail server an invitation is a link to copy, which makes a member once', async () => {
  const email = 'copied.link@example.com';
  const page = await owner.act('/settings/invitations/new', { email, role: 'support' });
  const [[link, token] = [], ...more] = [...page.text.matchAll(LINK)];
  expect([link, more]).toEqual([expect.any(String), []]);
  // By hand it is the same role.
  expect(page.text).toContain(
    `user create --org ${server.organisation.id} --email ${email} --role support`,
  );
  const [stored] = await server.sql<{ text: string }[]>`
    select (select string_agg(i::text, '') from invitations i)
      || (select string_agg(a::text, '') from audit_log a)
      || (select string_agg(k.body, '') from idempotency k) as text`;
  for (const text of [stored!.text, await owner.read(AT), server.logged.join('')]) {
    expect(text).not.toContain(token!);
  }
  const tab = new Tab(server);
  expect((await tab.get(link!)).text).toContain(email);
  expect(placeOf(await tab.post(link!, { name: 'Grace' }))).toStartWith('/dashboard/');
  const [row] = await server.sql<{ role: Role }[]>`
    select role from organisation_members m join users u on u.id = m.user_id
    where u.email = ${email}`;
  expect(row).toEqual({ role: 'support' });
  expect((await new Tab(server).post(link!, { name: 'Eve' })).status).toBe(410);
});

test('an admin ends no invitation of an owner by another to its address', async () => {
  const [path, email] = ['/settings/invitations/new', 'second.owner@example.com'];
  const linkIn = ({ text }: { readonly text: string }) => text.match(LINK)![0];
  const ofOwner = linkIn(await owner.act(path, { email, role: 'owner' }));
  for (const each of [email, email.toUpperCase()]) {
    const reply = await force(admin, path, { email: each, role: 'read_only' });
    expect(reply.status).toBe(403);
  }
  expect((await new Tab(server).get(ofOwner)).status).toBe(200);
  // An owner takes its place, and an admin that of one that it could have made.
  const ofSupport = linkIn(await owner.act(path, { email, role: 'support' }));
  const ofAdmin = linkIn(await admin.act(path, { email, role: 'read_only' }));
  const statuses: number[] = [];
  for (const link of [ofOwner, ofSupport, ofAdmin]) {
    statuses.push((await new Tab(server).get(link)).status);
  }
  expect(statuses).toEqual([410, 410, 200]);
  // One that is over is nobody's.
  const over = 'late.owner@example.com';
  await owner.act(path, { email: over, role: 'owner' });
  await server.sql`update invitations set expires_at = now() where email = ${over}`;
  await admin.act(path, { email: over, role: 'support' });
});

test('the printed command takes an address as one word, whatever is in it', async () => {
  const email = "o'brien$x|`id`@example.com";
  const page = await owner.act('/settings/invitations/new', { email, role: 'read_only' });
  const [, printed = ''] = / user create (.*?)\s*<\/code>/s.exec(page.text)!;
  const command = printed
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
  const { stdout } = Bun.spawnSync(['sh', '-c', `printf '%s\\n' ${command}`]);
  expect(stdout.toString().trim().split('\n')).toEqual([
    '--org',
    server.organisation.id,
    '--email',
    email,
    '--role',
    'read_only',
  ]);
});

test('an invitation can be withdrawn in the dashboard', async () => {
  const email = 'new.member@example.com';
  await owner.act('/settings/invitations/new', { email, role: 'support' });
  const list = await owner.read(AT);
  const [, path = ''] = new RegExp(`"${owner.base}(/settings/invitations/[\\w-]+/revoke)"`).exec(
    list,
  )!;
  await owner.act(path);
  const [row] = await server.sql`select revoked_at from invitations where email = ${email}`;
  expect(row!['revoked_at']).toBeDate();
  expect((await owner.get(path.replace(/[\w-]{36}/, ids.next()))).status).toBe(404);
});

test('a refused invitation form says what is wrong, with what was typed', async () => {
  const refused = await owner.send('/settings/invitations/new', { email: 'a@b', role: 'support' });
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('value="a@b"')]);
});

test.each(['test', 'live'] as const)(
  'in %s mode members are changed after a second factor code alone',
  async (mode) => {
    const { memberId } = await aMember(server, 'support');
    const member = await memberOf(server, { role: 'owner', mode });
    const invited = '/settings/invitations/new';
    const email = `of.${mode}@example.com`;
    const risky = [
      [`${AT}/${memberId}`, { role: 'owner' }],
      [`${AT}/${memberId}`, { role: 'admin' }],
      [`${AT}/${memberId}/remove`, {}],
      [invited, { email, role: 'owner' }],
      [invited, { email, role: 'admin' }],
    ] as const;
    const asked = async () => {
      const places = [];
      for (const [path, fields] of risky) places.push(placeOf(await force(member, path, fields)));
      expect(await roleOf(memberId)).toBe('support');
      return new Set(places.map((place) => place.split('=')[0]));
    };
    expect(await asked()).toEqual(new Set(['/dashboard/account?enroll']));
    // Who decides about nobody is invited without one.
    expect((await force(member, invited, { email, role: 'support' })).status).toBe(200);
    await enrolled(member.tab);
    await server.sql`update sessions set second_factor_at = now() - interval '10 minutes'`;
    expect(await asked()).toEqual(new Set(['/dashboard/second-factor?to']));
    await server.sql`update sessions set second_factor_at = now()`;
    expect((await force(member, `${AT}/${memberId}`, { role: 'admin' })).status).toBe(303);
    expect(await roleOf(memberId)).toBe('admin');
  },
);

test('security settings are changed after a second factor code alone, in test mode too', async () => {
  const member = await memberOf(server, { role: 'owner' });
  const asked = { refund_step_up_amount: '20' };
  const first = await member.send('/settings/security', asked);
  expect(placeOf(first)).toBe('/dashboard/account?enroll=1');
  await enrolled(member.tab);
  await member.act('/settings/security', asked);
  const { json } = await server.call('GET', '/organization/security');
  expect(json).toEqual({ require_second_factor: false, refund_step_up_amount: '20' });
});
