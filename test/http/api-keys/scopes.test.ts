// What a key of each scope may do: every route of the document, against a list of its own.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { changesBothModes } from '../edge/operations.ts';
import { Keys } from './keys.ts';

const SCOPES = ['all', 'read', 'metering'] as const;
type Scope = (typeof SCOPES)[number];

/** Everything that a `metering` key may do. A `read` key may do every GET. */
const METERING = new Set([
  'POST /check',
  'POST /check/batch',
  'POST /track',
  'POST /track/batch',
  'POST /events/ingest',
  'POST /reservations',
  'GET /reservations/{id}',
  'POST /reservations/{id}/commit',
  'POST /reservations/{id}/release',
  'POST /reservations/{id}/extend',
  'GET /customers/{id}/balances',
]);

/** Only `all` may do these; a new route of them is here or above. */
const OF_KEYS = ['POST /api-keys', 'POST /api-keys/{id}/rotate', 'DELETE /api-keys/{id}'];

function expected(name: string): Scope[] {
  return SCOPES.filter(
    (scope) =>
      scope === 'all' ||
      (scope === 'read' && name.startsWith('GET ')) ||
      (scope === 'metering' && METERING.has(name)),
  );
}

type Documented = { readonly security: object[]; readonly 'x-scopes'?: readonly Scope[] };
type Route = { readonly name: string; readonly method: string; readonly path: string } & Documented;

let server: TestServer;
let routes: Route[];
const keyOf = new Map<Scope, string>();
beforeAll(async () => {
  server = await startServer();
  const keys = new Keys(server);
  for (const scope of SCOPES) keyOf.set(scope, (await keys.make({ scopes: [scope] })).key);
  const { paths } = (await server.call('GET', '/openapi.json')).json;
  routes = Object.entries(paths as Record<string, Record<string, Documented>>)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, documented]) => ({
        ...documented,
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path: path.replaceAll(/\{\w+\}/g, 'x'),
      })),
    )
    .filter(({ security }) => security.some((one) => 'organisation' in one));
});
afterAll(() => server.stop());

/** The body is not read: an answer may stay open. */
async function ask({ method, path }: Omit<Route, 'name'>, scope: Scope, body?: string) {
  const isShared = scope === 'all' && changesBothModes({ method, path });
  const headers = {
    authorization: `Bearer ${isShared ? server.organisation.liveKey : keyOf.get(scope)}`,
    'content-type': 'application/json',
    'idempotency-key': 'the same',
  };
  const sent = body === undefined || method === 'GET' ? {} : { body };
  const response = await fetch(`${server.url}${path}`, { method, headers, ...sent });
  if (response.status === 403) {
    const refused = (await response.json()) as { error: { type: string } };
    return { status: 403, type: refused.error.type };
  }
  await response.body?.cancel();
  return { status: response.status, type: '' };
}

test('the OpenAPI document says which scope each operation needs', () => {
  expect(routes.length).toBeGreaterThan(80);
  const said = routes.map((route) => [route.name, route['x-scopes']]);
  expect(said).toEqual(routes.map(({ name }) => [name, expected(name)]));
  const names = routes.map(({ name }) => name);
  for (const name of [...METERING, ...OF_KEYS]) expect(names).toContain(name);
});

test('the documentation page says which scope each operation needs', async () => {
  const { text } = await server.call('GET', '/docs', { key: null });
  for (const { name } of routes) {
    const [, section = ''] = text.split(`<h3>${name}</h3>`);
    const [, scopes] = /Key: organisation, with the scope ([a-z ]+)</.exec(section) ?? [];
    expect([name, scopes]).toEqual([name, expected(name).join(' or ')]);
  }
});

test.each([...SCOPES])(
  'an API key with the scope %s may call its operations and no others',
  async (scope) => {
    for (const { name, ...route } of routes) {
      const { status, type } = await ask(route, scope);
      const may = expected(name).includes(scope);
      expect([name, status === 403, type]).toEqual([name, !may, may ? '' : 'forbidden']);
      expect([name, status === 401 || status >= 500]).toEqual([name, false]);
    }
  },
);

test('a missing scope is a 403 before the body is validated, whatever the path names', async () => {
  for (const route of routes) {
    for (const scope of SCOPES) {
      if (expected(route.name).includes(scope)) continue;
      for (const body of ['{bad', '{}', 'x'.repeat(2_000_000)]) {
        expect([route.name, scope, (await ask(route, scope, body)).status]).toEqual([
          route.name,
          scope,
          403,
        ]);
      }
    }
  }
});

test('a missing scope is a 403 before a replay: the answer to another key is not shown', async () => {
  const headers = { 'idempotency-key': 'a secret answer' };
  const made = await server.call('POST', '/api-keys', { headers });
  expect(made.status).toBe(201);
  for (const scope of ['read', 'metering'] as const) {
    const reply = await server.call('POST', '/api-keys', { headers, key: keyOf.get(scope)! });
    expect([reply.status, reply.json.error.type]).toEqual([403, 'forbidden']);
    expect(reply.text).not.toContain('svc_');
  }
});

test('HEAD needs the scope that GET needs', async () => {
  const headOf = async (path: string, scope: Scope) =>
    (await server.call('HEAD', path, { key: keyOf.get(scope)! })).status;
  expect([await headOf('/customers', 'read'), await headOf('/customers', 'metering')]).toEqual([
    200, 403,
  ]);
});

test("a group's key has no scopes and may do what it could before", async () => {
  const key = server.group.testKey;
  expect((await server.call('GET', '/partner/webhook-endpoints', { key })).status).toBe(200);
  for (const method of ['GET', 'POST']) {
    expect((await server.call(method, '/api-keys', { key })).status).toBe(403);
  }
  const scoped = server.sql`update api_keys set scope = 'read' where group_id = ${server.group.id}`;
  expect(scoped.then(() => 'taken')).rejects.toThrow('api_keys_of_groups_do_all');
});
