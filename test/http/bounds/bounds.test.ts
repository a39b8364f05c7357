// How many things one organisation, customer, product, ... may have: each bound can be reached by
// concurrent calls, and is never passed.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { BOUNDS, type BoundName, type Bounds } from '../../../src/platform/bounds.ts';
import { ids } from '../../../src/platform/ids.ts';
import { runAdmin } from '../../support/admin.ts';
import { type Reply, startServer, type TestServer } from '../../support/server.ts';

setDefaultTimeout(60_000);

const MAX = 3;
const AT_ONCE = MAX + 4;
const bounds = Object.freeze(
  Object.fromEntries(Object.keys(BOUNDS).map((name) => [name, MAX])),
) as Bounds;

let server: TestServer;
beforeAll(async () => {
  const wider = {
    meters: 2 * MAX,
    usagePricesPerProduct: 3 * MAX,
    usagePricesInUse: 2 * MAX,
    grantsPerCustomerMeter: 2 * MAX,
    grantsPerCustomer: 3 * MAX,
    alertsForAll: 2 * MAX,
    alertsPerCustomer: 2 * MAX,
  };
  // Each case takes away what the one before has made, of any organisation.
  server = await startServer({ own: true, settings: { bounds: { ...bounds, ...wider } } });
});
afterAll(() => server.stop());

type Add = (n: number) => Promise<Reply>;
type Case = {
  /** Makes the parents, and returns a function that makes the nth thing. */
  readonly open: () => Promise<Add>;
  /** How to delete one, where that is possible. */
  readonly remove?: (made: Reply) => Promise<Reply>;
  readonly max?: number;
};

async function post(path: string, body: object, status = 201): Promise<Reply> {
  const reply = await server.call('POST', path, { body });
  expect([reply.text, reply.status]).toEqual([reply.text, status]);
  return reply;
}

const PRICE = { amount: '1', currency: 'USD' };

async function aProduct(): Promise<string> {
  await server.sql`delete from checkouts`;
  await server.sql`delete from prices`;
  await server.sql`delete from entitlements`;
  await server.sql`delete from usage_prices`;
  await server.sql`delete from products`;
  return (await post('/products', { name: 'x', prices: [PRICE] })).json.id;
}

/** What the case before made must not count here. */
const noMeters = () => server.sql`update meters set deleted_at = now()`;

const aCustomer = async (): Promise<string> => (await post('/customers', {})).json.id;

const PER_UNIT = { currency: 'USD', model: 'per_unit', unit_amount: '0.002' };
const archivingOf = ({ product_id, id }: Reply['json']) =>
  `/products/${product_id}/usage-prices/${id}/archive`;

/** g0 to g15. */
async function someMeters(): Promise<void> {
  await noMeters();
  await server.sql`
    insert into meters (id, organisation_id, mode, slug, name, event_name, aggregation, scale, metadata, status, created_at, updated_at)
    select gen_random_uuid(), ${server.organisation.id}, 'test', 'g' || n, 'x', 'e' || n, 'sum', 6, '{}', 'active', now(), now()
    from generate_series(0, 15) n`;
}

/** Adds to one product, for `someMeters`. */
async function usagePricing(): Promise<(body: object) => Promise<Reply>> {
  await someMeters();
  const id = await aProduct();
  return (body) => server.call('POST', `/products/${id}/usage-prices`, { body });
}

const call =
  (path: string, body: (n: number) => object, before?: (n: number) => Promise<void>): Add =>
  async (n) => {
    await before?.(n);
    return server.call('POST', path, { body: body(n) });
  };

const annotating = (path: string, extra: object): Case => ({
  async open() {
    const on = { object_type: 'customer', object_id: await aCustomer() };
    return call(path, (n) => ({ ...on, ...extra, name: `n${n}` }));
  },
  remove: ({ json }) => server.call('DELETE', `${path}/${json.id}`),
});

const endpoint = call('/webhook-endpoints', (n) => ({ url: `http://localhost:65000/${n}` }));

// A bound without a case does not compile. Those that are left out have tests of their own.
const CASES: Readonly<
  Record<
    Exclude<
      BoundName,
      'apiKeys' | 'eventStreams' | 'creditCostLists' | 'formerSlugs' | 'featuresPerPool'
    >,
    Case
  >
