// Who may call the fake, what it refuses, and how it fails when it is told to.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import Stripe from 'stripe';
import { until } from '../../support/until.ts';
import { openStripeFake, type StripeFake } from './fake.ts';
import { errorOf, LINE, openShop, type Shop } from './shop.ts';

let fake: StripeFake;
let shop: Shop;
beforeAll(async () => {
  fake = await openStripeFake();
  shop = openShop(fake);
});
afterAll(() => fake.close());

const back = { success_url: 'https://shop.example/' };

/** Sends what the package would not. */
async function raw(path: string, body: string): Promise<{ status: number; error: object }> {
  const response = await fetch(`${fake.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${shop.account.testKey}` },
    body,
  });
  const { error } = (await response.json()) as { error: object };
  return { status: response.status, error };
}

describe('a key of the fake Stripe', () => {
  test('tells its account and its mode', async () => {
    const { account } = shop;
    for (const [key, live] of [
      [account.testKey, false],
      [account.liveKey, true],
    ] as const) {
      expect((await shop.with(key).accounts.retrieveCurrent()).id).toBe(account.id);
      expect((await shop.with(key).balance.retrieve()).livemode).toBe(live);
    }
    expect(account.testKey).toStartWith('sk_test_');
    expect(account.liveKey).toStartWith('sk_live_');
  });

  test('that nobody has is refused', async () => {
    const error = await errorOf(shop.with('sk_test_unknown').balance.retrieve());
    expect(error).toBeInstanceOf(Stripe.errors.StripeAuthenticationError);
    expect(error.statusCode).toBe(401);
  });

  test('that was rolled stops, and the new one goes on', async () => {
    const rolled = openShop(fake);
    const next = rolled.account.rollKey('test');
    const error = await errorOf(rolled.stripe.balance.retrieve());
    expect(error).toMatchObject({ statusCode: 401, code: 'api_key_expired' });
    expect((await rolled.with(next).accounts.retrieveCurrent()).id).toBe(rolled.account.id);
    expect((await rolled.with(rolled.account.liveKey).balance.retrieve()).livemode).toBe(true);
  });

  test('that is restricted may do what it is allowed, and no more', async () => {
    const key = shop.account.restrictedKey('test', ['charge_read', 'payment_intent_write']);
    const stripe = shop.with(key);
    expect(key).toStartWith('rk_test_');
    expect((await stripe.charges.list()).object).toBe('list');
    expect((await stripe.paymentIntents.list()).object).toBe('list');
    const error = await errorOf(stripe.refunds.create({ payment_intent: 'pi_1' }));
    expect(error).toBeInstanceOf(Stripe.errors.StripePermissionError);
    expect(error.message).toContain('rak_charge_write');
  });

  test('sees nothing of the other mode or of another account', async () => {
    const { id } = await shop.session();
    const clients = [shop.with(shop.account.liveKey), openShop(fake).stripe];
    for (const stripe of clients) {
      const error = await errorOf(stripe.checkout.sessions.retrieve(id));
      expect(error).toMatchObject({ statusCode: 404, code: 'resource_missing' });
    }
  });
});

describe('a call of the fake Stripe is refused', () => {
  const SESSIONS = '/v1/checkout/sessions';

  test.each<[string, string, string, object]>([
    ['an unknown parameter', '/v1/customers', 'nickname=x', { code: 'parameter_unknown' }],
    [
      'one inside of another',
      SESSIONS,
      'payment_intent_data[captur_method]=manual',
      { param: 'payment_intent_data[captur_method]' },
    ],
    ['a missing one', '/v1/payment_intents', 'amount=100', { code: 'parameter_missing' }],
    [
      'no integer',
      '/v1/payment_intents',
      'amount=1.5&currency=usd',
      { code: 'parameter_invalid_integer' },
    ],
    ['no value of an enum', SESSIONS, 'mode=gift', { param: 'mode' }],
    ['an empty value', '/v1/customers', 'email=', { code: 'parameter_invalid_empty' }],
    ['no address', '/v1/customers', 'email=ada@example', { code: 'email_invalid' }],
    ['one beyond ASCII', '/v1/customers', 'email=ädä@example.com', { code: 'email_invalid' }],
    ['too long a value of metadata', '/v1/customers', `metadata[k]=${'x'.repeat(501)}`, {}],
    ['too long a key of metadata', '/v1/customers', `metadata[${'k'.repeat(41)}]=x`, {}],
    [
      'too many keys of metadata',
      '/v1/customers',
      Array.from({ length: 51 }, (_, index) => `metadata[k${index}]=x`).join('&'),
      {},
    ],
  ])('with %s', async (_what, path, body, error) => {
    const answer = await raw(path, body);
    expect(answer).toMatchObject({
      status: 400,
      error: { type: 'invalid_request_error', ...error },
    });
  });

  test('at an unknown path', async () => {
    expect((await raw('/v1/nowhere', '')).status).toBe(404);
  });

  test('when it expands what it cannot', async () => {
    const { id } = await shop.session();
    const expand = ['shipping'];
    const error = await errorOf(shop.stripe.checkout.sessions.retrieve(id, { expand }));
    expect(error.param).toBe('expand');
  });
});

