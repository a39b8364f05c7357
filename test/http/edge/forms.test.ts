// HTML forms at the edge: how they are read, what is refused, and that only our own pages may send
// them.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { Components } from '../../../src/http/openapi/components.ts';
import { describe } from '../../../src/http/openapi/document.ts';
import { createEdge } from '../../../src/http/edge/edge.ts';
import { refuse } from '../../../src/http/edge/errors.ts';
import { clock, timers } from '../../../src/platform/clock.ts';
import { openLog } from '../../../src/platform/log.ts';

const FORM = Type.Object(
  { name: Type.String({ maxLength: 20 }), code: Type.Optional(Type.String()) },
  { additionalProperties: false },
);
const FORM_TYPE = 'application/x-www-form-urlencoded';

const PORTAL = {
  kind: 'portal',
  organisationId: 'o',
  mode: 'test',
  customerId: 'c',
  tokenId: 't',
  page: null,
} as const;

const edge = createEdge({
  authenticate: () => null,
  admitPortal: (_request, token) =>
    Promise.resolve(token === 'good' ? PORTAL : refuse('unauthorized', 'no')),
  keyed: (_operation, handler) => handler,
  audited: { of: (_guarded, act) => ({ byKeys: act, byUsers: act }) },
  clock,
  timers,
  log: openLog('silent'),
  newRequestId: () => 'id',
});
const operation = {
  operationId: 'o',
  method: 'POST',
  path: '/form',
  summary: 's',
  tag: 'Operation',
  form: FORM,
  answers: { 200: FORM },
} as const;
/** A program sends JSON, a page sends a form. */
const JSON_BODY = Type.Object({ count: Type.Integer() }, { additionalProperties: false });
const either = {
  ...operation,
  body: JSON_BODY,
  params: { token: 't' },
  answers: { 200: Type.Unknown() },
  audit: 'nothing',
} as const;
const guarded = {
  ...operation,
  client: 'own',
  roles: [],
  scopes: ['all'],
  audit: 'nothing',
} as const;
const app = new Elysia()
  .post('/form', ...edge.open(operation, ({ body }) => Response.json(body)))
  .post(
    '/portal/:token',
    ...edge.portal(either, ({ principal, body }) => Response.json({ principal, body })),
  )
  .post('/guarded', ...edge.organisation(guarded, ({ body }) => Response.json(body)));

let origin: string;
beforeAll(() => {
  app.listen({ port: 0, hostname: '127.0.0.1' });
  origin = `http://127.0.0.1:${app.server!.port}`;
});
afterAll(() => app.server!.stop(true));

async function post(body: string | Buffer, headers: Record<string, string> = {}, path = '/form') {
  const sent = { 'content-type': FORM_TYPE, ...headers };
  const response = await fetch(`${origin}${path}`, { method: 'POST', body, headers: sent });
  // Each test checks the type of what it reads.
  const json = (await response.json()) as ReturnType<typeof JSON.parse>;
  return { status: response.status, json };
}

// prettier-ignore
const READ: [string, string, object][] = [
  // what                sent                        read
  ['text',               'name=Ann',                 { name: 'Ann' }],
  ['an empty field',     'name=&code=',              { name: '', code: '' }],
  ['spaces and UTF-8',   'name=Zo%C3%AB+%26+Co',     { name: 'Zoë & Co' }],
  ['digits as text',     'name=4242',                { name: '4242' }],
  ['markup as it is',    'name=%3Cb%3E',             { name: '<b>' }],
];

test.each(READ)('a form body is read: %s', async (_what, body, read) => {
  expect(await post(body)).toEqual({ status: 200, json: read });
});

test("a form's media type may have parameters", async () => {
  const reply = await post('name=Ann', { 'content-type': `${FORM_TYPE}; charset=UTF-8` });
  expect(reply.status).toBe(200);
});

const BROKEN = Buffer.from([...Buffer.from('name='), 0xff]);

