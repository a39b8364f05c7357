// Every type of the catalogue, caused over HTTP: each event has exactly the catalogue's fields.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { EVENT_TYPES, type EventEnvelope } from '../../../src/records/events.ts';
import { made, Shop } from '../../payments/shop.ts';
import { misfits } from '../../support/catalogue.ts';
import { until } from '../../support/until.ts';
import { GOOD, openPortal } from '../portal/customer.ts';
import { Club } from '../subscriptions/subscribing.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
});
afterAll(() => shop.close());

/** Customers and meters. */
async function meter(): Promise<void> {
  const { server } = shop;
  const post = (path: string, body: object) => server.call('POST', path, { body });
  made(await post('/webhook-endpoints', { url: 'https://example.com', event_types: ['*'] }));
  const named = {
    name: 'Zoë “Z” 山田 <b>',
    email: 'zoe@example.com',
    external_customer_id: 'ext/ü 1',
  };
  const { id } = made(await post('/customers', named));
  const { id: nobody } = made(await post('/customers', {}));
  const billing_address = { line1: 'Rämistraße 1 “b”', postal_code: '8001', country: 'CH' };
  const patch = {
    name: null,
    email: 'z@example.com',
    external_customer_id: 'u-2',
    billing_address,
  };
  await server.call('PATCH', `/customers/${id}`, { body: patch });
  for (const slug of ['calls', 'bytes']) made(await post('/meters', { slug }));
  const grant = (customer: string, body: object) => post(`/customers/${customer}/grants`, body);
  made(
    await grant(id, { feature_key: 'calls', amount: 2.5, expires_at: '2126-01-01T00:00:00.000Z' }),
  );
  made(
    await grant(id, {
      feature_key: 'bytes',
      amount: 9,
      reset_interval: 'month',
      overage_allowed: true,
    }),
  );
  made(await grant(nobody, { feature_key: 'calls', unlimited: true }));
  const metadata = { region: 'eu' };
  for (const customer_id of [id, nobody]) {
    const call = { feature_key: 'calls', customer_id, value: 1.25, metadata };
    for (let n = 0; n < 3; n += 1)
      await post('/track', { ...call, idempotency_key: `${customer_id} ${n}` });
    await post('/check', { feature_key: 'calls', customer_id, consume: true });
    const events = ['calls', 'bytes', 'calls'].map((name) => ({ name, customer_id, value: 9 }));
    await post('/events/ingest', { events });
  }
}

/** Tags, custom fields, and the organisation's settings. */
async function annotate(): Promise<void> {
  const { server } = shop;
  const post = (path: string, body: object) => server.call('POST', path, { body });
  const { id: object_id } = made(await post('/customers', {}));
  const [invoice] = (await shop.read('/invoices?limit=1')).data;
  for (const on of [
    { object_type: 'customer', object_id },
    { object_type: 'invoice', object_id: invoice.id },
  ]) {
    const tag = made(await post('/tags', { ...on, name: 'Größe “XL”' }));
    const field = made(
      await post('/custom-fields', { ...on, name: 'Kostenstelle', value: '注文' }),
    );
    await server.call('DELETE', `/tags/${tag.id}`);
    await server.call('DELETE', `/custom-fields/${field.id}`);
  }
  const seller = { tax_id: 'DE 1', address_line1: 'Straße 1' };
  const dunning = { retry_days: [1, 2], expire_after_days: 15 };
  const body = { name: 'Renamed', timezone: 'Asia/Tokyo', seller, dunning };
  await server.call('PATCH', '/organization', { body });
}

/** Payments and their consequences. */
async function pay(): Promise<void> {
  const checkout = {
    customer_name: 'Grüße',
    external_customer_id: 'buyer/1',
    client_reference_id: '注文 №7',
    metadata: { 'clé é': '', rtl: 'مرحبا' },
  };
  for (const means of ['declined', 'error'] as const) await shop.buy({ means });
  for (const round of [{}, { checkout }]) {
    const { id } = await shop.buy({ means: 'refundFailsLate', ...round });
    await shop.refund(id, { amount: '40', reason: 'duplicate' });
    await shop.events(id, 3);
    await shop.refund(id);
  }
  await shop.buy({ means: 'disputedLost', checkout });
  const { id } = await shop.buy({ means: 'refundPends', currency: 'JPY', total: '10000' });
  await shop.refund(id, { amount: '1' });
  await shop.events(id, 2);
}

