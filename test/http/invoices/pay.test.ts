// An open invoice is charged to the customer's saved payment method.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { must } from '../../../ledger/kernel/assert.ts';
import { clock, timers } from '../../../src/platform/clock.ts';
import { ids } from '../../../src/platform/ids.ts';
import { openSandbox } from '../../../src/processors/sandbox.ts';
import { putPaymentMethod } from '../../../src/records/payment-methods.ts';
import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import { cutOff } from '../../support/cut-off.ts';
import { type Means, NUMBERS } from '../../support/means.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { settle, UNHURRIED } from '../../support/settling.ts';
import { until } from '../../support/until.ts';
import { invoiceThatIs } from './issuing.ts';

setDefaultTimeout(60_000);

let server: TestServer;
let scope: Tenant;
beforeAll(async () => {
  server = await startServer({ settings: UNHURRIED });
  scope = { organisationId: server.organisation.id, mode: 'test' };
});
afterAll(() => server.stop());

/** An invoice of 20.00 for a new customer, who has this saved payment method or none. */
async function bill(means: Means | null): Promise<string> {
  const { json: customer } = await server.call('POST', '/customers', {
    body: { email: 'ada@example.com', external_customer_id: ids.next() },
  });
  if (means !== null) await leave(customer.id, NUMBERS[means]);
  const lines = [{ description: 'Hours', unit_amount: '20.00' }];
  const body = { customer_id: customer.id, currency: 'USD', lines };
  return (await server.call('POST', '/invoices', { body })).json.id;
}

async function leave(customerId: string, number: string): Promise<void> {
  const bank = openSandbox({
    sql: server.sql,
    timers,
    settleMs: 0,
    origin: 'https://bank.example',
    challengeUrl: (key) => key,
  })(clock);
  const instrument = number.startsWith('DE')
    ? ({ type: 'bank_debit', iban: number } as const)
    : ({ type: 'card', number, expiry: '12/34', cvc: '123' } as const);
  const key = ids.next();
  const asked = {
    key,
    amount: 0n,
    currency: 'USD',
    instrument,
    save: true,
    returnUrl: 'https://x.example',
  };
  const result = await bank.charge(asked);
  if (result.kind !== 'succeeded' && result.kind !== 'pending') throw new Error(result.kind);
  const { method, expiry, saved } = result;
  const kept = {
    id: ids.next(),
    customerId,
    subscriptionId: null,
    processor: bank.name,
    saved: must(saved, 'what is kept'),
    expiry,
    ...method,
  };
  await putPaymentMethod(server.sql, scope, { method: kept, now: clock.now() });
}

const pay = (id: string, key?: string) =>
  server.call('POST', `/invoices/${id}/pay`, key === undefined ? {} : { key });
const payKeyed = (id: string) =>
  server.call('POST', `/invoices/${id}/pay`, { headers: { 'idempotency-key': `pay ${id}` } });
const read = async (path: string) => (await server.call('GET', path)).json;
const paymentsOf = async (invoiceId: string) => {
  const { customer_id } = await read(`/invoices/${invoiceId}`);
  return (await read(`/payments?customer_id=${customer_id}`)).data;
};

test('POST /pay pays an invoice once, and its payment can be refunded', async () => {
  const id = await bill('good');
  const { status, json } = await pay(id);
  expect([status, json.status, json.amount_paid, json.amount_due, json.attempts]).toEqual([
    200,
    'paid',
    '20.00',
    '0.00',
    1,
  ]);
  expect((await pay(id)).text).toBe((await server.call('GET', `/invoices/${id}`)).text);
  const [payment, ...others] = await paymentsOf(id);
  expect(others).toEqual([]);
  expect(payment).toMatchObject({
    id: json.payment_id,
    status: 'succeeded',
    amount: '20.00',
    invoice_id: id,
  });
  expect(json.paid_at).toBe(payment.paid_at);
  expect((await server.call('POST', `/payments/${payment.id}/refund`)).status).toBe(200);
  await until(
    'the invoice has heard',
    async () => (await read(`/invoices/${id}`)).amount_refunded === '20.00',
  );
  const { data } = await read(`/events?object_id=${id}`);
  // The payment's event announces it.
  const told = data.map((event: { type: string; data: { change?: string } }) => [
    event.type,
    event.data.change,
  ]);
  expect(told.toReversed()).toEqual([
    ['invoice.created', undefined],
    ['invoice.updated', 'refunded'],
  ]);
});

