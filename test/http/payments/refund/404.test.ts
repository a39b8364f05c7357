// A payment of another organisation looks like a missing one. Nothing of it changes.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Shop } from '../../../payments/shop.ts';

let shop: Shop;
let paid: string;
beforeAll(async () => {
  shop = await Shop.open();
  paid = (await shop.buy()).id;
});
afterAll(async () => {
  await shop.events(paid, 1);
  expect(
    await shop.server
      .sql`select 1 from refunds where organisation_id = ${shop.server.organisation.id}`,
  ).toHaveLength(0);
  await shop.close();
});

const NOT_FOUND = { error: { type: 'not_found', message: 'no such payment' } };

test('a refund of a payment of another organisation or mode is 404', async () => {
  const { other, organisation } = shop.server;
  for (const key of [other.testKey, other.liveKey, organisation.liveKey]) {
    for (const body of [undefined, { amount: '1' }, { amount: '1.001' }, { amount: '999' }]) {
      const { status, json } = await shop.refund(paid, body, { key });
      expect([status, json]).toEqual([404, NOT_FOUND]);
    }
  }
});

// prettier-ignore
const IDS: string[] = [
  'x', '0', '%00', '%20', '..%2F', 'null', `{x}`, 'x'.repeat(5000), '01a1fd8c', '%E2%82%AC',
  '01a1fd8c-b5bc-7679-8e92-f51ff29e0ea', '01a1fd8c-b5bc-7679-8e92-f51ff29e0ea6', '00000000-0000-0000-0000-000000000000',
];
test.each(IDS.map((id) => [id]))('a refund of the payment %p is 404', async (id) => {
  for (const call of [{}, { headers: { 'idempotency-key': 'some key' } }]) {
    const { status, json } = await shop.refund(id, {}, call);
    expect([status, json]).toEqual([404, NOT_FOUND]);
  }
});

test('a 404 of a refund is not kept under its key', async () => {
  const { other } = shop.server;
  expect((await shop.refundWithKey('later', paid, {}, { key: other.testKey })).status).toBe(404);
  const rest = await shop.refundWithKey('later', paid, { amount: '1000' });
  expect(rest.headers.get('idempotency-replayed')).toBeNull();
  expect(rest.status).toBe(400);
});

test("a refund with a group's key is refused", async () => {
  const { group } = shop.server;
  for (const key of [group.testKey, group.liveKey]) {
    const { status, json } = await shop.refund(paid, {}, { key });
    expect([status, json.error.type]).toEqual([403, 'forbidden']);
  }
});
