// Subscriptions under the test clock: each period, charge and dunning attempt happens at its own
// time, in one advance as in many.
import { expect, setDefaultTimeout, test } from 'bun:test';
import { DAY, MINUTE, moved } from './clock.ts';
import { expectSameStory, openShop, signUp } from './stories.ts';

setDefaultTimeout(120_000);

test('a quarter on the test clock in one call and in days is the same, with dunning and trials', () =>
  expectSameStory(92));

test('12 months on the test clock of 100 subscriptions: 13 paid invoices each, at their own times', async () => {
  const shop = await openShop();
  await signUp(shop, { price: {}, means: Array.from({ length: 100 }, () => 'good' as const) });
  const before = performance.now();
  await moved(shop.server, { advance: 'P1Y' });
  const seconds = (performance.now() - before) / 1000;
  const rows = await shop.server.sql<{ count: number; late: number; off: number }[]>`
    select count(*)::int as count, max(abs(extract(epoch from paid_at - issued_at)))::float8 as late,
      max(abs(extract(epoch from issued_at - period_start)))::float8 as off
    from invoices
    where organisation_id = ${shop.server.organisation.id} and status = 'paid' and subscription_id is not null
    group by subscription_id`;
  expect(rows).toHaveLength(100);
  for (const { count, late, off } of rows) {
    expect([count, late < MINUTE / 1000, off < (2 * MINUTE) / 1000]).toEqual([13, true, true]);
  }
  const [check] = await shop.server.sql<{ customer: string }[]>`
    select customer_id as customer from subscriptions
    where organisation_id = ${shop.server.organisation.id} limit 1`;
  const body = { customer_id: check?.customer, feature_key: 'calls' };
  const { json } = await shop.server.call('POST', '/check', { body });
  expect(json).toMatchObject({ allowed: true, balance: 1000 });
  expect(Date.parse(json.period_end) - Date.parse(json.period_start)).toBeLessThanOrEqual(31 * DAY);
  // It took 4 seconds on two shared processors; the bound is for a much busier machine.
  expect(seconds).toBeLessThan(40);
  await shop.close();
});
