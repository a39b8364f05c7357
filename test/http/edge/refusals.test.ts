// What the edge refuses before a handler runs, and in which order. Any route with a body will do.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { startServer, type Call, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const TEXT = { 'content-type': 'text/plain' };
const bytes = (...parts: (string | number)[]): Buffer =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part))),
  );
const streamed = (body: Buffer) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (let i = 0; i < body.length; i += 65_536)
        controller.enqueue(body.subarray(i, i + 65_536));
      controller.close();
    },
  });
const huge = Buffer.alloc(3_000_000, '[');
const deep = Buffer.alloc(900_000, '[');
const BAD = bytes('{"name":"', 0xff, '"}');

// prettier-ignore
const TABLE: [string, Call, number, string, string][] = [
  // what sent status type at
  ['no body',                    {},                                           400, 'invalid_request',        ''],
  ['malformed JSON',             { raw: '{bad' },                              400, 'invalid_request',        ''],
  ['null',                       { raw: 'null' },                              400, 'invalid_request',        ''],
  ['an array',                   { raw: '[]' },                                400, 'invalid_request',        ''],
  ['a key twice',                { raw: '{"name":"a","name":"b"}' },           400, 'invalid_request',        ''],
  ['NUL',                        { raw: '{"name":"\\u0000"}' },                400, 'invalid_request',        ''],
  ['broken UTF-8',               { raw: BAD },                                 400, 'invalid_request',        ''],
  ['broken UTF-8, streamed',     { raw: streamed(BAD) },                       400, 'invalid_request',        ''],
  ['deep nesting',               { raw: deep },                                400, 'invalid_request',        ''],
  ['an unknown field',           { body: { nmae: 'x' } },                      400, 'invalid_request',        'nmae'],
  ['a number for a string',      { body: { name: 7 } },                        400, 'invalid_request',        'name'],
  ['__proto__',                  { raw: '{"__proto__":{"name":"x"}}' },        400, 'invalid_request',        '__proto__'],
  ['text',                       { raw: '{}', headers: TEXT },                 415, 'unsupported_media_type', '-'],
  ['a form',                     { raw: new URLSearchParams('a=b'), headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 415, 'unsupported_media_type', '-'],
  ['jsonp',                      { raw: '{}', headers: { 'content-type': 'application/jsonp' } }, 415, 'unsupported_media_type', '-'],
  ['3 MB',                       { raw: huge },                                413, 'payload_too_large',      '-'],
  ['3 MB, streamed',             { raw: streamed(huge) },                      413, 'payload_too_large',      '-'],
  ['an empty key header',        { body: {}, headers: { 'idempotency-key': '' } }, 400, 'invalid_request',    'Idempotency-Key'],
  ['a key header of 256',        { body: {}, headers: { 'idempotency-key': 'k'.repeat(256) } }, 400, 'invalid_request', 'Idempotency-Key'],
  ['a key header beyond ASCII',  { body: {}, headers: { 'idempotency-key': 'caf\u00e9' } }, 400, 'invalid_request', 'Idempotency-Key'],
];

test.each(TABLE)('a request is refused: %s', async (_what, call, status, type, at) => {
  const reply = await server.call('POST', '/customers', call);
  expect([reply.status, reply.json.error.type]).toEqual([status, type]);
  expect(reply.json.error.message).toBeString();
  const issues = at === '-' ? undefined : [at === '' ? [] : [at]];
  expect(reply.json.error.issues?.map(({ path }: { path: string[] }) => path)).toEqual(issues);
  expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
});

// Authentication comes first: the answer is 401, whatever else is wrong.
test.each(TABLE)('%s without a key is a 401', async (_what, call) => {
  // The test above has consumed the stream.
  const raw = call.raw instanceof ReadableStream ? streamed(BAD) : call.raw;
  const again = raw === undefined ? call : { ...call, raw };
  const reply = await server.call('POST', '/customers', { ...again, key: null });
  expect([reply.status, reply.json.error.type]).toEqual([401, 'unauthorized']);
});

test.each([
  ['application/json; charset=utf-8'],
  ['application/json;charset=utf-8'],
  ['APPLICATION/JSON'],
])('the media type %s is taken as JSON', async (type) => {
  const reply = await server.call('POST', '/customers', {
    raw: '{}',
    headers: { 'content-type': type },
  });
  expect(reply.status).toBe(201);
});

test('U+FFFD in a body is taken', async () => {
  const reply = await server.call('POST', '/customers', { body: { name: 'what \uFFFD is' } });
  expect([reply.status, reply.json.name]).toEqual([201, 'what \uFFFD is']);
});

test('a chunked body is read like any other', async () => {
  const raw = streamed(Buffer.from('{"name":"Zoë"}'));
  const reply = await server.call('POST', '/customers', { raw });
  expect([reply.status, reply.json.name]).toEqual([201, 'Zoë']);
});

test('a refusal lists all issues with their paths, up to 50', async () => {
  const body = { email: 'nobody', name: '', metadata: { a: 1 }, phone: '1' };
  const { json } = await server.call('POST', '/customers', { body });
  expect(json.error.issues.map(({ path }: { path: string[] }) => path.join('/')).sort()).toEqual([
    'email',
    'metadata/a',
    'name',
    'phone',
  ]);
  const many = Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`field${i}`, i]));
  const { json: bounded } = await server.call('POST', '/customers', { body: many });
  expect(bounded.error.issues).toHaveLength(50);
});

