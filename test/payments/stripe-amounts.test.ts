// What the connected Stripe never charges is refused before a buyer sees it, or a plan bills it.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { Club, type Json } from '../http/subscriptions/subscribing.ts';
import { UNHURRIED } from '../support/settling.ts';
import { closeStripeSide, openStripeSide, type StripeSide } from '../support/stripe-side.ts';
import { made, PATIENCE_MS, Shop } from './shop.ts';

setDefaultTimeout(PATIENCE_MS);

let side: StripeSide;
let shop: Shop;
let club: Club;
beforeAll(async () => {
  side = await openStripeSide();
  shop = await Shop.open({ stripe: side, settings: UNHURRIED });
  club = new Club(shop);
});
afterAll(async () => {
  await shop.close();
  await closeStripeSide(side);
});

type Price = Readonly<Record<string, unknown>>;

async function product(...prices: Price[]): Promise<Json> {
  return made(await club.post('/products', { name: 'Thing', prices }));
}

async function opened(productId: string, fields: object = {}): Promise<[number, string]> {
  const body = { product_id: productId, customer_email: 'ada@example.com', ...fields };
  const { status, json } = await club.post('/checkouts', body);
  return [
    status,
    json.error === undefined ? json.amount : `${json.error.type}: ${json.error.message}`,
  ];
}

describe('a checkout is not opened for an amount that Stripe never charges', () => {
  // prettier-ignore
  test.each([
    // the least      one coin less   says
    ['0.50',   'USD', '0.49',         'as little as 0.49 USD'],
    ['0.30',   'GBP', '0.29',         'as little as 0.29 GBP'],
    ['50',     'JPY', '49',           'as little as 49 JPY'],
    ['175.00', 'HUF', '174.99',       'as little as 174.99 HUF'],
    ['15.00',  'CZK', '14.99',        'as little as 14.99 CZK'],
    ['2.00',   'AED', '1.99',         'as little as 1.99 AED'],
    ['12.500', 'KWD', '12.505',       'only multiples of 0.010 KWD'],
    ['100.00', 'USD', '1000000.00',   'as much as 1000000.00 USD'],
    ['1',      'ISK', null,           ''],
    ['0.01',   'TWD', null,           ''],
  ])('%s %s is sold, and %p is not', async (least, currency, less, says) => {
    const sold = await product({ amount: least, currency });
    expect(await opened(sold.id)).toEqual([201, least]);
    if (less === null) return;
    const unsold = await product({ amount: less, currency });
    const [status, message] = await opened(unsold.id);
    expect([status, message]).toEqual([400, expect.stringContaining(says)]);
    expect(message).toStartWith('checkout_create_failed: ');
    const link = await club.post(`/buy-links/${unsold.id}/checkout`, {});
    expect([link.status, link.json.error.type]).toEqual([400, 'checkout_create_failed']);
  });

  test('a currency that Stripe takes no payments in is not offered beside one that it takes', async () => {
    const both = await product(
      { amount: '1.0000', currency: 'CLF' },
      { amount: '0.20', currency: 'EUR' },
      { amount: '5.00', currency: 'USD' },
    );
    expect(await opened(both.id)).toEqual([201, '5.00']);
    expect(await opened(both.id, { currency: 'EUR' })).toEqual([
      400,
      'checkout_create_failed: Stripe does not take as little as 0.20 EUR.',
    ]);
    const session = await shop.checkout({ product_id: both.id });
    const page = await shop.server.call('GET', `/pay/${session.token}`, { key: null });
    expect(page.text).toContain('5.00');
    expect(page.text).not.toContain('CLF');
  });

  test('a discount may leave nothing, and not too little', async () => {
    const { id } = await product({ amount: '1.00', currency: 'USD' });
    const most = await shop.discount('SIXTY', { percent_off: 60 });
    const all = await shop.discount('GIFT', { percent_off: 100 });
    expect(await opened(id, { discount_code: most })).toEqual([
      400,
      'checkout_create_failed: Stripe does not take as little as 0.40 USD.',
    ]);
    expect(await opened(id, { discount_code: all })).toEqual([201, '0.00']);
    const session = await shop.checkout({ product_id: id });
    const path = `/pay/${session.token}?discount_code=${most}`;
    const page = (await shop.server.call('GET', path, { key: null })).text;
    expect(page).toContain('With this code it cannot be paid');
    expect(page).toContain('1.00');
  });

  test('a free product is given as before', async () => {
    const { id } = await product({ amount: '0.00', currency: 'USD' });
    expect(await opened(id)).toEqual([201, '0.00']);
  });

  test('a trial of a price that cannot be charged after it is not begun', async () => {
    const price = { amount: '0.30', currency: 'USD', type: 'recurring', interval: 'month' };
    const { id } = await product({ ...price, trial_days: 14 });
    const [status, message] = await opened(id);
    expect([status, message]).toEqual([400, expect.stringContaining('as little as 0.30 USD')]);
  });
});

