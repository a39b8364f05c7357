// A payment, its refunds or a refund of another organisation gives a 404.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Shop } from '../../../payments/shop.ts';

let shop: Shop;
const found: Record<string, string> = {};
beforeAll(async () => {
  shop = await Shop.open();
  const { id } = await shop.buy();
  const { json: refund } = await shop.refund(id, { amount: '1' });
  found['/payments/:id'] = found['/payments/:id/refunds'] = id;
  found['/refunds/:id'] = refund.id;
});
afterAll(() => shop.close());

// prettier-ignore
const ROUTES: [string, string][] = [
  ['/payments/:id',         'no such payment'],
  ['/payments/:id/refunds', 'no such payment'],
  ['/refunds/:id',          'no such refund'],
];

describe.each(ROUTES)('GET %s', (route, message) => {
  const read = (id: string, key?: string) =>
    shop.server.call('GET', route.replace(':id', id), key === undefined ? {} : { key });

  test("is 200 for the organisation's own payment", async () => {
    expect((await read(found[route]!)).status).toBe(200);
  });

  test('is 404 for a payment of another organisation or mode', async () => {
    const { other, organisation } = shop.server;
    for (const key of [other.testKey, other.liveKey, organisation.liveKey]) {
      const { status, json } = await read(found[route]!, key);
      expect([status, json]).toEqual([404, { error: { type: 'not_found', message } }]);
    }
  });

  test.each([
    ['x'],
    ['%00'],
    ['%20'],
    ['x'.repeat(5000)],
    ['01a1fd8c-b5bc-7679-8e92-f51ff29e0ea'],
    ['01a1fd8c-b5bc-7679-8e92-f51ff29e0ea6'],
    ['01a1fd8cb5bc76798e92f51ff29e0ea6'],
    ['{01a1fd8c-b5bc-7679-8e92-f51ff29e0ea6}'],
  ])('is 404 for the id %p', async (id) => {
    const { status, json } = await read(id);
    expect([status, json]).toEqual([404, { error: { type: 'not_found', message } }]);
  });

  test("is refused with a group's key", async () => {
    const { status, json } = await read(found[route]!, shop.server.group.testKey);
    expect([status, json.error.type]).toEqual([403, 'forbidden']);
  });
});