> = {
  meters: {
    max: 2 * MAX,
    open: () => Promise.resolve(call('/meters', (n) => ({ slug: `m${n}`, event_name: `e${n}` }))),
    remove: ({ json }) => server.call('DELETE', `/meters/${json.id}`),
  },
  metersPerEventName: {
    async open() {
      await noMeters();
      return call('/meters', (n) => ({ slug: `f${n}`, event_name: 'one' }));
    },
    remove: ({ json }) => server.call('DELETE', `/meters/${json.id}`),
  },
  products: {
    async open() {
      await aProduct();
      await server.sql`delete from prices`;
      await server.sql`delete from products`;
      return call('/products', () => ({ name: 'one of many' }));
    },
  },
  pricesPerProduct: {
    async open() {
      const id = await aProduct();
      await server.sql`delete from prices`;
      return call(`/products/${id}/prices`, () => PRICE);
    },
  },
  entitlementsPerProduct: {
    async open() {
      await noMeters();
      const id = await aProduct();
      const meters = Array.from({ length: 2 * MAX }, (_, n) => ({ slug: `g${n}` }));
      for (const meter of meters) await post('/meters', meter);
      return call(`/products/${id}/entitlements`, (n) => ({ feature_key: `g${n}`, limit: 1 }));
    },
    remove: ({ json }) =>
      server.call('DELETE', `/products/${json.product_id}/entitlements/${json.id}`),
  },
  usagePricesPerProduct: {
    max: 3 * MAX,
    async open() {
      const add = await usagePricing();
      const currencies = ['USD', 'EUR', 'JPY', 'CHF', 'GBP', 'SEK', 'NOK', 'DKK', 'CAD', 'AUD'];
      currencies.push('NZD', 'PLN', 'CZK', 'HUF', 'INR', 'KWD');
      return (n) => add({ ...PER_UNIT, feature_key: 'g0', currency: currencies[n] });
    },
  },
  usagePricesInUse: {
    max: 2 * MAX,
    async open() {
      const add = await usagePricing();
      return (n) => add({ ...PER_UNIT, feature_key: `g${n}` });
    },
    remove: ({ json }) => server.call('POST', archivingOf(json)),
  },
  usageTiersInUse: {
    async open() {
      const add = await usagePricing();
      const tiers = [{ up_to: null, flat_amount: '1' }];
      return (n) => add({ feature_key: `g${n}`, currency: 'USD', model: 'volume', tiers });
    },
    remove: ({ json }) => server.call('POST', archivingOf(json)),
  },
  discounts: {
    open: () => Promise.resolve(call('/discounts', (n) => ({ code: `c${n}`, percent_off: 5 }))),
    remove: ({ json }) => server.call('DELETE', `/discounts/${json.id}`),
  },
  openCheckouts: {
    async open() {
      const product_id = await aProduct();
      return call('/checkouts', () => ({ product_id, customer_email: 'a@example.com' }));
    },
    remove: ({ json }) => server.call('POST', `/checkouts/${json.id}/expire`),
  },
  webhookEndpoints: {
    open: () => Promise.resolve(endpoint),
    remove: ({ json }) => server.call('DELETE', `/webhook-endpoints/${json.id}`),
  },
  tagsPerObject: annotating('/tags', {}),
  customFieldsPerObject: annotating('/custom-fields', { value: 'x' }),
  metersPerCustomer: {
    async open() {
      await noMeters();
      const path = `/customers/${await aCustomer()}/grants`;
      // Deleted parents keep what they had.
      return call(
        path,
        (n) => ({ feature_key: `h${n}`, amount: 1 }),
        async (n) => {
          await server.sql`update meters set deleted_at = now() where slug = ${`h${n}`}`;
          await server.sql`
          insert into meters (id, organisation_id, mode, slug, name, event_name, aggregation, scale, metadata, status, created_at, updated_at)
          values (${ids.next()}, ${server.organisation.id}, 'test', ${`h${n}`}, 'x', ${`h${n}`}, 'sum', 6, '{}', 'active', now(), now())`;
        },
      );
    },
  },
  grantsPerCustomerMeter: {
    max: 2 * MAX,
    async open() {
      await noMeters();
      await post('/meters', { slug: 'granted' });
      return call(`/customers/${await aCustomer()}/grants`, (n) => ({
        feature_key: 'granted',
        amount: 1,
        // Planned ones count, too.
        ...(n % 2 === 0 && { effective_at: '2099-01-01T00:00:00Z' }),
      }));
    },
    remove: ({ json }) => server.call('POST', `/grants/${json.id}/void`),
  },
  grantsPerCustomer: {
    max: 3 * MAX,
    async open() {
      // At most six each of so many features as a customer may have: in any order of arrival none
      // of them is full.
      await someMeters();
      const path = `/customers/${await aCustomer()}/grants`;
      return call(path, (n) => ({ feature_key: `g${n % MAX}`, amount: 1 }));
    },
    remove: ({ json }) => server.call('POST', `/grants/${json.id}/void`),
  },
  subscriptionsPerCustomer: {
    async open() {
      await aProduct();
      const prices = [{ ...PRICE, interval: 'month' }];
      const { id: product_id } = (await post('/products', { name: 'plan', prices })).json;
      const customer_id = await aCustomer();
      return call('/subscriptions', () => ({ product_id, customer_id }));
    },
    remove: ({ json }) =>
      server.call('POST', `/subscriptions/${json.id}/cancel`, { body: { mode: 'immediate' } }),
  },
  members: {
    open: () =>
      Promise.resolve((n) => {
        const body = { email: `p${n}@example.com`, role: 'support' };
        return server.call('POST', '/invitations', { key: server.organisation.liveKey, body });
      }),
    remove: ({ json }) =>
      server.call('DELETE', `/invitations/${json.id}`, { key: server.organisation.liveKey }),
  },
  alertsPerMeter: {
    async open() {
      await noMeters();
      await post('/meters', { slug: 'watched' });
      return call('/alerts', (n) => ({ feature_key: 'watched', type: 'usage', threshold: n + 1 }));
    },
    remove: ({ json }) => server.call('DELETE', `/alerts/${json.id}`),
  },
  alertsPerCustomerMeter: {
    async open() {
      await noMeters();
      await post('/meters', { slug: 'watched' });
      const of = { feature_key: 'watched', customer_id: await aCustomer(), type: 'remaining' };
      return call('/alerts', (n) => ({ ...of, threshold: n }));
    },
    remove: ({ json }) => server.call('DELETE', `/alerts/${json.id}`),
  },
  alertsForAll: {
    max: 2 * MAX,
    async open() {
      await someMeters();
      await server.sql`delete from alerts`;
      return call('/alerts', (n) => ({ feature_key: `g${n}`, type: 'usage', threshold: 1 }));
    },
    remove: ({ json }) => server.call('DELETE', `/alerts/${json.id}`),
  },
  alertsPerCustomer: {
    max: 2 * MAX,
    async open() {
      await someMeters();
      const of = { customer_id: await aCustomer(), type: 'remaining', threshold: 1 };
      return call('/alerts', (n) => ({ feature_key: `g${n}`, ...of }));
    },
    remove: ({ json }) => server.call('DELETE', `/alerts/${json.id}`),
  },
  portalTokensPerCustomer: {
    open: async () => call(`/customers/${await aCustomer()}/portal-tokens`, () => ({})),
    remove: ({ json }) => server.call('DELETE', `/portal-tokens/${json.id}`),
  },
};

