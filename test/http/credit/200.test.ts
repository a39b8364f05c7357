// GET /customers/{id}/credit and /credit/entries: every change of the credit, and what it comes to.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { toJson } from '../../../ledger/store/json.ts';
import { ids } from '../../../src/platform/ids.ts';
import { type CreditInvoice, eachCreditInvoices } from '../../../src/records/credit.ts';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { closeGate } from '../../support/gate.ts';
import { until } from '../../support/until.ts';
import type { Json } from '../subscriptions/subscribing.ts';
import { Market } from '../usage-billing/setting.ts';

setDefaultTimeout(PATIENCE_MS);

let market: Market;
beforeAll(async () => {
  market = await Market.open();
});
afterAll(() => market.close());

const cents = (amount: string): bigint => BigInt(amount.replace('.', ''));
const dear = { price: { amount: '100.00' } };

/** By currency, once each is what its entries come to. */
async function creditOf({ customer_id: id }: Json): Promise<Record<string, Json>> {
  const { data } = await market.shop.read(`/customers/${id}/credit`);
  for (const { currency, balance, entries } of data) {
    const path = `/customers/${id}/credit/entries?currency=${currency}`;
    expect(await market.shop.read(path)).toEqual({ data: entries, next_cursor: null });
    const sum = entries.reduce((all: bigint, { amount }: Json) => all + cents(amount), 0n);
    expect(sum).toBe(cents(balance));
  }
  return Object.fromEntries(data.map((one: Json) => [one.currency, one]));
}

const told = ({ entries }: Json): [string, string | null][] =>
  entries.map(({ reason, invoice_id: invoice }: Json) => [reason, invoice]);

/** Half way through a period of 100.00, down to a plan of that amount. */
async function downgraded(amount: string, means: 'good' | 'renewalFails' = 'good'): Promise<Json> {
  const plan = await market.sale(dear);
  const small = await market.price(plan, { amount });
  const subscription = await market.buyer(plan, means);
  await market.advance('P15D');
  await market.act(subscription.id, 'change', { price_id: small });
  return subscription;
}

/** It has ended, and its usage could not be charged beyond its credit. */
async function leftUnpaid() {
  const plan = await market.sale(dear);
  const small = await market.price(plan, { amount: '90.00' });
  const subscription = await market.buyer(plan, 'renewalFails');
  await market.advance('P15D');
  await market.act(subscription.id, 'change', { price_id: small });
  const { USD: before } = await creditOf(subscription);
  await market.use(subscription, plan, 100);
  await market.stop(subscription);
  const last = await market.bill(subscription);
  expect(last).toMatchObject({ billing_reason: 'usage', status: 'open' });
  return { subscription, last, before };
}

test('a customer who never had credit has none in any currency', async () => {
  const { json } = await market.post('/customers', {});
  expect(await market.shop.read(`/customers/${json.id}/credit`)).toEqual({ data: [] });
  const path = `/customers/${json.id}/credit/entries?currency=usd`;
  expect(await market.shop.read(path)).toEqual({ data: [], next_cursor: null });
});

test('a downgrade gives credit, and renewals use it', async () => {
  const subscription = await downgraded('30.00');
  const [, update] = await market.invoices(subscription.id);
  const given = update.lines.at(-1).amount;
  const { USD: before } = await creditOf(subscription);
  expect(before).toEqual({
    currency: 'USD',
    balance: given,
    entries: [
      {
        id: expect.any(String),
        amount: given,
        reason: 'change',
        invoice_id: update.id,
        note: null,
        created_at: update.period_start,
      },
    ],
  });
  await market.toEnd(subscription);
  const [, , first] = await market.invoices(subscription.id);
  const { USD: after } = await creditOf(subscription);
  expect(told(after)).toEqual([
    ['applied', first.id],
    ['change', update.id],
  ]);
  expect(after.entries[0].amount).toBe('-30.00');
  expect(after.entries[1]).toEqual(before.entries[0]);
  await market.toEnd(subscription);
  expect((await creditOf(subscription))['USD']).toMatchObject({ balance: '0.00' });
  // What is left at the end is the customer's.
  await market.stop(subscription);
  expect((await creditOf(subscription))['USD']?.entries).toHaveLength(3);
});

