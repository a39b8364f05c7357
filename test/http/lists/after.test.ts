// Every list, page by page: `after` continues where the page before ended, even when new rows come
// at the front.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { Shop } from '../../payments/shop.ts';
import { insertAccount, insertPayout } from '../../support/payouts.ts';
import type { Reply } from '../../support/server.ts';
import { aMember } from '../people/tab.ts';

setDefaultTimeout(60_000);

const ROWS = 5;

let shop: Shop;
const made = { payment: '', product: '', plan: '', customer: '', endpoint: '', account: '' };
beforeAll(async () => {
  shop = await Shop.open({ own: true });
  made.customer = await id('/customers', { external_customer_id: 'user-1' });
  made.product = await id('/products', { name: 'Many features' });
  const price = { amount: '1', currency: 'USD', type: 'recurring', interval: 'month' };
  made.plan = await id('/products', { name: 'Plan', prices: [price] });
  made.endpoint = await id('/webhook-endpoints', { url: 'http://localhost:65000/' });
  const { id: organisationId } = shop.server.organisation;
  const tenant = { organisationId, mode: 'test' } as const;
  made.account = await insertAccount(shop.server.sql, tenant);
  made.payment = (await shop.buy({ checkout: { external_customer_id: 'user-1' } })).id;
  for (let n = 0; n < ROWS; n += 1) for (const { add } of Object.values(LISTS)) await add(n);
});
// Its deliveries are made up, so there is no audit.
afterAll(() => shop.server.stop());

async function post(path: string, body: object): Promise<Reply['json']> {
  const { status, json, text } = await shop.server.call('POST', path, { body });
  if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
  return json;
}

const id = async (path: string, body: object): Promise<string> => (await post(path, body)).id;

type List = {
  readonly path: () => string;
  /** Inserts one more row, the newest. */
  readonly add: (n: number) => Promise<unknown>;
  readonly filters?: () => readonly string[];
  readonly isOfBothModes?: true;
};

const onCustomer = () => ({ object_type: 'customer', object_id: made.customer });
const invoice = { currency: 'USD', lines: [{ description: 'x', quantity: 1, unit_amount: '1' }] };

