// The follow-up tasks of a settled payment (its checkout, its invoice) are done once, whatever
// fails when they are due.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { until } from '../support/until.ts';
import { PATIENCE_MS, Shop } from './shop.ts';

setDefaultTimeout(PATIENCE_MS);

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
});
afterAll(() => shop.close());

/** Nothing can be invoiced meanwhile. */
async function withoutInvoices<T>(task: () => Promise<T>): Promise<T> {
  const { sql } = shop.server;
  await sql`alter table invoices rename to invoices_gone`;
  try {
    return await task();
  } finally {
    await sql`alter table invoices_gone rename to invoices`;
  }
}

/** The pause after a failure, and that before the next look, are over. */
async function tryAgain(paymentId: string): Promise<void> {
  const { sql, payments, organisation } = shop.server;
  await sql`update followups set next_at = now() where payment_id = ${paymentId}`;
  await payments.carryOut({ organisationId: organisation.id, mode: 'test' });
}

const isOwed = async (id: string): Promise<boolean> =>
  (await shop.server.sql`select 1 from followups where payment_id = ${id}`).length > 0;

test('a buyer who has paid gets no mail of a failure that comes after', async () => {
  const session = await shop.checkout();
  const payment = await withoutInvoices(async () => {
    expect(await shop.pay(session)).toEqual({ kind: 'attempted' });
    // The buyer reloads the page, several times.
    const { id } = await shop.lastOf(session);
    await shop.server.payments.refresh(id);
    return shop.payment(id);
  });
  expect(payment.status).toBe('succeeded');
  expect(await shop.pay(session)).toEqual({ kind: 'not_open' });
  expect((await shop.checkoutAfter(session)).status).toBe('paid');
  await shop.events(payment.invoice_id, 1);
  await shop.events(payment.id, 1);
});

test('refunds are on the invoice in their order, also when there was none yet', async () => {
  const session = await shop.checkout();
  const payment = await withoutInvoices(async () => {
    await shop.pay(session);
    const { id } = await shop.lastOf(session);
    for (const amount of ['10', '20']) {
      expect((await shop.refund(id, { amount })).json.status).toBe('succeeded');
    }
    return shop.payment(id);
  });
  await tryAgain(payment.id);
  const events = await shop.events(payment.invoice_id, 3);
  expect(events.map(({ data }) => data.amountDelta)).toEqual([undefined, '10.00', '20.00']);
  expect((await shop.read(`/invoices/${payment.invoice_id}`)).amount_refunded).toBe('30.00');
});

test('a refund waits for the invoice that it is on, whatever the clock said', async () => {
  const { sql } = shop.server;
  const session = await shop.checkout();
  const payment = await withoutInvoices(async () => {
    await shop.pay(session);
    const { id } = await shop.lastOf(session);
    await shop.refund(id, { amount: '10' });
    // The clock of the process stepped back in between.
    await sql`
      update followups set at = at - interval '1 min' where payment_id = ${id} and kind = 'refund_settled'`;
    return shop.payment(id);
  });
  await tryAgain(payment.id);
  await shop.events(payment.invoice_id, 2);
  expect((await shop.read(`/invoices/${payment.invoice_id}`)).amount_refunded).toBe('10.00');
});

test('an owed task that cannot be done holds up no other', async () => {
  const { sql } = shop.server;
  const stuck = await shop.buy();
  await sql`
      insert into followups (slot, id, kind, payment_id, data, at)
      select slot, id, 'refund_settled', id, '{}', now() - interval '1 min' from payments where id = ${stuck.id}`;
  const session = await shop.checkout();
  await withoutInvoices(() => shop.pay(session));
  const { id } = await shop.lastOf(session);
  await tryAgain(id);
  expect((await shop.checkoutAfter(session)).status).toBe('paid');
  await until('it is done', async () => !(await isOwed(id)));
  expect(await isOwed(stuck.id)).toBe(true);
  await sql`delete from followups where payment_id = ${stuck.id}`;
});
