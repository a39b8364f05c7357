// Each command that changes something leaves a row, and one that reads or is refused leaves none.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { hostname, userInfo } from 'node:os';
import { ids } from '../../../src/platform/ids.ts';
import { runAdmin } from '../../support/admin.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import type { StoredRow } from './reading.ts';

setDefaultTimeout(60_000);

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ alone: true });
});
afterAll(() => server.stop());

const logged = async (): Promise<StoredRow[]> => [
  ...(await server.sql<StoredRow[]>`select * from audit_log order by at, id`),
];

async function run(...args: string[]) {
  const before = (await logged()).length;
  const { exitCode, stdout, stderr } = await runAdmin([...args, '--json'], server.databaseUrl);
  return { exitCode, stdout, stderr, rows: (await logged()).slice(before) };
}

test('an audit log row of an admin command says who ran it and for whom, and has no secret', async () => {
  const org = server.organisation.id;
  const made = await run('key', 'create', '--org', org, '--mode', 'live', '--name', 'worker');
  const { id, key } = JSON.parse(made.stdout);
  const actor = {
    actor_kind: 'command_line',
    actor_id: null,
    actor_label: `${userInfo().username}@${hostname()}`,
    address: null,
    status: null,
  };
  const of = { organisation_id: org, mode: 'live', object_type: 'api_key', object_id: id };
  expect(made.rows).toHaveLength(1);
  expect(made.rows[0]).toMatchObject({ ...actor, ...of, operation: 'key create', before: null });
  expect(made.rows[0]!.after).toMatchObject({ name: 'worker', key: '[left out]' });
  expect(JSON.stringify(made.rows)).not.toContain(key.slice(9));
  // By the id alone.
  const revoked = await run('key', 'revoke', id);
  expect(revoked.rows).toHaveLength(1);
  expect(revoked.rows[0]).toMatchObject({ ...actor, ...of, operation: 'key revoke' });
  const list = await server.call('GET', '/audit-log?actor_kind=command_line', {
    key: server.organisation.liveKey,
  });
  expect(list.json.data.map((row: { operation: string }) => row.operation)).toEqual([
    'key revoke',
    'key create',
  ]);
});

test('admin commands are logged for an organisation in both modes, a group, a customer, the installation', async () => {
  const { id: groupId } = server.group;
  const org = await run('org', 'create', '--name', 'Acme', '--group', groupId);
  const { organization_id: organisation_id, ...keys } = JSON.parse(org.stdout);
  expect(org.rows).toHaveLength(1);
  expect(org.rows[0]).toMatchObject({ organisation_id, group_id: null, mode: null });
  for (const secret of Object.values<string>(keys)) {
    expect(JSON.stringify(org.rows)).not.toContain(secret.slice(9));
  }
  const group = await run('key', 'create', '--group', groupId);
  expect(group.rows).toHaveLength(1);
  expect(group.rows[0]).toMatchObject({ organisation_id: null, group_id: groupId, mode: 'test' });
  const customer = (await server.call('POST', '/customers', { body: {} })).json.id;
  const portal = await run('portal-token', 'create', '--customer', customer);
  expect(portal.rows).toHaveLength(1);
  expect(portal.rows[0]).toMatchObject({
    organisation_id: server.organisation.id,
    mode: 'test',
    object_type: 'portal_token',
  });
  expect(JSON.stringify(portal.rows)).not.toContain(JSON.parse(portal.stdout).token.slice(9));
  const resumed = await run('resume');
  expect(resumed.rows.map((row) => [row['organisation_id'], row.operation])).toEqual([
    [null, 'resume'],
  ]);
});

test.each([
  [['key', 'list', '--org', ids.next()], 1],
  [['audit'], 0],
  [['retention', '--dry-run'], 0],
  [['key', 'revoke', ids.next()], 1],
  [['key', 'create'], 2],
] as const)('the admin command %p leaves no audit log row', async (args, exitCode) => {
  const done = await run(...args);
  expect([done.exitCode, done.rows]).toEqual([exitCode, []]);
});

test('an admin command whose audit log row cannot be written fails, and says what it has done', async () => {
  await server.sql`alter table audit_log rename to audit_log_away`;
  const { exitCode, stderr } = await runAdmin(['resume'], server.databaseUrl);
  await server.sql`alter table audit_log_away rename to audit_log`;
  expect(exitCode).toBe(1);
  expect(stderr).toContain('resume is done, but the audit log was not written');
});
