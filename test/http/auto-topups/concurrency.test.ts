// Whatever happens at once, there is one charge at a time.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { Topped } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

let topped: Topped;
beforeAll(async () => {
  topped = await Topped.open();
});
afterAll(() => topped.close());

test('200 tracks at once below the threshold of an auto top-up make one charge', async () => {
  const subject = await topped.subject({ units: 49 });
  await topped.put(subject, { enabled: false });
  const { json } = await topped.call('PUT', subject, {
    enabled: true,
    threshold: 50,
    amount: 10_000,
    price_id: subject.priceId,
  });
  expect(json.status).toBe('charging');
  await topped.trackEach(subject, 200);
  await topped.settled(subject, { status: 'armed' });
  expect(await topped.level(subject)).toBe(49 + 10_000 - 200);
  expect(await topped.payments(subject)).toHaveLength(1);
  expect(await topped.grants(subject)).toHaveLength(1);
});

test('200 tracks at once that cross the threshold, with concurrent PUTs, make one charge', async () => {
  const subject = await topped.subject({ units: 100 });
  await topped.put(subject, { amount: 10_000 });
  const body = { feature_key: subject.feature, customer_id: subject.customer, value: 1 };
  const tracks = Array.from({ length: 500 }, () => body);
  await Promise.all([
    ...Array.from({ length: 200 }, () => topped.track(subject, 1)),
    ...Array.from({ length: 20 }, () => topped.put(subject, { amount: 10_000 })),
    topped.post('/track/batch', { tracks }),
  ]);
  await topped.settled(subject, { status: 'armed' });
  expect(await topped.level(subject)).toBe(100 + 10_000 - 700);
  expect(await topped.payments(subject)).toHaveLength(1);
  expect(await topped.grants(subject)).toHaveLength(1);
});

test('auto top-ups of two features of one customer are charged beside each other', async () => {
  const one = await topped.subject({ units: 0 });
  const other = { ...one, feature: await topped.feature() };
  await Promise.all([topped.put(one), topped.put(other)]);
  for (const subject of [one, other]) {
    await topped.settled(subject, { status: 'armed' });
    expect(await topped.level(subject)).toBe(500);
  }
  expect(await topped.payments(one)).toHaveLength(2);
});
