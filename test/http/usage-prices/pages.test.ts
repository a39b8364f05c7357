// What usage costs, on the hosted page and in the portal; and a plan that costs nothing but usage.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { made, PATIENCE_MS } from '../../payments/shop.ts';
import { portalOf } from '../portal/customer.ts';
import { Club, type Plan } from '../subscriptions/subscribing.ts';

setDefaultTimeout(PATIENCE_MS);

let club: Club;
beforeAll(async () => {
  club = await Club.open();
});
afterAll(() => club.close());

const HOSTILE = '"><img src=x onerror=alert(1)>';

async function usagePrice({ productId, feature }: Plan, fields: object = {}): Promise<string> {
  const usual = { feature_key: feature, currency: 'USD', model: 'per_unit', unit_amount: '0.002' };
  return made(await club.post(`/products/${productId}/usage-prices`, { ...usual, ...fields })).id;
}

/** Its text, without markup. */
const textOf = (page: string): string => page.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ');

async function hosted(plan: Plan): Promise<string> {
  const { token } = await club.checkout(plan);
  const { text } = await club.shop.server.call('GET', `/pay/${token}`, { key: null });
  return text;
}

const portalPage = async (customerId: string): Promise<string> =>
  (await (await portalOf(club.shop.server, customerId)).get()).text;

test('the hosted page says what usage costs', async () => {
  const slug = `named-${ids.next()}`;
  made(await club.post('/meters', { slug, name: 'API calls', unit: 'calls' }));
  const plan = await club.plan({ feature: slug, limit: 1000 });
  await usagePrice(plan);
  await usagePrice(plan, { currency: 'EUR', unit_amount: '7' });
  const page = textOf(await hosted(plan));
  expect(page).toContain('API calls: 1,000 calls included each month, then $0.002 each.');
  expect(page).toContain('to charge this per month, and what you use, until you cancel.');
  expect(page).not.toContain('7.00');
});

test("the hosted page and the portal escape a feature's name", async () => {
  const slug = `named-${ids.next()}`;
  made(await club.post('/meters', { slug, name: HOSTILE, unit: HOSTILE }));
  const plan = await club.plan({ feature: slug });
  await usagePrice(plan);
  const subscription = await club.signUp(plan);
  const portal = await portalPage(subscription.customer_id);
  for (const page of [await hosted(plan), portal]) {
    expect(page).not.toContain('<img');
    expect(page).toContain('&quot;&gt;&lt;img src=x onerror=alert(1)&gt;');
    expect(textOf(page)).toContain('then $0.002 each.');
  }
});

test('the portal shows the usage prices that the subscription has', async () => {
  const plan = await club.plan({ limit: 1000 });
  const only = {
    ...plan,
    feature: made(await club.post('/meters', { slug: `o-${ids.next()}` })).slug,
  };
  const first = await usagePrice(plan);
  await usagePrice(only, { unit_amount: '0.03' });
  const subscription = await club.signUp(plan);
  await club.post(`/products/${plan.productId}/usage-prices/${first}/archive`);
  await usagePrice(plan, { unit_amount: '0.5' });
  await club.track(subscription, only, 7);
  const page = textOf(await portalPage(subscription.customer_id));
  expect(page).toContain(`${plan.feature}: 1,000 included each month, then $0.002 each.`);
  expect(page).toContain(`${only.feature}: $0.03 each.`);
  expect(page).toContain('7 used');
  expect(page).not.toContain('7 of 0');
  const portal = await portalOf(club.shop.server, subscription.customer_id);
  const { text } = await portal.get(`cancel?subscription_id=${subscription.id}`);
  expect(textOf(text)).toContain('only usage beyond the plan is charged.');
});

test('a plan of usage alone takes a card, and charges it', async () => {
  const plan = await club.plan({ amount: '0.00', limit: 1000 });
  expect(await hosted(plan)).not.toContain('name="card_number"');
  await usagePrice(plan);
  expect(await hosted(plan)).toContain('name="card_number"');
  const subscription = await club.signUp(plan);
  await club.track(subscription, plan, 3345);
  await club.advance('P1M');
  const invoices = await club.invoices(subscription.id);
  expect(invoices.at(-1)).toMatchObject({ total: '4.69', status: 'paid' });
});

test('a form without a card, sent after a usage price was added, is shown again with one', async () => {
  const plan = await club.plan({ amount: '0.00' });
  const { token } = await club.checkout(plan);
  await usagePrice(plan);
  const { url } = club.shop.server;
  const reply = await fetch(`${url}/pay/${token}`, {
    method: 'POST',
    body: new URLSearchParams({ total: '0.00 USD', currency: 'USD' }),
    redirect: 'manual',
  });
  expect(reply.status).toBe(400);
  expect(await reply.text()).toContain('name="card_number"');
});
