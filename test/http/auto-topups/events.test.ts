// auto_topup.succeeded and auto_topup.failed: for endpoints that name them, once for each charge.
// What is bought is a sale like any other, and a refund takes no units back.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { made, PATIENCE_MS } from '../../payments/shop.ts';
import { until } from '../../support/until.ts';
import { CARDS, type Json, type Subject, Topped } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

let topped: Topped;
beforeAll(async () => {
  topped = await Topped.open();
});
afterAll(() => topped.close());

async function told({ customer }: Subject): Promise<Json[]> {
  const { data } = await topped.shop.read('/events?limit=200');
  return data
    .filter(({ data: { accountId } }: Json) => accountId === customer)
    .filter(({ type }: Json) => type.startsWith('auto_topup.'))
    .toReversed();
}

test('auto top-up events are written once for each outcome, and only for subscribed endpoints', async () => {
  const unheard = await topped.subject({ units: 0 });
  await topped.put(unheard);
  await topped.settled(unheard, { status: 'armed' });
  expect(await told(unheard)).toEqual([]);
  const event_types = ['auto_topup.succeeded', 'auto_topup.failed'];
  made(await topped.post('/webhook-endpoints', { url: 'https://hooks.example/t', event_types }));

  const subject = await topped.subject({ units: 0 });
  await topped.put(subject);
  const { payment_id: paymentId } = await topped.settled(subject, { status: 'armed' });
  const [succeeded, ...others] = await told(subject);
  expect(others).toEqual([]);
  expect(succeeded).toMatchObject({
    type: 'auto_topup.succeeded',
    data: {
      objectType: 'ENTITLEMENT',
      customerId: subject.customer,
      featureKey: subject.feature,
      amount: 500,
      paymentId,
      reason: null,
    },
  });

  const poor = await topped.subject({ card: CARDS.poorLater, units: 0 });
  await topped.put(poor);
  const { next_attempt_at: nextAttemptAt } = await topped.settled(poor, { status: 'charging' });
  const asked = await topped.subject({ card: CARDS.asksLater, units: 0 });
  await topped.put(asked);
  await topped.settled(asked, { status: 'suspended' });
  const nobody = await topped.subject({ card: null, units: 0 });
  await topped.put(nobody);
  await topped.settled(nobody, { status: 'suspended' });
  const failures = await Promise.all([poor, asked, nobody].map(told));
  expect(failures).toMatchObject([
    [
      {
        type: 'auto_topup.failed',
        data: { reason: 'declined', status: 'charging', nextAttemptAt },
      },
    ],
    [{ data: { reason: 'authentication_required', status: 'suspended', nextAttemptAt: null } }],
    [{ data: { reason: 'no_payment_method', paymentId: null } }],
  ]);
});

test('a refund of an auto top-up gives the money back and leaves the units', async () => {
  const subject = await topped.subject({ units: 0 });
  await topped.put(subject);
  const { payment_id: id } = await topped.settled(subject, { status: 'armed' });
  const refunded = await topped.post(`/payments/${id}/refund`, {});
  expect(refunded.json).toMatchObject({ amount: '10.00' });
  await until('the invoice says so', async () => {
    const [invoice] = await topped.invoices(subject);
    return invoice?.amount_refunded === '10.00';
  });
  expect(await topped.level(subject)).toBe(500);
  expect(await topped.get(subject)).toMatchObject({ status: 'armed' });
  expect(await topped.payments(subject)).toMatchObject([{ id, status: 'refunded' }]);
});
