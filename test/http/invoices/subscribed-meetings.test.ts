// An invoice of a subscription that several act on at once. All pairs are in the long file.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { must } from '../../../ledger/kernel/assert.ts';
import { audit } from '../../../src/database/audit.ts';
import { decideDebit } from '../../support/bank.ts';
import { keepRowsOwed } from '../../support/crashes.ts';
import { closeGate } from '../../support/gate.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { openPortal, subscribe } from '../portal/customer.ts';
import { NEVER_MS, saveDebit, SubscribedLife } from './subscribed-life.ts';

setDefaultTimeout(60_000);

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ own: true, alone: true, settings: { sandboxSettleMs: NEVER_MS } });
});
afterAll(() => server.stop());

/** The last payment of the invoice. */
async function lastOf({ id }: SubscribedLife) {
  const [payment] = await server.sql<
    { id: string; subscription_id: string; customer_id: string }[]
  >`
    select id, subscription_id, customer_id from payments where invoice_id = ${id} order by attempt desc`;
  return must(payment, 'a payment of the invoice');
}

test('an invoice that is paid and not marked yet is not charged again', async () => {
  const life = await SubscribedLife.begin(server, 'under way');
  const { sql } = server;
  const { id, subscription_id, customer_id } = await lastOf(life);
  // What marks the invoice waits here.
  const gate = await closeGate(server, id);
  expect(await decideDebit(server, id, 'capture')).toBe(true);
  const asked = server.payments.refresh(id);
  await until('its subscription has heard', async () => {
    const rows = await sql`select from subscriptions where id = ${subscription_id} and open = '[]'`;
    return rows.length > 0;
  });
  const ask = () => server.ledger.subscriptions.collect(customer_id, subscription_id, life.id);
  expect(await ask()).toBe('not_chargeable');
  const pay = () => server.call('POST', `/invoices/${life.id}/pay`);
  const replies = await Promise.all(Array.from({ length: 6 }, pay));
  await gate.open();
  await asked;
  expect(replies.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202, 202]);
  expect((await pay()).json).toMatchObject({ status: 'paid', payment_id: id, attempts: 1 });
  await life.finish();
  expect(await audit(sql)).toEqual([]);
});

test('an invoice that is given up and not void yet is not charged', async () => {
  const life = await SubscribedLife.begin(server, 'declined');
  const { subscription_id, customer_id } = await lastOf(life);
  const gate = await closeGate(server, subscription_id);
  const path = `/subscriptions/${subscription_id}/cancel`;
  const canceling = server.call('POST', path, { body: { mode: 'immediate' } });
  await until('its subscription has ended', async () => {
    const rows = await server.sql`
      select from subscriptions where id = ${subscription_id} and status = 'canceled'`;
    return rows.length > 0;
  });
  const ask = () => server.ledger.subscriptions.collect(customer_id, subscription_id, life.id);
  expect(await ask()).toBe('not_chargeable');
  await gate.open();
  expect((await canceling).status).toBe(200);
  expect((await server.call('POST', `/invoices/${life.id}/pay`)).status).toBe(409);
  await life.finish();
  expect(await audit(server.sql)).toEqual([]);
});

test('an invoice is made void between a refusal and the try by a changed method, which never begins', async () => {
  const life = await SubscribedLife.begin(server, 'under way');
  await life.meet(['method']);
  const { sql } = server;
  const { id, subscription_id } = await lastOf(life);
  const gate = await closeGate(server, subscription_id);
  expect(await decideDebit(server, id, 'fail')).toBe(true);
  const asked = server.payments.refresh(id);
  await until('its try is ordered', async () => {
    const rows = await sql`
      select from followups where subscription_id = ${subscription_id} and kind = 'collect'`;
    return rows.length > 0;
  });
  const voiding = server.call('POST', `/invoices/${life.id}/void`);
  await until('it is void', async () => {
    const rows = await sql`select from invoices where id = ${life.id} and status = 'void'`;
    return rows.length > 0;
  });
  await gate.open();
  await asked;
  expect((await voiding).status).toBe(200);
  await life.heard();
  expect(await lastOf(life)).toMatchObject({ id });
  const [row] = await sql`select open, overdue from subscriptions where id = ${subscription_id}`;
  expect(row).toEqual({ open: [], overdue: 'clear' });
  await life.finish();
  expect(await audit(sql)).toEqual([]);
});

/** The charges for a subscription by bank debit. */
function chargesOf(id: string) {
  const { sql, payments } = server;
  const list = () => sql<{ id: string; status: string }[]>`
    select id, status from payments where subscription_id = ${id} order by attempt`;
  const heard = () =>
    until(
      'its subscription has heard',
      async () => (await sql`select from followups`).length === 0,
    );
  const decline = async (): Promise<void> => {
    const last = must((await list()).at(-1), 'a charge');
    expect(await decideDebit(server, last.id, 'fail')).toBe(true);
    await payments.refresh(last.id);
    await heard();
  };
  return { list, heard, decline };
}

test.each(['under way', 'declined'] as const)(
  'a change of the payment method that is told of twice tries an invoice once: %s',
  async (situation) => {
    const portal = await openPortal(server, { email: 'ada@example.com' });
    expect(await saveDebit(portal)).toBe(303);
    const { id } = await subscribe(server, portal.customer);
    const charges = chargesOf(id);
    if (situation === 'declined') await charges.decline();
    const crash = await keepRowsOwed(server);
    expect(await saveDebit(portal)).toBe(500);
    await crash.stop();
    if (situation === 'under way') await charges.decline();
    await charges.heard();
    expect(await charges.list()).toMatchObject([{ status: 'failed' }, { status: 'processing' }]);
    await charges.decline();
    expect(await charges.list()).toMatchObject([{ status: 'failed' }, { status: 'failed' }]);
    expect(await audit(server.sql)).toEqual([]);
  },
);

test('a charge that is ordered and begins with the changed payment method is the only one', async () => {
  const portal = await openPortal(server, { email: 'ada@example.com' });
  expect(await saveDebit(portal)).toBe(303);
  const crash = await keepRowsOwed(server);
  const { id } = await subscribe(server, portal.customer);
  const charges = chargesOf(id);
  await saveDebit(portal);
  expect(await charges.list()).toHaveLength(0);
  await crash.stop();
  // It is not waited for: it was put off as it failed.
  await server.sql`update followups set next_at = null`;
  await charges.heard();
  expect(await charges.list()).toMatchObject([{ status: 'processing' }]);
  await charges.decline();
  expect(await charges.list()).toMatchObject([{ status: 'failed' }]);
  expect(await audit(server.sql)).toEqual([]);
});

test.each([
  ['a charge that is captured as the invoice is paid', 'under way', ['pay', 'capture', 'void']],
  ['a charge that is declined as the invoice is paid', 'under way', ['pay', 'fail', 'method']],
  ['what is left open after the end', 'left open', ['pay', 'capture', 'refund']],
] as const)('%s has one of its serial outcomes', async (_what, situation, actions) => {
  const life = await SubscribedLife.begin(server, situation);
  await life.meet(actions);
  await life.meet(['pay']);
  await life.finish();
  expect(await audit(server.sql)).toEqual([]);
});
