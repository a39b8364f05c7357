// A few customers may have as much as many: memory is bounded in bytes, too.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { Setting, testBooksClose, times } from '../http/metering/setting.ts';

setDefaultTimeout(60_000);

const BYTES_MAX = 400_000;
/** The part of it that customers have. */
const CUSTOMERS_BYTES_MAX = (BYTES_MAX * 3) / 4;
const CUSTOMERS = 40;
const GRANTS = 30;

let setting: Setting;
let customers: string[];
beforeAll(async () => {
  setting = await Setting.open({ alone: true, actorBytesMax: BYTES_MAX });
  await setting.meter('api');
  customers = await times(CUSTOMERS, () => setting.customer());
});
afterAll(() => setting.stop());

const enrich = (customer: string) =>
  times(GRANTS, () => setting.grant(customer, 'api', { amount: 1 }));

const stat = (name: string): number => setting.server.ledger.stats[name] ?? 0;

test('a customer that grows evicts others from the cache, and what was evicted is right again', async () => {
  for (const customer of customers) await setting.check(customer, 'api');
  const before = stat('evicted');
  const [rich = '', ...others] = customers;
  for (const customer of customers.slice(0, 12)) {
    await enrich(customer);
  }
  expect(stat('evicted')).toBeGreaterThan(before);
  // One who is in use stays, whatever it has.
  expect(stat('actorBytes')).toBeLessThan(CUSTOMERS_BYTES_MAX + 2 * GRANTS * 1000);
  for (const customer of [rich, ...others.slice(0, 11)]) {
    const { json } = await setting.track(customer, 'api');
    expect([json.limit, json.consumed]).toEqual([GRANTS, 1]);
    expect(stat('actorBytes')).toBeLessThan(CUSTOMERS_BYTES_MAX + 2 * GRANTS * 1000);
  }
});

test('an empty cache has a size of 0 bytes', () => {
  setting.server.ledger.forgetAll();
  expect([stat('actors'), stat('actorBytes')]).toEqual([0, 0]);
});

testBooksClose(() => setting);
