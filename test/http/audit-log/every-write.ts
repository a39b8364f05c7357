// One call for each operation that is no GET and is called with a key. The POSTs are those of
// test/http/edge/every-post.ts.
import { png } from '../../support/images.ts';
import type { FakeAccount } from '../../processors/stripe/fake.ts';
import { endpointOf } from '../webhook-endpoints/owed.ts';
import { aMember } from '../people/tab.ts';
import { EVERY_POST, type Posted } from '../edge/every-post.ts';
import type { Club } from '../subscriptions/subscribing.ts';

export type Write = Posted & { readonly method: string };

type Prepare = (club: Club, account: FakeAccount) => Promise<Write>;

let names = 0;
const newName = () => `other-${(names += 1)}`;

const made = async (club: Club, path: string, body: object, key?: string): Promise<string> => {
  const call = { body, ...(key !== undefined && { key }) };
  const { status, json, text } = await club.shop.server.call('POST', path, call);
  if (status !== 201) throw new Error(`${path}: ${status} ${text}`);
  return json.id;
};

const meter = (club: Club) => made(club, '/meters', { slug: newName() });
const url = 'https://hooks.example/z?token=in-the-query';

const partner = async ({ shop }: Club, method: string, body?: object): Promise<Write> => {
  const key = shop.server.group.testKey;
  const at = '/partner/webhook-endpoints';
  const { json } = await shop.server.call('POST', at, { key, body: { url } });
  return { method, path: `${at}/${json.id}`, key, ...(body && { body }) };
};

const spendCap = { currency: 'USD', amount: '50.00' };
const autoTopup = async ({ shop }: Club) => ({
  enabled: false,
  threshold: 1,
  amount: 10,
  price_id: shop.priceId,
});

