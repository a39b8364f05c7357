// The members of an organisation over the API: an owner is always left, and nobody reaches others'.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { createOrganisation, type FirstKeys } from '../../../src/accounts/onboarding.ts';
import { runAdmin } from '../../support/admin.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { aMember, type Person, signedIn } from './tab.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

/** An organisation of its own, with so many owners. */
async function withOwners(count: number): Promise<{ keys: FirstKeys; owners: Person[] }> {
  const setting = { sql: server.sql, ids, now: Date.now() };
  const made = await createOrganisation(setting, { name: 'Owned', groupId: null });
  if (made === 'no_such_group') throw new Error(made);
  const owners: Person[] = [];
  for (let n = 0; n < count; n += 1) {
    owners.push(await aMember(server, 'owner', { organisationId: made.id }));
  }
  return { keys: made, owners };
}

const live = (keys: FirstKeys) => ({ key: keys.liveKey });
const remove = (keys: FirstKeys, id: string) => server.call('DELETE', `/members/${id}`, live(keys));
const change = (keys: FirstKeys, id: string, role: string) =>
  server.call('PATCH', `/members/${id}`, { ...live(keys), body: { role } });
const roles = async (keys: FirstKeys): Promise<string[]> =>
  (await server.call('GET', '/members', live(keys))).json.data
    .map(({ role }: { role: string }) => role)
    .sort();

test('a member is listed, read, changed and removed', async () => {
  const { keys, owners } = await withOwners(1);
  const { memberId, id, email } = await aMember(server, 'support', { organisationId: keys.id });
  const shown = {
    id: memberId,
    user_id: id,
    email,
    name: 'Ada',
    role: 'support',
    second_factor: false,
    created_at: expect.stringMatching(/Z$/),
  };
  const list = await server.call('GET', '/members', live(keys));
  expect(list.json.data).toEqual([shown, expect.objectContaining({ id: owners[0]!.memberId })]);
  // A key of test mode reads them.
  const read = await server.call('GET', `/members/${memberId}`, { key: keys.testKey });
  expect([read.status, read.json]).toEqual([200, shown]);
  const changed = await change(keys, memberId, 'admin');
  expect([changed.status, changed.json]).toEqual([200, { ...shown, role: 'admin' }]);
  expect((await remove(keys, memberId)).status).toBe(204);
  expect((await remove(keys, memberId)).status).toBe(404);
  expect(await roles(keys)).toEqual(['owner']);
});

test('a key of test mode changes no member', async () => {
  const { keys } = await withOwners(1);
  const { memberId } = await aMember(server, 'support', { organisationId: keys.id });
  const key = keys.testKey;
  for (const [method, path, body] of [
    ['PATCH', `/members/${memberId}`, { role: 'owner' }],
    ['DELETE', `/members/${memberId}`, undefined],
    ['POST', '/invitations', { email: 'mallory@example.com', role: 'owner' }],
    ['DELETE', `/invitations/${ids.next()}`, undefined],
    ['PATCH', '/organization/security', { refund_step_up_amount: '0' }],
  ] as const) {
    const { status, json } = await server.call(method, path, { key, ...(body && { body }) });
    expect([method, path, status, json.error.type]).toEqual([method, path, 403, 'forbidden']);
  }
  expect(await roles(keys)).toEqual(['owner', 'support']);
});

test('members of another organisation are 404', async () => {
  const { keys } = await withOwners(1);
  const { memberId } = await aMember(server, 'support', { organisationId: keys.id });
  const stranger = (await withOwners(1)).keys;
  const ask = (method: string, body?: object) =>
    server.call(method, `/members/${memberId}`, { ...live(stranger), ...(body && { body }) });
  for (const { status } of [
    await ask('GET'),
    await ask('PATCH', { role: 'owner' }),
    await ask('DELETE'),
  ]) {
    expect(status).toBe(404);
  }
  for (const id of ['x', ids.next(), `${memberId}'`]) {
    expect((await server.call('GET', `/members/${encodeURIComponent(id)}`)).status).toBe(404);
  }
  expect(await roles(keys)).toEqual(['owner', 'support']);
});