describe('a planned fault of the fake Stripe', () => {
  const BALANCE = { method: 'GET', path: /^\/v1\/balance$/ };
  const ask = () => shop.stripe.balance.retrieve();

  test.each<['rate_limit' | 'lock_timeout', string]>([
    ['rate_limit', 'rate_limit'],
    ['lock_timeout', 'lock_timeout'],
  ])('is %s', async (how, code) => {
    fake.next(BALANCE, how);
    expect(await errorOf(ask())).toMatchObject({ statusCode: 429, code });
    expect((await ask()).object).toBe('balance');
  });

  test('is a lost connection', async () => {
    for (const how of ['lose_request', 'lose_answer'] as const) {
      fake.next(BALANCE, how);
      expect(await errorOf(ask())).toBeInstanceOf(Stripe.errors.StripeConnectionError);
      expect((await ask()).object).toBe('balance');
    }
  });

  test('comes as often as planned, and only for the planned calls', async () => {
    fake.next({ ...BALANCE, count: 2 }, 'error_500');
    expect((await shop.stripe.charges.list()).object).toBe('list');
    for (const _ of [1, 2]) expect((await errorOf(ask())).statusCode).toBe(500);
    expect((await ask()).object).toBe('balance');
  });

  test('may be any error', async () => {
    const error = { type: 'card_error', code: 'card_declined', message: 'No.' } as const;
    fake.next(BALANCE, { error });
    expect(await errorOf(ask())).toMatchObject({ statusCode: 402, code: 'card_declined' });
  });

  test('that waits longer than the caller does still executes the call', async () => {
    const made = (): number => fake.books(shop.account.id, 'test').sessions.length;
    const before = made();
    const { promise, resolve } = Promise.withResolvers<void>();
    fake.next({ method: 'POST', path: /sessions$/ }, { until: promise });
    const call = shop.stripe.checkout.sessions.create(
      { mode: 'payment', line_items: [LINE(1000, 'usd')], ...back },
      { timeout: 50 },
    );
    expect(await errorOf(call)).toBeInstanceOf(Stripe.errors.StripeConnectionError);
    expect(made()).toBe(before);
    resolve();
    await until('it is done', () => made() === before + 1);
  });

  test('that is slow is too slow for a caller who does not wait', async () => {
    fake.slow(1000);
    const hasty = shop.stripe.balance.retrieve({}, { timeout: 20 });
    expect(await errorOf(hasty)).toBeInstanceOf(Stripe.errors.StripeConnectionError);
    fake.slow(0);
    expect((await ask()).object).toBe('balance');
  });

  test('that is away answers nobody, and then all', async () => {
    fake.away(true);
    expect(await errorOf(ask())).toBeInstanceOf(Stripe.errors.StripeConnectionError);
    fake.away(false);
    expect((await ask()).object).toBe('balance');
  });

  test('leaves each request recorded', async () => {
    await shop.stripe.customers.create({ email: 'a@example.com' }, { idempotencyKey: 'once' });
    expect(fake.requests().at(-1)).toEqual({
      method: 'POST',
      path: '/v1/customers',
      query: '',
      idempotencyKey: 'once',
      body: 'email=a%40example.com',
    });
  });
});
