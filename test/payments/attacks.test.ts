// Attacks that once succeeded.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { TEST_SETTINGS } from '../support/settings.ts';
import { until } from '../support/until.ts';
import { Shop } from './shop.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open({
    settings: { limits: { ...TEST_SETTINGS.limits, discountCodes: 30 } },
  });
});
afterAll(() => shop.close());

test('an archived product is not sold by checkouts that are still open', async () => {
  const { server } = shop;
  const body = { name: 'Old', prices: [{ amount: '100', currency: 'USD' }] };
  const product = (await server.call('POST', '/products', { body })).json;
  const session = await shop.checkout({ product_id: product.id });
  await server.call('POST', `/products/${product.id}/archive`);
  expect(await shop.pay(session)).toEqual({ kind: 'total_changed' });
  expect(await shop.paymentsOf(session)).toEqual([]);
  const page = await fetch(`${server.url}/pay/${session.token}`);
  expect(await page.text()).not.toContain('card_number');
  await server.call('POST', `/products/${product.id}/publish`);
  expect(await shop.pay(session)).toEqual({ kind: 'attempted' });
});

test('discount codes cannot be guessed: an address may try thirty a minute', async () => {
  const { server } = shop;
  await shop.discount('FREE', { percent_off: 100 });
  const session = await shop.checkout();
  const tried = async (code: string) =>
    (await fetch(`${server.url}/pay/${session.token}?discount_code=${code}`)).text();
  const guesses = await Promise.all(Array.from({ length: 30 }, (_, n) => tried(`GUESS${n}`)));
  expect(guesses.every((page) => page.includes('This code is not known'))).toBe(true);
  const late = await tried('FREE');
  expect(late).toContain('Too many codes were tried');
  expect(late).not.toContain('Complete order');
});

test('the largest payments of a currency do not overflow an account', async () => {
  const { server } = shop;
  const amount = '999999999999.9999';
  const body = { name: 'Dear', prices: [{ amount, currency: 'CLF' }] };
  const product = (await server.call('POST', '/products', { body })).json;
  // As if a thousand of them had been paid before.
  await shop.buy({ currency: 'CLF', total: amount, checkout: { product_id: product.id } });
  const full = await server.sql`
    update node_balances b set debits_posted = debits_posted + 9223372036854775807
    from accounts a where a.id = b.id and a.kind = 'clearing' and a.currency = 'CLF' returning b.id`;
  const payment = await shop.buy({
    currency: 'CLF',
    total: amount,
    checkout: { product_id: product.id },
  });
  expect(payment).toMatchObject({ status: 'succeeded', refundable_amount: amount });
  await server.sql`
    update node_balances set debits_posted = debits_posted - 9223372036854775807
    where id in ${server.sql(full.map(({ id }) => id))}`;
});

test('a payment that the database refuses does not fire its alarm every second', async () => {
  const { server } = shop;
  const { sql, logged } = server;
  const rung = () => logged.filter((line) => line.includes('an alarm failed')).length;
  await sql`alter table payments add constraint nobody_pays check (status <> 'succeeded') not valid`;
  const session = await shop.checkout();
  // The charge is made and its answer lost: an alarm asks for it, and the result cannot be written.
  await shop.pay(session, { means: 'answerLost' });
  await until('an alarm failed', () => rung() === 1);
  const others = Array.from({ length: 3 }, () =>
    shop.checkout().then((one) => shop.pay(one, { means: 'declined' })),
  );
  expect(await Promise.all(others)).toEqual(
    Array.from({ length: 3 }, () => ({ kind: 'attempted' })),
  );
  const before = performance.now();
  await until('three alarms would have rung', () => performance.now() - before > 3500);
  expect(rung()).toBe(1);
  await sql`alter table payments drop constraint nobody_pays`;
  const { id } = await shop.lastOf(session);
  await shop.paymentThatIs('succeeded', id);
}, 60_000);
