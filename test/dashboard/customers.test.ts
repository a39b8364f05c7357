// Home and the pages of customers, in a session: what each does, for whom, and how often.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { aMember, placeOf, signedIn, type Tab } from '../http/people/tab.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let owner: Tab;
let reader: Tab;
let base: string;
beforeAll(async () => {
  server = await startServer();
  base = `/dashboard/${server.organisation.id}/test`;
  owner = await signedIn(server, await aMember(server, 'owner'));
  reader = await signedIn(server, await aMember(server, 'read_only'));
});
afterAll(() => server.stop());

const HOSTILE = `<script>alert(1)</script>"'&`;

const make = async (path: string, body: object, key = server.organisation.testKey) => {
  const { status, json, text } = await server.call('POST', path, { key, body });
  if (status !== 201) throw new Error(text);
  return json;
};

let names = 0;
const aMeter = async () => (await make('/meters', { slug: `api-${(names += 1)}` })).slug as string;
const aCustomer = async (body: object = {}) => (await make('/customers', body)).id as string;
const get = (path: string) => server.call('GET', path);

/** Opens the page, and sends its form with its token and its key. */
async function submit(tab: Tab, path: string, fields: Record<string, string>, times = 1) {
  const shown = await tab.get(base + path);
  expect([path, shown.status]).toEqual([path, 200]);
  const hidden = (name: string) =>
    new RegExp(`name="${name}" value="([^"]+)"`).exec(shown.text)?.[1] ?? '';
  const sent = { _token: hidden('_token'), _key: hidden('_key'), ...fields };
  const replies = [];
  for (let n = 0; n < times; n += 1) replies.push(await tab.post(base + path, sent));
  return replies.at(-1)!;
}

const GRANT = { amount: '12.5', priority: '100', reason: 'sorry' };

test("the dashboard's home shows what to do first, and then the numbers of the day", async () => {
  const first = await owner.get(base);
  expect([first.status, first.text]).toEqual([200, expect.stringContaining('Get started')]);
  const slug = await aMeter();
  const customer_id = await aCustomer({ email: 'ada@example.com' });
  await make('/products', { name: 'Pro' });
  await server.call('POST', '/track', { body: { feature_key: slug, customer_id, value: 41 } });
  const { text } = await owner.get(base);
  expect(text).not.toContain('Get started');
  expect(text).toContain(`id="usage-${slug}"`);
  expect(text).toContain(': 41</title>');
});

test('the dashboard finds a customer by the beginning of an address, and by both ids', async () => {
  const id = await aCustomer({
    email: 'Grace@navy.example',
    external_customer_id: 'g-1',
    name: HOSTILE,
  });
  for (const search of ['grace', 'GRACE@n', id, 'g-1']) {
    const { status, text } = await owner.get(
      `${base}/customers?search=${encodeURIComponent(search)}`,
    );
    expect([search, status, text.includes(id), text.includes('<script>alert')]).toEqual([
      search,
      200,
      true,
      false,
    ]);
  }
  for (const search of ['navy', '.', '..', '%', HOSTILE, 'x'.repeat(254)]) {
    const { status, text } = await owner.get(
      `${base}/customers?search=${encodeURIComponent(search)}`,
    );
    expect([search, status, text.includes(id)]).toEqual([search, 200, false]);
  }
});

test('the dashboard makes a customer once, however often the form is sent, and changes it', async () => {
  const reply = await submit(
    owner,
    '/customers/new',
    { email: 'new@example.com', metadata: '{"a": "b"}', 'billing_address.country': 'DE' },
    3,
  );
  expect(reply.status).toBe(303);
  const { data } = (await get('/customers?email=new%40example.com')).json;
  expect(data).toMatchObject([{ metadata: { a: 'b' }, billing_address: { country: 'DE' } }]);
  const [{ id }] = data;
  expect(placeOf(reply)).toBe(`${base}/customers/${id}?done=created`);
  await submit(owner, `/customers/${id}/edit`, { name: HOSTILE, email: '', metadata: '{}' });
  expect((await get(`/customers/${id}`)).json).toMatchObject({
    name: HOSTILE,
    email: null,
    billing_address: null,
    metadata: {},
  });
  const page = await owner.get(`${base}/customers/${id}`);
  expect(page.text).not.toContain('<script>alert');
});

test('a refused customer form shows what was typed, and what is wrong with it', async () => {
  const id = await aCustomer();
  const reply = await submit(owner, `/customers/${id}/edit`, {
    email: 'not an address',
    name: 'Kept',
    metadata: '[1',
  });
  expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('must be JSON')]);
  expect(reply.text).toContain('value="Kept"');
  const again = await submit(owner, `/customers/${id}/edit`, {
    email: 'not an address',
    metadata: '',
  });
  expect([again.status, again.text]).toEqual([
    400,
    expect.stringContaining('must be an e-mail address'),
  ]);
  expect(again.text).toContain('value="not an address"');
});

