// An organisation with one of each thing that the dashboard shows, made over the API with texts
// that a test chooses; and the address of each page about it.

import { DASHBOARD_PAGES } from '../../src/dashboard/pages.ts';
import { aMember } from '../http/people/tab.ts';
import { Shop } from '../payments/shop.ts';
import { png } from '../support/images.ts';
import { relayAll } from '../support/relayed.ts';
import type { TestServer } from '../support/server.ts';

export type Texts = {
  /** Of people and things: up to 255 characters. */
  readonly name: string;
  readonly email: string;
};

export const PLAIN: Texts = { name: 'Field guide', email: 'ada@example.com' };

/** Each breaks out of another context: an attribute, an element, a style, a script, a comment. */
export const HOSTILE: Texts = {
  name: [
    `"><script>document.title='owned'</script>`,
    `<img src=x onerror=alert(1)>'`,
    `</style><style>*{display:none}</style>`,
    `' onmouseover='alert(2)`,
    `javascript:alert(3)//--><iframe srcdoc="<script>alert(4)</script>">`,
    '\u202E\u2066',
  ].join(' '),
  email: "o'brien&co+{{7*7}}@example.com",
};

/** One word that no line has room for. */
export const LONG: Texts = { name: 'Donau'.repeat(50), email: `${'a'.repeat(60)}@example.com` };

/** Answered with a file. */
export const FILES: ReadonlySet<string> = new Set(['/audit-log.csv', '/invoices/:id/usage']);
/** Of what a book has not: a processor is connected where a test brings a fake of one. */
const ABSENT: ReadonlySet<string> = new Set(['/settings/processor/disconnect']);

/** Every page of the table that a browser shows. */
export const SHOWN_PATHS: readonly string[] = DASHBOARD_PAGES.map(({ path }) => path).filter(
  (path) => !FILES.has(path) && !ABSENT.has(path),
);

type Ids = Readonly<Record<string, string>>;

export type Book = {
  /**
   * Of a page of the table, with the ids of this book but those given; throws where it has none for
   * it.
   */
  addressOf(path: string, given?: Ids): string;
};

/** Where a book is made: a `Shop`, or what else sells on a service. */
export type Seller = Pick<Shop, 'checkout' | 'buy' | 'read'> & {
  readonly server: Pick<TestServer, 'call' | 'sql' | 'organisation'>;
};