describe('what would be charged later', () => {
  test('a plan that Stripe cannot charge is not subscribed to, nor changed to', async () => {
    const plan = await club.plan();
    const customer_id = await club.cardholder();
    const low = await club.price(plan, { amount: '0.49' });
    const refusal = [
      { path: ['price_id'], message: 'Stripe does not take as little as 0.49 USD.' },
    ];
    const started = await club.post('/subscriptions', {
      customer_id,
      product_id: plan.productId,
      price_id: low,
    });
    expect([started.status, started.json.error.issues]).toEqual([400, refusal]);
    const { id } = await club.subscribe(plan, customer_id);
    for (const path of ['change', 'change/preview']) {
      const changed = await club.post(`/subscriptions/${id}/${path}`, { price_id: low });
      expect([path, changed.status, changed.json.error?.issues]).toEqual([path, 400, refusal]);
    }
    // Two of them can be charged.
    expect((await club.act(id, 'change', { price_id: low, quantity: 2 })).quantity).toBe(2);
    await club.act(id, 'cancel', { mode: 'immediate' });
  });

  test('an automatic top-up is not set to a price that Stripe cannot charge', async () => {
    const plan = await club.plan();
    const customer = await club.cardholder();
    const { prices } = await product({ amount: '0.10', currency: 'USD' });
    const body = { enabled: true, threshold: 1, amount: 10, price_id: prices[0].id };
    const path = `/customers/${customer}/auto-topups/${plan.feature}`;
    const put = await shop.server.call('PUT', path, { body });
    expect([put.status, put.json.error?.issues]).toEqual([
      400,
      [{ path: ['price_id'], message: 'Stripe does not take as little as 0.10 USD.' }],
    ]);
  });

  test('an upgrade whose difference is too little is refused by name, and nothing changes', async () => {
    const plan = await club.plan();
    const subscription = await club.subscribe(plan, await club.cardholder());
    const next = await club.price(plan, { amount: '30.20' });
    const [status, type, message] = await club.refused(subscription.id, 'change', {
      price_id: next,
    });
    expect([status, type]).toEqual([402, 'payment_failed']);
    expect(message).toMatch(/Stripe does not take as little as 0\.\d\d USD/);
    expect(await club.subscription(subscription.id)).toMatchObject({
      price_id: plan.priceId,
      overdue_state: 'clear',
    });
    await club.act(subscription.id, 'cancel', { mode: 'immediate' });
  });

  test('a renewal that comes to too little is not tried in vain, and its event says so', async () => {
    const plan = await club.plan({ amount: '0.00' });
    const feature = plan.feature;
    made(
      await club.post(`/products/${plan.productId}/usage-prices`, {
        feature_key: feature,
        currency: 'USD',
        model: 'per_unit',
        unit_amount: '0.30',
      }),
    );
    const subscription = await club.subscribe(plan, await club.cardholder());
    const { customer_id } = subscription;
    const used = { feature_key: feature, customer_id, value: 10_001 };
    expect((await club.post('/track', used)).status).toBe(200);
    await club.advanceTo(subscription.current_period_end);
    const payment = (await club.payments(subscription.id)).at(-1);
    expect(payment).toMatchObject({
      amount: '0.30',
      status: 'errored',
      failure_code: 'amount_refused',
      failure_message: 'Stripe does not take as little as 0.30 USD.',
    });
    const events = await club.events(subscription.id);
    const errored = events.find(({ type }) => type === 'payment.errored');
    expect(errored?.data).toMatchObject({ retryable: false, nextAttemptAt: null });
    await club.advance('P2D');
    expect(await club.payments(subscription.id)).toHaveLength(1);
    // The merchant lets it go.
    await club.post(`/invoices/${payment.invoice_id}/void`);
    expect(await club.subscription(subscription.id)).toMatchObject({ overdue_state: 'clear' });
    await club.act(subscription.id, 'cancel', { mode: 'immediate' });
  });
});
