// One call for each POST that takes an Idempotency-Key. Each call would have a second effect if it
// ran twice.
import { NUMBERS } from '../../support/means.ts';
import { portalOf } from '../portal/customer.ts';
import type { Club, Plan } from '../subscriptions/subscribing.ts';
import { anEvent, deliveriesOf, endpointOf } from '../webhook-endpoints/owed.ts';

export type Posted = {
  readonly path: string;
  readonly body?: object;
  readonly key?: string | null;
};

type Prepare = (club: Club) => Posted | Promise<Posted>;

let names = 0;
const newName = () => `name-${(names += 1)}`;

async function meter(club: Club): Promise<string> {
  const slug = newName();
  await club.post('/meters', { slug });
  return slug;
}

async function granted(club: Club): Promise<{ feature_key: string; customer_id: string }> {
  const who = { feature_key: await meter(club), customer_id: await club.customer() };
  const { feature_key } = who;
  await club.post(`/customers/${who.customer_id}/grants`, { feature_key, amount: 10 });
  return who;
}

const ofReservation =
  (action: string, body?: object): Prepare =>
  async (club) => {
    const { json } = await club.post('/reservations', { ...(await granted(club)), amount: 2 });
    return { path: `/reservations/${json.id}/${action}`, ...(body && { body }) };
  };

const ofSubscription =
  (action: string, body?: (plan: Plan) => object, before: readonly string[] = []): Prepare =>
  async (club) => {
    const plan = await club.plan(action === 'end-trial' ? { trial_days: 14 } : {});
    const { id } = await club.signUp(plan);
    for (const one of before) await club.act(id, one);
    return { path: `/subscriptions/${id}/${action}`, ...(body && { body: body(plan) }) };
  };

const inPortal =
  (action: string, before: readonly string[] = []): Prepare =>
  async (club) => {
    const { id, customer_id } = await club.signUp(await club.plan());
    for (const one of before) await club.act(id, one);
    const { json } = await club.post(`/customers/${customer_id}/portal-tokens`, {});
    const body = { subscription_id: id };
    return { path: `/portal/${json.token}/${action}`, body, key: null };
  };

/** A change that a debit is to pay, for which a bank takes time. */
async function waiting(club: Club): Promise<{ id: string; token: string }> {
  const { id, customer_id } = await club.signUp(await club.plan());
  const { token } = await portalOf(club.shop.server, customer_id);
  const { url } = club.shop.server;
  const page = `${url}/portal/${token}/payment-method`;
  const attempt = /name="attempt" value="([^"]+)"/.exec(await (await fetch(page)).text())?.[1];
  const debit = { payment_method: 'bank_debit', iban: NUMBERS.iban };
  const body = new URLSearchParams({ attempt: attempt ?? '', ...debit });
  await fetch(page, { method: 'POST', body, redirect: 'manual' });
  await club.act(id, 'change', { quantity: 2 });
  return { id, token };
}

const topUpInPortal: Prepare = async (club) => {
  const customer = await club.customer();
  const slug = await meter(club);
  const { priceId } = club.shop;
  const body = { enabled: false, threshold: 1, amount: 10, price_id: priceId };
  await club.shop.server.call('PUT', `/customers/${customer}/auto-topups/${slug}`, { body });
  const { json } = await club.post(`/customers/${customer}/portal-tokens`, {});
  return { path: `/portal/${json.token}/auto-topups/${slug}`, body: { enabled: true }, key: null };
};

const product = async (club: Club) => (await club.post('/products', { name: 'Thing' })).json.id;
const LINES = [{ description: 'Work', quantity: 1, unit_amount: '5.00' }];
const PER_UNIT = { currency: 'USD', model: 'per_unit', unit_amount: '0.002' };
const invoice = async (club: Club, customer_id: string, draft = false) =>
  (await club.post('/invoices', { customer_id, currency: 'USD', lines: LINES, draft })).json;

const ofInvoice =
  (action: string): Prepare =>
  async (club) => {
    const made = await invoice(club, await club.cardholder(), action === 'finalize');
    return { path: `/invoices/${made.id}/${action}` };
  };

const delivery: Prepare = async (club) => {
  const { server } = club.shop;
  const endpoint = await endpointOf(server, { event_types: ['customer.created'] });
  await anEvent(server);
  const [row] = await deliveriesOf(server, endpoint.id);
  return { path: `/deliveries/${row!['id']}/retry` };
};

