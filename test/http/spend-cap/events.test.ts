// `customer.spend_cap_reached`: once in a period, for who asked for it.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { made, PATIENCE_MS } from '../../payments/shop.ts';
import { misfitsOf } from '../../support/catalogue.ts';
import { tally, times } from '../metering/setting.ts';
import type { Json, Plan } from '../subscriptions/subscribing.ts';
import { Capped } from './setting.ts';

setDefaultTimeout(2 * PATIENCE_MS);

let capped: Capped;
beforeAll(async () => {
  capped = await Capped.open();
});
afterAll(() => capped.close());

const TYPE = 'customer.spend_cap_reached';

/** Oldest first. */
async function told(customer: string): Promise<Json[]> {
  const { data } = await capped.club.shop.read(`/events?type=${TYPE}&limit=200`);
  return data
    .toReversed()
    .map((event: Json) => event.data)
    .filter(({ customerId }: Json) => customerId === customer);
}

const shown = async (customer: string) =>
  (await told(customer)).map(({ featureKey, amount, spent }) => [featureKey, amount, spent]);

/** Two objects have no order within a millisecond. */
const byFeature = (rows: readonly string[][]) =>
  rows.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1));

test('no event of a spend cap is written for an organisation without an endpoint for it', async () => {
  const plan = await capped.plan();
  const customer = await capped.customer('0.02', plan);
  await capped.track(customer, plan, 99);
  expect(await told(customer)).toEqual([]);
  const endpoint = (fields: object) =>
    capped.club.post('/webhook-endpoints', { url: 'https://hooks.example/a', ...fields });
  const usual = made(await endpoint({}));
  expect(usual.event_types).not.toContain(TYPE);
  await capped.track(customer, plan);
  expect(await told(customer)).toEqual([]);
  made(await endpoint({ event_types: [TYPE] }));
  // From the next usage on.
  await capped.track(customer, plan);
  expect(await told(customer)).toHaveLength(1);
});

test('the event of a spend cap is written once usage has reached it', async () => {
  const plan = await capped.plan();
  const customer = await capped.customer('0.02', plan);
  await capped.track(customer, plan, 11);
  expect(await told(customer)).toEqual([]);
  const { json } = await capped.consume(customer, plan);
  expect(json.reason).toBe('overage_allowed');
  const [event] = await told(customer);
  const [subscription] = (await capped.club.shop.read(`/subscriptions?customer_id=${customer}`))
    .data;
  expect(event).toMatchObject({
    objectType: 'ENTITLEMENT',
    accountId: customer,
    customerId: customer,
    featureKey: plan.feature,
    amount: '0.02',
    currency: 'USD',
    spent: '0.02',
    subscriptionId: subscription.id,
    periodStart: subscription.current_period_start,
    periodEnd: subscription.current_period_end,
  });
  await capped.track(customer, plan, 5);
  await capped.consume(customer, plan);
  expect(await told(customer)).toHaveLength(1);
});

test('the event of a spend cap is written once it refuses usage, but not for checks or included usage', async () => {
  const [one, other] = [await capped.plan(), await capped.plan()];
  const customer = await capped.customer('0', one, other);
  await capped.track(customer, one, 10);
  await capped.check(customer, one, 11);
  expect(await told(customer)).toEqual([]);
  await capped.reject(customer, one);
  expect(await shown(customer)).toEqual([[one.feature, '0.00', '0.00']]);
  await capped.reject(customer, one);
  await capped.consume(customer, one);
  // The other subscription has a period of its own.
  await capped.track(customer, other, 10);
  expect(await told(customer)).toHaveLength(1);
  await capped.consume(customer, other);
  const both = [
    [one.feature, '0.00', '0.00'],
    [other.feature, '0.00', '0.00'],
  ];
  expect(byFeature(await shown(customer))).toEqual(byFeature(both));
});

test('the event of a spend cap is written again in the next period, and under another cap', async () => {
  const plan = await capped.plan();
  const customer = await capped.customer('0.02', plan);
  const use = (value: number) => capped.track(customer, plan, value);
  await use(12);
  await capped.put(customer, '0.02');
  await use(1);
  await capped.put(customer, '0.05');
  await use(1);
  expect(await shown(customer)).toEqual([[plan.feature, '0.02', '0.02']]);
  await use(2);
  await capped.put(customer, '0.03');
  await use(1);
  const before = [
    [plan.feature, '0.02', '0.02'],
    [plan.feature, '0.05', '0.06'],
    [plan.feature, '0.03', '0.07'],
  ];
  expect(await shown(customer)).toEqual(before);
  await capped.club.advance('P1M');
  await use(11);
  await use(9);
  expect(await shown(customer)).toEqual([...before, [plan.feature, '0.03', '0.10']]);
  const [row] = await capped.club.shop.server.sql`
    select jsonb_array_length(spend_cap -> 'announced') as kept from billing_accounts where customer_id = ${customer}`;
  expect(row!['kept']).toBe(1);
});

test('a batch of events that reaches a spend cap writes its event, in order', async () => {
  const [one, other]: Plan[] = [await capped.plan(), await capped.plan()];
  const customer = await capped.customer('0.02', one!, other!);
  const events = [
    { name: other!.feature, customer_id: customer, value: 11 },
    { name: one!.feature, customer_id: customer, value: 11 },
    { name: other!.feature, customer_id: customer, value: 1 },
    { name: one!.feature, customer_id: customer, value: 0 },
  ];
  expect((await capped.club.post('/events/ingest', { events })).status).toBe(200);
  const both = [
    [one!.feature, '0.02', '0.02'],
    [other!.feature, '0.02', '0.03'],
  ];
  expect(byFeature(await shown(customer))).toEqual(byFeature(both));
});

test("the event of a spend cap is written once by 100 calls at once, with the catalogue's fields", async () => {
  const plan = await capped.plan();
  const customer = await capped.customer('0.20', plan);
  const replies = await times(100, () => capped.consume(customer, plan));
  expect(tally(replies.map(({ json }) => json.reason))).toEqual({
    ok: 10,
    overage_allowed: 20,
    spend_cap: 70,
  });
  expect(await shown(customer)).toEqual([[plan.feature, '0.20', '0.20']]);
  expect(await misfitsOf(capped.club.shop.server.sql)).toEqual([]);
});
