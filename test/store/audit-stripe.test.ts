// What was bought at the sandbox, made into what was bought at Stripe: sound books have no findings,
// and each kind of damage to what we know of Stripe's objects is found by its check.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { ask, buy, sell } from '../support/shop.ts';
import { Books } from './books.ts';

let server: TestServer;
let books: Books;

beforeAll(async () => {
  server = await startServer({ own: true });
  const seller = { url: server.url, key: server.organisation.testKey };
  const product_id = await sell(seller, { USD: '10.00' });
  const paid = await buy(seller, { product_id, means: ['good'] });
  const body = { amount: '3.00' };
  expect((await server.call('POST', `/payments/${paid}/refund`, { body })).status).toBe(200);
  await buy(seller, { product_id, means: ['good'] });
  await buy(seller, { product_id, means: ['declined', 'error'] });
  expect((await ask(seller, 'GET', '/payments')).data).toHaveLength(4);
  await server.payments.close();
  await server.ledger.close();
  await server.sql.unsafe(`
    update payments set processor = 'stripe:acct_1';
    insert into stripe_charges (key, account, kind, currency, stripe_id, intent, state, created_at)
      select id::text, processor, 'session', currency, 'cs_' || id, processor_reference, 'open', created_at
      from payments where status <> 'errored';
    insert into stripe_charges (key, account, state, created_at)
      select id::text, processor, 'canceled', created_at from payments where status = 'errored';
    insert into stripe_charges (key, account, kind, currency, stripe_id, state, created_at)
      values ('a verification', 'stripe:acct_1', 'setup', 'USD', 'cs_setup', 'open', now());
    insert into stripe_refunds (key, charge_key, amount, stripe_id, created_at)
      select id::text, payment_id::text, amount, processor_reference, created_at from refunds;
    truncate sandbox_charges cascade;
    drop index stripe_charges_by_intent;
    alter table stripe_refunds drop constraint stripe_refunds_one_outcome;
    alter table stripe_charges drop constraint stripe_charges_declined_for`);
  books = await Books.open(server);
});
afterAll(async () => {
  await books.close();
  await server.stop();
});

const CHARGES = 'what Stripe has charged is what payments say';
const REFUNDS = 'what Stripe has refunded is what refunds say';
const OBJECTS = 'one object of Stripe is one charge or one refund';
const PAID = `(select id from payments where status = 'succeeded')`;
const REFUNDED = `(select id from payments where status = 'partially_refunded')`;

test('the audit finds nothing in sound Stripe records', async () => {
  expect(await audit(server.sql)).toEqual([]);
});

// prettier-ignore
const DAMAGE: [string, string, string[]][] = [
  ['a payment that Stripe was not asked for',  `delete from stripe_charges where key = ${PAID}::text`,                                       [CHARGES]],
  ['one that has no object there',             `update stripe_charges set stripe_id = null, intent = null where key = ${PAID}::text`,         [CHARGES]],
  ['one that was given up there',              `update stripe_charges set state = 'canceled' where key = ${PAID}::text`,                      [CHARGES]],
  ['one that was declined there',              `update stripe_charges set state = 'declined' where key = ${PAID}::text`,                      [CHARGES]],
  ['one of another intent',                    `update stripe_charges set intent = 'pi_other' where key = ${PAID}::text`,                     [CHARGES]],
  ['one without a name there',                 `update payments set processor_reference = null where id = ${PAID}`,                          [CHARGES]],
  ['one of another account',                   `update stripe_charges set account = 'stripe:acct_2' where key = ${PAID}::text`,               [CHARGES]],
  ['one in another currency',                  `update stripe_charges set currency = 'EUR' where key = ${PAID}::text`,                        [CHARGES]],
  ['a charge that nobody asked for',           `update stripe_charges set kind = 'intent' where key = 'a verification'`,                      [CHARGES]],
  ['a payment of an intent of another',        `update stripe_charges set intent = (select processor_reference from payments where id = ${REFUNDED}) where key = ${PAID}::text; update payments set processor_reference = (select p.processor_reference from payments p where p.id = ${REFUNDED}) where id = ${PAID}`, [OBJECTS]],
  ['a refund that Stripe has not made',        `update stripe_refunds set stripe_id = null`,                                                  [REFUNDS]],
  ['a refund that Stripe declined',            `update stripe_refunds set stripe_id = null, declined = 'declined'`,                           [REFUNDS]],
  ['a refund of another name',                 `update stripe_refunds set stripe_id = 're_other'`,                                            [REFUNDS]],
  ['a refund of another amount',               `update stripe_refunds set amount = amount + 1`,                                               [REFUNDS]],
  ['a refund of another charge',               `update stripe_refunds set charge_key = ${PAID}::text`,                                        [REFUNDS]],
  ['a refund that nobody asked for',           `insert into stripe_refunds select 'stray', charge_key, amount, 're_stray', null, created_at from stripe_refunds`, [REFUNDS]],
  ['a refund that was made twice',             `insert into stripe_refunds select 'stray', charge_key, amount, stripe_id, null, created_at from stripe_refunds`,  [REFUNDS, OBJECTS]],
];

test.each(DAMAGE)('the audit of Stripe records finds %s', async (_what, statement, found) => {
  expect(await books.foundAfter(statement)).toEqual(found.toSorted());
});