const range = () => ({ since: '2020-01-01T00:00:00.000Z', until: '2100-01-01T00:00:00.000Z' });

export const EVERY_POST: Readonly<Record<string, Prepare>> = {
  '/meters': () => ({ path: '/meters', body: { slug: newName() } }),
  '/customers': () => ({ path: '/customers', body: { name: 'Ada' } }),
  '/customers/{id}/grants': async (club) => {
    const { feature_key, customer_id } = await granted(club);
    return { path: `/customers/${customer_id}/grants`, body: { feature_key, amount: 5 } };
  },
  '/grants/{id}/void': async (club) => {
    const feature_key = await meter(club);
    const path = `/customers/${await club.customer()}/grants`;
    const { json } = await club.post(path, { feature_key, amount: 5 });
    return { path: `/grants/${json.id}/void` };
  },
  '/invitations': ({ shop }) => {
    const body = { email: `${newName()}@example.com`, role: 'support' };
    return { path: '/invitations', body, key: shop.server.organisation.liveKey };
  },
  '/api-keys': () => ({ path: '/api-keys', body: { name: newName() } }),
  '/api-keys/{id}/rotate': async (club) => {
    const { json } = await club.post('/api-keys');
    return { path: `/api-keys/${json.id}/rotate`, body: { overlap_seconds: 60 } };
  },
  '/check': async (club) => {
    return { path: '/check', body: { ...(await granted(club)), consume: true } };
  },
  '/check/batch': async (club) => {
    const item = await granted(club);
    const uses = [
      { ...item, consume: true },
      { ...item, consume: true, value: 2 },
    ];
    return { path: '/check/batch', body: { checks: uses } };
  },
  // Of one customer: the call itself looks at it. One for everybody is looked at later.
  '/alerts': async (club) => {
    return { path: '/alerts', body: { ...(await granted(club)), type: 'usage', threshold: 5 } };
  },
  '/reservations': async (club) => {
    return { path: '/reservations', body: { ...(await granted(club)), amount: 2 } };
  },
  '/reservations/{id}/commit': ofReservation('commit', { value: 1 }),
  '/reservations/{id}/release': ofReservation('release'),
  '/reservations/{id}/extend': ofReservation('extend', { expires_in: 1000 }),
  '/track': async (club) => ({ path: '/track', body: { ...(await granted(club)), value: 2 } }),
  '/track/batch': async (club) => {
    const item = await granted(club);
    return { path: '/track/batch', body: { tracks: [item, { ...item, value: 2 }] } };
  },
  '/events/ingest': async (club) => {
    const { feature_key: name, customer_id } = await granted(club);
    return { path: '/events/ingest', body: { events: [{ name, customer_id }] } };
  },
  '/products': () => ({ path: '/products', body: { name: 'Thing' } }),
  '/products/{id}/archive': async (club) => ({ path: `/products/${await product(club)}/archive` }),
  '/products/{id}/publish': async (club) => {
    const id = await product(club);
    await club.post(`/products/${id}/archive`);
    return { path: `/products/${id}/publish` };
  },
  '/products/{id}/prices': async (club) => {
    const path = `/products/${await product(club)}/prices`;
    return { path, body: { amount: '1.00', currency: 'USD' } };
  },
  '/products/{id}/prices/{price_id}/archive': async (club) => {
    const at = `/products/${await product(club)}/prices`;
    const { json } = await club.post(at, { amount: '1.00', currency: 'USD' });
    return { path: `${at}/${json.id}/archive` };
  },
  '/products/{id}/entitlements': async (club) => {
    const path = `/products/${await product(club)}/entitlements`;
    return { path, body: { feature_key: await meter(club), limit: 5 } };
  },
  '/products/{id}/usage-prices': async (club) => {
    const path = `/products/${await product(club)}/usage-prices`;
    return { path, body: { ...PER_UNIT, feature_key: await meter(club) } };
  },
  '/products/{id}/usage-prices/{usage_price_id}/archive': async (club) => {
    const at = `/products/${await product(club)}/usage-prices`;
    const { json } = await club.post(at, { ...PER_UNIT, feature_key: await meter(club) });
    return { path: `${at}/${json.id}/archive` };
  },
  '/discounts': () => ({ path: '/discounts', body: { code: newName(), percent_off: 5 } }),
  '/checkouts': ({ shop }) => {
    return { path: '/checkouts', body: { product_id: shop.productId, customer_email: 'a@b.de' } };
  },
  '/checkouts/{id}/expire': async ({ shop }) => {
    return { path: `/checkouts/${(await shop.checkout()).id}/expire` };
  },
  '/payments/{id}/refund': async ({ shop }) => {
    const body = { amount: '1.00' };
    return { path: `/payments/${(await shop.buy()).id}/refund`, body };
  },
  '/subscriptions': async (club) => {
    const { productId: product_id } = await club.plan();
    return { path: '/subscriptions', body: { customer_id: await club.cardholder(), product_id } };
  },
  '/subscriptions/{id}/change': ofSubscription('change', () => ({ quantity: 2 })),
  '/subscriptions/{id}/cancel': ofSubscription('cancel'),
  '/subscriptions/{id}/uncancel': ofSubscription('uncancel', undefined, ['cancel']),
  '/subscriptions/{id}/unschedule': async (club) => {
    return { path: `/subscriptions/${(await waiting(club)).id}/unschedule` };
  },
  '/subscriptions/{id}/pause': ofSubscription('pause'),
  '/subscriptions/{id}/resume': ofSubscription('resume', undefined, ['pause']),
  '/subscriptions/{id}/end-trial': ofSubscription('end-trial'),
  '/invoices': async (club) => {
    const customer_id = await club.customer();
    return { path: '/invoices', body: { customer_id, currency: 'USD', lines: LINES } };
  },
  '/invoices/{id}/finalize': ofInvoice('finalize'),
  '/invoices/{id}/pay': ofInvoice('pay'),
  '/invoices/{id}/void': ofInvoice('void'),
  '/customers/{id}/portal-tokens': async (club) => {
    return { path: `/customers/${await club.customer()}/portal-tokens`, body: {} };
  },
  '/portal/{token}/cancel': inPortal('cancel'),
  '/portal/{token}/uncancel': inPortal('uncancel', ['cancel']),
  '/portal/{token}/unschedule': async (club) => {
    const { id, token } = await waiting(club);
    return { path: `/portal/${token}/unschedule`, body: { subscription_id: id }, key: null };
  },
  '/portal/{token}/pause': inPortal('pause'),
  '/portal/{token}/resume': inPortal('resume', ['pause']),
  '/portal/{token}/auto-topups/{feature_key}': topUpInPortal,
  '/webhook-endpoints': () => {
    return { path: '/webhook-endpoints', body: { url: 'https://hooks.example/x' } };
  },
  '/webhook-endpoints/{id}/rotate-secret': async ({ shop }) => {
    return { path: `/webhook-endpoints/${(await endpointOf(shop.server)).id}/rotate-secret` };
  },
  '/webhook-endpoints/{id}/test': async ({ shop }) => {
    return { path: `/webhook-endpoints/${(await endpointOf(shop.server)).id}/test`, body: {} };
  },
  '/webhook-endpoints/{id}/replay': async ({ shop }) => {
    const { id } = await endpointOf(shop.server, { event_types: ['customer.created'] });
    return { path: `/webhook-endpoints/${id}/replay`, body: range() };
  },
  '/deliveries/{id}/retry': delivery,
  '/partner/webhook-endpoints': ({ shop }) => {
    const key = shop.server.group.testKey;
    return { path: '/partner/webhook-endpoints', body: { url: 'https://hooks.example/y' }, key };
  },
  '/partner/webhook-endpoints/{id}/rotate-secret': async ({ shop }) => {
    const key = shop.server.group.testKey;
    const call = { key, body: { url: 'https://hooks.example/y' } };
    const { json } = await shop.server.call('POST', '/partner/webhook-endpoints', call);
    return { path: `/partner/webhook-endpoints/${json.id}/rotate-secret`, key };
  },
  '/tags': async (club) => {
    const object_id = await club.customer();
    return { path: '/tags', body: { object_type: 'customer', object_id, name: 'vip' } };
  },
  '/custom-fields': async (club) => {
    const on = { object_type: 'customer', object_id: await club.customer() };
    return { path: '/custom-fields', body: { ...on, name: 'crm', value: 'A-1' } };
  },
  '/test-clock': () => ({ path: '/test-clock', body: { advance: 'P1D' } }),
};