test('an invoice that is made void gives back the credit that it used', async () => {
  const subscription = await downgraded('90.00', 'renewalFails');
  const { USD: before } = await creditOf(subscription);
  await market.toEnd(subscription);
  const [, update, renewal] = await market.invoices(subscription.id);
  expect(renewal).toMatchObject({ status: 'open' });
  expect((await creditOf(subscription))['USD']).toMatchObject({ balance: '0.00' });
  const { status } = await market.post(`/invoices/${renewal.id}/void`);
  expect(status).toBe(200);
  const { USD: after } = await creditOf(subscription);
  expect(after).toMatchObject({ balance: before?.balance });
  expect(told(after)).toEqual([
    ['void', renewal.id],
    ['applied', renewal.id],
    ['change', update.id],
  ]);
  await market.stop(subscription);
  expect((await creditOf(subscription))['USD']).toEqual(after);
});

test('an unpaid invoice that an end makes void gives back its credit', async () => {
  const subscription = await downgraded('90.00', 'renewalFails');
  const { USD: before } = await creditOf(subscription);
  await market.toEnd(subscription);
  await market.stop(subscription);
  const { USD: after } = await creditOf(subscription);
  expect(after).toMatchObject({ balance: before?.balance });
  expect(after.entries.map(({ reason }: Json) => reason)).toEqual(['void', 'applied', 'change']);
});

test('the last invoice of an ended subscription gives back its credit when it is made void, once', async () => {
  const { subscription, last, before } = await leftUnpaid();
  const { USD: used } = await creditOf(subscription);
  expect(used).toMatchObject({ balance: '0.00' });
  for (let times = 0; times < 2; times += 1) {
    expect((await market.post(`/invoices/${last.id}/void`)).status).toBe(200);
    const { USD: after } = await creditOf(subscription);
    expect(after).toMatchObject({ balance: before.balance });
    expect(told(after)).toEqual([['void', last.id], ...told(used)]);
  }
  // It pays for another subscription.
  const plan = await market.sale(dear);
  const other = await market.subscribe(plan, subscription.customer_id);
  const [first] = await market.invoices(other.id);
  expect(first.lines.at(-1)).toMatchObject({ type: 'credit', amount: `-${before.balance}` });
  await market.stop(other);
});

test('credit that the last invoice used stays used where that is paid after all', async () => {
  const { subscription, last } = await leftUnpaid();
  const { USD: before } = await creditOf(subscription);
  expect((await market.post(`/invoices/${last.id}/pay`)).json.error?.type).toBe('payment_failed');
  expect((await creditOf(subscription))['USD']).toEqual(before);
  await market.payBy(subscription, 'good');
  expect((await market.post(`/invoices/${last.id}/pay`)).json).toMatchObject({ status: 'paid' });
  expect((await creditOf(subscription))['USD']).toEqual(before);
});

test.each(['iban', 'ibanFails'] as const)(
  'a change that is taken back while %s pays for it gives its credit back, once',
  async (means) => {
    const subscription = await downgraded('90.00');
    const { USD: before } = await creditOf(subscription);
    await market.payBy(subscription, means);
    await market.act(subscription.id, 'change', { quantity: 2 });
    expect((await creditOf(subscription))['USD']).toMatchObject({ balance: '0.00' });
    await market.act(subscription.id, 'unschedule');
    const reasons = async () => {
      const { USD: now } = await creditOf(subscription);
      expect(now).toMatchObject({ balance: before?.balance });
      return now.entries.map(({ reason }: Json) => reason).toSorted();
    };
    expect(await reasons()).toEqual(['applied', 'change', 'void']);
    await market.shop.settle();
    const { status } = await market.bill(subscription);
    expect(status).toBe(means === 'iban' ? 'paid' : 'void');
    expect(await reasons()).toEqual(['applied', 'change', 'void']);
    await market.stop(subscription);
  },
);

test('a change that is taken back has given its credit back, also where its payment is refunded by hand', async () => {
  const { server } = market.shop;
  const subscription = await downgraded('90.00');
  const { id } = subscription;
  const { USD: before } = await creditOf(subscription);
  await market.payBy(subscription, 'iban');
  const { pending_change: pending } = await market.act(id, 'change', { quantity: 2 });
  await market.act(id, 'unschedule');
  // Before it is given back.
  const gate = await closeGate(server, id);
  const settling = market.shop.settle();
  const payment = () => market.shop.payment(pending.payment_id);
  await until('it is settled', async () => (await payment()).status === 'succeeded');
  expect((await market.post(`/payments/${pending.payment_id}/refund`)).status).toBe(200);
  await gate.open();
  await settling;
  const owed = () => server.sql`select from followups where subscription_id = ${id}`;
  await until('nothing is owed', async () => (await owed()).length === 0);
  const { USD: after } = await creditOf(subscription);
  expect(after.balance).toBe(before?.balance);
  const reasons = after.entries.map(({ reason }: Json) => reason);
  expect(reasons.toSorted()).toEqual(['applied', 'change', 'void']);
  await market.stop(subscription);
});