test('ten POST /pay of an invoice at once charge it once', async () => {
  const id = await bill('good');
  const replies = await Promise.all(Array.from({ length: 10 }, () => pay(id)));
  await until('it is paid', async () => (await read(`/invoices/${id}`)).status === 'paid');
  expect(await paymentsOf(id)).toHaveLength(1);
  for (const { status } of replies) expect([200, 202]).toContain(status);
});

// prettier-ignore
const FAILURES: [string, Means | null, number][] = [
  // the customer has left          payments
  ['a card that is declined',       'renewalFails', 1],
  ['nothing',                       null,           0],
];

test.each(FAILURES)(
  'POST /pay of an invoice with %s is 402, and it stays open',
  async (_what, means, payments) => {
    const id = await bill(means);
    const { status, json } = await pay(id);
    expect([status, json.error.type]).toEqual([402, 'payment_failed']);
    expect(await read(`/invoices/${id}`)).toMatchObject({
      status: 'open',
      amount_due: '20.00',
      attempts: payments,
    });
    expect((await paymentsOf(id)).map((payment: { status: string }) => payment.status)).toEqual(
      Array.from({ length: payments }, () => 'failed'),
    );
  },
);

test('POST /pay of an invoice again with its key replays the first answer', async () => {
  const id = await bill('renewalFails');
  const [first, again] = [await payKeyed(id), await payKeyed(id)];
  expect([first.status, again.status, again.text]).toEqual([402, 402, first.text]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(await paymentsOf(id)).toHaveLength(1);
  const other = await bill(null);
  const reused = await server.call('POST', `/invoices/${other}/pay`, {
    headers: { 'idempotency-key': `pay ${id}` },
  });
  expect([reused.status, reused.json.error.type]).toEqual([422, 'idempotency_key_reused']);
});

test('POST /pay of an invoice by bank debit is 202 until it has settled, and then paid', async () => {
  const id = await bill('iban');
  expect([(await pay(id)).status, (await pay(id)).status]).toEqual([202, 202]);
  expect(await read(`/invoices/${id}`)).toMatchObject({ status: 'open', attempts: 1 });
  await settle(server);
  await until('it is paid', async () => (await read(`/invoices/${id}`)).status === 'paid');
  expect(await paymentsOf(id)).toHaveLength(1);
});

// prettier-ignore
const DEBITS: [Means, number, object][] = [
  ['iban',      200, { status: 'paid' }],
  ['ibanFails', 402, { error: { type: 'payment_failed' } }],
];

test.each(DEBITS)(
  'POST /pay of an invoice again with its key gets what became of its debit: %s',
  async (means, status, shown) => {
    const id = await bill(means);
    expect([(await payKeyed(id)).status, (await payKeyed(id)).status]).toEqual([202, 202]);
    await settle(server);
    await until('it is decided', async () => (await paymentsOf(id))[0].status !== 'processing');
    await until('the invoice has heard', async () => (await payKeyed(id)).status !== 202);
    const retry = await payKeyed(id);
    expect([retry.status, retry.json]).toMatchObject([status, shown]);
    expect((await payKeyed(id)).headers.get('idempotency-replayed')).toBe('true');
    expect(await paymentsOf(id)).toHaveLength(1);
  },
);

test.each([
  ['good', 200],
  ['renewalFails', 402],
] as const)(
  'POST /pay of an invoice that is cut off before its answer: the retry charges nothing: %s',
  async (means, status) => {
    const id = await bill(means);
    await cutOff(server, 'before its answer', () => payKeyed(id));
    expect((await payKeyed(id)).status).toBe(status);
    expect(await paymentsOf(id)).toHaveLength(1);
    // Another call is another try.
    await pay(id);
    expect(await paymentsOf(id)).toHaveLength(status === 402 ? 2 : 1);
  },
);

// prettier-ignore
const STATES = [
  ['draft', 'the invoice is draft; to pay it, it must be open or uncollectible'],
  ['void',  'the invoice is void; to pay it, it must be open or uncollectible'],
] as const;

test.each(STATES)('POST /pay of a %s invoice is 409', async (state, says) => {
  const { id } = await invoiceThatIs(server.sql, scope, state);
  const { status, json } = await pay(id);
  expect([status, json.error.type, json.error.message]).toEqual([409, 'invalid_state', says]);
});

test('POST /pay of an invoice of another organisation or mode is 404, and charges nothing', async () => {
  const id = await bill('good');
  for (const key of [server.other.testKey, server.organisation.liveKey]) {
    const { status, json } = await pay(id, key);
    expect([status, json.error.type]).toEqual([404, 'not_found']);
  }
  expect(await paymentsOf(id)).toEqual([]);
});
