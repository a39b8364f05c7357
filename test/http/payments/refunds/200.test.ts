import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Payment, Shop } from '../../../payments/shop.ts';

let shop: Shop;
let paid: string;
/** Newest first. */
const refunds: Payment[] = [];
beforeAll(async () => {
  shop = await Shop.open();
  paid = (await shop.buy()).id;
  for (const amount of ['1', '2', '3', '4']) {
    refunds.unshift((await shop.refund(paid, { amount })).json);
  }
});
afterAll(() => shop.close());

test('GET of refunds lists newest first, each as GET of one answers it', async () => {
  const page = { limit: 50, offset: 0, has_more: false };
  expect(await shop.read(`/payments/${paid}/refunds`)).toEqual({ data: refunds, ...page });
  for (const refund of refunds) expect(await shop.read(`/refunds/${refund.id}`)).toEqual(refund);
  expect(await shop.read(`/refunds/${refunds[0].id.toUpperCase()}`)).toEqual(refunds[0]);
});

test('GET of refunds lists by page', async () => {
  expect(await shop.read(`/payments/${paid}/refunds?limit=2&offset=1`)).toEqual({
    data: refunds.slice(1, 3),
    limit: 2,
    offset: 1,
    has_more: true,
  });
});

test('GET of refunds is empty where nothing was refunded or could be', async () => {
  for (const means of ['good', 'declined'] as const) {
    const { id } = await shop.buy({ means });
    await shop.refund(id, { amount: '101' });
    expect((await shop.read(`/payments/${id}/refunds`)).data).toEqual([]);
  }
});
