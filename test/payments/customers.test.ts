// Which customer a payment belongs to: the merchant's own id decides, else the e-mail address, else
// it is a new customer.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Means } from '../support/means.ts';
import { sessionOf } from '../support/shop.ts';
import { type Fields, made, PATIENCE_MS, type Payment, Shop } from './shop.ts';

setDefaultTimeout(PATIENCE_MS);

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
});
afterAll(() => shop.close());

async function known(body: Fields, key?: string): Promise<string> {
  const call = key === undefined ? { body } : { body, key };
  return made(await shop.server.call('POST', '/customers', call)).id;
}
const customerOf = async (checkout: Fields): Promise<string> =>
  (await shop.buy({ checkout })).customer_id;

test('a payment finds its customer by the external id, before the email address', async () => {
  const one = await known({ external_customer_id: 'u1', email: 'one@example.com', name: 'One' });
  await known({ email: 'two@example.com' });
  const checkout = {
    external_customer_id: 'u1',
    customer_email: 'two@example.com',
    customer_name: 'Two',
  };
  expect(await customerOf(checkout)).toBe(one);
  // The merchant's data of the customer stays.
  expect(await shop.read(`/customers/${one}`)).toMatchObject({
    email: 'one@example.com',
    name: 'One',
  });
  await shop.events(one, 1);
});

test('a payment fills in what its customer lacks, and writes one event', async () => {
  const id = await known({ external_customer_id: 'u2' });
  const checkout = {
    external_customer_id: 'u2',
    customer_email: 'u2@example.com',
    customer_name: 'Zwei',
  };
  expect(await customerOf(checkout)).toBe(id);
  expect(await customerOf(checkout)).toBe(id);
  expect(await shop.read(`/customers/${id}`)).toMatchObject({
    email: 'u2@example.com',
    name: 'Zwei',
  });
  const [, updated] = await shop.events(id, 2);
  expect(updated).toMatchObject({
    type: 'customer.updated',
    data: { changes: ['email', 'name'], email: 'u2@example.com', name: 'Zwei' },
  });
});

test('an empty name from the merchant leaves a customer without a name', async () => {
  const id = await customerOf({ customer_email: 'nameless@example.com', customer_name: '' });
  expect(await shop.read(`/customers/${id}`)).toMatchObject({ name: null });
});

test('a payment finds its customer by email whatever its case; of several the oldest', async () => {
  const oldest = await known({ email: 'Three@Example.com', external_customer_id: 'u3' });
  await known({ email: 'three@example.com' });
  expect(await customerOf({ customer_email: 'THREE@example.COM' })).toBe(oldest);
  expect(await customerOf({ customer_email: 'three@example.com' })).toBe(oldest);
});

test('a payment with a new external id makes a new customer, even with a known email', async () => {
  const id = await known({ email: 'four@example.com' });
  const other = await customerOf({
    customer_email: 'four@example.com',
    external_customer_id: 'u4',
  });
  expect(other).not.toBe(id);
  expect(await shop.read('/customers/u4')).toMatchObject({ id: other, email: 'four@example.com' });
});

test('a payment never finds a customer of another organisation', async () => {
  const theirs = await known(
    { email: 'five@example.com', external_customer_id: 'u5' },
    shop.server.other.testKey,
  );
  const live = await known(
    { email: 'five@example.com', external_customer_id: 'u5' },
    shop.server.organisation.liveKey,
  );
  const ours = await customerOf({ customer_email: 'five@example.com', external_customer_id: 'u5' });
  expect([theirs, live]).not.toContain(ours);
  expect([theirs, live]).not.toContain(await customerOf({ customer_email: 'FIVE@example.com' }));
});

test.each<[string, Fields]>([
  ['an address', { customer_email: 'six@example.com' }],
  ['an external id', { customer_email: 'seven@example.com', external_customer_id: 'u7' }],
])('twenty first purchases at once by %s make one customer', async (_what, checkout) => {
  const payments: Payment[] = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      shop.buy({
        checkout: {
          ...checkout,
          // Addresses are compared without case.
          customer_email:
            index % 2 === 0
              ? checkout['customer_email']
              : String(checkout['customer_email']).toUpperCase(),
        },
      }),
    ),
  );
  expect(payments.map(({ status }) => status)).toEqual(payments.map(() => 'succeeded'));
  const [id, ...more] = new Set(payments.map((payment) => payment.customer_id));
  expect(more).toEqual([]);
  await shop.events(id, 1);
  expect((await shop.read(`/payments?customer_id=${id}`)).data).toHaveLength(20);
});

