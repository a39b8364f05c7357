// Which usage prices a subscription takes: at its start, at a renewal and at a change.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { listFeaturesOfProducts } from '../../../src/records/product-features.ts';
import { ids } from '../../../src/platform/ids.ts';
import { made, PATIENCE_MS } from '../../payments/shop.ts';
import { Club, type Json, type Plan } from '../subscriptions/subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let club: Club;
beforeAll(async () => {
  club = await Club.open();
});
afterAll(() => club.close());

async function usagePrice({ productId, feature }: Plan, fields: object = {}): Promise<string> {
  const usual = { feature_key: feature, currency: 'USD', model: 'per_unit', unit_amount: '0.01' };
  return made(await club.post(`/products/${productId}/usage-prices`, { ...usual, ...fields })).id;
}

const archived = ({ productId }: Plan, id: string) =>
  club.post(`/products/${productId}/usage-prices/${id}/archive`);

async function meter(): Promise<string> {
  return made(await club.post('/meters', { slug: `m-${ids.next()}` })).slug;
}

/**
 * The terms of the subscription's grants that have not ended: by feature. Not of what its plan
 * lacks.
 */
async function terms({ id }: Json): Promise<Record<string, unknown>> {
  const rows = await club.shop.server.sql<Json[]>`
    select m.slug, g.usage_price_id as price, (g.amount / 1000000)::int as limit, g.reset_interval as every,
      g.reset_count as count
    from grants g join meters m on m.id = g.meter_id
    where g.subscription_id = ${id} and g.ended_at is null and g.product_id is not null`;
  return Object.fromEntries(rows.map(({ slug, ...rest }) => [slug, { ...rest }]));
}

const MONTHLY = { limit: 10_000, every: 'month', count: 1 };

test.each(['on the hosted page', 'by the merchant'])(
  "a subscription started %s takes the product's active usage prices",
  async (how) => {
    const plan = await club.plan();
    const price = await usagePrice(plan);
    await archived(plan, await usagePrice(plan, { currency: 'EUR' }));
    await usagePrice(plan, { currency: 'EUR' });
    const subscription =
      how === 'by the merchant'
        ? await club.subscribe(plan, await club.cardholder())
        : await club.signUp(plan);
    expect(await terms(subscription)).toEqual({ [plan.feature]: { ...MONTHLY, price } });
  },
);

test('a subscription takes usage prices in its own currency alone', async () => {
  const plan = await club.plan();
  await usagePrice(plan, { currency: 'EUR' });
  await usagePrice(plan, { currency: 'EUR', feature_key: await meter() });
  const subscription = await club.signUp(plan);
  expect(await terms(subscription)).toEqual({ [plan.feature]: { ...MONTHLY, price: null } });
});

test('a feature with a usage price alone has the periods of the plan, and nothing included', async () => {
  const plan = await club.plan({ interval: 'week', interval_count: 2 });
  const feature = await meter();
  const price = await usagePrice(plan, { feature_key: feature });
  const subscription = await club.signUp(plan);
  expect(await terms(subscription)).toEqual({
    [plan.feature]: { limit: 10_000, every: 'week', count: 1, price: null },
    [feature]: { limit: 0, every: 'week', count: 2, price },
  });
  const { json } = await club.post('/check', {
    feature_key: feature,
    customer_id: subscription.customer_id,
  });
  expect(json).toMatchObject({ limit: 0, period_end: subscription.current_period_end });
});

test('a plan change takes the usage prices of the other product', async () => {
  const [plan, other] = [await club.plan(), await club.plan({ amount: '60.00' })];
  await usagePrice(plan);
  const price = await usagePrice(other);
  const subscription = await club.signUp(plan);
  await club.act(subscription.id, 'change', { price_id: other.priceId });
  expect(await terms(subscription)).toEqual({ [other.feature]: { ...MONTHLY, price } });
});

test('a renewal takes the usage prices of its time; until then a subscription keeps its own', async () => {
  const plan = await club.plan();
  const first = await usagePrice(plan);
  const subscription = await club.signUp(plan);
  await archived(plan, first);
  const second = await usagePrice(plan, { unit_amount: '0.02' });
  expect(await terms(subscription)).toEqual({ [plan.feature]: { ...MONTHLY, price: first } });
  await club.advance('P1M');
  expect(await terms(subscription)).toEqual({ [plan.feature]: { ...MONTHLY, price: second } });
  await archived(plan, second);
  const feature = await meter();
  const third = await usagePrice(plan, { feature_key: feature });
  await club.advance('P1M');
  expect(await terms(subscription)).toEqual({
    [plan.feature]: { ...MONTHLY, price: null },
    [feature]: { limit: 0, every: 'month', count: 1, price: third },
  });
});

test('of many products at once, each subscription takes its own usage prices', async () => {
  const plan = await club.plan();
  const feature = await meter();
  const first = await usagePrice(plan);
  const second = await usagePrice(plan, { feature_key: feature });
  const free = await club.plan();
  const { organisation, other } = club.shop.server;
  const mine = { organisationId: organisation.id, mode: 'test' as const, currency: 'USD' };
  const asked = [plan, free, plan].map(({ productId }) => ({ ...mine, productId }));
  const found = await listFeaturesOfProducts(club.shop.server.sql, [
    ...asked,
    { ...asked[0]!, currency: 'EUR' },
    { ...asked[0]!, mode: 'live' },
    { ...asked[0]!, organisationId: other.id },
  ]);
  const shown = found.map((features) =>
    features.map(({ meter: { slug }, entitlement, usagePrice: price }) => [
      slug,
      entitlement?.limit ?? null,
      price?.id ?? null,
    ]),
  );
  const limit = 10_000_000_000n;
  const both = [
    [plan.feature, limit, first],
    [feature, null, second],
  ];
  const alone = [[free.feature, limit, null]];
  expect(shown).toEqual([both, alone, both, [[plan.feature, limit, null]], [], []]);
});
