// Many concurrent callers: a spend cap is never passed, on any number of nodes.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { tally, times } from '../metering/setting.ts';
import { CAP, Capped } from './setting.ts';

setDefaultTimeout(3 * PATIENCE_MS);

let capped: Capped;
beforeAll(async () => {
  capped = await Capped.open();
});
afterAll(() => capped.close());

test('200 consumes at once of two features of two subscriptions cost no more than the spend cap', async () => {
  const [one, other] = [await capped.plan(), await capped.plan({}, { unit_amount: '0.02' })];
  const customer = await capped.customer('0.30', one, other);
  await capped.track(customer, one, 10);
  await capped.track(customer, other, 10);
  const replies = await times(200, (index) =>
    capped.consume(customer, index % 2 === 0 ? one : other),
  );
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
  const taken = (offset: number): number =>
    replies.filter(({ json }, index) => index % 2 === offset && json.allowed === true).length;
  // No single one fits any more.
  expect(taken(0) + 2 * taken(1)).toBe(30);
  expect(await capped.spent(customer)).toBe('0.30');
  expect(await capped.check(customer, one)).toEqual(CAP);
  expect(await capped.check(customer, other)).toEqual(CAP);
});

test('a spend cap holds beside rejectable tracks, checks, and PUTs of the cap itself', async () => {
  const [one, other] = [await capped.plan(), await capped.plan()];
  const customer = await capped.customer('0.50', one, other);
  const replies = await times(300, (index) => {
    const plan = index % 2 === 0 ? one : other;
    if (index % 10 === 9) {
      return capped.call('PUT', customer, { amount: '0.50', currency: 'USD' });
    }
    return index % 3 === 0 ? capped.reject(customer, plan) : capped.consume(customer, plan);
  });
  const refused = replies.filter(
    ({ status, json }) => status === 402 || json.reason === 'spend_cap',
  );
  // 20 are included.
  expect(300 - 30 - refused.length).toBe(50 + 20);
  expect(tally(replies.map(({ status }) => status))['200']).toBeGreaterThan(0);
  expect(await capped.spent(customer)).toBe('0.50');
});