const LISTS: Readonly<Record<string, List>> = {
  meters: { path: () => '/meters', add: (n) => post('/meters', { slug: `m${n}` }) },
  customers: {
    path: () => '/customers',
    add: () => post('/customers', { email: 'many@example.com' }),
    filters: () => ['email=many@example.com', 'external_customer_id=user-1'],
  },
  products: {
    path: () => '/products',
    add: () => post('/products', { name: 'x' }),
    filters: () => ['status=active'],
  },
  entitlements: {
    path: () => `/products/${made.product}/entitlements`,
    async add(n) {
      await post('/meters', { slug: `e${n}` });
      await post(`/products/${made.product}/entitlements`, { feature_key: `e${n}`, limit: 1 });
    },
  },
  usagePrices: {
    path: () => `/products/${made.product}/usage-prices`,
    async add(n) {
      const price = { currency: 'USD', model: 'per_unit', unit_amount: '0.01' };
      await post('/meters', { slug: `u${n}` });
      await post(`/products/${made.product}/usage-prices`, { feature_key: `u${n}`, ...price });
    },
  },
  alerts: {
    path: () => '/alerts',
    async add(n) {
      await post('/meters', { slug: `w${n}` });
      await post('/alerts', { feature_key: `w${n}`, type: 'usage', threshold: 1 });
    },
    filters: () => ['feature_key=w1'],
  },
  discounts: {
    path: () => '/discounts',
    add: (n) => post('/discounts', { code: `c${n}`, percent_off: 5 }),
  },
  checkouts: {
    path: () => '/checkouts',
    async add(n) {
      const { id: checkout } = await shop.checkout();
      if (n % 2 === 0) await post(`/checkouts/${checkout}/expire`, {});
      // Expired, though no job has marked it so.
      if (n % 4 === 1) {
        await shop.server
          .sql`update checkouts set expires_at = now() - interval '1 second' where id = ${checkout}`;
      }
    },
    filters: () => ['active', 'expired', 'paid'].map((status) => `status=${status}`),
  },
  payments: {
    path: () => '/payments',
    add: (n) =>
      shop.buy({
        means: n % 2 === 0 ? 'good' : 'declined',
        checkout: { external_customer_id: 'user-1' },
      }),
    filters: () => ['status=succeeded', 'status=failed', 'external_customer_id=user-1'],
  },
  'audit log': {
    path: () => '/audit-log',
    add: (n) => post('/products', { name: `a${n}` }),
    filters: () => [
      'operation=createProduct',
      'actor_kind=key',
      `object_id=${made.product}`,
      'from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00Z',
    ],
  },
  payouts: {
    path: () => '/reports/payouts',
    add: () => insertPayout(shop.server.sql, made.account),
    filters: () => ['from=2020-01-01T00:00:00Z'],
  },
  refunds: {
    path: () => `/payments/${made.payment}/refunds`,
    add: () => post(`/payments/${made.payment}/refund`, { amount: '1' }),
  },
  subscriptions: {
    path: () => '/subscriptions',
    add: () =>
      post('/subscriptions', { customer_id: made.customer, product_id: made.plan, trial_days: 9 }),
    filters: () => [
      'status=active',
      'external_customer_id=user-1',
      `customer_id=${made.customer}`,
      `product_id=${made.plan}`,
    ],
  },
  invoices: {
    path: () => '/invoices',
    add: () => post('/invoices', { ...invoice, customer_id: made.customer }),
    filters: () => ['status=open', 'external_customer_id=user-1', `customer_id=${made.customer}`],
  },
  'webhook endpoints': {
    path: () => '/webhook-endpoints',
    add: (n) => post('/webhook-endpoints', { url: `http://localhost:65000/${n}` }),
  },
  'webhook health': {
    path: () => '/reports/webhooks',
    add: (n) => post('/webhook-endpoints', { url: `http://localhost:65000/${n}` }),
  },
  'API keys': {
    path: () => '/api-keys',
    async add(n) {
      const key = await id('/api-keys', { name: `k${n}` });
      if (n % 2 === 0) await shop.server.call('DELETE', `/api-keys/${key}`);
    },
  },
  members: {
    path: () => '/members',
    add: () => aMember(shop.server, 'support'),
    isOfBothModes: true,
  },
  invitations: {
    path: () => '/invitations',
    add: () =>
      shop.server.call('POST', '/invitations', {
        key: shop.server.organisation.liveKey,
        body: { email: `${ids.next()}@example.com`, role: 'support' },
      }),
    isOfBothModes: true,
  },
  deliveries: {
    path: () => `/webhook-endpoints/${made.endpoint}/deliveries`,
    add: (n) => shop.server.sql`
      insert into deliveries (id, endpoint_id, event_id, event_type, status, next_at, created_at)
      values (${ids.next()}, ${made.endpoint}, ${ids.next()}, 'tag.created', ${n % 2 === 0 ? 'held' : 'exhausted'},
        now(), now())`,
    filters: () => ['status=held', 'status=exhausted', 'event_type=tag.created'],
  },
  tags: {
    path: () => '/tags',
    add: (n) => post('/tags', { ...onCustomer(), name: `t${n}` }),
    filters: () => ['object_type=customer', `object_id=${made.customer}`, 'name=t1'],
  },
  'custom fields': {
    path: () => '/custom-fields',
    add: (n) => post('/custom-fields', { ...onCustomer(), name: `f${n}`, value: 'x' }),
  },
  events: {
    path: () => '/events',
    add: () =>
      shop.server.call('PATCH', `/customers/${made.customer}`, { body: { name: ids.next() } }),
    filters: () => [
      'type=customer.updated',
      `object_id=${made.customer}`,
      `type=customer.updated&object_id=${made.customer}`,
      'since=2020-01-01T00:00:00Z',
    ],
  },
};

