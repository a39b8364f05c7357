// What becomes of each refusal of Stripe's: `failed` where a bank said no, `errored` where Stripe
// could not be asked or did not take the call. Both can be read by the merchant and by the buyer.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { must } from '../../ledger/kernel/assert.ts';
import { Club, type Json } from '../http/subscriptions/subscribing.ts';
import { portalOf } from '../http/portal/customer.ts';
import type { How } from '../processors/stripe/faults.ts';
import { UNHURRIED } from '../support/settling.ts';
import { closeStripeSide, openStripeSide, type StripeSide } from '../support/stripe-side.ts';
import { PATIENCE_MS, Shop } from './shop.ts';

setDefaultTimeout(PATIENCE_MS);

let side: StripeSide;
let shop: Shop;
let club: Club;
beforeAll(async () => {
  side = await openStripeSide();
  shop = await Shop.open({ stripe: side, settings: UNHURRIED });
  club = new Club(shop);
});
afterAll(async () => {
  await shop.close();
  await closeStripeSide(side);
});

const accountOf = () => must(side.accounts.get(shop.server.organisation.id), 'a connected account');

const SESSIONS = { method: 'POST', path: /^\/v1\/checkout\/sessions$/ };
const INTENTS = { method: 'POST', path: /^\/v1\/payment_intents$/ };
const CONFIRM = { method: 'POST', path: /\/confirm$/ };
const REFUNDS = { method: 'POST', path: /^\/v1\/refunds$/ };

const invalid = (code: string): How => ({
  error: { type: 'invalid_request_error', code: code as never, message: 'No.' },
});
const BAD_KEY: How = {
  error: { type: 'invalid_request_error', message: 'No such key.', status: 401 },
};
const RESTRICTED: How = {
  error: { type: 'invalid_request_error', message: 'Not permitted.', status: 403 },
};

const pageOf = async ({ token }: { readonly token: string }): Promise<string> =>
  (await shop.server.call('GET', `/pay/${token}`, { key: null })).text.replaceAll('&#39;', "'");

describe('a payment with its buyer on the page', () => {
  // prettier-ignore
  test.each([
    // the bank says          with card             so
    ['no',                    '4000000000000002', 'card_declined'],
    ['too little money',      '4000000000009995', 'insufficient_funds'],
    ['lost',                  '4000000000009987', 'lost_card'],
    ['stolen',                '4000000000009979', 'stolen_card'],
    ['expired',               '4000000000000069', 'expired_card'],
    ['a wrong code',          '4000000000000127', 'incorrect_cvc'],
    ['not now',               '4000000000000119', 'processing_error'],
    ['too often',             '4000000000006975', 'card_declined'],
    ['no, after a challenge', '4000008400001629', 'card_declined'],
  ])('is declined where the bank says: %s', async (_what, number, code) => {
    const session = await shop.checkout();
    await shop.pay(session, { instrument: { type: 'card', number, expiry: '12/34', cvc: '123' } });
    const payment = await shop.lastOf(session);
    expect(payment).toMatchObject({ status: 'failed', failure_code: code });
    const [event] = await shop.events(payment.id, 1);
    expect([event.type, event.data.failureCode]).toEqual(['payment.failed', code]);
    // The buyer reads why, and may try again.
    expect(await pageOf(session)).toContain(payment.failure_message);
    await shop.pay(session);
    expect((await shop.lastOf(session)).status).toBe('succeeded');
  });

  // prettier-ignore
  test.each<[string, How, string, RegExp]>([
    ['the amount is too small',       invalid('amount_too_small'),       'amount_refused',   /as little as 100\.00 USD/],
    ['the amount is too large',       invalid('amount_too_large'),       'amount_refused',   /as much as 100\.00 USD/],
    ['the currency is not supported', invalid('currency_not_supported'), 'processing_error', /could not be processed/],
    ['the key is bad',                BAD_KEY,                           'processing_error', /could not be processed/],
    ['the account is restricted',     RESTRICTED,                        'processing_error', /could not be processed/],
    ['too many calls',                'rate_limit',                      'processing_error', /could not be processed/],
    ['the object is locked',          'lock_timeout',                    'processing_error', /could not be processed/],
  ])('is refused where Stripe says: %s', async (_what, how, code, message) => {
    const session = await shop.checkout();
    side.fake.next(SESSIONS, how);
    await shop.pay(session);
    const payment = await shop.lastOf(session);
    expect(payment).toMatchObject({ status: 'errored', failure_code: code });
    expect(payment.failure_message).toMatch(message);
    const [event] = await shop.events(payment.id, 1);
    // The same amount is refused again.
    const retryable = code !== 'amount_refused';
    expect([event.type, event.data.retryable]).toEqual(['payment.errored', retryable]);
    expect(await pageOf(session)).toContain(payment.failure_message);
    await shop.pay(session);
    expect((await shop.lastOf(session)).status).toBe('succeeded');
  });

  test.each<[How]>([['error_500'], ['lose_request'], ['lose_answer']])(
    'of which Stripe does not say whether it was made (%p) is errored once nobody can pay it',
    async (how) => {
      const session = await shop.checkout();
      side.fake.next(SESSIONS, how);
      await shop.pay(session);
      const { id, status } = await shop.lastOf(session);
      expect(status).toBe('processing');
      await shop.settle();
      expect(await shop.paymentThatIs('errored', id)).toMatchObject({ amount_refunded: '0.00' });
      await shop.pay(session);
      expect((await shop.lastOf(session)).status).toBe('succeeded');
    },
  );
});

