// A product's allowance changes: a subscriber keeps the old one until the period ends, and then
// gets the new one.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { ask, buy } from '../../support/shop.ts';

setDefaultTimeout(60_000);

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

test('an entitlement that a product lost lasts until the renewal, and a new one begins then', async () => {
  const seller = { url: server.url, key: server.organisation.testKey };
  const check = async (feature_key: string) => {
    const asked = { feature_key, external_customer_id: 'u1' };
    const { allowed, limit, reason } = await ask(seller, 'POST', '/check', asked);
    return [allowed, limit, reason];
  };
  const granted = async (): Promise<number> => {
    const { data } = await ask(seller, 'GET', '/events?type=entitlement.granted&limit=200');
    return (data as unknown[]).length;
  };
  for (const slug of ['kept', 'dropped', 'raised', 'added']) {
    await ask(seller, 'POST', '/meters', { slug });
  }
  const prices = [{ currency: 'USD', amount: '9.00', type: 'recurring', interval: 'month' }];
  const product = await ask(seller, 'POST', '/products', { name: 'Plan', prices });
  const path = `/products/${product.id}/entitlements`;
  const give = (feature_key: string, limit: number) =>
    ask(seller, 'POST', path, { feature_key, limit });
  await give('kept', 10);
  const dropped = await give('dropped', 20);
  const raised = await give('raised', 30);
  const bought = { product_id: product.id, external_customer_id: 'u1' };
  await buy(seller, { means: ['good'], ...bought });
  await server.call('DELETE', `${path}/${dropped.id}`);
  await server.call('DELETE', `${path}/${raised.id}`);
  await give('raised', 300);
  await give('added', 40);
  expect(await Promise.all(['kept', 'dropped', 'raised', 'added'].map(check))).toEqual([
    [true, 10, 'ok'],
    [true, 20, 'ok'],
    [true, 30, 'ok'],
    [false, 0, 'not_entitled'],
  ]);
  await ask(seller, 'POST', '/test-clock', { advance: 'P1M' });
  expect(await Promise.all(['kept', 'dropped', 'raised', 'added'].map(check))).toEqual([
    [true, 10, 'ok'],
    [false, 0, 'not_entitled'],
    [true, 300, 'ok'],
    [true, 40, 'ok'],
  ]);
  // An unchanged allowance is renewed once: three begin, three after a month, three after two.
  const before = await granted();
  await ask(seller, 'POST', '/test-clock', { advance: 'P1M' });
  expect((await granted()) - before).toBe(3);
});
