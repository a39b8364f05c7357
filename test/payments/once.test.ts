// A checkout is paid once under any concurrency, and only the amount that the buyer saw is charged.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Order } from '../../src/payments/payments.ts';
import { chargedFor } from '../support/bank.ts';
import type { Means } from '../support/means.ts';
import { BUYER, type Session } from '../support/shop.ts';
import { PATIENCE_MS, Shop, type Wish } from './shop.ts';

setDefaultTimeout(PATIENCE_MS);

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
});
afterAll(() => shop.close());

const kinds = (outcomes: readonly { kind: string }[]) =>
  outcomes.map(({ kind }) => kind).toSorted();
const times = <T>(count: number, task: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => task(index)));
const expire = ({ id }: Session) => shop.server.call('POST', `/checkouts/${id}/expire`);

/** What was charged for a checkout. */
async function charged(session: Session): Promise<bigint[]> {
  const payments: { id: string }[] = await shop.paymentsOf(session);
  const charges = await chargedFor(
    shop.server,
    payments.map(({ id }) => id),
  );
  return charges.map(({ amount }) => amount);
}

describe.each<[Means]>([['good'], ['answerLost'], ['iban']])('a checkout paid with %s', (means) => {
  test.each([2, 20])('%d times at once is charged once', async (count) => {
    const session = await shop.checkout();
    const outcomes = await times(count, () => shop.pay(session, { means }));
    const refused = Array.from({ length: count - 1 }, () => 'not_open');
    expect(kinds(outcomes)).toEqual(['attempted', ...refused]);
    const [payment, ...more] = await shop.paymentsOf(session);
    expect(more).toEqual([]);
    await shop.paymentThatIs('succeeded', payment.id);
    expect(await charged(session)).toHaveLength(1);
    expect(await shop.pay(session, { means })).toEqual({ kind: 'not_open' });
    await shop.events(payment.id, 1);
  });
});

test('a payment looked at by many while it is decided is decided once', async () => {
  const payment = await shop.buy({ means: 'iban' });
  const looks = () => shop.server.payments.refresh(payment.id);
  await Promise.all([times(20, looks), shop.paymentThatIs('succeeded', payment.id)]);
  await times(20, looks);
  await shop.events(payment.id, 1);
  await shop.events((await shop.payment(payment.id)).invoice_id, 1);
});

test('loading the page gives up no charge that may still be in flight', async () => {
  const payment = await shop.buy({ means: 'requestLost' });
  await times(5, () => shop.server.payments.refresh(payment.id));
  expect((await shop.payment(payment.id)).status).toBe('processing');
  await shop.paymentThatIs('errored', payment.id);
});

test('a checkout declined, then paid: one payment for each attempt, and one of them is paid', async () => {
  const session = await shop.checkout();
  for (const means of ['declined', 'insufficient', 'error', 'good'] as const) {
    await shop.pay(session, { means });
  }
  const payments = await shop.paymentsOf(session);
  expect(payments.map(({ status }) => status)).toEqual([
    'succeeded',
    'errored',
    'failed',
    'failed',
  ]);
  expect(await charged(session)).toEqual([10_000n]);
  expect((await shop.read(`/checkouts/${session.id}`)).status).toBe('paid');
});

describe('a checkout paid and expired at the same moment', () => {
  test('by the merchant is one of the two, never both', async () => {
    const results = await times(20, async (index) => {
      const session = await shop.checkout();
      // Either may begin first.
      const [paid, expired] =
        index % 2 === 0
          ? await Promise.all([shop.pay(session), expire(session)])
          : await Promise.all([expire(session), shop.pay(session)]).then(
              ([a, b]) => [b, a] as const,
            );
      const { status } = await shop.read(`/checkouts/${session.id}`);
      const taken = await charged(session);
      return [paid.kind, expired.status, status, taken.length];
    });
    for (const result of results) {
      const legal = [
        ['attempted', 409, 'paid', 1],
        ['not_open', 200, 'expired', 0],
      ];
      expect(legal).toContainEqual(result);
    }
  });

  test('by the clock is one of the two, never both', async () => {
    const { sql } = shop.server;
    await times(20, async () => {
      const session = await shop.checkout();
      const [paid] = await Promise.all([
        shop.pay(session),
        sql`update checkouts set expires_at = now() - interval '1 s' where id = ${session.id}`,
      ]);
      const { status } = await shop.read(`/checkouts/${session.id}`);
      const isPaid = paid.kind === 'attempted';
      expect([status, await charged(session)]).toEqual(
        isPaid ? ['paid', [10_000n]] : ['expired', []],
      );
    });
  });

  test('while its payment is under way is still paid, and is not open again where that fails', async () => {
    const { sql } = shop.server;
    for (const [means, status] of [
      ['iban', 'paid'],
      ['ibanFails', 'expired'],
    ] as const) {
      const session = await shop.checkout();
      await shop.pay(session, { means });
      await sql`update checkouts set expires_at = now() - interval '1 s' where id = ${session.id}`;
      expect((await shop.checkoutAfter(session)).status).toBe(status);
      expect(await shop.pay(session)).toEqual({ kind: 'not_open' });
    }
  });
});

// prettier-ignore
const CHANGED: [string, Wish][] = [
  ['another total',                    { total: '99.99' }],
  ['nothing',                          { total: '0' }],
  ['another currency at its number',   { currency: 'KWD', total: '100' }],
  ['a currency without a price',       { currency: 'EUR' }],
  ['a total that a discount gave',     { total: '90.00', discountCode: null }],
];
test.each(CHANGED)('a checkout whose page showed %s charges nothing', async (_what, wish) => {
  const session = await shop.checkout();
  expect(await shop.pay(session, wish)).toEqual({ kind: 'total_changed' });
  expect(await shop.paymentsOf(session)).toEqual([]);
  expect((await shop.read(`/checkouts/${session.id}`)).status).toBe('active');
  expect(await shop.pay(session)).toEqual({ kind: 'attempted' });
});