test('each currency has its own credit, of all subscriptions of the customer', async () => {
  const first = await downgraded('30.00');
  await market.stop(first);
  const plan = await market.sale({ price: { amount: '100.00', currency: 'EUR' }, sells: null });
  const small = await market.price(plan, { amount: '30.00', currency: 'EUR' });
  const other = await market.subscribe(plan, first.customer_id);
  await market.advance('P15D');
  await market.act(other.id, 'change', { price_id: small });
  const { EUR: euros, USD: dollars } = await creditOf(first);
  expect(told(euros)).toEqual([['change', (await market.bill(other)).id]]);
  // What the ended one had is the customer's.
  expect(told(dollars).map(([reason]) => reason)).toEqual(['change']);
  expect([euros.balance, dollars.balance]).not.toContain('0.00');
  await market.stop(other);
});

test('credit that no invoice explains is one entry at the beginning', async () => {
  const subscription = await downgraded('30.00');
  const { USD: before } = await creditOf(subscription);
  // As a release did that made no invoice of such a change.
  const { sql } = market.shop.server;
  await sql`update subscriptions set credit = credit + 700 where id = ${subscription.id}`;
  const { USD: after } = await creditOf(subscription);
  expect(cents(after.balance) - cents(before.balance)).toBe(700n);
  expect(after.entries.at(-1)).toEqual({
    id: expect.any(String),
    amount: '7.00',
    reason: 'adjustment',
    invoice_id: null,
    note: 'Brought forward',
    created_at: subscription.created_at,
  });
  await sql`update subscriptions set credit = credit - 700 where id = ${subscription.id}`;
  await market.stop(subscription);
});

test('an invoice counts from the flush that orders it, and its void from the flush that returns it', async () => {
  const subscription = await downgraded('30.00');
  const { id: subscriptionId, customer_id: customerId } = subscription;
  const { sql } = market.shop.server;
  const rolledBack = new Error('rolled back');
  const read: unknown[] = [];
  const reading = sql.begin(async (transaction) => {
    const owe = async (kind: string, data: object) => {
      const json = transaction.json(toJson(data) as never);
      await transaction`
        insert into followups (slot, id, kind, subscription_id, customer_id, data, at)
        select slot, ${ids.next()}, ${kind}, id, customer_id, ${json}, created_at from subscriptions where id = ${subscriptionId}`;
      const all: CreditInvoice[] = [];
      await eachCreditInvoices(transaction, customerId, async (some) => void all.push(...some));
      const owed = all.find(({ id }) => id === invoiceId);
      read.push([owed?.amount, owed?.reason, owed?.undoneAt?.toISOString() ?? null]);
    };
    const invoiceId = ids.next();
    const lines = [{ type: 'credit', description: 'Credit', quantity: 1, unitAmount: -500n }];
    const invoice = { id: invoiceId, reason: 'subscription_cycle', currency: 'USD', lines };
    await owe('bill', { invoice, payment: null });
    await owe('void', { invoiceId });
    throw rolledBack;
  });
  expect(await reading.catch((error: unknown) => error)).toBe(rolledBack);
  expect(read).toEqual([
    [-500n, 'subscription_cycle', null],
    [-500n, 'subscription_cycle', subscription.created_at],
  ]);
  await market.stop(subscription);
});

test('entries are listed page by page, newest first', async () => {
  const subscription = await downgraded('5.00');
  await market.toEnd(subscription);
  await market.toEnd(subscription);
  const path = `/customers/${subscription.customer_id}/credit/entries?currency=usd`;
  const { data: all } = await market.shop.read(path);
  expect(all.map(({ reason }: Json) => reason)).toEqual(['applied', 'applied', 'change']);
  const read: Json[] = [];
  for (let cursor = ''; cursor !== 'none';) {
    const page = await market.shop.read(`${path}&limit=1${cursor}`);
    expect(page.data).toHaveLength(1);
    read.push(...page.data);
    cursor = page.next_cursor === null ? 'none' : `&cursor=${page.next_cursor}`;
  }
  expect(read).toEqual(all);
  await market.stop(subscription);
});

test('the customer is named by its own id or by the external one', async () => {
  const external = ids.next();
  const { json } = await market.post('/customers', { external_customer_id: external });
  for (const reference of [json.id, external]) {
    expect(await market.shop.read(`/customers/${reference}/credit`)).toEqual({ data: [] });
  }
});
