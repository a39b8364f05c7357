// Who may not: members who only read, and members with the ids of another organisation.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { SALES_PAGES } from '../../src/dashboard/sales.ts';
import { buy, sell } from '../support/shop.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { type Member, memberOf } from './member.ts';

setDefaultTimeout(30_000);

/** Of each kind, one of the first organisation, by the path under which it is found. */
type Ids = Readonly<Record<string, string>>;

let server: TestServer;
let ids: Ids;
let reader: Member;
let stranger: Member;
beforeAll(async () => {
  server = await startServer();
  const seller = { url: server.url, key: server.organisation.testKey };
  const products = await sell(seller, { USD: '20.00' });
  const payments = await buy(seller, { product_id: products, means: ['good'] });
  const make = async (path: string, body: object): Promise<string> =>
    (await server.call('POST', path, { body })).json.id;
  const customer_id = await make('/customers', { external_customer_id: 'user-1' });
  await make('/meters', { slug: 'calls' });
  const plan = await make('/products', {
    name: 'Plan',
    prices: [{ amount: '0', currency: 'USD', interval: 'month' }],
  });
  const one = async (path: string): Promise<string> =>
    (await server.call('GET', path)).json.data[0].id;
  ids = {
    products,
    payments,
    subscriptions: await make('/subscriptions', { customer_id, product_id: plan }),
    invoices: await one('/invoices'),
    checkouts: await one('/checkouts'),
    meters: await one('/meters'),
    discounts: await make('/discounts', { code: 'A', percent_off: 5 }),
  };
  reader = await memberOf(server, { role: 'read_only' });
  stranger = await memberOf(server, { organisationId: server.other.id });
});
afterAll(() => server.stop());

/** The path of a page with ids of the first organisation in it. */
function filled(path: string): string {
  const [, kind = ''] = path.split('/');
  return path.replace(':id', ids[kind] ?? '').replaceAll(/:\w+/g, ids['products'] ?? '');
}

const isRead = (needs: readonly string[]) =>
  needs.every((name) => /^(?:get|list|print|download)/.test(name));

test('a member who only reads sees every page of sales, and no form that acts', async () => {
  for (const { path, needs } of SALES_PAGES) {
    const { status, text } = await reader.get(filled(path));
    expect([path, status]).toEqual([path, isRead(needs) ? 200 : 403]);
    const posts = [...text.matchAll(/<form method="post" action="([^"]+)"/g)].map(([, to]) => to);
    expect([path, posts.filter((to) => to !== '/dashboard/sign-out')]).toEqual([path, []]);
  }
});

test('a member who only reads may send none of the forms of sales', async () => {
  for (const { path, act } of SALES_PAGES) {
    if (act === undefined) continue;
    await reader.read('/products');
    const reply = await reader.tab.post(reader.base + filled(path), {});
    expect([path, reply.status, reply.text.includes('Your role does not allow this')]).toEqual([
      path,
      403,
      true,
    ]);
  }
});

test('ids of another organisation are 404 on every page of sales', async () => {
  for (const { path } of SALES_PAGES) {
    if (!path.includes(':id')) continue;
    const { status } = await stranger.get(filled(path));
    expect([path, status]).toEqual([path, 404]);
  }
});

test('ids of another organisation cannot be acted on in sales', async () => {
  for (const { path, act } of SALES_PAGES) {
    if (act === undefined || !path.includes(':id')) continue;
    await stranger.read('/meters/new');
    const reply = await stranger.tab.post(stranger.base + filled(path), { name: 'x', amount: '1' });
    expect([path, reply.status >= 400 && reply.status < 500]).toEqual([path, true]);
  }
  expect((await server.call('GET', `/products/${ids['products']}`)).json.status).toBe('active');
  expect((await server.call('GET', '/discounts')).json.data).toHaveLength(1);
});

test('each list of sales is empty where nothing was made', async () => {
  for (const { path } of SALES_PAGES) {
    if (!path.includes(':')) await stranger.read(path);
  }
});

test("in live mode a refund above the organisation's amount needs a second factor", async () => {
  const body = { refund_step_up_amount: '50' };
  const owner = await memberOf(server, { mode: 'live' });
  const key = server.organisation.liveKey;
  const set = await server.call('PATCH', '/organization/security', { body, key });
  expect(set.status).toBe(200);
  const refund = async (amount: string) => {
    await owner.read('/products');
    const { status, headers } = await owner.tab.post(
      `${owner.base}/payments/00000000-0000-7000-8000-000000000000/refund`,
      { amount },
    );
    return [status, headers.get('location')];
  };
  expect(await refund('50.01')).toEqual([303, '/dashboard/account?enroll=1']);
  expect(await refund('1e9')).toEqual([303, '/dashboard/account?enroll=1']);
  // There is no such payment.
  expect(await refund('50')).toEqual([404, null]);
  expect(await refund('')).toEqual([404, null]);
});
