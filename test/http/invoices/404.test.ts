import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { invoiceThatIs, issue } from './issuing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ edited: true });
});
afterAll(() => server.stop());

const ACTIONS = ['finalize', 'void', 'pay'];
const PATHS = [(id: string) => `/invoices/${id}`, (id: string) => `/api/invoices/${id}/pdf`];

// prettier-ignore
const REFERENCES: [string, string][] = [
  ['an unknown id',  '01890000-0000-7000-8000-000000000000'],
  ['no id',          'INV-2026-000001'],
  ['NUL',            'a%00'],
];

test.each(REFERENCES)('an invoice with %s is 404', async (_what, reference) => {
  for (const path of PATHS) {
    const reply = await server.call('GET', path(reference));
    expect([reply.status, reply.json.error.type]).toEqual([404, 'not_found']);
  }
  for (const action of ACTIONS) {
    const reply = await server.call('POST', `/invoices/${reference}/${action}`);
    expect([reply.status, reply.json.error.type]).toEqual([404, 'not_found']);
  }
});

test('an invoice of another organisation or mode is 404', async () => {
  const { organisation, other } = server;
  const { id } = await issue(server.sql, { organisationId: organisation.id, mode: 'test' });
  for (const key of [other.testKey, other.liveKey, organisation.liveKey]) {
    for (const path of PATHS) {
      const reply = await server.call('GET', path(id), { key });
      expect([reply.status, reply.json.error.type]).toEqual([404, 'not_found']);
    }
    expect((await server.call('GET', '/invoices', { key })).json.data).toEqual([]);
  }
  for (const path of PATHS) expect((await server.call('GET', path(id))).status).toBe(200);
});

test('a draft invoice of another organisation or mode is neither issued nor voided', async () => {
  const { organisation, other } = server;
  const scope = { organisationId: organisation.id, mode: 'test' } as const;
  const draft = await invoiceThatIs(server.sql, scope, 'draft');
  for (const key of [other.testKey, organisation.liveKey]) {
    for (const action of ACTIONS) {
      const reply = await server.call('POST', `/invoices/${draft.id}/${action}`, { key });
      expect([reply.status, reply.json.error.type]).toEqual([404, 'not_found']);
    }
  }
  const { json } = await server.call('GET', `/invoices/${draft.id}`);
  expect([json.status, json.number]).toEqual(['draft', null]);
});

const BILL = { currency: 'USD', lines: [{ description: 'x', unit_amount: '1.00' }] };

test('an invoice for an unknown customer is 404', async () => {
  const { json: customer } = await server.call('POST', '/customers', {
    body: { external_customer_id: 'u_9' },
  });
  const uuid = '01890000-0000-7000-8000-000000000000';
  await server.call('POST', '/customers', { body: { external_customer_id: uuid } });
  const ask = (who: object, key: string) =>
    server.call('POST', '/invoices', { key, body: { ...BILL, ...who } });
  const { organisation, other } = server;
  const replies = await Promise.all([
    ask({ external_customer_id: 'u_10' }, organisation.testKey),
    // An external id is not accepted as an id.
    ask({ customer_id: uuid }, organisation.testKey),
    ask({ external_customer_id: 'u_9' }, organisation.liveKey),
    ask({ customer_id: customer.id }, other.testKey),
  ]);
  for (const { status, json } of replies) {
    expect([status, json.error.type]).toEqual([404, 'not_found']);
  }
  expect(
    await server.sql`select 1 from invoices where billing_reason = 'manual' and organisation_id = ${server.organisation.id}`,
  ).toHaveLength(0);
});
