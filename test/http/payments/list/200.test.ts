import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Payment, Shop } from '../../../payments/shop.ts';

let shop: Shop;
/** Newest first. */
const ids: string[] = [];
let checkoutId: string;
let customerId: string;
beforeAll(async () => {
  shop = await Shop.open();
  const session = await shop.checkout({ external_customer_id: 'regular' });
  checkoutId = session.id;
  for (const means of ['declined', 'good'] as const) {
    await shop.pay(session, { means });
    ids.unshift((await shop.lastOf(session)).id);
  }
  customerId = (await shop.lastOf(session)).customer_id;
  ids.unshift((await shop.buy({ checkout: { external_customer_id: 'regular' } })).id);
  ids.unshift((await shop.buy({ checkout: { external_customer_id: 'new' } })).id);
});
afterAll(() => shop.close());

async function list(query: string): Promise<object> {
  const { data, ...rest } = await shop.read(`/payments${query}`);
  return { ...rest, ids: data.map(({ id }: Payment) => id) };
}

test('GET /payments lists newest first, each as GET of one answers it', async () => {
  expect(await list('')).toEqual({ ids, limit: 50, offset: 0, has_more: false });
  const { data } = await shop.read('/payments?limit=1');
  expect(data).toEqual([await shop.payment(ids[0]!)]);
});

test('GET /payments lists by page', async () => {
  expect(await list('?limit=2&offset=1')).toEqual({
    ids: ids.slice(1, 3),
    limit: 2,
    offset: 1,
    has_more: true,
  });
  expect(await list('?limit=3&offset=1')).toMatchObject({ ids: ids.slice(1), has_more: false });
  expect(await list('?offset=9')).toMatchObject({ ids: [], has_more: false });
});

describe('GET /payments filtered by customer and purpose', () => {
  test('lists the payments of a customer, of a checkout, of both', async () => {
    expect(await list(`?customer_id=${customerId}`)).toMatchObject({ ids: [ids[1], ids[2]] });
    expect(await list(`?checkout_id=${checkoutId}`)).toMatchObject({ ids: [ids[2], ids[3]] });
    const both = `?checkout_id=${checkoutId.toUpperCase()}&customer_id=${customerId}`;
    expect(await list(both)).toMatchObject({ ids: [ids[2]] });
  });

  test('lists nothing for an unknown customer or subscription', async () => {
    const nobody = '01a1fd8c-b5bc-7679-8e92-f51ff29e0ea6';
    for (const filter of ['customer_id', 'checkout_id', 'subscription_id']) {
      expect(await list(`?${filter}=${nobody}`)).toMatchObject({ ids: [] });
    }
  });
});

test('lists nothing of another organisation or mode', async () => {
  const { other, organisation } = shop.server;
  for (const key of [other.testKey, organisation.liveKey]) {
    for (const query of ['', `?customer_id=${customerId}`, `?checkout_id=${checkoutId}`]) {
      expect((await shop.read(`/payments${query}`, { key })).data).toEqual([]);
    }
  }
});