const OTHERS: Readonly<Record<string, Prepare>> = {
  'PUT /meters/{id}': (_club) =>
    Promise.resolve({ method: 'PUT', path: `/meters/${newName()}`, body: { name: 'Calls' } }),
  'PATCH /meters/{id}': async (club) => {
    return { method: 'PATCH', path: `/meters/${await meter(club)}`, body: { name: 'Other' } };
  },
  'DELETE /meters/{id}': async (club) => ({
    method: 'DELETE',
    path: `/meters/${await meter(club)}`,
  }),
  'PUT /customers/{id}': () =>
    Promise.resolve({ method: 'PUT', path: `/customers/${newName()}`, body: { name: 'Ada' } }),
  'PATCH /customers/{id}': async (club) => {
    const path = `/customers/${await club.customer()}`;
    return { method: 'PATCH', path, body: { name: 'Grace' } };
  },
  'PUT /customers/{id}/spend-cap': async (club) => {
    const path = `/customers/${await club.customer()}/spend-cap`;
    return { method: 'PUT', path, body: spendCap };
  },
  'DELETE /customers/{id}/spend-cap': async (club) => {
    const path = `/customers/${await club.customer()}/spend-cap`;
    await club.shop.server.call('PUT', path, { body: spendCap });
    return { method: 'DELETE', path };
  },
  'POST /alerts': async (club) => {
    const slug = newName();
    await made(club, '/meters', { slug });
    const body = { feature_key: slug, type: 'usage', threshold: 5 };
    return { method: 'POST', path: '/alerts', body };
  },
  'DELETE /alerts/{id}': async (club) => {
    const slug = newName();
    await made(club, '/meters', { slug });
    const id = await made(club, '/alerts', { feature_key: slug, type: 'usage', threshold: 5 });
    return { method: 'DELETE', path: `/alerts/${id}` };
  },
  'PUT /customers/{id}/auto-topups/{feature_key}': async (club) => {
    const slug = newName();
    await made(club, '/meters', { slug });
    const path = `/customers/${await club.customer()}/auto-topups/${slug}`;
    return { method: 'PUT', path, body: await autoTopup(club) };
  },
  'DELETE /customers/{id}/auto-topups/{feature_key}': async (club) => {
    const slug = newName();
    await made(club, '/meters', { slug });
    const path = `/customers/${await club.customer()}/auto-topups/${slug}`;
    await club.shop.server.call('PUT', path, { body: await autoTopup(club) });
    return { method: 'DELETE', path };
  },
  'POST /check/batch': async (club) => {
    const slug = newName();
    await made(club, '/meters', { slug });
    const check = { feature_key: slug, customer_id: await club.customer() };
    return { method: 'POST', path: '/check/batch', body: { checks: [check] } };
  },
  'PATCH /products/{id}': async (club) => {
    const path = `/products/${await made(club, '/products', { name: 'Thing' })}`;
    return { method: 'PATCH', path, body: { name: 'Things' } };
  },
  'DELETE /products/{id}/entitlements/{entitlement_id}': async (club) => {
    const slug = newName();
    await made(club, '/meters', { slug });
    const at = `/products/${await made(club, '/products', { name: 'Thing' })}/entitlements`;
    const id = await made(club, at, { feature_key: slug, limit: 5 });
    return { method: 'DELETE', path: `${at}/${id}` };
  },
  'DELETE /discounts/{id}': async (club) => {
    const id = await made(club, '/discounts', { code: newName(), percent_off: 5 });
    return { method: 'DELETE', path: `/discounts/${id}` };
  },
  'DELETE /portal-tokens/{id}': async (club) => {
    const id = await made(club, `/customers/${await club.customer()}/portal-tokens`, {});
    return { method: 'DELETE', path: `/portal-tokens/${id}` };
  },
  'PATCH /webhook-endpoints/{id}': async ({ shop }) => {
    const path = `/webhook-endpoints/${(await endpointOf(shop.server)).id}`;
    return { method: 'PATCH', path, body: { url, description: 'svc_live_pasted' } };
  },
  'DELETE /webhook-endpoints/{id}': async ({ shop }) => {
    const path = `/webhook-endpoints/${(await endpointOf(shop.server)).id}`;
    return { method: 'DELETE', path };
  },
  'PATCH /partner/webhook-endpoints/{id}': (club) => partner(club, 'PATCH', { url: `${url}2` }),
  'DELETE /partner/webhook-endpoints/{id}': (club) => partner(club, 'DELETE'),
  'PATCH /organization': () =>
    Promise.resolve({ method: 'PATCH', path: '/organization', body: { name: newName() } }),
  'PUT /organization/logo': () => {
    const data = png(4, 4, { color: [(names += 1) % 256, 0, 0] }).toString('base64');
    return Promise.resolve({ method: 'PUT', path: '/organization/logo', body: { data } });
  },
  'DELETE /organization/logo': async ({ shop }) => {
    const path = '/organization/logo';
    await shop.server.call('PUT', path, { body: { data: png(4, 4).toString('base64') } });
    return { method: 'DELETE', path };
  },
  'PUT /organization/processor': ({ shop }, { testKey }) => {
    const body = {
      type: 'stripe',
      secret_key: testKey,
      webhook_secret: 'whsec_ofTheMerchant12345',
    };
    const key = shop.server.other.testKey;
    return Promise.resolve({ method: 'PUT', path: '/organization/processor', body, key });
  },
  'DELETE /organization/processor': async ({ shop }, { testKey }) => {
    const path = '/organization/processor';
    const key = shop.server.other.testKey;
    const body = { type: 'stripe', secret_key: testKey };
    await shop.server.call('PUT', path, { key, body });
    return { method: 'DELETE', path, key };
  },
  'PATCH /members/{id}': async ({ shop: { server } }) => {
    const { memberId } = await aMember(server, 'support');
    const key = server.organisation.liveKey;
    return { method: 'PATCH', path: `/members/${memberId}`, body: { role: 'admin' }, key };
  },
  'DELETE /members/{id}': async ({ shop: { server } }) => {
    const { memberId } = await aMember(server, 'support');
    const key = server.organisation.liveKey;
    return { method: 'DELETE', path: `/members/${memberId}`, key };
  },
  'DELETE /invitations/{id}': async ({ shop: { server } }) => {
    const key = server.organisation.liveKey;
    const body = { email: `${newName()}@example.com`, role: 'support' };
    const { json } = await server.call('POST', '/invitations', { key, body });
    return { method: 'DELETE', path: `/invitations/${json.id}`, key };
  },
  'PATCH /organization/security': ({ shop: { server } }) => {
    const body = { refund_step_up_amount: '50.00' };
    const key = server.organisation.liveKey;
    return Promise.resolve({ method: 'PATCH', path: '/organization/security', body, key });
  },
  'DELETE /api-keys/{id}': async (club) => {
    const id = await made(club, '/api-keys', { name: newName() });
    return { method: 'DELETE', path: `/api-keys/${id}` };
  },
  'DELETE /tags/{id}': async (club) => {
    const on = { object_type: 'customer', object_id: await club.customer() };
    return { method: 'DELETE', path: `/tags/${await made(club, '/tags', { ...on, name: 'vip' })}` };
  },
  'DELETE /custom-fields/{id}': async (club) => {
    const on = { object_type: 'customer', object_id: await club.customer() };
    const id = await made(club, '/custom-fields', { ...on, name: 'crm', value: 'A-1' });
    return { method: 'DELETE', path: `/custom-fields/${id}` };
  },
};

export const EVERY_WRITE: Readonly<Record<string, Prepare>> = {
  ...Object.fromEntries(
    Object.entries(EVERY_POST)
      .filter(([path]) => !path.startsWith('/portal/'))
      .map(([path, prepare]) => [
        `POST ${path}`,
        async (club: Club) => ({ method: 'POST', ...(await prepare(club)) }),
      ]),
  ),
  ...OTHERS,
};