/** Subscriptions, from a trial and from a charge to each possible end. */
async function subscribe(): Promise<void> {
  const club = new Club(shop);
  const plan = await club.plan({ interval: 'day' });
  const trial = await club.signUp(await club.plan({ trial_days: 1 }));
  const context = { client_reference_id: '注文', metadata: { ключ: '“”' } };
  const { id } = await club.signUp(plan, 'good', context);
  await club.act(id, 'pause', { resumes_at: new Date((await club.now()) + 60_000).toISOString() });
  await club.act(id, 'cancel');
  await club.act(id, 'uncancel');
  await club.act(id, 'resume');
  await club.act(id, 'change', { quantity: 3 });
  await club.signUp(plan, 'renewalFails');
  await club.subscribe(plan, await club.customer(), { metadata: context.metadata });
  const on = { object_type: 'subscription', object_id: id };
  made(await club.post('/tags', { ...on, name: 'vip' }));
  made(await club.post('/custom-fields', { ...on, name: 'a', value: 'b' }));
  await club.advance('P2D');
  await club.act(id, 'cancel', { mode: 'immediate' });
  await club.act(trial.id, 'cancel');
  await club.advance('P1M');
}

/** Usage that is sold, up to a cap. */
async function spend(): Promise<void> {
  const club = new Club(shop);
  const { productId, feature } = await club.plan({ amount: '0.00', limit: 0 });
  const price = { currency: 'USD', model: 'per_unit', unit_amount: '0.000002' };
  made(await club.post(`/products/${productId}/usage-prices`, { feature_key: feature, ...price }));
  const { id } = made(await club.post('/customers', { external_customer_id: 'u-3' }));
  made(await club.post('/subscriptions', { customer_id: id, product_id: productId }));
  const cap = { amount: '0.01', currency: 'USD' };
  await shop.server.call('PUT', `/customers/${id}/spend-cap`, { body: cap });
  await club.post('/track', { feature_key: feature, customer_id: id, value: 5001 });
}

/** A threshold that is reached, and a grant that leads back from it. */
async function watch(): Promise<void> {
  const post = (path: string, body: object) => shop.server.call('POST', path, { body });
  made(await post('/meters', { slug: 'watched' }));
  const { id } = made(await post('/customers', { external_customer_id: 'u-4' }));
  const alert = { feature_key: 'watched', type: 'remaining_percentage', threshold: 12.5 };
  made(await post('/alerts', alert));
  const grant = { feature_key: 'watched', amount: 8.5 };
  made(await post(`/customers/${id}/grants`, grant));
  await post('/track', { feature_key: 'watched', customer_id: id, value: 8 });
  made(await post(`/customers/${id}/grants`, grant));
}

/** A meter that is topped up by itself, with a card and without. */
async function topUp(): Promise<void> {
  const { server } = shop;
  const post = (path: string, body: object) => server.call('POST', path, { body });
  made(await post('/meters', { slug: 'topped' }));
  const prices = [{ amount: '10.00', currency: 'USD' }];
  const { prices: made10 } = made(await post('/products', { name: 'Credits', prices }));
  const settings = { enabled: true, threshold: 5, amount: 7.5, price_id: made10[0].id };
  const portal = await openPortal(server, {
    email: 'top@example.com',
    external_customer_id: 'u-5',
  });
  await portal.saveCard(GOOD);
  const { id: bare } = made(await post('/customers', {}));
  for (const [customer, status] of [
    [portal.customer, 'armed'],
    [bare, 'suspended'],
  ]) {
    const path = `/customers/${customer}/auto-topups/topped`;
    expect((await server.call('PUT', path, { body: settings })).status).toBe(200);
    await until(`it is ${status}`, async () => {
      const { json } = await server.call('GET', path);
      return json.status === status && (json.payment_id !== null || customer === bare);
    });
  }
}

async function allTold(): Promise<readonly EventEnvelope[]> {
  const told: EventEnvelope[] = [];
  for (;;) {
    const page = await shop.read(`/events?limit=200&offset=${told.length}`);
    told.push(...page.data);
    if (!page.has_more) return told;
  }
}

test('every event of every path fits its schema', async () => {
  await meter();
  await watch();
  await topUp();
  await pay();
  await subscribe();
  await spend();
  await annotate();
  let told: readonly EventEnvelope[] = [];
  // A refund's consequences are written after its answer.
  await until('every type is told', async () => {
    told = await allTold();
    const types = new Set(told.map(({ type }) => type));
    return EVENT_TYPES.every((type) => types.has(type));
  });
  expect(told.flatMap((event) => misfits(event))).toEqual([]);
  const ends = told.flatMap(({ type, data }) =>
    type === 'subscription.expired' ? [data['reason']] : [],
  );
  expect(new Set(ends)).toEqual(
    new Set(['immediate', 'dunning_exhausted', 'cancellation_effective']),
  );
}, 60_000);
