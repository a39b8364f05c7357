import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { issue, refund } from './issuing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({
    edited: true,
    settings: { appUrl: 'https://app.example/t' },
  });
});
afterAll(() => server.stop());

const scopeOf = (organisationId: string) => ({ organisationId, mode: 'test' as const });

test('GET of an invoice answers every field', async () => {
  const made = await issue(server.sql, scopeOf(server.organisation.id));
  await refund(server.sql, made.id, 250n);
  const reply = await server.call('GET', `/invoices/${made.id}`);
  expect(reply.status).toBe(200);
  expect(reply.json).toEqual({
    id: made.id,
    number: 'INV-2026-000001',
    status: 'paid',
    currency: 'USD',
    subtotal: '25.00',
    discount_total: '5.00',
    tax_total: '0.00',
    total: '20.00',
    amount_paid: '20.00',
    amount_due: '0.00',
    amount_refunded: '2.50',
    billing_reason: 'purchase',
    customer_id: null,
    subscription_id: null,
    payment_id: made.paymentId,
    period_start: null,
    period_end: null,
    issued_at: '2026-11-21T09:30:15.250Z',
    due_at: '2026-11-21T09:30:15.250Z',
    paid_at: '2026-11-21T09:30:14.250Z',
    attempts: 0,
    lines: [
      {
        id: `${made.id}-1`,
        type: 'fixed',
        description: 'Lamp',
        quantity: 2,
        unit_amount: '12.50',
        amount: '25.00',
        period: null,
      },
    ],
    lines_has_more: false,
    hosted_url: `https://app.example/t/api/invoices/${made.id}/pdf`,
  });
});

// prettier-ignore
const CURRENCIES: [string, bigint, string][] = [
  // currency  unit amount             total of two
  ['JPY',      1n,                     '2'],
  ['USD',      50_000_000_000_005n,    '1000000000000.10'],
  ['KWD',      6250n,                  '12.500'],
  ['CLF',      1n,                     '0.0002'],
];

test.each(CURRENCIES)(
  "an invoice's amounts in %s have the decimals of the currency",
  async (currency, unitAmount, total) => {
    const line = {
      type: 'fixed',
      description: 'x',
      quantity: 2,
      unitAmount,
      period: null,
    } as const;
    const scope = scopeOf(server.organisation.id);
    const { id } = await issue(server.sql, scope, { currency, discountTotal: 0n, lines: [line] });
    const { json } = await server.call('GET', `/invoices/${id}`);
    expect([json.total, json.amount_paid, json.lines[0].amount]).toEqual([total, total, total]);
  },
);

test('GET /invoices lists newest first, and filters', async () => {
  const key = server.other.testKey;
  const scope = scopeOf(server.other.id);
  const [customerId, subscriptionId] = [ids.next(), ids.next()];
  await issue(server.sql, scope, { customerId });
  await issue(server.sql, scope, { customerId, subscriptionId, paidAt: null });
  await issue(server.sql, scope);
  await issue(server.sql, { ...scope, mode: 'live' }, { customerId });
  const list = async (query: string) => {
    const { json } = await server.call('GET', `/invoices${query}`, { key });
    const numbers = json.data.map(({ number }: { number: string }) => number.slice(-1));
    return [numbers.join(' '), json.has_more];
  };
  expect(await list('')).toEqual(['3 2 1', false]);
  expect(await list('?limit=2')).toEqual(['3 2', true]);
  expect(await list('?limit=2&offset=1')).toEqual(['2 1', false]);
  expect(await list(`?customer_id=${customerId}`)).toEqual(['2 1', false]);
  expect(await list(`?subscription_id=${subscriptionId}`)).toEqual(['2', false]);
  expect(await list('?status=paid')).toEqual(['3 1', false]);
  expect(await list(`?status=paid&customer_id=${customerId}`)).toEqual(['1', false]);
  expect(await list('?status=void')).toEqual(['', false]);
  const { data } = (await server.call('GET', '/invoices?limit=1&offset=1', { key })).json;
  const number = encodeURIComponent(data[0].number);
  expect(await list(`?number=${number}`)).toEqual(['2', false]);
  expect(await list(`?number=${number}&status=paid`)).toEqual(['', false]);
  for (const none of ['INV', '%25', `${number}0`]) {
    expect(await list(`?number=${none}`)).toEqual(['', false]);
  }
});

test("an invoice's document is HTML under a strict CSP, the same bytes until the invoice changes", async () => {
  const { id } = await issue(server.sql, scopeOf(server.organisation.id));
  const print = () => server.call('GET', `/api/invoices/${id}/pdf`);
  const reply = await print();
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const policy = reply.headers.get('content-security-policy')!;
  const style = /<style>([\s\S]*?)<\/style>/.exec(reply.text)![1]!;
  const hash = new Bun.CryptoHasher('sha256').update(style).digest('base64');
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain(`style-src 'sha256-${hash}'`);
  expect(policy).not.toContain('script-src');
  expect((await print()).text).toBe(reply.text);
  await refund(server.sql, id, 1n);
  expect((await print()).text).not.toBe(reply.text);
});

test("an invoice's document keeps the seller as it was when issued", async () => {
  const { organisation, sql } = server;
  const { id } = await issue(sql, scopeOf(organisation.id));
  await sql`update organisations set name = 'Renamed' where id = ${organisation.id}`;
  const { text } = await server.call('GET', `/api/invoices/${id}/pdf`);
  expect(text).toContain('>One<');
  expect(text).not.toContain('Renamed');
});
