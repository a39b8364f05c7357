// Checkout of the fake, as a merchant and a buyer meet it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { openStripeFake, type StripeFake } from './fake.ts';
import { errorOf, LINE, openShop, type Shop } from './shop.ts';

const MANUAL = { payment_method_options: { card: { capture_method: 'manual' as const } } };
const GOOD = '4242424242424242';

let fake: StripeFake;
let shop: Shop;
beforeAll(async () => {
  fake = await openStripeFake();
  shop = openShop(fake);
});
afterAll(() => fake.close());

describe('a payment session of the fake Stripe', () => {
  test('is open without an intent, and paid when its buyer has paid', async () => {
    const { id, url } = await shop.session({ metadata: { key: 'k' } });
    expect(await shop.retrieve(id)).toMatchObject({
      status: 'open',
      payment_status: 'unpaid',
      payment_intent: null,
      amount_total: 10_000,
      metadata: { key: 'k' },
    });
    expect(await fake.buyer.pays(url, GOOD)).toBe('paid');
    expect(await shop.retrieve(id)).toMatchObject({
      status: 'complete',
      payment_status: 'paid',
      url: null,
      payment_intent: {
        status: 'succeeded',
        amount_received: 10_000,
        latest_charge: { status: 'succeeded', captured: true },
      },
    });
    expect(await fake.buyer.pays(url, GOOD)).toBe('closed');
  });

  test('with a manual capture holds the money until it is captured', async () => {
    const { id, url } = await shop.session(MANUAL);
    expect(await fake.buyer.pays(url, GOOD)).toBe('paid');
    const intent = await shop.intentOf(id);
    expect(intent).toMatchObject({ status: 'requires_capture', amount_capturable: 10_000 });
    expect((await shop.retrieve(id)).payment_status).toBe('unpaid');
    await shop.stripe.paymentIntents.capture(intent.id);
    expect(await shop.retrieve(id)).toMatchObject({
      payment_status: 'paid',
      payment_intent: { status: 'succeeded' },
    });
    const again = await errorOf(shop.stripe.paymentIntents.capture(intent.id));
    expect(again).toMatchObject({ code: 'payment_intent_unexpected_state', statusCode: 400 });
  });

  test('a hold that is canceled is released, without a refund', async () => {
    const { id, url } = await shop.session(MANUAL);
    await fake.buyer.pays(url, GOOD);
    const intent = await shop.intentOf(id);
    await shop.stripe.paymentIntents.cancel(intent.id);
    expect(await shop.intentOf(id)).toMatchObject({
      status: 'canceled',
      latest_charge: { refunded: true, balance_transaction: null },
    });
    const refunds = await shop.stripe.refunds.list({ payment_intent: intent.id });
    expect(refunds.data).toEqual([]);
  });

  test('a decline leaves it open; another card pays it', async () => {
    const { id, url } = await shop.session();
    expect(await fake.buyer.pays(url, '4000000000009995')).toBe('declined');
    expect(await shop.retrieve(id)).toMatchObject({
      status: 'open',
      payment_intent: {
        status: 'requires_payment_method',
        payment_method: null,
        last_payment_error: { code: 'card_declined', decline_code: 'insufficient_funds' },
        latest_charge: { status: 'failed', failure_code: 'insufficient_funds' },
      },
    });
    expect(await fake.buyer.pays(url, GOOD)).toBe('paid');
    expect((await shop.intentOf(id)).last_payment_error).toBeNull();
  });

  test('a bank may decline it for any reason', async () => {
    const { id, url } = await shop.session();
    const decline = {
      code: 'card_declined',
      decline_code: 'try_again_later',
      message: 'Later.',
    } as const;
    expect(await fake.buyer.pays(url, GOOD, { decline })).toBe('declined');
    const { last_payment_error: error } = await shop.intentOf(id);
    expect(error).toMatchObject(decline);
  });

  test.each<[string, object, string, string | null]>([
    ['passes', {}, 'paid', null],
    ['fails', { fails3ds: true }, 'challenge_failed', 'payment_intent_authentication_failure'],
  ])('3-D Secure that %s', async (_what, options, bought, code) => {
    const { id, url } = await shop.session();
    expect(await fake.buyer.pays(url, '4000002500003155', options)).toBe(bought as 'paid');
    const session = await shop.retrieve(id);
    expect(session.status).toBe(code === null ? 'complete' : 'open');
    expect((await shop.intentOf(id)).last_payment_error?.code ?? null).toBe(code);
  });

  test('3-D Secure that is left alone can be answered later, once', async () => {
    const { id, url } = await shop.session();
    expect(await fake.buyer.pays(url, '4000002500003155', { abandons3ds: true })).toBe(
      'challenged',
    );
    expect((await shop.intentOf(id)).status).toBe('requires_action');
    expect(await fake.buyer.answers3ds(url, true)).toBe('paid');
    expect(await fake.buyer.answers3ds(url, false)).toBe('closed');
    expect((await shop.intentOf(id)).status).toBe('succeeded');
  });

  test.each<[string, string, object, string]>([
    ['settles', 'DE89370400440532013000', { status: 'succeeded' }, 'paid'],
    [
      'bounces',
      'DE62370400440532013001',
      { status: 'requires_payment_method', last_payment_error: { code: 'insufficient_funds' } },
      'unpaid',
    ],
  ])('a bank debit that %s does so later', async (_what, iban, then, payment) => {
    const { id, url } = await shop.session({ ...MANUAL, line_items: [LINE(500, 'eur')] });
    expect(await fake.buyer.pays(url, iban)).toBe('processing');
    expect(await shop.retrieve(id)).toMatchObject({
      status: 'complete',
      payment_status: 'unpaid',
      payment_intent: { status: 'processing', latest_charge: { status: 'pending' } },
    });
    fake.settle();
    const settled = await shop.retrieve(id);
    expect(settled).toMatchObject({ payment_status: payment, payment_intent: then });
  });

  test('that must wait offers no bank debit', async () => {
    const { url } = await shop.session({
      line_items: [LINE(500, 'eur')],
      payment_intent_data: { capture_method: 'manual' },
    });
    expect(await fake.buyer.pays(url, 'DE89370400440532013000')).toBe('declined');
  });

  test('ends at its time, and no card pays it then', async () => {
    const { id, url } = await shop.session({
      expires_at: Math.floor(fake.now() / 1000) + 31 * 60,
    });
    await fake.buyer.pays(url, '4000000000000002');
    fake.advance(32 * 60_000);
    expect(await shop.retrieve(id)).toMatchObject({
      status: 'expired',
      url: null,
      payment_intent: { status: 'canceled', last_payment_error: { code: 'card_declined' } },
    });
    expect(await fake.buyer.pays(url, GOOD)).toBe('closed');
  });

  test('is given up once, and only while it is open', async () => {
    const { id, url } = await shop.session();
    expect((await shop.stripe.checkout.sessions.expire(id)).status).toBe('expired');
    expect((await errorOf(shop.stripe.checkout.sessions.expire(id))).statusCode).toBe(400);
    expect(await fake.buyer.pays(url, GOOD)).toBe('closed');
  });

  test('its intent can be neither confirmed nor canceled by a call', async () => {
    const { id, url } = await shop.session();
    await fake.buyer.pays(url, '4000000000000002');
    const intent = await shop.intentOf(id);
    const { paymentIntents } = shop.stripe;
    expect((await errorOf(paymentIntents.cancel(intent.id))).statusCode).toBe(400);
    expect((await errorOf(paymentIntents.confirm(intent.id))).statusCode).toBe(400);
  });

  test.each<[string, number]>([
    ['too soon', 29 * 60],
    ['too late', 25 * 60 * 60],
  ])('may not end %s', async (_what, seconds) => {
    const expires_at = Math.floor(fake.now() / 1000) + seconds;
    const error = await errorOf(shop.session({ expires_at }));
    expect(error).toMatchObject({ statusCode: 400, param: 'expires_at' });
  });

  test.each<[string, number, string, string | undefined]>([
    ['too little', 49, 'usd', 'amount_too_small'],
    ['too much', 100_000_000, 'usd', 'amount_too_large'],
    ['an unknown currency', 1000, 'xts', undefined],
    ['a last digit that dinars cannot have', 1001, 'kwd', undefined],
    ['decimals that krónur cannot have', 1010, 'isk', undefined],
  ])('refuses %s', async (_what, amount, currency, code) => {
    const error = await errorOf(shop.session({ line_items: [LINE(amount, currency)] }));
    expect(error.statusCode).toBe(400);
    expect(error.code).toBe(code);
  });
});