// prettier-ignore
const REFUSED: [string, string | Buffer, Record<string, string>, number, string, string[][] | undefined][] = [
  // what sent headers status type at
  ['no body',              '',                        {},                                    400, 'invalid_request',         [['name']]],
  ['a missing field',      'code=x',                  {},                                    400, 'invalid_request',         [['name']]],
  ['an unknown field',     'name=x&nmae=y',           {},                                    400, 'invalid_request',         [['nmae']]],
  ['__proto__',            'name=x&__proto__=y',      {},                                    400, 'invalid_request',         [['__proto__']]],
  ['a field twice',        'name=x&name=x',           {},                                    400, 'invalid_request',         [['name']]],
  ['a value too long',     `name=${'x'.repeat(21)}`,  {},                                    400, 'invalid_request',         [['name']]],
  ['NUL',                  'name=a%00b',              {},                                    400, 'invalid_request',         [['name']]],
  ['broken UTF-8',         BROKEN,                    {},                                    400, 'invalid_request',         [[]]],
  ['JSON',                 '{"name":"x"}',            { 'content-type': 'application/json' },415, 'unsupported_media_type',  undefined],
  ['parts',                'name=x',                  { 'content-type': 'multipart/form-data' }, 415, 'unsupported_media_type', undefined],
  ['16 KiB and a byte',    `name=${'x'.repeat(16_380)}`, {},                                 413, 'payload_too_large',       undefined],
];

test.each(REFUSED)(
  'a form body is refused: %s',
  async (_what, body, headers, status, type, paths) => {
    const { status: answered, json } = await post(body, headers);
    expect([answered, json.error.type]).toEqual([status, type]);
    expect(json.error.issues?.map(({ path }: { path: string[] }) => path)).toEqual(paths);
  },
);

// prettier-ignore
const SENDERS: [string, () => Record<string, string>, number][] = [
  // who headers status
  ['no browser',                    () => ({}),                                                          200],
  ['its own page',                  () => ({ origin }),                                                  200],
  ['its own page behind a proxy',   () => ({ origin: 'https://pay.example', host: 'pay.example' }),      200],
  ['another site',                  () => ({ origin: 'https://evil.example' }),                          403],
  ['another port',                  () => ({ origin: 'http://127.0.0.1:1' }),                            403],
  ['a page that hides its origin',  () => ({ origin: 'null' }),                                          403],
  ['an origin that is none',        () => ({ origin: 'evil' }),                                          403],
  ['its own page, says the browser',() => ({ origin: 'null', 'sec-fetch-site': 'same-origin' }),         200],
  ['the address bar',               () => ({ 'sec-fetch-site': 'none' }),                                200],
  ['another site, says the browser',() => ({ 'sec-fetch-site': 'cross-site' }),                          403],
  ['a sister site',                 () => ({ origin, 'sec-fetch-site': 'same-site' }),                   403],
];

test.each(SENDERS)(
  "a form's origin is checked when it is sent by %s",
  async (_who, headers, status) => {
    const reply = await post('name=Ann', headers());
    expect(reply.status).toBe(status);
    if (status === 403) expect(reply.json.error.type).toBe('forbidden');
  },
);

test('a form is authenticated before its origin is checked', async () => {
  const reply = await post('name=Ann', { origin: 'https://evil.example' }, '/guarded');
  expect(reply.status).toBe(401);
});

test('the OpenAPI document says which operations take a form', () => {
  const [, { detail }] = edge.open(operation, () => new Response());
  const { requestBody, responses } = describe(detail, new Components());
  expect(Object.keys(requestBody?.content ?? {})).toEqual([FORM_TYPE]);
  expect(Object.keys(responses)).toEqual(
    expect.arrayContaining(['200', '400', '403', '413', '415']),
  );
});

const json = { 'content-type': 'application/json' };

test('an operation that takes a form or JSON reads each by its media type', async () => {
  const program = await post('{"count":1}', json, '/portal/good');
  expect(program).toEqual({ status: 200, json: { principal: PORTAL, body: { count: 1 } } });
  const page = await post('name=Ann', {}, '/portal/good');
  expect(page).toEqual({ status: 200, json: { principal: PORTAL, body: { name: 'Ann' } } });
  const { status, json: refused } = await post(
    'a',
    { 'content-type': 'text/plain' },
    '/portal/good',
  );
  expect([status, refused.error.message]).toEqual([
    415,
    `the body must be sent as application/json or ${FORM_TYPE}`,
  ]);
});

test('an operation that takes both takes a form from its own page only, and JSON from anywhere', async () => {
  const elsewhere = { 'sec-fetch-site': 'cross-site' };
  expect((await post('name=Ann', elsewhere, '/portal/good')).status).toBe(403);
  expect((await post('{"count":1}', { ...json, ...elsewhere }, '/portal/good')).status).toBe(200);
});

test.each(['{"count":1}', '{"count":', '{}', 'x'.repeat(2_000_000)])(
  'a portal checks its token before it reads the body',
  async (body) => {
    expect((await post(body, json, '/portal/bad')).status).toBe(401);
    expect((await post(body, {}, '/portal/bad')).status).toBe(401);
  },
);
