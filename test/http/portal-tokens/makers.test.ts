// A link to the portal does not outlive the right of the key or the member that made it.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { newToken } from '../../../src/platform/crypto/tokens.ts';
import { revokeKey } from '../../../src/records/api-keys.ts';
import { holdMember, removeMember, type Role, ROLES } from '../../../src/records/members.ts';
import { insertPortalToken } from '../../../src/records/portal-tokens.ts';
import { Member } from '../../dashboard/member.ts';
import { aMember, type Person, signedIn } from '../people/tab.ts';
import { runAdmin } from '../../support/admin.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { TEST_SETTINGS } from '../../support/settings.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(30_000);

const HOUR_MS = 3_600_000;

let server: TestServer;
let customer: string;
beforeAll(async () => {
  server = await startServer();
  const body = { external_customer_id: 'of-makers', name: 'Ada' };
  customer = (await server.call('POST', '/customers', { body })).json.id;
});
afterAll(() => server.stop());

type Key = { readonly id: string; readonly key: string };

async function aKey(body: object = {}): Promise<Key> {
  const { status, json, text } = await server.call('POST', '/api-keys', { body });
  expect([status, text]).toEqual([201, text]);
  return json;
}

async function rotated({ id }: Key, overlap: number): Promise<Key> {
  const body = { overlap_seconds: overlap };
  const { status, json } = await server.call('POST', `/api-keys/${id}/rotate`, { body });
  expect(status).toBe(201);
  return json;
}

const revoke = async ({ id }: Key) =>
  expect((await server.call('DELETE', `/api-keys/${id}`)).status).toBe(204);

/** The path of a link, and when it ends. */
async function linkBy({ key }: Pick<Key, 'key'>, ttl = 86_400) {
  const body = { ttl_seconds: ttl };
  const path = `/customers/${customer}/portal-tokens`;
  const { status, json, text } = await server.call('POST', path, { key, body });
  expect([status, text]).toEqual([201, text]);
  return { path: new URL(json.url).pathname, endsAt: json.expires_at as string };
}

type Link = { readonly path: string };

async function opens({ path }: Link): Promise<boolean> {
  const { status } = await server.call('GET', path, { key: null });
  expect([200, 401]).toContain(status);
  return status === 200;
}

const open = (links: readonly Link[]) => Promise.all(links.map(opens));

test.each([
  ['another key', revoke],
  [
    'the command line',
    async ({ id }: Key) => {
      expect((await runAdmin(['key', 'revoke', id], server.databaseUrl)).exitCode).toBe(0);
    },
  ],
])('the links of a key that %s revokes end, and no others', async (_, end) => {
  const [maker, other] = [await aKey(), await aKey()];
  const links = [await linkBy(maker), await linkBy(maker), await linkBy(other)];
  expect(await open(links)).toEqual([true, true, true]);
  await end(maker);
  expect(await open(links)).toEqual([false, false, true]);
});

test('a link ends with a key that expires, and else at its own time', async () => {
  const expires = new Date(Date.now() + HOUR_MS).toISOString();
  const maker = await aKey({ expires_at: expires });
  const before = Date.now();
  const [late, soon] = [await linkBy(maker), await linkBy(maker, 60)];
  expect(late.endsAt).toBe(expires);
  expect(Date.parse(soon.endsAt)).toBeWithin(before + 60_000, Date.now() + 60_001);
});

test('the links of a key that is rotated stay, and end with the key that took its place', async () => {
  const first = await aKey();
  const made = await linkBy(first, 2 * 86_400);
  const second = await rotated(first, 3600);
  const inOverlap = await linkBy(first, 2 * 86_400);
  // It is not cut to the overlap.
  expect(Date.parse(inOverlap.endsAt)).toBeGreaterThan(Date.now() + 86_400_000);
  const third = await rotated(second, 0);
  await server.sql`update api_keys set expires_at = now() where id = ${first.id}`;
  const links = [made, inOverlap, await linkBy(third)];
  expect(await open(links)).toEqual([true, true, true]);
  await revoke(third);
  expect(await open(links)).toEqual([false, false, false]);
});

test('the links of a key that is revoked within its overlap end, and those of the new one stay', async () => {
  const first = await aKey();
  const second = await rotated(first, 3600);
  const links = [await linkBy(first), await linkBy(second)];
  await revoke(first);
  expect(await open(links)).toEqual([false, true]);
});

test('a link that a key makes in its overlap ends with it where the new one is revoked', async () => {
  const first = await aKey();
  const second = await rotated(first, 3600);
  await revoke(second);
  const { endsAt } = await linkBy(first);
  expect(Date.parse(endsAt)).toBeLessThanOrEqual(Date.now() + HOUR_MS);
});

/** Of a member, made in the dashboard. */
async function linkOf(person: Person): Promise<Link> {
  const base = `/dashboard/${server.organisation.id}/test`;
  const member = new Member(await signedIn(server, person), base);
  const path = `/customers/${customer}/portal-link`;
  const { status, text } = await member.send(path, { ttl_seconds: '3600' });
  expect([status, text]).toEqual([200, expect.stringContaining('/portal/')]);
  return { path: /\/portal\/[0-9A-Za-z]{43}/.exec(text)![0] };
}