test("a checkout's pinned currency cannot be switched, another one's can", async () => {
  const pinned = await shop.checkout({ currency: 'USD' });
  const yen = { currency: 'JPY', total: '10000' };
  expect(await shop.pay(pinned, yen)).toEqual({ kind: 'total_changed' });
  const free = await shop.checkout();
  expect(await shop.pay(free, yen)).toEqual({ kind: 'attempted' });
  expect(await shop.lastOf(free)).toMatchObject({ amount: '10000', currency: 'JPY' });
  const { amount, currency, status } = await shop.read(`/checkouts/${free.id}`);
  expect([amount, currency, status]).toEqual(['10000', 'JPY', 'paid']);
});

test('a checkout whose price was replaced since is not charged at the old amount', async () => {
  const { server } = shop;
  const body = { name: 'Bulb', prices: [{ amount: '5', currency: 'USD' }] };
  const { json: bulb } = await server.call('POST', '/products', { body });
  const session = await shop.checkout({ product_id: bulb.id });
  await server.call('POST', `/products/${bulb.id}/prices/${bulb.prices[0].id}/archive`);
  await server.call('POST', `/products/${bulb.id}/prices`, {
    body: { amount: '6', currency: 'USD' },
  });
  expect(await shop.pay(session, { total: '5.00' })).toEqual({ kind: 'total_changed' });
  expect(await shop.pay(session, { total: '6.00' })).toEqual({ kind: 'attempted' });
});

test('a checkout is locked after ten attempts, however many come at once', async () => {
  const session = await shop.checkout();
  for (let attempt = 1; attempt <= 8; attempt += 1) {
    expect(await shop.pay(session, { means: 'declined' })).toEqual({ kind: 'attempted' });
  }
  const decline = () => shop.pay(session, { means: 'declined' });
  while ((await shop.paymentsOf(session)).length < 10) await times(5, decline);
  expect(await shop.pay(session)).toEqual({ kind: 'locked' });
  expect(await times(5, () => shop.pay(session))).toEqual(
    Array.from({ length: 5 }, () => ({ kind: 'locked' })),
  );
  expect(await shop.paymentsOf(session)).toHaveLength(10);
  expect(await charged(session)).toEqual([]);
});

const card = (fields: object): Order['instrument'] => ({
  type: 'card',
  number: '4242424242424242',
  expiry: '12/34',
  cvc: '123',
  ...fields,
});
// prettier-ignore
const BAD: [string, Order['instrument'], string | null][] = [
  ['a number of nobody',   card({ number: '4111111111111111' }),                  'incorrect_number'],
  ['an expired card',      card({ expiry: '10/26' }),                             'expired_card'],
  ['a month 13',           card({ expiry: '13/34' }),                             'invalid_expiry'],
  ['a short code',         card({ cvc: '12' }),                                   'incorrect_cvc'],
  ['an account of nobody', { type: 'bank_debit', iban: 'DE02120300000000202051' }, 'incorrect_iban'],
];
test.each(BAD)(
  'a payment with %s fails, and its card number is kept nowhere',
  async (_what, instrument, code) => {
    const payment = await shop.buy({ instrument });
    expect(payment).toMatchObject({ status: 'failed', failure_code: code });
    expect(typeof payment.failure_message).toBe('string');
    const number = instrument!.type === 'card' ? instrument!.number : instrument!.iban;
    for (const table of ['payments', 'sandbox_charges', 'events', 'checkouts']) {
      const rows = await shop.server.sql.unsafe(
        `select 1 from ${table} t where t::text like '%${number}%'`,
      );
      expect([table, rows.length]).toEqual([table, 0]);
    }
    expect(shop.server.logged.join('\n')).not.toContain(number);
  },
);

test('paying with an unknown checkout token is refused as not open', async () => {
  for (const token of ['', 'x', 'A'.repeat(43), '../admin', '\u0000']) {
    expect(await shop.pay({ id: '', token })).toEqual({ kind: 'not_open' });
  }
});

describe('a checkout of a buy link', () => {
  async function visit(): Promise<Session> {
    const path = `/buy-links/${shop.productId}/checkout`;
    const { json } = await shop.server.call('POST', path, { key: null });
    return { id: json.id, token: json.token };
  }

  test('needs the name and address of the buyer', async () => {
    const session = await visit();
    expect(await shop.pay(session)).toEqual({ kind: 'email_required' });
    expect(await shop.paymentsOf(session)).toEqual([]);
  });

  test('lets buyers correct their name and address', async () => {
    const session = await visit();
    await shop.pay(session, { email: 'tpyo@example.com', name: 'Adda', means: 'declined' });
    await shop.pay(session, { email: 'typo@example.com', name: 'Ada' });
    const payment = await shop.lastOf(session);
    expect(payment).toMatchObject({ status: 'succeeded', customer_email: 'typo@example.com' });
    expect(await shop.read(`/customers/${payment.customer_id}`)).toMatchObject({
      email: 'typo@example.com',
      name: 'Ada',
    });
  });

  test('a checkout made by the API keeps the name and email that it was made with', async () => {
    const session = await shop.checkout({ customer_name: 'Ada' });
    await shop.pay(session, { email: 'somebody@example.com', name: 'Eve' });
    const { customer_email, customer_id } = await shop.lastOf(session);
    expect(customer_email).toBe(BUYER);
    expect(customer_id).not.toBeNull();
    const { customer_name } = await shop.read(`/checkouts/${session.id}`);
    expect(customer_name).toBe('Ada');
  });
});
