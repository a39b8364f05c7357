// Charges without the buyer at the fake: payment intents of saved methods.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import Stripe from 'stripe';
import { openStripeFake, type StripeFake } from './fake.ts';
import { errorOf, openShop, type Shop } from './shop.ts';

let fake: StripeFake;
let shop: Shop;
beforeAll(async () => {
  fake = await openStripeFake();
  shop = openShop(fake);
});
afterAll(() => fake.close());

async function unconfirmed(typing: string): Promise<Stripe.PaymentIntent> {
  const saved = await shop.saved(typing);
  return shop.stripe.paymentIntents.create({ amount: 2500, currency: 'usd', ...saved });
}
const confirm = (id: string) => shop.stripe.paymentIntents.confirm(id, { off_session: true });

describe('a fake Stripe intent confirmed off session', () => {
  test.each(['4242424242424242', '4000002500003155'])('with %s is charged', async (card) => {
    const { id, status } = await unconfirmed(card);
    expect(status).toBe('requires_confirmation');
    expect(await confirm(id)).toMatchObject({ status: 'succeeded', amount_received: 2500 });
    const again = await errorOf(confirm(id));
    expect(again).toMatchObject({
      code: 'payment_intent_unexpected_state',
      payment_intent: { id, status: 'succeeded' },
    });
  });

  test.each([
    ['4000000000000341', 'card_declined', 'generic_decline'],
    ['4000002760003184', 'authentication_required', 'authentication_required'],
  ])('with %s is declined: %s, %s', async (card, code, decline_code) => {
    const { id } = await unconfirmed(card);
    const error = await errorOf(confirm(id));
    expect(error).toBeInstanceOf(Stripe.errors.StripeCardError);
    expect(error).toMatchObject({ statusCode: 402, code, decline_code, payment_intent: { id } });
    const intent = await shop.stripe.paymentIntents.retrieve(id, { expand: ['latest_charge'] });
    expect(intent).toMatchObject({
      status: 'requires_payment_method',
      last_payment_error: { code, decline_code },
      latest_charge: { status: 'failed', paid: false },
    });
  });

  test('with a card whose bank changes its mind is declined for any reason', async () => {
    const saved = await shop.saved('4242424242424242');
    for (const decline_code of ['revocation_of_authorization', 'do_not_honor']) {
      fake.declines(saved.payment_method, { code: 'card_declined', decline_code, message: 'No.' });
      const { id } = await shop.stripe.paymentIntents.create({
        amount: 2500,
        currency: 'usd',
        ...saved,
      });
      expect(await errorOf(confirm(id))).toMatchObject({ code: 'card_declined', decline_code });
    }
  });

  test('with a bank debit is processing, and decided later', async () => {
    const { id } = await unconfirmed('DE89370400440532013000');
    expect((await confirm(id)).status).toBe('processing');
    expect((await errorOf(shop.stripe.paymentIntents.cancel(id))).statusCode).toBe(400);
    fake.advance(6 * 24 * 60 * 60_000);
    expect((await shop.stripe.paymentIntents.retrieve(id)).status).toBe('succeeded');
  });

  test('with a card that has expired since is declined', async () => {
    const session = await shop.setupSession();
    await fake.buyer.pays(session.url, {
      number: '4242424242424242',
      expiry: '01/30',
      cvc: '1234',
    });
    const books = fake.books(shop.account.id, 'test');
    const { id: payment_method, customer } = books.methods.at(-1)!;
    const { id } = await shop.stripe.paymentIntents.create({
      amount: 2500,
      currency: 'usd',
      payment_method,
      customer: customer as string,
    });
    fake.advance(Date.UTC(2030, 1) - fake.now());
    expect((await errorOf(confirm(id))).code).toBe('expired_card');
  });

  test.each<[string, string]>([
    ['4000000000001000', 'succeeded'],
    ['4000000000001018', 'requires_confirmation'],
  ])('by %s whose connection is lost is %s', async (card, status) => {
    const { id } = await unconfirmed(card);
    expect(await errorOf(confirm(id))).toBeInstanceOf(Stripe.errors.StripeConnectionError);
    expect((await shop.stripe.paymentIntents.retrieve(id)).status).toBe(status as 'succeeded');
  });
});

