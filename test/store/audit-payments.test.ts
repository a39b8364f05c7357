// Correct books have no findings; each kind of damage to money is found by its check.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { clock, timers } from '../../src/platform/clock.ts';
import { ids } from '../../src/platform/ids.ts';
import { openSandbox } from '../../src/processors/sandbox.ts';
import { startServer, type TestServer } from '../support/server.ts';
import type { Means } from '../support/means.ts';
import { ask, buy, sell } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { Books } from './books.ts';

/** What pends is still pending when all has been made, on a busy machine too. */
const PENDING_MS = 2000;

let server: TestServer;
let books: Books;

beforeAll(async () => {
  server = await startServer({ own: true, settings: { sandboxSettleMs: PENDING_MS } });
  const seller = { url: server.url, key: server.organisation.testKey };
  const refund = (payment: string, body: object, key = 'key') =>
    server.call('POST', `/payments/${payment}/refund`, {
      body,
      headers: { 'idempotency-key': key },
    });
  await ask(seller, 'POST', '/discounts', { code: 'HALF', percent_off: 50 });
  const product_id = await sell(seller, { USD: '10.00', EUR: '9.00' });
  const one = (means: Means, more: object = {}) =>
    buy(seller, { product_id, means: [means], ...more });
  const paid = await one('good');
  expect((await refund(paid, { amount: '3.00' })).status).toBe(200);
  expect((await refund(paid, { amount: '99.00' }, 'too much')).status).toBe(400);
  await one('good', { currency: 'EUR', discount_code: 'HALF' });
  await buy(seller, { product_id, means: ['declined', 'error', 'good'] });
  await one('declined');
  const bouncing = await one('refundFailsLate');
  await refund(bouncing, {}, 'bounces');
  await until('it has bounced', async () => {
    const { data } = await ask(seller, 'GET', `/payments/${bouncing}/refunds`);
    return data[0].status === 'failed';
  });
  await refund(await one('refundPends'), { amount: '4.00' }, 'settles');
  await one('iban', { discount_code: 'HALF' });
  await verify('4242424242424242');
  await server.payments.close();
  await server.ledger.close();
  await server.sql.unsafe(`
    alter table balances drop constraint balances_sound;
    alter table checkouts drop constraint checkouts_paid_by_payment;
    alter table discounts drop constraint discounts_within_redemptions;
    alter table invoices drop constraint invoices_add_up, drop constraint invoices_refunds_within_paid,
      drop constraint invoices_number_once, drop constraint invoices_numbered_when_issued,
      drop constraint invoices_paid_in_full;
    alter table refunds drop constraint refunds_failure_has_reason, drop constraint refunds_settled_at_a_time;
    alter table sandbox_charges drop constraint sandbox_charges_complete, drop constraint sandbox_charges_declined_for,
      drop constraint sandbox_charges_pending_until;
    alter table sandbox_refunds drop constraint sandbox_refunds_declined_for,
      drop constraint sandbox_refunds_next_at_a_time, drop constraint sandbox_refunds_pending_until;
    drop index transfers_hold_once;
    drop trigger events_queued on events`);
  books = await Books.open(server);
});
afterAll(async () => {
  await books.close();
  await server.stop();
});

/** A card is saved; nothing is paid. */
async function verify(number: string): Promise<void> {
  const bank = openSandbox({
    sql: server.sql,
    timers,
    settleMs: 0,
    origin: 'https://bank.example',
    challengeUrl: (key) => key,
  })(clock);
  const { kind } = await bank.charge({
    key: ids.next(),
    amount: 0n,
    currency: 'USD',
    instrument: { type: 'card', number, expiry: '12/34', cvc: '123' },
    save: true,
    returnUrl: 'https://shop.example',
  });
  expect(kind).toBe('succeeded');
}

test('the audit finds nothing in sound payments', async () => {
  expect(await audit(server.sql)).toEqual([]);
});

const ASSET = 'I1 a transfer moves one asset of one tenant';
const CURRENCY = 'I1 debits equal credits for each currency';
const FOLD = 'I2, I3 totals are the fold of the transfers, pending ones the open holds';
const ACCOUNT = 'I2 a payment is what its account says';
const CAPTURE = 'I2 a payment is captured once';
const HOLD = 'I3 a refund is a hold on its payment';
const SUM = 'I3 what a payment gave back is the sum of its refunds and disputes';
const CEILING = 'I4 no ceiling is crossed, and consumption is the floored aggregate';
const ONCE = 'I5 a hold is resolved at most once';
const RELAYED = 'an event waits for the relay, was passed, or is set aside';
const GAP = 'I8 events of an object are numbered without a gap';
const TIME = 'I8 events of an object ascend in time';
const STATE = 'I8 every payment, invoice, customer and subscription has told what its state says';
const TOLD = 'I8 what became of a payment and its refunds was told once';
const INVOICE = 'a captured payment has one invoice, which says the same';
const CHECKOUT = 'a checkout is where its payments left it';
const DISCOUNT = 'a discount is redeemed by who pays with it';
const NUMBERS = 'invoices are numbered without a gap';
const ALARM = 'whatever is open is asked about again';
const CHARGES = 'the sandbox has charged what payments say';
const REFUNDS = 'the sandbox has refunded what refunds say';