const idsOf = ({ json }: Reply): string[] => (json.data as { id: string }[]).map((row) => row.id);

async function read(path: string, query: string): Promise<Reply> {
  const reply = await shop.server.call('GET', `${path}?${query}`);
  expect([reply.status, reply.text]).toEqual([200, reply.text]);
  return reply;
}

/** All pages of `limit`, one after the other. */
async function follow(path: string, filter: string, limit: number): Promise<string[]> {
  const found: string[] = [];
  for (let after = '', more = true; more; after = `&after=${found.at(-1)}`) {
    const page = await read(path, `${filter}&limit=${limit}${after}`);
    found.push(...idsOf(page));
    more = page.json.has_more;
    expect([page.json.limit, page.json.offset]).toEqual([limit, 0]);
  }
  return found;
}

describe.each(Object.entries(LISTS))('the list %s', (name, list) => {
  const { path, add, filters = () => [], isOfBothModes } = list;
  test('with `after` goes on without a gap or a repeat, by each filter', async () => {
    for (const filter of ['', ...filters()]) {
      const all = idsOf(await read(path(), `${filter}&limit=200`));
      expect([filter, all.length]).not.toEqual([filter, 0]);
      expect([filter, await follow(path(), filter, 2)]).toEqual([filter, all]);
    }
  });

  test('with `after` is not shifted by rows that are added meanwhile', async () => {
    const before = idsOf(await read(path(), 'limit=200'));
    const first = idsOf(await read(path(), 'limit=2'));
    await add(9);
    const rest = idsOf(await read(path(), `limit=200&after=${first.at(-1)}`));
    const wanted = before.slice(2);
    // In a list in order of creation, a new row is the last.
    expect(name === 'entitlements' ? rest.slice(0, wanted.length) : rest).toEqual(wanted);
  });

  test('refuses an `after` that is no row of it, or of another tenant, alike', async () => {
    const [own = ''] = idsOf(await read(path(), 'limit=1'));
    const { other } = shop.server;
    for (const [after, key] of [
      [ids.next(), undefined],
      [own, other.testKey],
      [own, shop.server.organisation.liveKey],
    ] as const) {
      const call = key === undefined ? {} : { key };
      const { status, json } = await shop.server.call('GET', `${path()}?after=${after}`, call);
      if (key === shop.server.organisation.liveKey && isOfBothModes) continue;
      // Below another parent's path the cursor finds nothing.
      if (key !== undefined && status === 404) continue;
      const issue = { path: ['after'], message: 'is not the id of a row of this list' };
      expect([status, json.error.issues]).toEqual([400, [issue]]);
    }
  });

  test.each([
    ['after=x', 'after', 'must be a UUID'],
    ['after=', 'after', 'must be a UUID'],
    ['offset=10001', 'offset', 'must be a whole number from 0 to 10000: further on, use after'],
    [`after=${ids.next()}&offset=0`, 'after', 'does not go with offset'],
  ])('refuses %s', async (query, field, message) => {
    const { status, json } = await shop.server.call('GET', `${path()}?${query}`);
    expect([status, json.error.issues]).toEqual([400, [{ path: [field], message }]]);
    expect((await read(path(), 'offset=10000')).json.data).toEqual([]);
  });
});

test('the test of `after` covers every list of the OpenAPI document', async () => {
  const { json } = await shop.server.call('GET', '/openapi.json', { key: null });
  type Routes = Record<string, { get?: { parameters?: { name: string }[] } }>;
  const paths = Object.entries(json.paths as Routes)
    .filter(([, { get }]) => get?.parameters?.some((one) => one.name === 'limit'))
    // Pages by a cursor.
    .filter(([, { get }]) => !get?.parameters?.some((one) => one.name === 'cursor'))
    .map(([path]) => path)
    // The same list for a group.
    .filter((path) => !path.startsWith('/partner/'))
    // The nearest to an instant, without pages; lines, which are in their own order: see below.
    .filter((path) => path !== '/decisions' && path !== '/invoices/{id}/lines');
  const known = Object.values(LISTS).map(({ path }) => path().replace(/[0-9a-f-]{36}/, '{id}'));
  expect(new Set(paths)).toEqual(new Set(known));
});