test('the dashboard gives a grant with its reason once, voids it, and explains the balance', async () => {
  const [id, slug] = [await aCustomer(), await aMeter()];
  const fields = { feature_key: slug, ...GRANT };
  expect((await submit(owner, `/customers/${id}/grant`, fields, 3)).status).toBe(303);
  const { data } = (await get(`/customers/${id}/grants`)).json;
  expect(data).toMatchObject([{ amount: 12.5, reason: 'sorry' }]);
  const { text } = await owner.get(`${base}/customers/${id}`);
  expect(text).toContain('sorry');
  expect(text).toContain('The next use takes from');
  const reply = await submit(owner, `/customers/${id}/grants/${data[0].id}/void`, {});
  expect(placeOf(reply)).toContain('done=taken_back');
  expect((await get(`/customers/${id}/grants`)).json.data).toEqual([]);
});

test('the dashboard records a correction as an event of its own with its reason, once', async () => {
  const [customer_id, feature_key] = [await aCustomer(), await aMeter()];
  await make(`/customers/${customer_id}/grants`, { feature_key, amount: 10 });
  await server.call('POST', '/track', { body: { feature_key, customer_id, value: 8 } });
  const fields = { feature_key, value: '-3', reason: 'counted twice' };
  expect((await submit(owner, `/customers/${customer_id}/correct`, fields, 3)).status).toBe(303);
  expect((await get(`/customers/${customer_id}/balances`)).json.data).toMatchObject([
    { consumed: 5 },
  ]);
  const [row] =
    await server.sql`select metadata from transfers where metadata is not null and value < 0`;
  expect(row).toEqual({ metadata: { reason: 'counted twice' } });
  const without = await submit(owner, `/customers/${customer_id}/correct`, {
    feature_key,
    value: '-3',
  });
  expect([without.status, without.text]).toEqual([400, expect.stringContaining('is required')]);
});

test('the dashboard sets and removes a spend cap, and shows a portal link once', async () => {
  const id = await aCustomer();
  await submit(owner, `/customers/${id}/spend-cap`, { amount: '50.00', currency: 'USD' });
  expect((await owner.get(`${base}/customers/${id}`)).text).toContain('$50.00');
  await submit(owner, `/customers/${id}/spend-cap`, { remove: 'true' });
  expect((await get(`/customers/${id}/spend-cap`)).status).toBe(404);
  const made = await submit(owner, `/customers/${id}/portal-link`, { ttl_seconds: '3600' });
  const [, url = ''] = /(http[^<]*\/portal\/[\w-]+)/.exec(made.text) ?? [];
  expect(made.status).toBe(200);
  expect((await fetch(url.replace(new URL(url).origin, server.url))).status).toBe(200);
  expect((await owner.get(`${base}/customers/${id}/portal-link`)).text).not.toContain(url);
});

test('the dashboard adds and removes tags and custom fields', async () => {
  const id = await aCustomer();
  const path = `/customers/${id}/labels`;
  await submit(owner, path, { action: 'add_tag', tag: HOSTILE });
  await submit(owner, path, { action: 'add_field', name: 'crm', value: 'A-17' });
  const shown = await owner.get(`${base}/customers/${id}`);
  expect(shown.text).toContain('A-17');
  expect(shown.text).not.toContain('<script>alert');
  const [tag] = (await get(`/tags?object_id=${id}`)).json.data;
  const [field] = (await get(`/custom-fields?object_id=${id}`)).json.data;
  await submit(owner, path, { action: 'remove_tag', id: tag.id });
  await submit(owner, path, { action: 'remove_field', id: field.id });
  expect((await get(`/tags?object_id=${id}`)).json.data).toEqual([]);
  expect((await get(`/custom-fields?object_id=${id}`)).json.data).toEqual([]);
  expect((await submit(owner, path, { action: 'other' })).status).toBe(400);
});

const ACTIONS = ['edit', 'grant', 'correct', 'spend-cap', 'portal-link', 'labels', 'grants/x/void'];
ACTIONS.push('alert');

test('a member who may only read sees no customer form, and is refused one', async () => {
  const id = await aCustomer();
  const page = await reader.get(`${base}/customers/${id}`);
  expect(page.status).toBe(200);
  for (const action of ACTIONS) {
    const path = `${base}/customers/${id}/${action}`;
    expect(page.text).not.toContain(`${path}"`);
    await reader.get(base);
    const statuses = [(await reader.get(path)).status];
    await reader.get(base);
    statuses.push((await reader.post(path, { name: 'x' })).status);
    expect([action, ...statuses]).toEqual([action, 403, 403]);
  }
});

test("another organisation's customer is 404 on every page of the dashboard", async () => {
  const foreign = (await make('/customers', { email: 'far@example.com' }, server.other.testKey)).id;
  const live = (await make('/customers', {}, server.organisation.liveKey)).id;
  for (const id of [foreign, live, 'nobody']) {
    for (const action of ['', ...ACTIONS.map((name) => `/${name}`)]) {
      const { status, text } = await owner.get(`${base}/customers/${id}${action}`);
      expect([action, status, text.includes('far@example.com')]).toEqual([action, 404, false]);
    }
  }
});