const live = (method: string, path: string, body?: object) =>
  server.call(method, path, { key: server.organisation.liveKey, ...(body && { body }) });

const MAY: readonly Role[] = ['owner', 'admin', 'support'];

test.each(ROLES)(
  'the links of a support who becomes %s stay where the role may make them',
  async (role) => {
    const [maker, other] = [await aMember(server, 'support'), await aMember(server, 'support')];
    const links = [await linkOf(maker), await linkOf(other)];
    expect(await open(links)).toEqual([true, true]);
    expect((await live('PATCH', `/members/${maker.memberId}`, { role })).status).toBe(200);
    expect(await open(links)).toEqual([MAY.includes(role), true]);
  },
);

test.each([
  ['the API', ({ memberId }: Person) => live('DELETE', `/members/${memberId}`)],
  [
    'the command line',
    ({ email }: Person) =>
      runAdmin(
        ['user', 'remove', '--org', server.organisation.id, '--email', email],
        server.databaseUrl,
      ),
  ],
  [
    'the command line, everywhere',
    ({ email }: Person) => runAdmin(['user', 'remove', '--email', email], server.databaseUrl),
  ],
] as const)('the links of a member end whom %s removes', async (_, remove) => {
  const [maker, other] = [await aMember(server, 'admin'), await aMember(server, 'admin')];
  const links = [await linkOf(maker), await linkOf(other)];
  await remove(maker);
  expect(await open(links)).toEqual([false, true]);
});

test('the links of a member who is removed from another organisation stay', async () => {
  const { other } = server;
  const maker = await aMember(server, 'admin');
  const elsewhere = { email: maker.email, organisationId: other.id };
  const { memberId } = await aMember(server, 'admin', elsewhere);
  const link = await linkOf(maker);
  const key = other.liveKey;
  expect((await server.call('DELETE', `/members/${memberId}`, { key })).status).toBe(204);
  expect(await opens(link)).toBe(true);
});

test('links that the service or an operator makes end with nobody', async () => {
  const { sql } = server;
  const token = newToken();
  const { bounds } = TEST_SETTINGS;
  const of = { customerId: customer, token, ttlS: 60, page: null, by: null, bounds };
  const wanted = { id: ids.next(), ...of, now: Date.now() };
  await sql.begin((transaction) => insertPortalToken(transaction, wanted));
  const args = ['portal-token', 'create', '--customer', customer, '--json'];
  const printed = JSON.parse((await runAdmin(args, server.databaseUrl)).stdout);
  const links = [{ path: `/portal/${token}` }, { path: new URL(printed.url).pathname }];
  await revoke(await aKey());
  await live('DELETE', `/members/${(await aMember(server, 'admin')).memberId}`);
  expect(await open(links)).toEqual([true, true]);
});

/** Until a statement like this waits for a lock, or the call is answered all the same. */
const untilWaits = (statement: string, isAnswered: () => boolean): Promise<void> =>
  until('the link waits, or is made', async () => {
    const waiting = await server.sql`
      select from pg_stat_activity where datname = current_database()
        and wait_event_type = 'Lock' and query like ${statement}`;
    return isAnswered() || waiting.length > 0;
  });

const count = async () => (await server.sql`select from portal_tokens`).length;

test('a link that a key makes while it is revoked is refused', async () => {
  const maker = await aKey();
  const before = await count();
  let isAnswered = false;
  let asked: ReturnType<TestServer['call']> | undefined;
  await server.sql.begin(async (sql) => {
    await revokeKey(sql, { id: maker.id, now: Date.now() });
    const path = `/customers/${customer}/portal-tokens`;
    asked = server.call('POST', path, { key: maker.key }).finally(() => {
      isAnswered = true;
    });
    await untilWaits('%api_keys%for share%', () => isAnswered);
  });
  expect([(await asked!).status, await count()]).toEqual([401, before]);
});

test('a link that a member makes while it is removed is refused', async () => {
  const person = await aMember(server, 'support');
  const base = `/dashboard/${server.organisation.id}/test`;
  const member = new Member(await signedIn(server, person), base);
  const path = `/customers/${customer}/portal-link`;
  await member.read(path);
  const before = await count();
  let isAnswered = false;
  let asked: ReturnType<Member['send']> | undefined;
  await server.sql.begin(async (sql) => {
    const held = await holdMember(sql, server.organisation.id, person.memberId);
    const removed = { member: held!, now: Date.now() };
    expect(await removeMember(sql, server.organisation.id, removed)).toBe('removed');
    asked = member.send(path, { ttl_seconds: '3600' }).finally(() => {
      isAnswered = true;
    });
    await untilWaits('%organisation_members%for share%', () => isAnswered);
  });
  expect([(await asked!).status, await count()]).toEqual([403, before]);
});
