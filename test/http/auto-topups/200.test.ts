// PUT, GET and DELETE /customers/{id}/auto-topups/{feature_key}: what is put is charged and
// granted.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { until } from '../../support/until.ts';
import { Topped } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

let topped: Topped;
beforeAll(async () => {
  topped = await Topped.open();
});
afterAll(() => topped.close());

test('an auto top-up is put, read, listed, replaced and deleted, by either id of the customer', async () => {
  const external = `user-${crypto.randomUUID()}`;
  const subject = await topped.subject({}, { external_customer_id: external });
  const { customer, feature, priceId } = subject;
  const shown = {
    customer_id: customer,
    external_customer_id: external,
    feature_key: feature,
    enabled: true,
    threshold: 50,
    amount: 500,
    price_id: priceId,
    limit: null,
    status: 'armed',
    reason: null,
    payment_id: null,
    next_attempt_at: null,
    updated_at: expect.any(String),
  };
  expect(await topped.put({ ...subject, customer: external })).toEqual(shown);
  for (const name of [customer, external]) {
    expect(await topped.get({ ...subject, customer: name })).toEqual(shown);
    expect(await topped.shop.read(`/customers/${name}/auto-topups`)).toEqual({ data: [shown] });
  }
  const limit = { count: 2, interval: 'week' };
  const other = await topped.put(subject, { threshold: '12.5', enabled: false, limit });
  expect(other).toEqual({ ...shown, threshold: 12.5, enabled: false, limit });
  for (const name of [external, customer]) {
    const removed = await topped.call('DELETE', { customer: name, feature });
    expect([removed.status, removed.text]).toEqual([204, '']);
    expect((await topped.call('GET', { customer: name, feature })).status).toBe(404);
  }
  expect(await topped.shop.read(`/customers/${customer}/auto-topups`)).toEqual({ data: [] });
  expect(await topped.payments(subject)).toEqual([]);
});

test('an auto top-up of an archived feature can be read and deleted, and no other is put', async () => {
  const subject = await topped.subject();
  const { feature } = subject;
  const put = await topped.put(subject);
  const archived = { body: { status: 'archived' } };
  expect((await topped.server.call('PATCH', `/meters/${feature}`, archived)).status).toBe(200);
  const body = { enabled: false, threshold: 1, amount: 1, price_id: subject.priceId };
  expect((await topped.call('PUT', subject, body)).status).toBe(404);
  expect(await topped.get(subject)).toEqual(put);
  expect((await topped.call('DELETE', subject)).status).toBe(204);
  expect((await topped.call('GET', subject)).status).toBe(404);
  expect((await topped.call('DELETE', subject)).status).toBe(404);
});

test('a balance below the threshold is topped up by one charge, with a grant of its own', async () => {
  const subject = await topped.subject();
  await topped.put(subject);
  await topped.track(subject, 50);
  expect(await topped.get(subject)).toMatchObject({ status: 'armed', payment_id: null });
  await topped.track(subject, 1);
  const { payment_id: paymentId } = await topped.settled(subject, {
    status: 'armed',
    reason: null,
  });
  expect(await topped.level(subject)).toBe(549);
  const [payment, ...others] = await topped.payments(subject);
  expect(others).toEqual([]);
  expect(payment).toMatchObject({
    id: paymentId,
    status: 'succeeded',
    amount: '10.00',
    currency: 'USD',
    transaction_type: 'PURCHASE',
  });
  const [grant] = await topped.grants(subject);
  expect(grant).toMatchObject({ id: paymentId, source: 'top_up', amount: 500, expires_at: null });
  await until('it is billed', async () => (await topped.invoices(subject)).length > 0);
  const invoices = await topped.invoices(subject);
  expect(invoices).toHaveLength(1);
  expect(invoices[0]).toMatchObject({
    billing_reason: 'auto_topup',
    status: 'paid',
    total: '10.00',
    number: expect.stringMatching(/^INV-/),
    payment_id: paymentId,
    lines: [{ type: 'fixed', description: 'Credits', quantity: 1, amount: '10.00' }],
  });
});

test('putting an auto top-up on a balance already below its threshold charges at once', async () => {
  const subject = await topped.subject({ units: 0 });
  expect(await topped.put(subject)).toMatchObject({ status: 'charging' });
  await topped.settled(subject, { status: 'armed' });
  expect(await topped.level(subject)).toBe(500);
});

test('a balance still below the threshold after a top-up is topped up again, one at a time', async () => {
  const subject = await topped.subject({ units: 0 });
  await topped.put(subject, { threshold: 1001, amount: 250 });
  await topped.settled(subject, { status: 'armed' });
  expect(await topped.level(subject)).toBe(1250);
  const payments = await topped.payments(subject);
  expect(payments.map(({ status }) => status)).toEqual(Array(5).fill('succeeded'));
  expect(new Set(payments.map(({ id }) => id)).size).toBe(5);
});
