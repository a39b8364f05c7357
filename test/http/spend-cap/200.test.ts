// PUT, GET and DELETE /customers/{id}/spend-cap.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { Capped } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

let capped: Capped;
beforeAll(async () => {
  capped = await Capped.open();
});
afterAll(() => capped.close());

test('a spend cap is put, read, replaced and deleted, by either id of the customer', async () => {
  const external = 'user/1';
  const { json: customer } = await capped.club.post('/customers', {
    external_customer_id: external,
  });
  const name = encodeURIComponent(external);
  const shown = {
    customer_id: customer.id,
    external_customer_id: external,
    amount: '50.00',
    currency: 'USD',
    spent: '0.00',
    remaining: '50.00',
  };
  const put = await capped.call('PUT', name, { amount: '50', currency: 'usd' });
  expect([put.status, put.json]).toEqual([200, shown]);
  for (const reference of [customer.id, name]) {
    const read = await capped.call('GET', reference);
    expect([read.status, read.json]).toEqual([200, shown]);
  }
  const other = await capped.put(customer.id, '0', 'JPY');
  expect(other).toEqual({ ...shown, amount: '0', currency: 'JPY', spent: '0', remaining: '0' });
  // Again is the same.
  for (const reference of [name, customer.id]) {
    const removed = await capped.call('DELETE', reference);
    expect([removed.status, removed.text]).toEqual([204, '']);
    expect((await capped.call('GET', reference)).status).toBe(404);
  }
});

test("a spend cap's spent amount is exact, and its remaining one never below 0", async () => {
  const plan = await capped.plan({}, { unit_amount: '0.000002', minimum_amount: '7.00' });
  const other = await capped.plan({}, { unit_amount: '0.30', maximum_amount: '1.00' });
  const euros = await capped.plan({ currency: 'EUR' }, { currency: 'EUR' });
  const customer = await capped.customer('1', plan, other, euros);
  await capped.track(customer, plan, 13);
  await capped.track(customer, euros, 1000);
  expect(await capped.call('GET', customer)).toMatchObject({
    json: { spent: '0.000006', remaining: '0.999994' },
  });
  await capped.track(customer, other, 999);
  expect(await capped.call('GET', customer)).toMatchObject({
    json: { spent: '1.000006', remaining: '0.00' },
  });
  // Of the other currency.
  expect(await capped.put(customer, '3.00', 'EUR')).toMatchObject({ spent: '9.90' });
});

test("a spend cap's period begins with nothing spent", async () => {
  const plan = await capped.plan();
  const customer = await capped.customer('0.05', plan);
  await capped.track(customer, plan, 15);
  expect(await capped.check(customer, plan)).toEqual([false, 'spend_cap']);
  await capped.club.advance('P1M');
  expect(await capped.spent(customer)).toBe('0.00');
  expect(await capped.check(customer, plan, 15)).toEqual([true, 'overage_allowed']);
  expect(await capped.check(customer, plan, 16)).toEqual([false, 'spend_cap']);
});