describe('a fake Stripe payment method', () => {
  test('that was detached is charged no more, and cannot be detached again', async () => {
    const saved = await shop.saved('4242424242424242');
    const intent = await shop.stripe.paymentIntents.create({
      amount: 2500,
      currency: 'usd',
      ...saved,
    });
    const { paymentMethods } = shop.stripe;
    expect((await paymentMethods.detach(saved.payment_method)).customer).toBeNull();
    expect((await errorOf(paymentMethods.detach(saved.payment_method))).statusCode).toBe(400);
    expect((await errorOf(confirm(intent.id))).param).toBe('payment_method');
    const create = shop.stripe.paymentIntents.create({ amount: 1, currency: 'jpy', ...saved });
    expect((await errorOf(create)).statusCode).toBe(400);
  });

  test('of one customer is not charged for another', async () => {
    const { payment_method } = await shop.saved('4242424242424242');
    const { customer } = await shop.saved('4242424242424242');
    const create = shop.stripe.paymentIntents.create({
      amount: 2500,
      currency: 'usd',
      customer,
      payment_method,
    });
    expect((await errorOf(create)).param).toBe('payment_method');
  });

  test('that was paid with and not saved is used up', async () => {
    const { url } = await shop.session();
    await fake.buyer.pays(url, '4242424242424242');
    const used = fake.books(shop.account.id, 'test').methods.at(-1)!;
    const create = shop.stripe.paymentIntents.create({
      amount: 2500,
      currency: 'usd',
      payment_method: used.id,
    });
    expect((await errorOf(create)).message).toContain('may not be used again');
  });
});

describe('a fake Stripe intent', () => {
  test('is canceled before it is confirmed, and then for ever', async () => {
    const { id } = await unconfirmed('4242424242424242');
    const { paymentIntents } = shop.stripe;
    const canceled = await paymentIntents.cancel(id, { cancellation_reason: 'abandoned' });
    expect(canceled).toMatchObject({ status: 'canceled', cancellation_reason: 'abandoned' });
    expect((await errorOf(confirm(id))).code).toBe('payment_intent_unexpected_state');
    expect((await errorOf(paymentIntents.cancel(id))).code).toBe('payment_intent_unexpected_state');
  });

  test('that holds money lets go of it after a week', async () => {
    const saved = await shop.saved('4242424242424242');
    const held = await shop.stripe.paymentIntents.create({
      amount: 2500,
      currency: 'usd',
      capture_method: 'manual',
      confirm: true,
      ...saved,
    });
    expect(held).toMatchObject({ status: 'requires_capture', amount_capturable: 2500 });
    fake.advance(7 * 24 * 60 * 60_000);
    const after = await shop.stripe.paymentIntents.retrieve(held.id);
    expect(after).toMatchObject({ status: 'canceled', cancellation_reason: 'automatic' });
  });

  test('captured in part releases the rest', async () => {
    const saved = await shop.saved('4242424242424242');
    const { id } = await shop.stripe.paymentIntents.create({
      amount: 2500,
      currency: 'usd',
      capture_method: 'manual',
      confirm: true,
      ...saved,
    });
    const { paymentIntents } = shop.stripe;
    expect((await errorOf(paymentIntents.capture(id, { amount_to_capture: 2501 }))).code).toBe(
      'amount_too_large',
    );
    await paymentIntents.capture(id, { amount_to_capture: 1000 });
    const refund = await shop.stripe.refunds.create({ payment_intent: id });
    expect(refund.amount).toBe(1000);
  });

  test('on session may ask, and leads back', async () => {
    const { customer } = await shop.saved('4242424242424242');
    const saved = await shop.saved('4000002760003184');
    expect(customer).not.toBe(saved.customer);
    const intent = await shop.stripe.paymentIntents.create({
      amount: 2500,
      currency: 'usd',
      confirm: true,
      return_url: 'https://shop.example/done',
      ...saved,
    });
    expect(intent.status).toBe('requires_action');
    const url = intent.next_action?.redirect_to_url?.url ?? '';
    const body = new URLSearchParams({ answer: 'fail' });
    const back = await fetch(url, { method: 'POST', body, redirect: 'manual' });
    expect(back.headers.get('location')).toContain('redirect_status=failed');
    // The first answer counts.
    expect(await fake.buyer.answers3ds(intent.id, true)).toBe('closed');
    expect((await shop.stripe.paymentIntents.retrieve(intent.id)).last_payment_error?.code).toBe(
      'payment_intent_authentication_failure',
    );
  });
});
