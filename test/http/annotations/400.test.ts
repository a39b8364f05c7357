import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { aCustomer, add, type ObjectRef, RESOURCES } from './annotating.ts';

let server: TestServer;
let on: ObjectRef;
beforeAll(async () => {
  server = await startServer();
  on = await aCustomer(server);
});
afterAll(() => server.stop());

// prettier-ignore
const BODIES: [string, object, string][] = [
  // what                      body                                     at
  ['no name',                  { name: undefined },                     'name'],
  ['null for the name',        { name: null },                          'name'],
  ['an empty name',            { name: '' },                            'name'],
  ['a name of blanks',         { name: '  ' },                          'name'],
  ['a name of two lines',      { name: 'a\nb' },                        'name'],
  ['a name of 101',            { name: 'x'.repeat(101) },               'name'],
  ['a name as a number',       { name: 7 },                             'name'],
  ['a product',                { object_type: 'product' },              'object_type'],
  ['a type in capitals',       { object_type: 'CUSTOMER' },             'object_type'],
  ['a table as the type',      { object_type: 'api_key' },              'object_type'],
  ['no type',                  { object_type: undefined },              'object_type'],
  ['an id that is none',       { object_id: 'x' },                      'object_id'],
  ['an external id',           { object_id: 'u_1' },                    'object_id'],
  ['no id',                    { object_id: undefined },                'object_id'],
  ['a misspelt field',         { label: 'x' },                          'label'],
  ['an id of its own',         { id: '01890000-0000-7000-8000-000000000000' }, 'id'],
];

// prettier-ignore
const QUERIES: [string, string][] = [
  ['limit=0',               'limit'],
  ['offset=-1',             'offset'],
  ['object_type=product',   'object_type'],
  ['object_id=x',           'object_id'],
  ['object=x',              'object'],
  ['name=%00',              'name'],
];

describe.each(RESOURCES)('%s', (path, resource) => {
  test.each(BODIES)('POST with %s is 400', async (_what, body, at) => {
    const { status, json } = await add(server, resource, { ...on, ...body });
    expect([status, json.error.type]).toEqual([400, 'invalid_request']);
    expect(json.error.issues.map((issue: { path: string[] }) => issue.path)).toEqual([[at]]);
    expect((await server.call('GET', path)).json.data).toEqual([]);
  });

  test.each(QUERIES)('GET with %s is 400', async (query, at) => {
    const { status, json } = await server.call('GET', `${path}?${query}`);
    expect([status, json.error.issues[0].path]).toEqual([400, [at]]);
  });
});

const [, [, FIELDS]] = RESOURCES as [unknown, (typeof RESOURCES)[number]];

// prettier-ignore
const VALUES: [string, unknown][] = [
  ['no value',      undefined],
  ['null',          null],
  ['nothing',       ''],
  ['a number',      7],
  ['501 characters', 'x'.repeat(501)],
];
test.each(VALUES)('POST of a custom field with %s is 400', async (_what, value) => {
  const { status, json } = await add(server, FIELDS, { ...on, value });
  expect([status, json.error.issues[0].path]).toEqual([400, ['value']]);
});

test('POST of a tag with a value is 400', async () => {
  const { status, json } = await server.call('POST', '/tags', {
    body: { ...on, name: 'vip', value: 'x' },
  });
  expect([status, json.error.issues[0].path]).toEqual([400, ['value']]);
});

test('a custom field may have a name of 100 characters and a value of 500, of several lines', async () => {
  const body = { name: 'ü'.repeat(100), value: `${'x'.repeat(498)}\ny` };
  const { status, json } = await add(server, FIELDS, { ...on, ...body });
  expect(status).toBe(201);
  expect(json).toMatchObject(body);
});
