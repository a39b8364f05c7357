// Idempotency keys of the fake, as Stripe documents them.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import Stripe from 'stripe';
import { until } from '../../support/until.ts';
import { openStripeFake, type StripeFake } from './fake.ts';
import { errorOf, isReplayed, openShop, type Shop } from './shop.ts';

const DAY_MS = 24 * 60 * 60_000;
const CREATE = { method: 'POST', path: /^\/v1\/payment_intents$/ };

let fake: StripeFake;
let shop: Shop;
beforeAll(async () => {
  fake = await openStripeFake();
  shop = openShop(fake);
});
afterAll(() => fake.close());

const newKey = (): string => crypto.randomUUID();
const create = (idempotencyKey: string, amount = 1000) =>
  shop.stripe.paymentIntents.create({ amount, currency: 'usd' }, { idempotencyKey });
const made = (): number => fake.books(shop.account.id, 'test').intents.length;

/** How many intents a piece of work makes. */
async function madeBy(work: () => Promise<unknown>): Promise<number> {
  const before = made();
  await work();
  return made() - before;
}

describe('a Stripe idempotency key', () => {
  test('answers the same again, and does nothing', async () => {
    const key = newKey();
    const first = await create(key);
    expect(isReplayed(first)).toBe(false);
    await shop.stripe.paymentIntents.cancel(first.id);
    expect(
      await madeBy(async () => {
        const again = await create(key);
        // As it was then, not as it is now.
        expect(again).toMatchObject({ id: first.id, status: 'requires_payment_method' });
        expect(isReplayed(again)).toBe(true);
      }),
    ).toBe(0);
  });

  test('is refused with other parameters, or for another call', async () => {
    const key = newKey();
    await create(key);
    const { StripeIdempotencyError } = Stripe.errors;
    const other = await errorOf(create(key, 1001));
    expect(other).toBeInstanceOf(StripeIdempotencyError);
    expect(other).toMatchObject({ statusCode: 400, rawType: 'idempotency_error' });
    const elsewhere = errorOf(shop.stripe.customers.create({}, { idempotencyKey: key }));
    expect(await elsewhere).toBeInstanceOf(StripeIdempotencyError);
  });

  test('is forgotten after a day, and not before', async () => {
    const key = newKey();
    await create(key);
    fake.advance(DAY_MS - 60_000);
    expect(await madeBy(() => create(key))).toBe(0);
    fake.advance(60_000);
    expect(await madeBy(() => create(key))).toBe(1);
  });

  test('belongs to one account and one mode', async () => {
    const key = newKey();
    await create(key);
    const live = shop.with(shop.account.liveKey).customers.create({}, { idempotencyKey: key });
    expect((await live).livemode).toBe(true);
    const other = openShop(fake).stripe.customers.create({}, { idempotencyKey: key });
    expect((await other).object).toBe('customer');
  });

  test('whose call is in progress is in use', async () => {
    const key = newKey();
    const { promise, resolve } = Promise.withResolvers<void>();
    fake.next(CREATE, { until: promise });
    const first = create(key);
    await until('it has arrived', () => fake.requests().at(-1)?.idempotencyKey === key);
    const error = await errorOf(create(key));
    resolve();
    expect(error).toMatchObject({ statusCode: 409, code: 'idempotency_key_in_use' });
    const { id } = await first;
    expect((await create(key)).id).toBe(id);
  });

  test('sent by many at once makes one object', async () => {
    const key = newKey();
    expect(
      await madeBy(() => Promise.allSettled(Array.from({ length: 50 }, () => create(key)))),
    ).toBe(1);
  });
});

describe('a Stripe idempotency key keeps', () => {
  test('a 500, with its effect or without', async () => {
    for (const [how, effect] of [
      ['error_500', 0],
      ['error_500_after', 1],
    ] as const) {
      const key = newKey();
      fake.next(CREATE, how);
      expect(
        await madeBy(async () => {
          expect(await errorOf(create(key))).toMatchObject({ statusCode: 500 });
          const again = await errorOf(create(key));
          expect(again).toMatchObject({ statusCode: 500, rawType: 'api_error' });
          expect(again.headers?.['idempotent-replayed']).toBe('true');
        }),
      ).toBe(effect);
    }
  });

  test('a decline', async () => {
    const idempotencyKey = newKey();
    const saved = await shop.saved('4000000000000341');
    const params = { amount: 1000, currency: 'usd', ...saved, off_session: true, confirm: true };
    const pay = () => shop.stripe.paymentIntents.create(params, { idempotencyKey });
    expect(
      await madeBy(async () => {
        expect(await errorOf(pay())).toMatchObject({ statusCode: 402, code: 'card_declined' });
        expect(await errorOf(pay())).toMatchObject({ statusCode: 402, code: 'card_declined' });
      }),
    ).toBe(1);
  });

  test('the answer that was lost', async () => {
    const key = newKey();
    fake.next(CREATE, 'lose_answer');
    expect(
      await madeBy(async () => {
        expect(await errorOf(create(key))).toBeInstanceOf(Stripe.errors.StripeConnectionError);
        expect(isReplayed(await create(key))).toBe(true);
      }),
    ).toBe(1);
  });

  test.each<['lose_request' | 'rate_limit' | 'lock_timeout']>([
    ['lose_request'],
    ['rate_limit'],
    ['lock_timeout'],
  ])('nothing of a call that did not execute: %s', async (how) => {
    const key = newKey();
    fake.next(CREATE, how);
    await errorOf(create(key));
    expect(isReplayed(await create(key))).toBe(false);
  });

  test('nothing of a call whose parameters are not valid', async () => {
    const key = newKey();
    expect((await errorOf(create(key, 1))).code).toBe('amount_too_small');
    expect((await create(key, 1000)).amount).toBe(1000);
  });
});
