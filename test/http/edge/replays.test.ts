// A call whose key was answered before is told that answer also while another call with the key is
// under way, and so waits for none of many that are told it at once.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { lockOf } from '../../../src/http/idempotency/idempotency.ts';
import { PATIENCE_MS, Shop } from '../../payments/shop.ts';

setDefaultTimeout(PATIENCE_MS);

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
});
afterAll(() => shop.close());

test('an answer that was stored with its effect is told beside another call with its key', async () => {
  const { server } = shop;
  const key = crypto.randomUUID();
  const call = { body: { code: key, percent_off: 10 }, headers: { 'idempotency-key': key } };
  const first = await server.call('POST', '/discounts', call);
  expect(first.status).toBe(201);
  const scope = { organisationId: server.organisation.id, mode: 'test' } as const;
  const lock = String(lockOf({ ...scope, operation: 'POST /discounts' }, key));
  const other = await server.sql.reserve();
  await other`select pg_advisory_lock(${lock}::bigint)`;
  const again = await server.call('POST', '/discounts', call);
  await other`select pg_advisory_unlock_all()`;
  other.release();
  expect([again.status, again.text]).toEqual([201, first.text]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
});

test('a refund that was answered is told to all that ask again at once', async () => {
  const { payments, organisation } = shop.server;
  const { id: paymentId } = await shop.buy();
  const idempotencyKey = crypto.randomUUID();
  const reason = 'requested_by_customer' as const;
  const call = { paymentId, amount: '10', reason, idempotencyKey };
  const scope = { organisationId: organisation.id, mode: 'test' } as const;
  const ask = () => payments.refund(scope, call);
  expect(await ask()).toMatchObject({ kind: 'refund', replayed: false });
  const replies = await Promise.all(Array.from({ length: 20 }, ask));
  expect(replies).toMatchObject(replies.map(() => ({ kind: 'refund', replayed: true })));
});