test('a failed payment makes no customer', async () => {
  const payment = await shop.buy({
    means: 'declined',
    checkout: { customer_email: 'eight@example.com' },
  });
  expect(payment.customer_id).toBeNull();
  expect((await shop.read('/customers?email=eight@example.com')).data).toEqual([]);
});

test('invoices of many payments at once are numbered without a gap', async () => {
  const before: string[] = (await shop.read('/invoices?limit=200')).data.map(
    ({ number }: Payment) => number,
  );
  await Promise.all(Array.from({ length: 20 }, () => shop.buy()));
  const { data } = await shop.read('/invoices?limit=200');
  const numbers: number[] = data
    .map(({ number }: Payment) => Number(number.slice(-6)))
    .toSorted((a: number, b: number) => a - b);
  expect(numbers).toEqual(Array.from({ length: before.length + 20 }, (_, index) => index + 1));
});

test("a customer's invoices are listed newest first", async () => {
  for (let count = 0; count < 8; count += 1) await shop.buy();
  const { data } = await shop.read('/invoices?limit=8');
  const numbers: string[] = data.map(({ number }: Payment) => number);
  const issued = (
    await shop.server.sql<{ number: string }[]>`
    select number from invoices where organisation_id = ${shop.server.organisation.id}
    order by number desc limit 8`
  ).map(({ number }) => number);
  expect(numbers).toEqual(issued);
});

describe('a payment that is not made is found by its known customer', () => {
  let id: string;
  beforeAll(async () => {
    id = await known({ external_customer_id: 'u9', email: 'nine@example.com' });
  });
  const named = (): [string, Fields][] => [
    ['its id', { customer_id: id }],
    ['the external id', { external_customer_id: 'u9', customer_email: 'other@example.com' }],
    ['the address', { customer_email: 'NINE@example.com' }],
  ];
  const listed = async (): Promise<string[]> =>
    (await shop.read(`/payments?customer_id=${id}&limit=200`)).data.map((one: Payment) => one.id);

  test.each<[string, Means]>([
    ['failed', 'declined'],
    ['errored', 'error'],
    ['processing', 'iban'],
    ['requires_action', 'challenge'],
  ])('where it is %s', async (status, means) => {
    for (const [what, checkout] of named()) {
      const payment = await shop.buy({ means, checkout });
      expect([what, payment.status, payment.customer_id]).toEqual([what, status, id]);
      expect(await listed()).toContain(payment.id);
    }
  });

  test('where the buyer gave it up, and its event says whose it was', async () => {
    const { id: paymentId } = await shop.buy({
      means: 'challenge',
      checkout: { external_customer_id: 'u9' },
    });
    await shop.server.payments.giveUp(paymentId);
    expect(await shop.payment(paymentId)).toMatchObject({ status: 'canceled', customer_id: id });
    const [event] = await shop.events(paymentId, 1);
    expect([event.type, event.data.accountId]).toEqual(['payment.failed', id]);
  });

  test('and one that is made after it has the same customer, who gets its card', async () => {
    const session = await shop.checkout({ customer_id: id });
    await shop.pay(session, { means: 'declined' });
    await shop.pay(session);
    const payments = await shop.paymentsOf(session);
    expect(payments.map(({ status, customer_id: of }) => [status, of])).toEqual([
      ['succeeded', id],
      ['failed', id],
    ]);
  });

  test('while a buyer behind a buy link is nobody before a payment is made', async () => {
    const path = `/buy-links/${shop.productId}/checkout`;
    const session = sessionOf((await shop.server.call('POST', path, { key: null })).json);
    await shop.pay(session, { means: 'declined', email: 'nine@example.com' });
    expect(await shop.lastOf(session)).toMatchObject({ status: 'failed', customer_id: null });
  });
});