/** A trial that ends in a charge of this card, and what the customer sees of it. */
async function renewed(
  number: string,
): Promise<{ subscription: Json; payment: Json; page: string }> {
  const customer = await club.customer();
  const portal = await portalOf(shop.server, customer);
  await portal.saveCard(number);
  const { id } = await club.subscribe(await club.plan(), customer, { trial_days: 1 });
  await club.advance('P1D');
  await club.advance('PT1M');
  const subscription = await club.subscription(id);
  const { text: page } = await portal.get();
  return { subscription, payment: (await club.payments(id)).at(-1), page };
}

/** No later test moves its clock. */
const ended = (id: string) => club.act(id, 'cancel', { mode: 'immediate' });

describe('a renewal without its buyer', () => {
  // prettier-ignore
  test.each([
    ['no',               '4000000000000341', 'card_declined'],
    ['ask the buyer',    '4000002760003184', 'authentication_required'],
    ['too little money', '4000008260003178', 'insufficient_funds'],
  ])('fails where the bank says: %s', async (_what, number, code) => {
    const { subscription, payment, page } = await renewed(number);
    expect(payment).toMatchObject({ status: 'failed', failure_code: code });
    expect(subscription).toMatchObject({ status: 'active', overdue_state: 'warning' });
    const failed = (await club.events(subscription.id)).find(({ type }) => type === 'payment.failed');
    expect(failed?.data.failureCode).toBe(code);
    expect(page).toMatch(/overdue/i);
    await ended(subscription.id);
  });

  // prettier-ignore
  test.each<[string, typeof INTENTS, How]>([
    ['the currency is not supported', INTENTS, invalid('currency_not_supported')],
    ['the account is restricted now', CONFIRM, RESTRICTED],
  ])('fails where Stripe says: %s', async (_what, call, how) => {
    side.fake.next(call, how);
    const { subscription, payment, page } = await renewed('4242424242424242');
    expect(payment).toMatchObject({ status: 'errored', failure_code: 'processing_error' });
    expect(subscription).toMatchObject({ status: 'active', overdue_state: 'warning' });
    expect(page).toMatch(/overdue/i);
    // Dunning tries it again the next day.
    await club.advance('P1D');
    expect((await club.payments(subscription.id)).at(-1).status).toBe('succeeded');
    expect((await club.subscription(subscription.id)).overdue_state).toBe('clear');
    await ended(subscription.id);
  });

  // prettier-ignore
  test.each<[typeof INTENTS, How]>([
    [INTENTS, 'rate_limit'],
    [INTENTS, 'lock_timeout'],
    [INTENTS, 'lose_request'],
    [INTENTS, 'lose_answer'],
    [CONFIRM, 'rate_limit'],
    [CONFIRM, 'lock_timeout'],
    [CONFIRM, 'error_500'],
    [CONFIRM, 'error_500_after'],
    [CONFIRM, 'lose_request'],
    [CONFIRM, 'lose_answer'],
  ])('with %p %p from Stripe is charged all the same, once, and nobody gets a mail of a failure', async (call, how) => {
    side.fake.next(call, how);
    const { subscription, payment } = await renewed('4242424242424242');
    expect(payment.status).toBe('succeeded');
    expect(subscription.overdue_state).toBe('clear');
    expect(await club.types(subscription.id)).not.toContain('payment.failed');
    const { intents } = side.fake.books(accountOf().id, 'test');
    const made = intents.filter(({ metadata }) => metadata['key'] === payment.id);
    expect(made.filter(({ status }) => status === 'succeeded')).toHaveLength(1);
    await ended(subscription.id);
  });
});

test('a renewal whose Stripe key was rolled waits for the new key, and nobody gets a mail of a failure', async () => {
  const { server } = shop;
  const { id, current_period_end: end } = await club.signUp(await club.plan());
  const secret_key = accountOf().rollKey('test');
  await club.advanceTo(end);
  expect((await club.payments(id)).at(-1).status).toBe('processing');
  expect((await club.subscription(id)).overdue_state).toBe('clear');
  const failing = await server.call('GET', '/organization/processor');
  expect(failing.json.status).toBe('failing');
  const body = { type: 'stripe', secret_key };
  const put = await server.call('PUT', '/organization/processor', { body });
  expect([put.status, put.json.status]).toEqual([200, 'active']);
  await club.advance('PT5M');
  expect((await club.payments(id)).at(-1).status).toBe('succeeded');
  expect(await club.types(id)).not.toContain('payment.failed');
  await ended(id);
});

describe('a refund', () => {
  // prettier-ignore
  test.each<[string, How, string]>([
    ['the charge is disputed',        invalid('charge_disputed'),         'disputed'],
    ['the balance is too small',      invalid('balance_insufficient'),    'insufficient_funds'],
    ['it was refunded there already', invalid('charge_already_refunded'), 'declined'],
  ])('has failed, with a reason, where Stripe says: %s', async (_what, how, reason) => {
    const { id } = await shop.buy();
    side.fake.next(REFUNDS, how);
    const { status, json } = await shop.refund(id, { amount: '10' });
    expect([status, json.status, json.failure_reason]).toEqual([200, 'failed', reason]);
    expect((await shop.payment(id)).refundable_amount).toBe('100.00');
  });

  test.each<[How]>([['rate_limit'], ['lose_request'], ['lose_answer']])(
    'with %p from Stripe waits, and is made once',
    async (how) => {
      const { id } = await shop.buy();
      side.fake.next(REFUNDS, how);
      const { json } = await shop.refund(id, { amount: '10' });
      expect(json.status).toBe('pending');
      await shop.settle();
      await shop.refundThatIs('succeeded', json.id);
      expect(await shop.payment(id)).toMatchObject({
        amount_refunded: '10.00',
        refundable_amount: '90.00',
      });
    },
  );
});
