// The edge around handlers that throw or return nonsense, and around a group's routes.
import { expect, test } from 'bun:test';
import { Elysia } from 'elysia';
import type { Principal } from '../../../src/http/edge/auth.ts';
import { createEdge } from '../../../src/http/edge/edge.ts';
import { Unavailable } from '../../../src/http/edge/errors.ts';
import { jsonText } from '../../../src/http/json-text.ts';
import { clock, timers } from '../../../src/platform/clock.ts';
import { openLog } from '../../../src/platform/log.ts';

const PRINCIPALS: Record<string, Principal> = {
  organisation: {
    kind: 'organisation',
    organisationId: 'o',
    mode: 'test',
    actor: { kind: 'key', id: 'k' },
    scope: 'all',
  },
  group: {
    kind: 'group',
    groupId: 'g',
    mode: 'live',
    actor: { kind: 'key', id: 'k' },
    scope: 'all',
  },
};

const lost = (code: string) => Object.assign(new Error(`secret of ${code}`), { code });

// prettier-ignore
const THROWN: [string, unknown, number, string, string | null][] = [
  // what thrown status type retry-after
  ['a bug',                  new TypeError('secret'),            500,    'internal_error',      null],
  ['no error at all',        'secret',                           500,    'internal_error',      null],
  ['a broken constraint',    lost('23514'),                      500,    'internal_error',      null],
  ['being overloaded',       new Unavailable('secret'),          503,    'service_unavailable', '1'],
  ['a lost connection',      lost('CONNECTION_CLOSED'),          503,    'service_unavailable', '1'],
  ['no connection',          lost('ECONNREFUSED'),               503,    'service_unavailable', '1'],
  ['a server shutting down', lost('57P01'),                      503,    'service_unavailable', '1'],
  ['too many connections',   lost('53300'),                      503,    'service_unavailable', '1'],
  ['a deadlock',             lost('40P01'),                      503,    'service_unavailable', '1'],
  ['a statement too slow',   lost('57014'),                      503,    'service_unavailable', '1'],
];

function serve(
  handler: () => Response | Promise<Response>,
  authenticate?: () => never,
  monotonic = () => clock.monotonic(),
) {
  const lines: string[] = [];
  const edge = createEdge({
    authenticate: authenticate ?? ((header) => PRINCIPALS[header ?? ''] ?? null),
    admitPortal: () => Promise.reject(new Error('no route of a portal')),
    keyed: (_operation, handle) => handle,
    audited: { of: (_guarded, act) => ({ byKeys: act, byUsers: act }) },
    clock: { ...clock, monotonic },
    timers,
    log: openLog('info', (line) => lines.push(line)),
    newRequestId: () => 'the-request-id',
  });
  const operation = {
    operationId: 'o',
    method: 'POST',
    path: '/o',
    client: 'own',
    summary: 's',
    tag: 'Operation',
    roles: [],
    scopes: ['all'],
    audit: 'nothing',
    answers: { 200: null },
  } as const;
  const app = new Elysia()
    .post('/organisation', ...edge.organisation(operation, handler))
    .post('/group', ...edge.group(operation, ({ principal }) => Response.json(principal)));
  const call = (path: string, authorization: string) =>
    app.handle(
      new Request(`http://localhost${path}`, { method: 'POST', headers: { authorization } }),
    );
  return { call, lines, edge };
}

for (const how of ['thrown', 'rejected'] as const) {
  test.each(THROWN)(
    `${how}: %s is answered by its status`,
    async (_what, error, status, type, retryAfter) => {
      const throwing = (): Response => {
        throw error;
      };
      const handler = how === 'thrown' ? throwing : () => Promise.resolve().then(throwing);
      const { call, lines } = serve(handler);
      const response = await call('/organisation', 'organisation');
      const text = await response.text();
      expect([response.status, JSON.parse(text).error.type]).toEqual([status, type]);
      expect(text).not.toContain('secret');
      expect(response.headers.get('retry-after')).toBe(retryAfter);
      expect(response.headers.get('x-request-id')).toBe('the-request-id');
      // An error that the client does not see is logged under the request id that it gets; what is
      // no error is logged as such.
      expect(lines[0]).toContain(error instanceof Error ? 'secret' : 'not an Error');
      expect(lines.every((line) => line.includes('the-request-id'))).toBe(true);
    },
  );
}

test('while a node shuts down each answer closes its connection, and is counted', async () => {
  const { call, edge } = serve(() => Response.json({}));
  const connection = async (path: string) =>
    (await call(path, 'organisation')).headers.get('connection');
  expect(await connection('/organisation')).toBeNull();
  const answered = edge.leave();
  expect(answered()).toBe(0);
  expect(await connection('/organisation')).toBe('close');
  expect(await connection('/group')).toBe('close');
  expect(answered()).toBe(2);
});

test('requests that cannot be served now log one line, ten a second, then their number', async () => {
  let now = 5000;
  const throwing = (): Response => {
    throw new Unavailable('nobody serves');
  };
  const { call, lines } = serve(throwing, undefined, () => now);
  for (let n = 0; n < 25; n += 1) await call('/organisation', 'organisation');
  expect(lines).toHaveLength(10);
  now += 1000;
  await call('/organisation', 'organisation');
  await call('/organisation', 'organisation');
  const fields = lines.slice(9).map((line) => JSON.parse(line));
  const line = {
    level: 'warn',
    requestId: 'the-request-id',
    method: 'POST',
    path: '/organisation',
    status: 503,
    organisation: 'o',
    mode: 'test',
    why: 'Unavailable: nobody serves',
    msg: 'request',
  };
  expect(fields).toEqual([
    { ...line, time: expect.any(String), ms: 0 },
    { ...line, time: expect.any(String), ms: 0, leftOut: 15 },
    { ...line, time: expect.any(String), ms: 0 },
  ]);
});

test('while API keys cannot be looked up, no caller gets a 401', async () => {
  const { call } = serve(
    () => Response.json({}),
    () => {
      throw lost('CONNECT_TIMEOUT');
    },
  );
  expect((await call('/organisation', 'organisation')).status).toBe(503);
});

// prettier-ignore
const ACCESS: [string, string, number][] = [
  ['/organisation', 'organisation', 200],
  ['/organisation', 'group',        403],
  ['/organisation', 'nobody',       401],
  ['/group',        'group',        200],
  ['/group',        'organisation', 403],
  ['/group',        'nobody',       401],
];

test.each(ACCESS)('%s with the key of %s is answered %d', async (path, who, status) => {
  const { call } = serve(() => Response.json({}));
  const response = await call(path, who);
  expect(response.status).toBe(status);
  if (path === '/group' && status === 200)
    expect(await response.json()).toEqual(PRINCIPALS['group']);
});

test('a response from JSON text is as one from its value, and shares no header', () => {
  const first = jsonText('{"a":1}');
  expect([...first.headers]).toEqual([...Response.json({ a: 1 }).headers]);
  first.headers.set('x-request-id', 'first');
  expect(jsonText('{}').headers.has('x-request-id')).toBe(false);
});
