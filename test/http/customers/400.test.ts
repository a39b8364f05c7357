import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

// prettier-ignore
const BODIES: [string, object, string][] = [
  // what                          body                                           at
  ['an e-mail without @',          { email: 'nobody' },                           'email'],
  ['an e-mail without a dot',      { email: 'a@b' },                              'email'],
  ['an e-mail with a space',       { email: 'a b@example.com' },                  'email'],
  ['an e-mail with two @',         { email: 'a@b@example.com' },                  'email'],
  ['an e-mail with a new line',    { email: 'a@example.com\n' },                  'email'],
  ['an e-mail of 255',             { email: `${'a'.repeat(60)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.example.com` }, 'email'],
  ['an empty e-mail',              { email: '' },                                 'email'],
  ['an empty external id',         { external_customer_id: '' },                  'external_customer_id'],
  ['an external id of 256',        { external_customer_id: 'x'.repeat(256) },     'external_customer_id'],
  ['an external id as a number',   { external_customer_id: 7 },                   'external_customer_id'],
  ['an empty name',                { name: '' },                                  'name'],
  ['a metadata value of 501',      { metadata: { a: 'x'.repeat(501) } },          'metadata.a'],
  ['an empty address',             { billing_address: {} },                       'billing_address'],
  ['an address as a string',       { billing_address: 'x' },                      'billing_address'],
  ['a country that is a name',     { billing_address: { country: 'France' } },    'billing_address.country'],
  ['a country in lower case',      { billing_address: { country: 'fr' } },        'billing_address.country'],
  ['an empty line',                { billing_address: { line1: '' } },            'billing_address.line1'],
  ['a line of blanks',             { billing_address: { city: ' \u00a0' } },      'billing_address.city'],
  ['two lines in one',             { billing_address: { line1: 'a\nb' } },        'billing_address.line1'],
  ['a line of 256',                { billing_address: { state: 'x'.repeat(256) } }, 'billing_address.state'],
  ['a misspelt line',              { billing_address: { line_1: 'x' } },          'billing_address.line_1'],
  ['a misspelt field',             { external_id: 'x' },                          'external_id'],
];

const ROUTES = [
  ['POST', '/customers'],
  ['PATCH', '/customers/known'],
] as const;

test.each(
  ROUTES.flatMap(([method, path]) =>
    BODIES.map(([what, body, at]) => [method, what, path, body, at] as const),
  ),
)('%s of a customer with %s is 400', async (method, _what, path, body, at) => {
  await server.call('POST', '/customers', { body: { external_customer_id: 'known' } });
  const reply = await server.call(method, path, { body });
  expect([reply.status, reply.json.error.type]).toEqual([400, 'invalid_request']);
  expect(reply.json.error.issues.map((issue: { path: string[] }) => issue.path.join('.'))).toEqual([
    at,
  ]);
});

test.each([['a@example.com'], ['first.last+tag@sub.example.co.uk'], ['ü@bücher.example']])(
  "%s is taken as a customer's e-mail",
  async (email) => {
    expect((await server.call('POST', '/customers', { body: { email } })).status).toBe(201);
  },
);

test('GET /customers with an unknown filter is 400', async () => {
  const reply = await server.call('GET', '/customers?external_id=x');
  expect([reply.status, reply.json.error.issues[0].path]).toEqual([400, ['external_id']]);
});

test('GET /customers with NUL in a filter is 400', async () => {
  expect((await server.call('GET', '/customers?email=%00')).status).toBe(400);
});