test.each(Object.entries(CASES))(
  'an organisation has at most so many %s',
  async (name, { open, remove, max = MAX }) => {
    const add = await open();
    const count = name === 'entitlementsPerProduct' ? 2 * MAX : AT_ONCE + max;
    const replies = await Promise.all(Array.from({ length: count }, (_, n) => add(n)));
    const made = replies.filter(({ status }) => status === 201);
    const refused = replies.filter(({ status }) => status !== 201);
    expect(made).toHaveLength(max);
    const { whose, what, variable } = BOUNDS[name as BoundName];
    for (const { status, json } of refused) {
      const message = `${whose} has at most ${max} ${what} (${variable})`;
      expect([status, json.error]).toEqual([409, { type: 'conflict', message }]);
    }
    if (remove === undefined) return;
    const n = replies.indexOf(made[0]!);
    expect((await remove(made[0]!)).status).toBeLessThan(300);
    expect((await add(n)).status).toBe(201);
  },
);

test('a limit on objects counts for each organisation and mode alone', async () => {
  const { organisation, other } = server;
  for (const key of [organisation.liveKey, other.testKey]) {
    const body = { code: 'another', percent_off: 5 };
    expect((await server.call('POST', '/discounts', { key, body })).status).toBe(201);
  }
});

test('a group at its limit is refused as an organisation is', async () => {
  const body = { url: 'http://localhost:65000/' };
  const register = () =>
    server.call('POST', '/partner/webhook-endpoints', { key: server.group.testKey, body });
  const replies = await Promise.all(Array.from({ length: AT_ONCE }, register));
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(MAX);
  expect(replies.filter(({ status }) => status === 409)).toHaveLength(AT_ONCE - MAX);
});

