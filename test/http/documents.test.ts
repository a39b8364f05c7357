import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../support/server.ts';

type Operation = ReturnType<typeof JSON.parse>;

/** The schema that a reference points to. */
function named(document: Operation, { $ref: ref }: { $ref: string }): Operation {
  return document.components.schemas[ref.split('/').at(-1)!];
}

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

/** All routes but the pages of the dashboard, which are no operations. */
// `/` leads a browser to the dashboard.
const documented = () =>
  server.app.routes.filter(({ path }) => path !== '/' && !path.startsWith('/dashboard'));

test('/health says that the service is up, /ready whether it can serve', async () => {
  expect(await server.call('GET', '/health', { key: null })).toMatchObject({
    status: 200,
    json: { status: 'ok' },
  });
  expect(await server.call('GET', '/ready', { key: null })).toMatchObject({
    status: 200,
    json: { status: 'ready', mail: 'off' },
  });
  const closing = await startServer({ own: true });
  await closing.ledger.close();
  const reply = await closing.call('GET', '/ready', { key: null });
  expect(reply.json.error).toEqual({ type: 'service_unavailable', message: 'shutting down' });
  expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1']);
  expect((await closing.call('GET', '/health', { key: null })).status).toBe(200);
  await closing.stop();
});

test('the OpenAPI document is 3.1 and has every route, whole', async () => {
  const { json: document } = await server.call('GET', '/openapi.json', { key: null });
  expect(document.openapi).toBe('3.1.0');
  const names: string[] = [];
  for (const [path, methods] of Object.entries<Record<string, Operation>>(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      names.push(`${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`);
      expect(operation.summary).toBeString();
      expect(operation.tags).toHaveLength(1);
      // A form redirects.
      expect(Object.keys(operation.responses).some((status) => /^[23]/.test(status))).toBe(true);
      expect(operation.responses['500'].content['application/json'].schema.$ref).toBe(
        '#/components/schemas/Error',
      );
      for (const [, name] of path.matchAll(/\{(\w+)\}/g)) {
        expect(operation.parameters).toContainEqual(
          expect.objectContaining({ name, in: 'path', required: true }),
        );
      }
      for (const scheme of operation.security.flatMap(Object.keys)) {
        expect(document.components.securitySchemes[scheme]).toMatchObject({
          type: 'http',
          scheme: 'bearer',
        });
      }
    }
  }
  const routes = documented().map(({ method, path }) => `${method} ${path}`);
  expect(names.sort()).toEqual(routes.sort());
  const { schema } = document.paths['/meters'].post.requestBody.content['application/json'];
  expect(named(document, schema)).toMatchObject({
    required: ['slug'],
    additionalProperties: false,
    properties: { scale: { minimum: 0, maximum: 9 } },
  });
  expect(JSON.stringify(document)).not.toContain('"error":"');
});

test('each body in the OpenAPI document has an example', async () => {
  const { json: document } = await server.call('GET', '/openapi.json', { key: null });
  const bare = Object.entries<Record<string, Operation>>(document.paths).flatMap(
    ([path, methods]) =>
      Object.entries(methods)
        .filter(([, { requestBody }]) => {
          const given = requestBody?.content['application/json']?.schema;
          return given !== undefined && (named(document, given).examples?.length ?? 0) === 0;
        })
        .map(([method]) => `${method} ${path}`),
  );
  expect(bare).toEqual([]);
});

test('the documentation page needs no script and nothing from elsewhere', async () => {
  const { headers, text } = await server.call('GET', '/docs', { key: null });
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(headers.get('content-security-policy')).toStartWith("default-src 'none'");
  expect(text).not.toMatch(
    /<script|<link(?! rel="icon" href="data:,")|src=|(?:href="|url\()https?:\/\/(?!localhost)/,
  );
  for (const { method, path } of documented()) {
    expect(text).toContain(`${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
  }
});

test.each(['/openapi.json', '/docs'])('who has %s already gets its tag alone', async (path) => {
  const { headers } = await server.call('GET', path, { key: null });
  const etag = headers.get('etag')!;
  expect(etag).toMatch(/^"[\w-]{43}"$/);
  const has = (tag: string) =>
    server.call('GET', path, { key: null, headers: { 'if-none-match': tag } });
  const kept = await has(etag);
  expect([kept.status, kept.text, kept.headers.get('etag')]).toEqual([304, '', etag]);
  expect((await has('"another"')).status).toBe(200);
});