export async function makeBook(shop: Seller, { name, email }: Texts): Promise<Book> {
  const { server } = shop;
  const post = async (path: string, body: object = {}) => {
    const reply = await server.call('POST', path, { body });
    if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${reply.text}`);
    return reply.json;
  };
  await server.call('PATCH', '/organization', { body: { name, seller: { name } } });
  const logo = { data: png(240, 60).toString('base64') };
  await server.call('PUT', '/organization/logo', { body: logo });
  const meter = await post('/meters', {
    slug: 'api-calls',
    name,
    description: name,
    unit: name.slice(0, 40),
  });
  const product = await post('/products', {
    name,
    description: name,
    metadata: { note: name },
    prices: [{ amount: '19', currency: 'USD', type: 'recurring', interval: 'month' }],
  });
  const entitlement = await post(`/products/${product.id}/entitlements`, {
    feature_key: 'api-calls',
    limit: 1000,
  });
  const usagePrice = await post(`/products/${product.id}/usage-prices`, {
    feature_key: 'api-calls',
    currency: 'USD',
    model: 'per_unit',
    unit_amount: '0.01',
  });
  const discount = await post('/discounts', { code: 'SPRING', percent_off: 20 });
  const customer = await post('/customers', {
    name,
    email,
    external_customer_id: name,
    metadata: { note: name },
    billing_address: { line1: name, city: name, country: 'DE' },
  });
  const grant = await post(`/customers/${customer.id}/grants`, {
    feature_key: 'api-calls',
    amount: 50,
    reason: name,
  });
  await post('/track', {
    feature_key: 'api-calls',
    customer_id: customer.id,
    value: 20,
    metadata: { note: name },
  });
  await server.call('PUT', `/customers/${customer.id}/spend-cap`, {
    body: { amount: '100', currency: 'USD' },
  });
  const alert = await post('/alerts', {
    feature_key: 'api-calls',
    customer_id: customer.id,
    type: 'usage',
    threshold: 10,
  });
  await post('/tags', { object_type: 'customer', object_id: customer.id, name: name.slice(0, 50) });
  const field = { object_type: 'customer', object_id: customer.id, name: 'crm', value: name };
  await post('/custom-fields', field);
  const checkout = { customer_id: customer.id, customer_email: email, customer_name: name };
  const payment = await shop.buy({ checkout });
  await post(`/payments/${payment.id}/refund`, { amount: '10' });
  await shop.buy({ checkout, means: 'declined' });
  const open = await shop.checkout({ ...checkout, metadata: { note: name } });
  const subscription = await post('/subscriptions', {
    customer_id: customer.id,
    product_id: product.id,
    trial_days: 9,
    metadata: { note: name },
  });
  const invoice = await post('/invoices', {
    customer_id: customer.id,
    currency: 'USD',
    lines: [{ description: name, quantity: 1, unit_amount: '5' }],
  });
  const endpoint = await post('/webhook-endpoints', {
    url: 'https://hooks.example/tollhouse',
    description: name,
  });
  const delivery = await post(`/webhook-endpoints/${endpoint.id}/test`);
  await server.sql`
    insert into delivery_attempts (delivery_id, at, status_code, error, duration_ms, response_head)
    values (${delivery.id}, now() - interval '1 minute', null, ${name}, 15000, null),
      (${delivery.id}, now(), 500, null, 12, ${name})`;
  const key = await post('/api-keys', { name, scopes: ['read'] });
  const { memberId } = await aMember(server, 'support', { name: name.slice(0, 255) });
  const invitation = await server.call('POST', '/invitations', {
    key: server.organisation.liveKey,
    body: { email: `i.${email}`, role: 'support' },
  });
  await relayAll(server.sql);
  const events = await shop.read(`/events?type=customer.created&object_id=${customer.id}`);
  const ids: Ids = {
    '/customers/:id': customer.id,
    '/customers/:id/grants/:grant': grant.id,
    '/products/:id': product.id,
    '/products/:id/prices/:price': product.prices[0].id,
    '/products/:id/entitlements/:entitlement': entitlement.id,
    '/products/:id/usage-prices/:price': usagePrice.id,
    '/meters/:id': meter.id,
    '/alerts/:id': alert.id,
    '/discounts/:id': discount.id,
    '/checkouts/:id': open.id,
    '/payments/:id': payment.id,
    '/subscriptions/:id': subscription.id,
    '/invoices/:id': invoice.id,
    '/events/:id': events.data[0].id,
    '/webhooks/:id': endpoint.id,
    '/deliveries/:id': delivery.id,
    '/keys/:id': key.id,
    '/settings/members/:id': memberId,
    '/settings/invitations/:id': invitation.json.id,
  };
  return { addressOf: (path, given = {}) => addressOf(path, { ids, given }) };
}

function addressOf(
  path: string,
  { ids, given }: { readonly ids: Ids; readonly given: Ids },
): string {
  const parts = path.split('/');
  return parts
    .map((part, at) => {
      if (!part.startsWith(':')) return part;
      const pattern = parts.slice(0, at + 1).join('/');
      const id = given[part] ?? ids[pattern];
      if (id === undefined) throw new Error(`the book has nothing for ${pattern}`);
      return id;
    })
    .join('/');
}

/** A server whose addresses are its own, as a browser needs it. */
export function openShop(): Promise<Shop> {
  return Shop.open({
    settings: (url) => ({ baseUrl: url, appUrl: url, checkoutUrl: `${url}/pay` }),
  });
}