const paymentOf = (status: string): string =>
  `(select id from payments where status = '${status}' limit 1)`;
const REFUNDED = paymentOf('partially_refunded');
const OPEN = paymentOf('processing');
const FAILED = `(select p.id from payments p join checkouts k on k.payment_id = p.id where p.status = 'failed')`;
const ERRORED = paymentOf('errored');
const PENDING = `(select payment_id from refunds where status = 'pending')`;
const EURO = `(select id from payments where currency = 'EUR')`;
const UNTOLD =
  'delete from event_queue q where not exists (select from events e where e.id = q.event_id)';
/** Its event is not announced and its outbox task is not done. */
const owed = (invoice: string): string => `
  insert into followups select slot, gen_random_uuid(), 'refund_settled', id, '{"delta": "300"}', now() from payments where id = ${REFUNDED};
  update invoices set amount_refunded = ${invoice}, event_sequence = 1 where payment_id = ${REFUNDED};
  delete from events where type = 'invoice.updated' and object_id = (select id from invoices where payment_id = ${REFUNDED});
  ${UNTOLD}`;
const unsettled = (status: string): string => `
  insert into followups select slot, gen_random_uuid(), 'payment_settled', id, '{}', now() from payments where id = ${PENDING};
  update checkouts set status = '${status}', paid_at = null where payment_id = ${PENDING};
  update invoice_counters set last = last - 1;
  delete from events where object_id = (select id from invoices where payment_id = ${PENDING});
  ${UNTOLD};
  delete from invoices where payment_id = ${PENDING}`;

