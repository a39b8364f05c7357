import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

// prettier-ignore
const QUERIES: [string, string][] = [
  ['limit=0',                 'limit'],
  ['limit=201',               'limit'],
  ['offset=-1',               'offset'],
  ['status=settled',          'status'],
  ['status=',                 'status'],
  ['customer_id=x',           'customer_id'],
  ['subscription_id=%00',     'subscription_id'],
  ['customer=x',              'customer'],
  ['status=paid&status=open', 'status'],
];

test.each(QUERIES)('GET /invoices?%s is 400', async (query, at) => {
  const reply = await server.call('GET', `/invoices?${query}`);
  expect([reply.status, reply.json.error.type]).toEqual([400, 'invalid_request']);
  expect(reply.json.error.issues.map(({ path }: { path: string[] }) => path)).toEqual([[at]]);
});

const LINE = { description: 'Support', quantity: 2, unit_amount: '12.50' };
const BODY = { external_customer_id: 'u_1', currency: 'USD', lines: [LINE] };
const line = (fields: object) => ({ ...BODY, lines: [LINE, { ...LINE, ...fields }] });

// prettier-ignore
const BODIES: [string, object, string][] = [
  // what                          body                                                          at
  ['nobody',                       { currency: 'USD', lines: [LINE] },                           'customer_id'],
  ['two customers',                { ...BODY, customer_id: '01890000-0000-7000-8000-000000000000' }, 'customer_id'],
  ['a customer that is no UUID',   { ...BODY, customer_id: 'u_1' },                              'customer_id'],
  ['no currency',                  { ...BODY, currency: undefined },                             'currency'],
  ['an unknown currency',          { ...BODY, currency: 'ZZZ' },                                 'currency'],
  ['no lines',                     { ...BODY, lines: undefined },                                'lines'],
  ['an empty list of lines',       { ...BODY, lines: [] },                                       'lines'],
  ['101 lines',                    { ...BODY, lines: Array.from({ length: 101 }, () => LINE) },  'lines'],
  ['a line without a description', line({ description: undefined }),                             'lines.1.description'],
  ['an empty description',         line({ description: '' }),                                    'lines.1.description'],
  ['a description of 501',         line({ description: 'x'.repeat(501) }),                       'lines.1.description'],
  ['quantity 0',                   line({ quantity: 0 }),                                        'lines.1.quantity'],
  ['half a quantity',              line({ quantity: 0.5 }),                                      'lines.1.quantity'],
  ['too large a quantity',         line({ quantity: 1_000_001 }),                                'lines.1.quantity'],
  ['a quantity as a string',       line({ quantity: '2' }),                                      'lines.1.quantity'],
  ['no unit amount',               line({ unit_amount: undefined }),                             'lines.1.unit_amount'],
  ['a JSON number as an amount',   line({ unit_amount: 12.5 }),                                  'lines.1.unit_amount'],
  ['a negative amount',            line({ unit_amount: '-1.00' }),                               'lines.1.unit_amount'],
  ['too many decimals',            line({ unit_amount: '1.001' }),                               'lines.1.unit_amount'],
  ['a decimal in JPY',             { ...BODY, currency: 'JPY', lines: [{ ...LINE, unit_amount: '1.5' }] }, 'lines.0.unit_amount'],
  ['a field nobody knows',         line({ amount: '25.00' }),                                    'lines.1.amount'],
  ['a total of 13 digits',         line({ quantity: 2, unit_amount: '500000000000' }),           'lines'],
  ['a due date without a zone',    { ...BODY, due_at: '2099-01-01T00:00:00' },                   'due_at'],
  ['a day that is none',           { ...BODY, due_at: '2099-02-30T00:00:00Z' },                  'due_at'],
  ['a due date in the past',       { ...BODY, due_at: '2020-01-01T00:00:00Z' },                  'due_at'],
  ['a draft that is no boolean',   { ...BODY, draft: 'yes' },                                    'draft'],
  ['a misspelt field',             { ...BODY, due: '2099-01-01T00:00:00Z' },                     'due'],
];

test.each(BODIES)('POST of an invoice with %s is 400', async (_what, body, at) => {
  await server.call('POST', '/customers', { body: { external_customer_id: 'u_1' } });
  const reply = await server.call('POST', '/invoices', { body });
  expect([reply.status, reply.json.error.type]).toEqual([400, 'invalid_request']);
  const paths = reply.json.error.issues.map((issue: { path: string[] }) => issue.path.join('.'));
  expect(paths).toEqual([at]);
  expect(
    await server.sql`select 1 from invoices where organisation_id = ${server.organisation.id}`,
  ).toHaveLength(0);
  expect(
    await server.sql`select 1 from invoice_counters where organisation_id = ${server.organisation.id}`,
  ).toHaveLength(0);
});