describe('a setup session of the fake Stripe', () => {
  test('saves a card for a customer, and moves no money', async () => {
    const { id, url } = await shop.setupSession({ setup_intent_data: { metadata: { key: 's' } } });
    expect(await fake.buyer.pays(url, GOOD)).toBe('paid');
    const session = await shop.stripe.checkout.sessions.retrieve(id, {
      expand: ['setup_intent.payment_method'],
    });
    expect(session).toMatchObject({
      status: 'complete',
      payment_status: 'no_payment_required',
      payment_intent: null,
      setup_intent: {
        status: 'succeeded',
        metadata: { key: 's' },
        payment_method: { customer: session.customer, card: { last4: '4242', brand: 'visa' } },
      },
    });
  });

  test('a decline and a failed challenge leave it open with the reason', async () => {
    const { id, url } = await shop.setupSession();
    const errorNow = async (): Promise<unknown> => {
      const { setup_intent: setup } = await shop.stripe.checkout.sessions.retrieve(id, {
        expand: ['setup_intent'],
      });
      return typeof setup === 'object' && setup?.last_setup_error?.code;
    };
    await fake.buyer.pays(url, '4000000000000002');
    expect(await errorNow()).toBe('card_declined');
    await fake.buyer.pays(url, '4000002500003155', { fails3ds: true });
    expect(await errorNow()).toBe('setup_intent_authentication_failure');
    await shop.stripe.checkout.sessions.expire(id);
    expect(await errorNow()).toBe('setup_intent_authentication_failure');
  });
});