// prettier-ignore
const DAMAGE: [string, string, string[]][] = [
  // what                                          statement                                                                                              found by
  ['a refund that the invoice has yet to hear of', owed('0'),                                                                                             []],
  ['the same, with another amount',                owed('1'),                                                                                             [INVOICE]],
  ['a payment whose checkout has yet to hear',     unsettled('processing'),                                                                               []],
  ['the same, and the checkout is open again',     unsettled('active'),                                                                                   [CHECKOUT]],
  ['a capture that was raised',                    `update balances set credits_posted = credits_posted + 1 where id = ${REFUNDED}`,                      [CURRENCY, FOLD, ACCOUNT, INVOICE]],
  ['one that was raised on both sides',            `update balances set credits_posted = credits_posted + 1 where id = ${REFUNDED}; update node_balances set debits_posted = debits_posted + 1 where id = (select id from accounts where kind = 'clearing' and currency = 'USD')`, [FOLD, ACCOUNT, INVOICE]],
  ['currency that came from another currency',     `update transfers set debit = (select id from accounts where kind = 'clearing' and currency = 'USD') where credit = ${EURO}`,  [ASSET, FOLD]],
  ['an account in another currency',               `update accounts set currency = 'EUR' where id = ${REFUNDED}`,                                         [ASSET, CURRENCY, ACCOUNT]],
  ['a payment that forgot what it gave back',      `update payments set status = 'succeeded' where id = ${REFUNDED}`,                                     [ACCOUNT]],
  ['a payment that failed and has the money',      `update payments set status = 'failed', paid_at = null, invoice_id = null, customer_id = null where id = ${EURO}`, [ACCOUNT, TOLD, INVOICE, CHARGES]],
  ['a payment that succeeded without the money',   `update payments set status = 'succeeded' where id = ${FAILED}`,                                       [ACCOUNT, CAPTURE, TOLD, CHARGES]],
  ['a payment that is nobody\'s',                  `update payments set customer_id = gen_random_uuid() where id = ${EURO}`,                              [ACCOUNT, INVOICE]],
  ['a payment of another amount',                  `update payments set amount = amount + 1 where id = ${EURO}`,                                          [ACCOUNT, CAPTURE, CHECKOUT, CHARGES]],
  ['a payment that is lost',                       `delete from payments where id = ${FAILED}`,                                                           [STATE, CHECKOUT, CHARGES]],
  ['an account without its ceiling',               `update balances set capped = false where id = ${REFUNDED}`,                                           [ACCOUNT]],
  ['more given back than was captured',            `update balances set debits_pending = debits_pending + 701, credits_pending = credits_pending where id = ${REFUNDED}`, [CURRENCY, FOLD, SUM, CEILING]],
  ['a capture that is there twice',                `insert into transfers select (jsonb_populate_record(t, '{"id": "00000000-0000-7000-8000-00000000000f"}')).* from transfers t where credit = ${EURO}`, [FOLD, CAPTURE]],
  ['a refund of another amount',                   `update refunds set amount = amount + 1 where status = 'succeeded'`,                                   [HOLD, SUM, REFUNDS]],
  ['a refund that is called pending',              `update refunds set status = 'pending' where status = 'succeeded'`,                                    [HOLD, SUM, ALARM]],
  ['a pending refund that was given up',           `update refunds set status = 'failed' where status = 'pending'`,                                       [HOLD, SUM, TOLD, REFUNDS]],
  ['a refund that is lost',                        `delete from refunds where status = 'succeeded'`,                                                      [HOLD, SUM, TOLD, REFUNDS]],
  ['a refund of another payment',                  `update refunds set payment_id = ${EURO} where status = 'succeeded'`,                                  [HOLD, SUM, TOLD, REFUNDS]],
  ['a reserve that was let go',                    `update balances set debits_pending = 0; update node_balances set credits_pending = 0`,              [FOLD, SUM]],
  ['a refund that was posted twice',               `insert into transfers select (jsonb_populate_record(t, '{"id": "00000000-0000-7000-8000-00000000000f"}')).* from transfers t where hold = (select id from refunds where status = 'succeeded')`, [FOLD, ONCE, TOLD]],
  ['a bounced refund that was not taken back',     `delete from transfers where kind = 'reverse'`,                                                        [FOLD]],
  ['an event that was told twice',                 `insert into events select (jsonb_populate_record(e, jsonb_build_object('id', gen_random_uuid(), 'sequence', 2, 'at', at + interval '1 s'))).* from events e where type = 'payment.succeeded' and object_id = ${EURO}; update payments set sequence = 2 where id = ${EURO}`, [TOLD, RELAYED]],
  ['an event that is lost',                        `delete from events where type = 'payment.succeeded' and object_id = ${REFUNDED}`,                     [GAP, TOLD, RELAYED]],
  ['the last event that is lost',                  `delete from events where type = 'payment.refunded' and object_id = ${REFUNDED}`,                      [STATE, TOLD, RELAYED]],
  ['an invoice that was not announced',            `delete from events where type = 'invoice.created' and object_id = (select id from invoices where payment_id = ${EURO})`, [STATE, RELAYED]],
  ['a customer that was not announced',            `delete from events where type = 'customer.created'`,                                                  [STATE, RELAYED]],
  ['two events at one time',                       `update events set at = (select min(at) from events) where object_id = ${REFUNDED}`,                   [TIME]],
  ['a failure that is told as an error',           `update events set type = 'payment.errored' where type = 'payment.failed' and object_id = ${FAILED}`,  [TOLD]],
  ['an invoice that is lost',                      `delete from invoices where payment_id = ${REFUNDED}`,                                                 [STATE, INVOICE, NUMBERS]],
  ['a second invoice',                             `insert into invoices select (jsonb_populate_record(i, jsonb_build_object('id', gen_random_uuid(), 'number', 'INV-2026-000006', 'event_sequence', 0))).* from invoices i where payment_id = ${REFUNDED}; update invoice_counters set last = 6`, [INVOICE]],
  ['an invoice of another total',                  `update invoices set total = total + 1 where payment_id = ${EURO}`,                                    [INVOICE]],
  ['an invoice that was not paid',                 `update invoices set status = 'open', amount_paid = 0 where payment_id = ${EURO}`,                     [INVOICE]],
  ['an invoice that knows of no refund',           `update invoices set amount_refunded = 0 where payment_id = ${REFUNDED}`,                              [INVOICE]],
  ['an invoice of somebody else',                  `update invoices set customer_id = gen_random_uuid() where payment_id = ${EURO}`,                      [INVOICE]],
  ['an invoice of no payment',                     `update invoices set payment_id = gen_random_uuid() where payment_id = ${EURO}`,                       [INVOICE]],
  ['a gap in the numbers',                         `update invoices set number = 'INV-2026-000009' where payment_id = ${EURO}`,                           [NUMBERS]],
  ['a number that is there twice',                 `update invoices set number = (select number from invoices where payment_id = ${REFUNDED}) where payment_id = ${EURO}`, [NUMBERS]],
  ['a counter that is ahead',                      `update invoice_counters set last = last + 1`,                                                         [NUMBERS]],
  ['an invoice without a number',                  `update invoices set number = null where payment_id = ${PENDING}; update invoice_counters set last = last - 1`, [NUMBERS]],
  ['a paid checkout that is open again',           `update checkouts set status = 'active' where payment_id = ${REFUNDED}`,                               [CHECKOUT]],
  ['a checkout that is paid by a failure',         `update checkouts set status = 'paid' where payment_id = ${FAILED}`,                                   [CHECKOUT]],
  ['a checkout that nobody is paying any more',    `update checkouts set status = 'processing' where payment_id = ${FAILED}`,                             [CHECKOUT]],
  ['a checkout that lost its attempt',             `update checkouts set status = 'active', payment_id = null, attempts = 0 where payment_id = ${FAILED}`, [CHECKOUT]],
  ['a checkout that somebody else paid',           `update checkouts set payment_id = ${EURO} where payment_id = ${REFUNDED}`,                            [CHECKOUT]],
  ['a checkout that was paid twice',               `update payments set checkout_id = (select checkout_id from payments where id = ${REFUNDED}) where id = ${EURO}; update checkouts set attempts = 2 where payment_id = ${REFUNDED}; update checkouts set status = 'active', payment_id = null, attempts = 0, paid_at = null, discount_id = null where payment_id = ${EURO}; update discounts set redemptions = 1; update invoices set checkout_id = (select checkout_id from payments where id = ${REFUNDED}) where payment_id = ${EURO}`, [CHECKOUT]],
  ['a redemption that was not given back',         `update discounts set redemptions = redemptions + 1`,                                                  [DISCOUNT]],
  ['an open payment without an alarm',             `delete from alarms where actor_id = ${OPEN}`,                                                         [ALARM]],
  ['an open refund without an alarm',              `delete from alarms where actor_id = ${PENDING}`,                                                      [ALARM]],
  ['an alarm that rings too late',                 `update alarms set due_at = due_at + interval '1 day' where actor_id = ${PENDING}`,                    [ALARM]],
  ['an open payment that nobody asks about',       `update payments set ask_at = null where id = ${OPEN}; delete from alarms where actor_id = ${OPEN}`,   [ALARM]],
  ['a charge for a payment that failed',           `update sandbox_charges set status = 'succeeded' where key = ${FAILED}::text`,                         [CHARGES]],
  ['a charge to come for a payment that failed',   `update sandbox_charges set status = 'pending', next_status = 'succeeded' where key = ${FAILED}::text`, [CHARGES]],
  ['a charge for a payment that errored',          `insert into sandbox_charges select (jsonb_populate_record(c, jsonb_build_object('key', ${ERRORED}))).* from sandbox_charges c where key = ${REFUNDED}::text`, [CHARGES]],
  ['a charge that was declined after all',         `update sandbox_charges set status = 'declined' where key = ${EURO}::text`,                            [CHARGES]],
  ['a charge of another amount',                   `update sandbox_charges set amount = amount + 1 where key = ${EURO}::text`,                            [CHARGES]],
  ['a charge that was never made',                 `delete from sandbox_refunds where charge_key = ${REFUNDED}::text; delete from sandbox_charges where key = ${REFUNDED}::text`, [CHARGES, REFUNDS]],
  ['a charge that nobody asked for',               `insert into sandbox_charges select (jsonb_populate_record(c, '{"key": "stray"}')).* from sandbox_charges c where key = ${EURO}::text`, [CHARGES]],
  ['a refund that nobody asked for',               `insert into sandbox_refunds select (jsonb_populate_record(r, '{"key": "stray"}')).* from sandbox_refunds r limit 1`, [REFUNDS]],
  ['a refund that was made there of more',         `update sandbox_refunds set amount = amount + 1 where charge_key = ${REFUNDED}::text`,                 [REFUNDS]],
  ['a refund that was made of another charge',     `update sandbox_refunds set charge_key = ${EURO}::text where charge_key = ${REFUNDED}::text`,          [REFUNDS]],
  ['a refund that was declined there',             `update sandbox_refunds set status = 'declined' where charge_key = ${REFUNDED}::text`,                 [REFUNDS]],
  ['a failed refund that holds there',             `update sandbox_refunds set next_status = null where next_status = 'declined'`,                        [REFUNDS]],
];

test.each(DAMAGE)('the audit of payments finds %s', async (_what, statement, found) => {
  expect(await books.foundAfter(statement)).toEqual(found.toSorted());
});

test('the audit finds nothing in payments once the damage is undone', async () => {
  expect(await audit(server.sql)).toEqual([]);
});
