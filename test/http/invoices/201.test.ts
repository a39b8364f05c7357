// Invoices that a merchant writes by hand.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let customerId: string;
beforeAll(async () => {
  server = await startServer();
  const { json } = await server.call('POST', '/customers', {
    body: {
      external_customer_id: 'u_1',
      email: 'ada@example.com',
      name: 'Ada',
      billing_address: { line1: '5 Quay', city: 'Cork', country: 'IE' },
    },
  });
  customerId = json.id;
});
afterAll(() => server.stop());

const LINES = [
  { description: 'Setup', unit_amount: '100' },
  { description: 'Hours', quantity: 3, unit_amount: '12.50' },
];
const BODY = { external_customer_id: 'u_1', currency: 'USD', lines: LINES };
const bill = (body: object = {}, headers: Record<string, string> = {}) =>
  server.call('POST', '/invoices', { body: { ...BODY, ...body }, headers });
const events = async (id: string) => {
  const { json } = await server.call('GET', `/events?object_id=${id}`);
  return json.data.toReversed();
};

test('POST of an invoice issues it, open and due at once, and writes its event', async () => {
  const { status, json } = await bill();
  expect(status).toBe(201);
  expect(json).toMatchObject({
    number: expect.stringMatching(/^INV-\d{4}-\d{6}$/),
    status: 'open',
    subtotal: '137.50',
    discount_total: '0.00',
    tax_total: '0.00',
    total: '137.50',
    amount_paid: '0.00',
    amount_due: '137.50',
    billing_reason: 'manual',
    customer_id: customerId,
    subscription_id: null,
    payment_id: null,
    period_start: null,
    due_at: json.issued_at,
    paid_at: null,
    attempts: 0,
    lines: [
      { type: 'fixed', description: 'Setup', quantity: 1, unit_amount: '100.00', amount: '100.00' },
      { type: 'fixed', description: 'Hours', quantity: 3, unit_amount: '12.50', amount: '37.50' },
    ],
  });
  expect((await server.call('GET', `/invoices/${json.id}`)).json).toEqual(json);
  const [created, ...others] = await events(json.id);
  expect(others).toEqual([]);
  expect([created.type, created.data.sequence, created.data.accountId]).toEqual([
    'invoice.created',
    1,
    customerId,
  ]);
  expect(created.data).toMatchObject({
    invoiceId: json.id,
    number: json.number,
    status: 'open',
    amount: '137.50',
    amountDue: '137.50',
    billingReason: 'manual',
    dueAt: json.due_at,
    customerEmail: 'ada@example.com',
    externalCustomerId: 'u_1',
  });
});

test('POST of an invoice takes the id of the customer, in whatever case, and a due date', async () => {
  const { json } = await bill({
    external_customer_id: undefined,
    customer_id: customerId.toUpperCase(),
    due_at: '2099-01-31T12:00:00+02:00',
  });
  expect([json.customer_id, json.due_at]).toEqual([customerId, '2099-01-31T10:00:00.000Z']);
});

test('POST of an invoice with a total of 0 is paid', async () => {
  const { json } = await bill({ lines: [{ description: 'Gift', unit_amount: '0' }] });
  expect([json.status, json.total, json.amount_due]).toEqual(['paid', '0.00', '0.00']);
  expect(json.paid_at).toBe(json.issued_at);
});

test('a draft invoice has no number and no event; issued, it has the customer and seller as of then', async () => {
  const { json: draft, status } = await bill({ draft: true });
  expect([status, draft.status, draft.number, draft.issued_at, draft.due_at]).toEqual([
    201,
    'draft',
    null,
    null,
    null,
  ]);
  expect(await events(draft.id)).toEqual([]);
  const page = async () => (await server.call('GET', `/api/invoices/${draft.id}/pdf`)).text;
  expect(await page()).toContain('data-mark="Draft"');
  const change = { name: 'Ada Lovelace', billing_address: { line1: '7 Pier', city: 'Cobh' } };
  await server.call('PATCH', '/customers/u_1', { body: change });
  const { json: issued } = await server.call('POST', `/invoices/${draft.id}/finalize`);
  expect([issued.status, issued.due_at]).toEqual(['open', issued.issued_at]);
  expect((await events(draft.id)).map(({ type }: { type: string }) => type)).toEqual([
    'invoice.created',
  ]);
  const printed = await page();
  for (const said of ['Ada Lovelace', '7 Pier', 'Cobh']) expect(printed).toContain(said);
  expect(printed).not.toContain('data-mark="');
  await server.call('PATCH', '/customers/u_1', { body: { name: 'Ada King' } });
  expect(await page()).toBe(printed);
});

test('POST of an invoice again with its key is the same invoice; another body is refused', async () => {
  const headers = { 'idempotency-key': 'bill-1' };
  const first = await bill({}, headers);
  const again = await bill({}, headers);
  expect([again.status, again.text]).toEqual([201, first.text]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect((await bill({ currency: 'EUR' }, headers)).status).toBe(422);
  const { json: next } = await bill();
  expect(Number(next.number.slice(-6))).toBe(Number(first.json.number.slice(-6)) + 1);
});
