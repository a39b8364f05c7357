// A lost answer of the processor stays `charging`, and settles once.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { CARDS, Topped } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

let topped: Topped;
beforeAll(async () => {
  topped = await Topped.open();
});
afterAll(() => topped.close());

test('an auto top-up charged by the processor whose answer was lost is granted once it is found', async () => {
  const external = crypto.randomUUID();
  const subject = await topped.subject(
    { card: null, units: 0 },
    { external_customer_id: external },
  );
  await topped.signUp(external, CARDS.losesTheAnswer);
  const { payment_id: paymentId } = await topped.put(subject);
  await topped.track(subject, 1);
  expect(await topped.get(subject)).toMatchObject({ status: 'charging', payment_id: paymentId });
  await topped.advance('PT1M');
  await topped.settled(subject, { status: 'armed', payment_id: paymentId });
  await topped.advance('P1D');
  expect(await topped.level(subject)).toBe(499);
  const [signUp, ...topUps] = await topped.payments(subject);
  expect(signUp).toMatchObject({ transaction_type: 'SUBSCRIPTION_START', status: 'succeeded' });
  expect(topUps).toMatchObject([{ id: paymentId, status: 'succeeded' }]);
  expect(await topped.grants(subject)).toMatchObject([{ id: paymentId }]);
});

test('an auto top-up charge that never reached the processor is no attempt: it is retried later', async () => {
  const subject = await topped.subject({ card: CARDS.losesTheRequest, units: 0 });
  await topped.put(subject);
  await topped.advance('PT10M');
  const { next_attempt_at: next } = await topped.settled(subject, { status: 'charging' });
  expect(next).not.toBeNull();
  expect(await topped.payments(subject)).toMatchObject([{ status: 'errored' }]);
  await topped.save(subject, CARDS.good);
  await topped.settled(subject, { status: 'armed' });
  expect(await topped.level(subject)).toBe(500);
  expect(await topped.grants(subject)).toHaveLength(1);
});