test('the last owner of an organisation stays, as an owner', async () => {
  const { keys, owners } = await withOwners(1);
  const { memberId, email } = owners[0]!;
  await aMember(server, 'admin', { organisationId: keys.id });
  // One of before it was a member.
  const body = { email: 'stray@example.com', role: 'support' };
  const { id } = (await server.call('POST', '/invitations', { key: keys.liveKey, body })).json;
  await server.sql`update invitations set email = ${email} where id = ${id}`;
  for (const { status, json } of [
    await remove(keys, memberId),
    await change(keys, memberId, 'admin'),
  ]) {
    expect([status, json.error.type]).toEqual([409, 'conflict']);
  }
  // What is refused leaves no trace.
  expect(await server.sql`select revoked_at from invitations where id = ${id}`).toMatchObject([
    { revoked_at: null },
  ]);
  expect((await change(keys, memberId, 'owner')).status).toBe(200);
  expect(await roles(keys)).toEqual(['admin', 'owner']);
});

test('an owner who may sign in no more is none that is left', async () => {
  const { keys, owners } = await withOwners(2);
  const [first, second] = owners as [Person, Person];
  const args = ['user', 'remove', '--email', second.email];
  expect((await runAdmin(args, server.databaseUrl)).exitCode).toBe(0);
  for (const { status, json } of [
    await remove(keys, first.memberId),
    await change(keys, first.memberId, 'admin'),
  ]) {
    expect([status, json?.error.type]).toEqual([409, 'conflict']);
  }
  expect((await remove(keys, second.memberId)).status).toBe(204);
  expect(await roles(keys)).toEqual(['owner']);
});

test('of all owners who are removed at once one stays', async () => {
  for (const leave of [remove, (keys: FirstKeys, id: string) => change(keys, id, 'admin')]) {
    const { keys, owners } = await withOwners(6);
    const replies = await Promise.all(owners.map(({ memberId }) => leave(keys, memberId)));
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(1);
    expect((await roles(keys)).filter((role) => role === 'owner')).toHaveLength(1);
  }
});

test('a member who is removed twice at once is removed once', async () => {
  const { keys } = await withOwners(2);
  const { memberId } = await aMember(server, 'owner', { organisationId: keys.id });
  const replies = await Promise.all([1, 2, 3].map(() => remove(keys, memberId)));
  const statuses = replies.map(({ status }) => status);
  expect(statuses.toSorted((a, b) => a - b)).toEqual([204, 404, 404]);
});

test('a removed member sees nothing from then on, one with a new role what that may see', async () => {
  const { keys } = await withOwners(1);
  const user = await aMember(server, 'admin', { organisationId: keys.id });
  const tab = await signedIn(server, user);
  const newKey = `/dashboard/${keys.id}/test/keys/new`;
  expect((await tab.get(newKey)).status).toBe(200);
  expect((await change(keys, user.memberId, 'read_only')).status).toBe(200);
  expect((await tab.get(newKey)).status).toBe(403);
  expect((await remove(keys, user.memberId)).status).toBe(204);
  expect((await tab.get(newKey)).status).toBe(404);
});

test.each([[{}], [{ role: 'god' }], [{ role: 'admin', email: 'x@example.com' }], [{ role: null }]])(
  'the change of a member %j is refused',
  async (body) => {
    const { keys, owners } = await withOwners(1);
    const path = `/members/${owners[0]!.memberId}`;
    const { status, json } = await server.call('PATCH', path, { ...live(keys), body });
    expect([status, json.error.type]).toEqual([400, 'invalid_request']);
  },
);

test('security settings: default, partly changed, for both modes, with their effect on members', async () => {
  const { keys, owners } = await withOwners(1);
  const path = '/organization/security';
  const read = async (key: string) => (await server.call('GET', path, { key })).json;
  expect(await read(keys.testKey)).toEqual({
    require_second_factor: false,
    refund_step_up_amount: '100.00',
  });
  const tab = await signedIn(server, owners[0]!);
  const home = `/dashboard/${keys.id}/test`;
  expect((await tab.get(home)).status).toBe(200);
  for (const [body, after] of [
    [{ refund_step_up_amount: '5' }, { require_second_factor: false, refund_step_up_amount: '5' }],
    [{ require_second_factor: true }, { require_second_factor: true, refund_step_up_amount: '5' }],
    [{}, { require_second_factor: true, refund_step_up_amount: '5' }],
  ] as const) {
    const { status, json } = await server.call('PATCH', path, { ...live(keys), body });
    expect([status, json]).toEqual([200, after]);
    expect([await read(keys.testKey), await read(keys.liveKey)]).toEqual([after, after]);
  }
  expect((await tab.get(home)).headers.get('location')).toBe('/dashboard/account?enroll=1');
  expect(await read(server.organisation.liveKey)).toMatchObject({ require_second_factor: false });
  for (const amount of ['-1', '1e3', '1.00001', '1234567890123', '', 5]) {
    const body = { refund_step_up_amount: amount };
    expect((await server.call('PATCH', path, { ...live(keys), body })).status).toBe(400);
  }
});
