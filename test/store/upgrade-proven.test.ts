// Of the users of before those are not proven whom a copied invitation has made, and nothing since.
import { expect, setDefaultTimeout, test } from 'bun:test';
import { migrate } from '../../src/database/migrate.ts';
import { hashKey } from '../../src/platform/crypto/keys.ts';
import { newToken } from '../../src/platform/crypto/tokens.ts';
import { ids } from '../../src/platform/ids.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { insertAuditRecord } from '../../src/records/audit-log.ts';
import { databaseBefore } from './before.ts';

setDefaultTimeout(60_000);

const VERSION = 197;
const AT = new Date('2026-03-01T10:00:00.123Z');
const LATER = new Date('2026-03-02T10:00:00Z');
const ORGANISATION = ids.next();

let sql: Sql;

async function aUser(email: string): Promise<string> {
  const id = ids.next();
  await sql`insert into users (id, email, name, created_at) values (${id}, ${email}, 'x', ${AT})`;
  return id;
}

/** By the user, or by who invites. */
function logged(
  actorId: string,
  operation: string,
  objectId: string,
  after: { [name: string]: string | boolean },
) {
  const nobody = { sessionId: null, address: null, userAgent: null, requestId: null };
  const row = { ...nobody, id: ids.next(), otherId: null, groupId: null, mode: null, status: 201 };
  const by = { actorKind: 'user', actorId, actorLabel: 'x' } as const;
  const of = { operation, objectType: 'x', objectId, before: null, after };
  return insertAuditRecord(sql, { ...row, ...by, ...of, organisationId: ORGANISATION, at: LATER });
}

async function invited(email: string, isMailed: boolean, acceptedAt: Date | null): Promise<void> {
  const id = ids.next();
  await sql`
    insert into invitations (id, organisation_id, email, role, hash, created_at, expires_at, accepted_at)
    values (${id}, ${ORGANISATION}, ${email}, 'admin', ${hashKey(newToken())}, ${AT}, ${LATER}, ${acceptedAt})`;
  await logged(ids.next(), 'createInvitation', id, { mailed: isMailed });
}

test('an upgrade proves the address of every user but those whom a copied invitation has made', async () => {
  const database = await databaseBefore(VERSION);
  sql = openPool(database.url, { max: 1, applicationName: 'test upgrade' });
  await sql`insert into organisations (id, name, created_at) values (${ORGANISATION}, 'One', ${AT})`;
  await aUser('by-operator@example.com');
  await aUser('by-mail@example.com');
  await invited('by-mail@example.com', true, AT);
  const byCopy = await aUser('by-copy@example.com');
  await logged(byCopy, 'signIn', ids.next(), { by: 'invitation' });
  await invited('by-copy@example.com', false, AT);
  // It was a user before, and has accepted later.
  await aUser('joined-later@example.com');
  await invited('joined-later@example.com', false, LATER);
  for (const by of ['link', 'oidc']) {
    const id = await aUser(`copied-then-${by}@example.com`);
    await invited(`Copied-then-${by}@example.com`, false, AT);
    await logged(id, 'signIn', ids.next(), { by });
  }
  await invited('open-by-mail@example.com', true, null);
  await migrate(database.url);
  const users = await sql<{ email: string; at: Date | null }[]>`
    select email, email_proven_at as at from users order by email`;
  expect(users.map(({ email, at }) => [email, at?.getTime() ?? null])).toEqual([
    ['by-copy@example.com', null],
    ['by-mail@example.com', AT.getTime()],
    ['by-operator@example.com', AT.getTime()],
    ['copied-then-link@example.com', AT.getTime()],
    ['copied-then-oidc@example.com', AT.getTime()],
    ['joined-later@example.com', AT.getTime()],
  ]);
  const mailed = await sql<{ email: string }[]>`
    select email from invitations where mailed order by email`;
  expect(mailed.map(({ email }) => email)).toEqual([
    'by-mail@example.com',
    'open-by-mail@example.com',
  ]);
  await sql.end();
  await database.drop();
});
