// What is held is off the level; an alert that the same usage reached is taken back by the capture.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { made, PATIENCE_MS } from '../../payments/shop.ts';
import { type Json, type Subject, Topped } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

let topped: Topped;
beforeAll(async () => {
  topped = await Topped.open();
});
afterAll(() => topped.close());

async function hold({ customer, feature }: Subject, amount: number): Promise<string> {
  const body = { customer_id: customer, feature_key: feature, amount, expires_in: 3600 };
  return made(await topped.post('/reservations', body)).id;
}

test('reservations at once that cross the auto top-up threshold make one charge, however they end', async () => {
  const subject = await topped.subject({ units: 100 });
  await topped.put(subject);
  const ids = await Promise.all(Array.from({ length: 40 }, () => hold(subject, 2)));
  await topped.settled(subject, { status: 'armed' });
  expect(await topped.level(subject)).toBe(100 + 500 - 80);
  await Promise.all(
    ids.slice(0, 30).map(async (id, index) => {
      const isUsed = index % 2 === 0;
      const end = isUsed ? 'commit' : 'release';
      const { status } = await topped.post(
        `/reservations/${id}/${end}`,
        isUsed ? { value: 3 } : {},
      );
      expect(status).toBe(200);
    }),
  );
  expect(await topped.level(subject)).toBe(600 - 15 * 3 - 10 * 2);
  // The other ten expire.
  await topped.advance('PT2H');
  expect(await topped.level(subject)).toBe(600 - 15 * 3);
  expect(await topped.payments(subject)).toHaveLength(1);
  expect(await topped.grants(subject)).toHaveLength(1);
});

test('a commit of more than was held crosses the auto top-up threshold', async () => {
  const subject = await topped.subject({ units: 100 });
  await topped.put(subject);
  const id = await hold(subject, 50);
  expect(await topped.get(subject)).toMatchObject({ status: 'armed', payment_id: null });
  await topped.post(`/reservations/${id}/commit`, { value: 51 });
  const { payment_id: paymentId } = await topped.settled(subject, { status: 'armed' });
  expect(await topped.grants(subject)).toMatchObject([{ id: paymentId, amount: 500 }]);
  expect(await topped.level(subject)).toBe(549);
});

test("a hold triggers an alert, and an auto top-up's grant arms it again", async () => {
  const event_types = ['alert.triggered', 'alert.recovered'];
  made(await topped.post('/webhook-endpoints', { url: 'https://hooks.example/a', event_types }));
  const subject = await topped.subject({ units: 100 });
  const { customer: customer_id, feature: feature_key } = subject;
  const threshold = { type: 'remaining', threshold: 49 };
  made(await topped.post('/alerts', { feature_key, customer_id, ...threshold }));
  await topped.put(subject);
  await hold(subject, 51);
  await topped.settled(subject, { status: 'armed' });
  const { data } = await topped.shop.read('/events?limit=200');
  const told = data
    .filter(
      ({ type, data: of }: Json) => event_types.includes(type) && of.customerId === customer_id,
    )
    .map(({ type, data: { balance } }: Json) => [type, balance]);
  expect(told.toReversed()).toEqual([
    ['alert.triggered', 49],
    ['alert.recovered', 549],
  ]);
});