test('the lines of an invoice go on behind the last one of a page, in their order', async () => {
  const lines = Array.from({ length: ROWS }, (_, n) => ({
    ...invoice.lines[0],
    description: `${n}`,
  }));
  const billed = await post('/invoices', { ...invoice, external_customer_id: 'user-1', lines });
  const path = `/invoices/${billed.id}/lines`;
  const whole = (await shop.server.call('GET', path)).json;
  expect([whole.data, whole.has_more]).toEqual([billed.lines, false]);
  const seen: unknown[] = [];
  for (let query = '?limit=2'; query !== '';) {
    const { json } = await shop.server.call('GET', `${path}${query}`);
    seen.push(...json.data);
    query = json.has_more ? `?limit=2&after=${json.data.at(-1).id}` : '';
  }
  expect(seen).toEqual(billed.lines);
  for (const after of ['x', `${billed.id}-0`, `${billed.id}-${ROWS + 1}`]) {
    expect((await shop.server.call('GET', `${path}?after=${after}`)).status).toBe(400);
  }
});

test('balances and grants of a customer go on by their cursor, by feature and burn order', async () => {
  await post('/customers', { external_customer_id: 'paged' });
  for (const slug of ['paged-b', 'paged-a']) {
    await post('/meters', { slug });
    for (const priority of [3, 1, 2]) {
      await post('/customers/paged/grants', { feature_key: slug, amount: 1, priority });
    }
  }
  const all = async (list: string, show: (row: Reply['json']) => unknown) => {
    const seen: unknown[] = [];
    for (let query: string | null = '?limit=1'; query !== null;) {
      const { json } = await shop.server.call('GET', `/customers/paged/${list}${query}`);
      seen.push(...json.data.map(show));
      query = json.next_cursor === null ? null : `?limit=1&cursor=${json.next_cursor}`;
    }
    const refused = await shop.server.call('GET', `/customers/paged/${list}?cursor=x`);
    expect([refused.status, refused.json.error.issues[0].path]).toEqual([400, ['cursor']]);
    return seen;
  };
  expect(await all('balances', (row) => row.feature_key)).toEqual(['paged-a', 'paged-b']);
  const burning = (slug: string) => [1, 2, 3].map((priority) => [slug, priority]);
  const grants = await all('grants', (row) => [row.feature_key, row.priority]);
  expect(grants).toEqual([...burning('paged-a'), ...burning('paged-b')]);
});

test('the webhook endpoints of a group are listed with `after` without a gap or a repeat', async () => {
  const key = shop.server.group.testKey;
  const path = '/partner/webhook-endpoints';
  const body = { url: 'http://localhost:65000/' };
  for (let n = 0; n < 3; n += 1) await shop.server.call('POST', path, { key, body });
  const all = idsOf(await shop.server.call('GET', path, { key }));
  const rest = await shop.server.call('GET', `${path}?after=${all[0]}`, { key });
  expect([all.length, idsOf(rest)]).toEqual([3, all.slice(1)]);
  const foreign = await shop.server.call('GET', `${path}?after=${made.endpoint}`, { key });
  expect(foreign.status).toBe(400);
});

test('a list by customer takes either id, or both where they are of one customer', async () => {
  const other = await id('/customers', { external_customer_id: 'user-2' });
  for (const path of ['/subscriptions', '/invoices']) {
    const count = async (query: string) => idsOf(await read(path, query)).length;
    expect(await count('external_customer_id=user-1')).toBeGreaterThan(0);
    expect(await count(`external_customer_id=user-1&customer_id=${made.customer}`)).toBe(
      await count('external_customer_id=user-1'),
    );
    expect(await count(`external_customer_id=user-1&customer_id=${other}`)).toBe(0);
    expect(await count('external_customer_id=user-2')).toBe(0);
    expect(await count('external_customer_id=nobody')).toBe(0);
  }
});
