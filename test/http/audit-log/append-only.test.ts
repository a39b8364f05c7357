// The database takes new rows of the audit log and changes none: not for the role that the service
// has, and not for one with all rights.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { migrate } from '../../../src/database/migrate.ts';
import { ids } from '../../../src/platform/ids.ts';
import type { Sql } from '../../../src/platform/postgres/postgres.ts';
import { insertAuditRecord, type NewAuditRecord } from '../../../src/records/audit-log.ts';
import { testServices } from '../../support/services.ts';

const name = `audit_${randomBytes(4).toString('hex')}`;
const open = (url: string): Sql =>
  postgres(url, { max: 1, types: { bigint: postgres.BigInt }, onnotice: () => undefined });

const row: NewAuditRecord = {
  id: ids.next(),
  otherId: null,
  organisationId: ids.next(),
  groupId: null,
  mode: 'test',
  at: new Date(),
  actorKind: 'user',
  actorId: ids.next(),
  actorLabel: 'ada@example.com',
  sessionId: ids.next(),
  address: '192.0.2.1',
  userAgent: null,
  requestId: null,
  operation: 'updateProduct',
  objectType: 'product',
  objectId: 'x',
  status: 200,
  before: { name: 'A' },
  after: { name: 'B' },
};

/** As OPERATIONS.md makes them: the role owns its database and is no superuser. */
let service: Sql;
let superuser: Sql;
let server: Sql;
beforeAll(async () => {
  const { databaseUrl } = testServices();
  server = open(databaseUrl);
  await server.unsafe(`create role ${name} login password 'x'`);
  await server.unsafe(`create database ${name} owner ${name} template template0`);
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  superuser = open(url.href);
  url.username = name;
  url.password = 'x';
  await migrate(url.href);
  service = open(url.href);
  await insertAuditRecord(service, row);
});
afterAll(async () => {
  await Promise.all([service.end(), superuser.end()]);
  await server.unsafe(`drop database ${name} with (force)`);
  await server.unsafe(`drop role ${name}`);
  await server.end();
});

const CHANGES = [
  "update audit_log set actor_label = 'nobody'",
  'update audit_log set actor_label = actor_label where false',
  'delete from audit_log',
  'truncate audit_log',
  `insert into audit_log select * from audit_log on conflict (id) do update set actor_label = 'nobody'`,
  `merge into audit_log a using (values (1)) as v on true when matched then delete`,
];

/** The database's message, and nothing where it takes the statement. */
const refusal = (sql: Sql, change: string) =>
  sql.unsafe(change).then(
    () => null,
    (error: unknown) => String(error),
  );

const stored = () => superuser`select * from audit_log`;

test('the service inserts and reads audit log rows', async () => {
  const [found] = await service`select id, actor_label from audit_log`;
  expect(found).toEqual({ id: row.id, actor_label: 'ada@example.com' });
  const [role] = await service`select rolsuper from pg_roles where rolname = current_user`;
  expect(role).toEqual({ rolsuper: false });
});

describe.each(CHANGES)('%s', (change) => {
  test("the service's role may not run it on the audit log", async () => {
    const before = await stored();
    expect(await refusal(service, change)).toContain('permission denied for table audit_log');
    expect(await stored()).toEqual(before);
  });

  test('it is refused even where the role has granted itself the right', async () => {
    const before = await stored();
    await service`grant all on audit_log to current_user`;
    expect(await refusal(service, change)).toContain('audit_log takes new rows, and nothing else');
    await service`revoke update, delete, truncate on audit_log from current_user`;
    expect(await stored()).toEqual(before);
  });

  test.each(['origin', 'replica'])('it is refused for a superuser, as %s', async (how) => {
    const before = await stored();
    await superuser.unsafe(`set session_replication_role = ${how}`);
    expect(await refusal(superuser, change)).toContain('audit_log takes new rows');
    await superuser.unsafe('reset session_replication_role');
    expect(await stored()).toEqual(before);
  });
});

test('no other database role may do anything with the audit log', async () => {
  const rights = await superuser`
    select distinct grantee::regrole::text as role, privilege_type as may
    from pg_class, aclexplode(relacl) where oid = 'audit_log'::regclass
      and privilege_type in ('INSERT', 'SELECT', 'UPDATE', 'DELETE', 'TRUNCATE') order by 1, 2`;
  expect([...rights]).toEqual([
    { role: name, may: 'INSERT' },
    { role: name, may: 'SELECT' },
  ]);
});

test('an audit log row that is too large is refused', async () => {
  const large = { ...row, id: ids.next(), after: { text: 'x'.repeat(70_000) } };
  expect(await insertAuditRecord(service, large).then(String, String)).toContain('audit_log_after');
});