test('a buy link opens no more checkouts than the merchant may have', async () => {
  const id = await aProduct();
  const open = () => server.call('POST', `/buy-links/${id}/checkout`, { key: null });
  const replies = await Promise.all(Array.from({ length: AT_ONCE }, open));
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(MAX);
  expect(replies.filter(({ status }) => status === 409)).toHaveLength(AT_ONCE - MAX);
});

test('buy links at their limit leave the merchant room for checkouts of its own', async () => {
  const product_id = await aProduct();
  const open = () => server.call('POST', `/buy-links/${product_id}/checkout`, { key: null });
  for (let n = 0; n < MAX; n += 1) expect((await open()).status).toBe(200);
  const { status, json } = await open();
  expect([status, json.error.message]).toEqual([
    409,
    'an organisation has at most 3 open checkouts of its keys, and as many of its buy links (LIMIT_OPEN_CHECKOUTS)',
  ]);
  await post('/checkouts', { product_id, customer_email: 'a@example.com' });
});

test('a product is not made with more prices than it may have', async () => {
  const prices = Array.from({ length: MAX + 1 }, () => PRICE);
  const { status, json } = await server.call('POST', '/products', { body: { name: 'x', prices } });
  expect([status, json.error.message]).toEqual([
    409,
    'a product has at most 3 prices, archived ones too (LIMIT_PRICES_PER_PRODUCT)',
  ]);
});

test('the admin command makes no API key beyond the limit', async () => {
  const org = ids.next();
  await server.sql`insert into organisations (id, name, created_at) values (${org}, 'Keys', now())`;
  const environment = { LIMIT_API_KEYS: String(MAX) };
  const create = () => runAdmin(['key', 'create', '--org', org], server.databaseUrl, environment);
  const results = await Promise.all(Array.from({ length: MAX + 1 }, create));
  expect(results.filter(({ exitCode }) => exitCode === 0)).toHaveLength(MAX);
  expect(results.find(({ exitCode }) => exitCode === 1)?.stderr).toContain(
    'an organisation or a group has at most 3 API keys (LIMIT_API_KEYS)',
  );
});

test('usage that would open a meter beyond the limit is refused; usage of known meters goes on', async () => {
  await noMeters();
  const slugs = Array.from({ length: 2 * MAX }, (_, n) => `used-${n}`);
  for (const slug of slugs) await post('/meters', { slug });
  const customer_id = await aCustomer();
  const track = (feature_key: string) =>
    server.call('POST', '/track', { body: { customer_id, feature_key } });
  for (const slug of slugs.slice(0, MAX)) expect((await track(slug)).status).toBe(200);
  const { whose, what, variable } = BOUNDS.metersPerCustomer;
  const message = `${whose} has at most ${MAX} ${what} (${variable})`;
  const events = slugs.map((name) => ({ name, customer_id }));
  const body = { customer_id, feature_key: slugs.at(-1), consume: true };
  for (const refused of [
    await track(slugs.at(-1)!),
    await server.call('POST', '/events/ingest', { body: { events } }),
    await server.call('POST', '/check', { body }),
  ]) {
    expect([refused.status, refused.json.error]).toEqual([409, { type: 'conflict', message }]);
  }
  const own = { body: { events: events.slice(0, MAX) } };
  expect((await server.call('POST', '/events/ingest', own)).status).toBe(200);
  for (const slug of slugs.slice(0, MAX)) expect((await track(slug)).json.consumed).toBe(3);
});
