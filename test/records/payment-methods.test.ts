// Which saved instrument of a customer is charged.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ids } from '../../src/platform/ids.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import {
  findPaymentMethod,
  findPaymentMethods,
  listChargeable,
  type NewPaymentMethod,
  putPaymentMethod,
} from '../../src/records/payment-methods.ts';
import { freshDatabase } from '../support/database.ts';

const NOW = Date.UTC(2026, 10, 15);

const scope = { organisationId: ids.next(), mode: 'test' } as const;

let database: Awaited<ReturnType<typeof freshDatabase>>;
let sql: Sql;
beforeAll(async () => {
  database = await freshDatabase();
  sql = openPool(database.url, { max: 4, applicationName: 'payment methods test' });
  await sql`
    insert into organisations (id, name, created_at)
    values (${scope.organisationId}, 'Shop', ${new Date(NOW)})`;
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

async function newCustomer(): Promise<string> {
  const id = ids.next();
  const at = new Date(NOW);
  await sql`
    insert into customers (id, organisation_id, mode, metadata, event_sequence, created_at, updated_at)
    values (${id}, ${scope.organisationId}, ${scope.mode}, '{}', 1, ${at}, ${at})`;
  return id;
}
const visa = (customerId: string, saved: string): NewPaymentMethod => ({
  id: ids.next(),
  customerId,
  subscriptionId: null,
  processor: 'sandbox',
  saved,
  type: 'card',
  brand: 'visa',
  last4: '4242',
  expiry: { month: 12, year: 2034 },
});
const debit = (customerId: string, saved: string): NewPaymentMethod => ({
  ...visa(customerId, saved),
  type: 'bank_debit',
  brand: null,
  last4: '3000',
  expiry: null,
});
const put = (method: NewPaymentMethod, now = NOW): Promise<boolean> =>
  putPaymentMethod(sql, scope, { method, now });
const defaultOf = async (customerId: string) =>
  (await findPaymentMethod(sql, scope, { customerId, subscriptionId: null }))?.saved ?? null;

test('a customer who saved nothing has no payment method', async () => {
  expect(await defaultOf(await newCustomer())).toBeNull();
});

test.each([
  ['a card', visa],
  ['an account', debit],
])('%s that is saved is found as it was put', async (_what, make) => {
  const method = make(await newCustomer(), 'first');
  expect(await put(method)).toBe(true);
  const found = await findPaymentMethod(sql, scope, method);
  expect(found).toEqual({ ...method, createdAt: new Date(NOW) });
});

test('the newest payment method is the default; of one moment, the one with the later id', async () => {
  const customerId = await newCustomer();
  const [early, first, second, third] = [
    visa(customerId, 'early'),
    visa(customerId, 'first'),
    debit(customerId, 'second'),
    visa(customerId, 'third'),
  ];
  for (const method of [third, first, second]) await put(method);
  expect(await defaultOf(customerId)).toBe('third');
  const turned = await newCustomer();
  for (const method of [third, second, first])
    await put({ ...method, id: ids.next(), customerId: turned });
  expect(await defaultOf(turned)).toBe('first');
  await put(early, NOW + 1);
  expect(await defaultOf(customerId)).toBe('early');
});

test('saving the same payment method again changes nothing', async () => {
  const customerId = await newCustomer();
  const first = visa(customerId, 'first');
  await put(first);
  await put(visa(customerId, 'second'), NOW + 1);
  const again = { ...debit(customerId, 'first'), id: first.id };
  for (const method of [first, again, visa(customerId, 'first')]) {
    expect(await put(method, NOW + 2)).toBe(false);
  }
  expect(await defaultOf(customerId)).toBe('second');
  const stored = await sql`select 1 from payment_methods where customer_id = ${customerId}`;
  expect(stored).toHaveLength(2);
});

test('a payment method put many times at once is new once', async () => {
  const customerId = await newCustomer();
  const made = await Promise.all(
    Array.from({ length: 20 }, () => put(visa(customerId, 'at once'))),
  );
  expect(made.filter(Boolean)).toHaveLength(1);
});

test('a detached payment method is charged no more, and does not come back by being put again', async () => {
  const customerId = await newCustomer();
  await put(visa(customerId, 'first'));
  await put(visa(customerId, 'second'), NOW + 1);
  await sql`update payment_methods set detached_at = ${new Date(NOW)} where saved = 'second' and customer_id = ${customerId}`;
  expect(await defaultOf(customerId)).toBe('first');
  expect(await put(visa(customerId, 'second'), NOW + 2)).toBe(false);
  expect(await defaultOf(customerId)).toBe('first');
});

test('a payment method is hidden from another customer, mode and organisation', async () => {
  const customerId = await newCustomer();
  await put(visa(customerId, 'mine'));
  expect(await defaultOf(await newCustomer())).toBeNull();
  for (const other of [
    { ...scope, mode: 'live' as const },
    { ...scope, organisationId: ids.next() },
  ]) {
    expect(await findPaymentMethod(sql, other, { customerId, subscriptionId: null })).toBeNull();
  }
});

test('a subscription is charged to the method it was bought with, or to a later one for all', async () => {
  const customerId = await newCustomer();
  const [one, other, manual] = [ids.next(), ids.next(), ids.next()];
  const chargedFor = async (subscriptionId: string) => {
    const payer = { customerId, subscriptionId };
    const found = await findPaymentMethod(sql, scope, payer);
    expect((await listChargeable(sql, [payer])).has(subscriptionId)).toBe(found !== null);
    return found?.saved ?? null;
  };
  const of = (subscriptionId: string, saved: string) => ({
    ...visa(customerId, saved),
    subscriptionId,
  });
  expect(await chargedFor(one)).toBeNull();
  await put(of(one, 'of one'));
  // Bought without an instrument, as a subscription that the merchant starts: the newest one.
  expect([await chargedFor(one), await chargedFor(manual)]).toEqual(['of one', 'of one']);
  await put(of(other, 'of other'), NOW + 1);
  expect([await chargedFor(one), await chargedFor(other), await chargedFor(manual)]).toEqual([
    'of one',
    'of other',
    'of other',
  ]);
  await put(visa(customerId, 'for all'), NOW + 2);
  for (const id of [one, other, manual]) expect(await chargedFor(id)).toBe('for all');
  await put(of(one, 'for all'), NOW + 3);
  await sql`update payment_methods set detached_at = now() where customer_id = ${customerId} and saved <> 'of other'`;
  // The instrument that it was bought with is gone: another subscription's is not used instead.
  expect([await chargedFor(one), await chargedFor(other)]).toEqual([null, 'of other']);
});

test('payment methods of many payers are found at once, in their order', async () => {
  const [one, other, nobody] = [await newCustomer(), await newCustomer(), await newCustomer()];
  const [first, second] = [ids.next(), ids.next()];
  await put({ ...visa(one, 'for the first'), subscriptionId: first });
  await put({ ...visa(one, 'for the second'), subscriptionId: second });
  await put(debit(other, 'account'));
  const payers = [
    { ...scope, customerId: nobody, subscriptionId: null },
    { ...scope, customerId: other, subscriptionId: null },
    { ...scope, customerId: one, subscriptionId: first },
    { ...scope, customerId: one, subscriptionId: second },
    { ...scope, customerId: other, subscriptionId: first },
    { ...scope, mode: 'live', customerId: other, subscriptionId: null },
  ] as const;
  const found = await findPaymentMethods(sql, payers);
  expect(found.map((method) => method?.saved ?? null)).toEqual([
    null,
    'account',
    'for the first',
    'for the second',
    'account',
    null,
  ]);
});