// prettier-ignore
const PATHS: [string, string, number, string][] = [
  ['GET',      '/nothing',       404, ''],
  ['POST',     '/nothing',       404, ''],
  ['DELETE',   '/customers',     405, 'POST, GET, HEAD, OPTIONS'],
  ['POST',     '/meters/x',      405, 'GET, PUT, PATCH, DELETE, HEAD, OPTIONS'],
  ['POST',     '/health',        405, 'GET, HEAD, OPTIONS'],
  ['PROPFIND', '/customers/x',   405, 'GET, PUT, PATCH, HEAD, OPTIONS'],
  ['OPTIONS',  '/customers',     204, 'POST, GET, HEAD, OPTIONS'],
  ['HEAD',     '/meters',        200, ''],
  ['HEAD',     '/health',        200, ''],
  ['GET',      '/customers/',    200, ''],
];

test.each(PATHS)('%s %s is answered %d', async (method, path, status, allow) => {
  const reply = await server.call(method, path);
  expect(reply.status).toBe(status);
  expect(reply.headers.get('allow') ?? '').toBe(allow);
  if (status === 405) expect(reply.json.error.type).toBe('method_not_allowed');
  if (status === 404) expect(reply.json.error.type).toBe('not_found');
});

test('HEAD needs a key where GET does, and has no body', async () => {
  expect((await server.call('HEAD', '/meters', { key: null })).status).toBe(401);
  expect((await server.call('HEAD', '/meters')).text).toBe('');
});

test("a caller's request id comes back, on success too; an invalid one does not", async () => {
  const headers = { 'x-request-id': 'caller-1' };
  expect((await server.call('GET', '/meters', { headers })).headers.get('x-request-id')).toBe(
    'caller-1',
  );
  expect((await server.call('GET', '/no', { headers })).headers.get('x-request-id')).toBe(
    'caller-1',
  );
  const strange = { 'x-request-id': 'a b<c>' };
  const reply = await server.call('GET', '/meters', { headers: strange });
  expect(reply.headers.get('x-request-id')).not.toContain('<');
});

test('a caller that disconnects within its body is not logged as a failure', async () => {
  const { port } = new URL(server.url);
  const socket = connect(Number(port), '127.0.0.1');
  const key = server.organisation.testKey;
  socket.write(
    `POST /customers HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a',
  );
  const left = () => server.logged.find((line) => line.includes('the caller left'));
  // The server now waits for the rest.
  await server.call('GET', '/health');
  socket.destroy();
  await until('it is logged', () => left() !== undefined);
  expect(server.logged.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});

// prettier-ignore
test.each([
  ['/health',     200],
  ['/no-route',   404],
  ['/buy-links/', 404],
])('GET %s without a Host header, as health checks send it, answers %i', async (path, status) => {
  const { port } = new URL(server.url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.0\r\n\r\n`);
  let text = '';
  for await (const chunk of socket) {
    text += String(chunk);
    if (text.includes('\r\n\r\n')) break;
  }
  expect(text).toStartWith(`HTTP/1.1 ${status} `);
});