describe('the page of the fake Stripe', () => {
  const fill = (url: string, fields: Record<string, string>): Promise<Response> =>
    fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
  const CARD = { number: GOOD, expiry: '12/34', cvc: '123' };

  test('is a form that leads back to the shop when it is paid', async () => {
    const { id, url } = await shop.session({
      success_url: 'https://shop.example/back?s={CHECKOUT_SESSION_ID}',
    });
    const html = await (await fetch(url)).text();
    expect(html).toContain('https://shop.example/no');
    const paid = await fill(url, CARD);
    expect(paid.status).toBe(303);
    expect(paid.headers.get('location')).toBe(`https://shop.example/back?s=${id}`);
    expect((await fetch(url, { redirect: 'manual' })).status).toBe(303);
  });

  test('says why a card was declined, and asks again', async () => {
    const { url } = await shop.session();
    const declined = await fill(url, { ...CARD, number: '4000000000009995' });
    expect(declined.status).toBe(402);
    expect(await declined.text()).toContain('insufficient funds');
    expect((await fill(url, { ...CARD, expiry: '12/20' })).status).toBe(402);
    expect((await fill(url, CARD)).status).toBe(303);
  });

  test('leads to the bank and back', async () => {
    const { url } = await shop.session();
    const challenged = await fill(url, { ...CARD, number: '4000002500003155' });
    const bank = challenged.headers.get('location') ?? '';
    expect(bank).toContain('/3ds/');
    const failed = await fill(bank, { answer: 'fail' });
    expect(failed.headers.get('location')).toBe(url);
    expect(await (await fetch(url)).text()).toContain('role="alert"');
    await fill(url, { ...CARD, number: '4000002500003155' });
    const passed = await fill(bank, { answer: 'complete' });
    expect(passed.headers.get('location')).toBe('https://shop.example/back');
  });
});
