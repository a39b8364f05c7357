// What a user does is logged, routine or not, with the session and where the browser is; a read is
// not, and of a key only what is no routine.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Elysia } from 'elysia';
import { AuditedRoutes } from '../../../src/http/edge/audited.ts';
import type { OrganisationPrincipal } from '../../../src/http/edge/auth.ts';
import { createEdge } from '../../../src/http/edge/edge.ts';
import type { Policy } from '../../../src/http/policy.ts';
import { clock, timers } from '../../../src/platform/clock.ts';
import { ids } from '../../../src/platform/ids.ts';
import { openLog } from '../../../src/platform/log.ts';
import { openPool, type Sql } from '../../../src/platform/postgres/postgres.ts';
import { freshDatabase } from '../../support/database.ts';
import { rowsOf } from './reading.ts';

const tenant = { kind: 'organisation', organisationId: ids.next(), mode: 'live' } as const;
const USER = {
  kind: 'user',
  id: ids.next(),
  sessionId: ids.next(),
  email: 'ada@example.com',
  address: '2001:db8::7',
} as const;
const PRINCIPALS: Readonly<Record<string, OrganisationPrincipal>> = {
  owner: { ...tenant, actor: USER, scope: 'owner' },
  support: { ...tenant, actor: USER, scope: 'support' },
  key: { ...tenant, actor: { kind: 'key', id: ids.next() }, scope: 'all' },
  meter: { ...tenant, actor: { kind: 'key', id: ids.next() }, scope: 'metering' },
};

let database: Awaited<ReturnType<typeof freshDatabase>>;
let sql: Sql;
beforeAll(async () => {
  database = await freshDatabase();
  sql = openPool(database.url, { max: 1, applicationName: 'test' });
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

const STAFF = ['owner', 'admin', 'support'] as const;
const DAILY = { object: 'customer', isRoutine: true } as const;
const POLICIES: Readonly<Record<string, Policy>> = {
  'a routine': { roles: STAFF, scopes: ['all', 'metering'], audit: DAILY },
  'no routine': { roles: STAFF, scopes: ['all'], audit: { object: 'payment' } },
  'a read': { roles: STAFF, scopes: ['all'], audit: 'nothing' },
  'for admins': { roles: ['owner', 'admin'], scopes: ['all'], audit: { object: 'api_key' } },
};

/** A route with this policy, and a call of it by each caller. */
async function statuses(kind: string, callers: readonly string[]): Promise<number[]> {
  const edge = createEdge({
    authenticate: (header) => PRINCIPALS[header ?? ''] ?? null,
    admitPortal: () => Promise.reject(new Error('no route of a portal')),
    keyed: (_operation, handle) => handle,
    audited: new AuditedRoutes({ sql, ids, clock, addressOf: () => '192.0.2.1' }),
    clock,
    timers,
    log: openLog('silent'),
    newRequestId: () => ids.next(),
  });
  const said = {
    operationId: kind,
    method: 'POST',
    path: '/',
    client: 'own',
    summary: '',
    tag: 'Operation',
    answers: { 200: null },
  } as const;
  const operation = { ...said, ...POLICIES[kind]! };
  const answer = () =>
    Response.json({ id: 'x', url: `https://a.example/portal/${'a1'.repeat(22)}` });
  const app = new Elysia().post('/', ...edge.organisation(operation, answer));
  const found: number[] = [];
  for (const authorization of callers) {
    const request = new Request('http://localhost/', {
      method: 'POST',
      headers: { authorization },
    });
    found.push((await app.handle(request)).status);
  }
  return found;
}

test.each([
  ['a routine', ['owner', 'key', 'meter'], ['user']],
  ['a routine', ['support', 'key'], ['user']],
  ['no routine', ['owner', 'key'], ['user', 'key']],
  ['no routine', ['support', 'key'], ['user', 'key']],
  ['a read', ['owner', 'key'], []],
])('%s by %p leaves audit log rows of %p', async (operation, callers, kinds) => {
  const before = (await rowsOf(sql, operation)).length;
  expect(await statuses(operation, callers)).toEqual(callers.map(() => 200));
  const rows = (await rowsOf(sql, operation)).slice(before);
  expect(rows.map((row) => row['actor_kind'])).toEqual(kinds);
  const [row] = rows;
  if (row === undefined) return;
  expect(row).toMatchObject({
    organisation_id: tenant.organisationId,
    mode: 'live',
    actor_id: USER.id,
    actor_label: 'ada@example.com',
    session_id: USER.sessionId,
    address: '2001:db8::7',
  });
  expect(row.after).toEqual({ id: 'x', url: 'https://a.example/portal/[left out]' });
});

test("an action that the user's role may not take leaves no audit log row", async () => {
  expect(await statuses('for admins', ['support', 'meter'])).toEqual([403, 403]);
  expect(await rowsOf(sql, 'for admins')).toEqual([]);
});
