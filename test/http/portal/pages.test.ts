// The portal's pages over HTTP: their headers, the targets of their forms, and who may send these.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { DECLINED, GOOD, made, openPortal, type Portal, portalOf, subscribe } from './customer.ts';

setDefaultTimeout(60_000);

let server: TestServer;
let portal: Portal;
let id: string;
beforeAll(async () => {
  server = await startServer({
    settings: (url) => ({
      baseUrl: url,
      appUrl: `${url.replace('127.0.0.1', 'localhost')}/`.replace(/\/$/, ''),
    }),
  });
  portal = await openPortal(server, { name: 'Ada <b>', email: 'ada@example.com' });
  await portal.saveCard(GOOD);
  ({ id } = await subscribe(server, portal.customer));
});
afterAll(() => server.stop());

const read = async () => (await server.call('GET', `/subscriptions/${id}`)).json;
const base = () => `/portal/${portal.token}`;

test('a portal page has no script, loads nothing, and cannot be framed or cached', async () => {
  for (const path of ['', `cancel?subscription_id=${id}`, 'payment-method']) {
    const { status, headers } = await portal.get(path);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = headers.get('content-security-policy')!;
    expect(policy).toStartWith("default-src 'none'; style-src 'sha256-");
    expect(policy).toContain("frame-ancestors 'none'; base-uri 'none'");
    expect(policy).not.toMatch(/unsafe|script-src|\*/);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('same-origin');
  }
});

test('a portal page escapes names', async () => {
  const { text } = await portal.get();
  expect(text).toContain('Ada &lt;b&gt;');
});

test('each portal action leads back to the page, which says what was done', async () => {
  const steps = [
    ['cancel', {}, 'cancel_scheduled', 'ends with its period'],
    ['uncancel', {}, 'uncanceled', 'continues as before'],
    ['pause', { resumes_at: '', keep_invoices: 'true' }, 'paused', 'is paused'],
    ['resume', {}, 'resumed', 'is active again'],
  ] as const;
  for (const [action, fields, notice, saying] of steps) {
    const { status, headers, text } = await portal.submit(action, {
      subscription_id: id,
      ...fields,
    });
    expect([action, status, text]).toEqual([action, 303, '']);
    expect(headers.get('location')).toBe(`${base()}?done=${notice}`);
    expect((await portal.get(`?done=${notice}`.slice(0))).status).toBe(200);
    const page = await server.call('GET', `${base()}?done=${notice}`, { key: null });
    expect(page.text).toContain(saying);
  }
});

test('the query of a portal page cannot make it say anything else', async () => {
  const page = await server.call('GET', `${base()}?done=<b>owned</b>&done=canceled`, { key: null });
  expect([page.status, page.text.includes('owned')]).toEqual([200, false]);
});

test("a pause in the portal ends at the start of the day in the organisation's zone", async () => {
  await server.call('PATCH', '/organization', { body: { timezone: 'Asia/Tokyo' } });
  const day = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  const sent = await portal.submit('pause', { subscription_id: id, resumes_at: day });
  expect(sent.status).toBe(303);
  expect((await read()).resumes_at).toBe(new Date(`${day}T00:00:00+09:00`).toISOString());
  await portal.submit('resume', { subscription_id: id });
  await server.call('PATCH', '/organization', { body: { timezone: 'UTC' } });
});

test.each(['2020-01-01', '2099-01-01', '2027-02-30', 'soon', '2027-3-5', '<script>'])(
  'a pause in the portal until %s is shown again, and says what is wrong',
  async (day) => {
    const { status, text } = await portal.submit('pause', { subscription_id: id, resumes_at: day });
    expect([status, text.includes('Enter a day after today')]).toEqual([400, true]);
    expect(text).not.toContain('<script');
    expect((await read()).status).toBe('active');
  },
);

test('the portal takes a form from its own page only', async () => {
  const raw = new URLSearchParams({ subscription_id: id, mode: 'immediate' });
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  for (const headers of [
    { ...type, 'sec-fetch-site': 'cross-site' },
    { ...type, 'sec-fetch-site': 'same-site' },
    { ...type, origin: 'https://evil.example' },
    { ...type, origin: 'null' },
  ]) {
    const { status } = await server.call('POST', `${base()}/cancel`, { key: null, raw, headers });
    expect(status).toBe(403);
  }
  expect((await read()).status).toBe('active');
});

test('a card declined in the portal is not kept, and the page says why', async () => {
  const { status, text } = await portal.saveCard(DECLINED);
  expect([status, text.includes('declined')]).toEqual([402, true]);
  expect(text).not.toContain(DECLINED);
  expect((await portal.get()).text).toContain('Visa <span class="code">•••• 4242</span>');
});

test('a card form sent twice in the portal saves one payment method', async () => {
  const twice = await openPortal(server);
  const fields = {
    attempt: ids.next(),
    payment_method: 'card',
    card_number: GOOD,
    card_expiry: '12/34',
    card_cvc: '123',
  };
  const replies = await Promise.all([1, 2, 3].map(() => twice.submit('payment-method', fields)));
  expect(replies.map(({ status }) => status)).toEqual([303, 303, 303]);
  const rows =
    await server.sql`select 1 from payment_methods where customer_id = ${twice.customer}`;
  expect(rows).toHaveLength(1);
});

test("another customer's attempt opens nothing in the portal", async () => {
  const other = await openPortal(server);
  const attempt = ids.next();
  const card = { payment_method: 'card', card_number: GOOD, card_expiry: '12/34', card_cvc: '123' };
  expect((await other.submit('payment-method', { attempt, ...card })).status).toBe(303);
  const thief = await openPortal(server);
  const reply = await thief.get(`payment-method?attempt=${attempt}`);
  expect(reply.text).toContain('It could not be saved now.');
  const rows =
    await server.sql`select 1 from payment_methods where customer_id = ${thief.customer}`;
  expect(rows).toHaveLength(0);
});

test('an invalid card field in the portal has its error beside it, and nothing typed is shown again', async () => {
  const fields = {
    attempt: ids.next(),
    payment_method: 'card',
    card_number: '4242424242424241',
    card_expiry: '1/20',
    card_cvc: '9',
  };
  const { status, text } = await portal.submit('payment-method', fields);
  expect(status).toBe(400);
  for (const field of ['card_number', 'card_expiry', 'card_cvc']) {
    expect(text).toContain(`id="${field}-error"`);
  }
  expect(text).not.toContain('4242424242424241');
});

test('the portal shows usage against its limit', async () => {
  await made(server, '/meters', { slug: 'calls', name: 'API calls', unit: 'calls' });
  await made(server, '/meters', { slug: 'gold', name: 'Gold support' });
  const product = await made(server, '/products', {
    name: 'Metered',
    prices: [{ amount: '0', currency: 'EUR', interval: 'month' }],
  });
  const path = `/products/${product.id}/entitlements`;
  await made(server, path, { feature_key: 'calls', limit: 1000 });
  await made(server, path, { feature_key: 'gold', type: 'boolean' });
  const user = await openPortal(server);
  await made(server, '/subscriptions', { customer_id: user.customer, product_id: product.id });
  const track = { feature_key: 'calls', customer_id: user.customer, value: 850.5 };
  expect((await server.call('POST', '/track', { body: track })).status).toBe(200);
  const { text } = await user.get();
  expect(text.replaceAll(/\s+/g, ' ')).toContain('850.5 of 1,000 <bdi>calls</bdi> used');
  expect(text).toContain('width="85%"');
  expect(text).toMatch(/Gold support<\/bdi><\/span\s*><span>Included/);
});

/** The usage on the page of a customer who used so many `feature`, as text, and its bars. */
async function usageOf(user: Portal, feature: string, value: number) {
  const body = { feature_key: feature, customer_id: user.customer, value };
  expect((await server.call('POST', '/track', { body })).status).toBe(200);
  const { text } = await user.get();
  const part = /<section aria-labelledby="usage">.*?<\/section>/s.exec(text)?.[0] ?? '';
  const bars = [...part.matchAll(/class="bar ([a-z]*)"/g)].map(([, tone]) => tone);
  return { said: part.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' '), bars };
}

test('the portal names the pool of credits that pays beyond the limit, and warns of nothing', async () => {
  await made(server, '/meters', { slug: 'images', name: 'Images', unit: 'images', scale: 0 });
  const costs = [{ feature_key: 'images', cost: '2' }];
  await made(server, '/meters', { slug: 'coins', name: 'Coins', scale: 0, credit_costs: costs });
  const user = await openPortal(server);
  const path = `/customers/${user.customer}/grants`;
  await made(server, path, { feature_key: 'coins', amount: 1_000_000 });
  const alone = await usageOf(user, 'images', 465_000);
  expect(alone.said).toContain('465,000 images used, paid by Coins');
  expect([alone.said.includes('over'), alone.bars]).toEqual([false, ['near']]);
  const other = await openPortal(server);
  const given = `/customers/${other.customer}/grants`;
  await made(server, given, { feature_key: 'coins', amount: 10 });
  await made(server, given, { feature_key: 'images', amount: 3 });
  const { said, bars } = await usageOf(other, 'images', 5);
  expect(said).toContain('5 of 3 images used (2 paid by Coins)');
  expect(bars).toContain('');
});

test('the portal says of usage beyond an allowance that it is billed, where it is sold', async () => {
  await made(server, '/meters', { slug: 'mails', name: 'Mails', unit: 'mails' });
  const product = await made(server, '/products', {
    name: 'Sold',
    prices: [{ amount: '0', currency: 'EUR', interval: 'month' }],
  });
  const at = `/products/${product.id}`;
  await made(server, `${at}/entitlements`, { feature_key: 'mails', limit: 10 });
  const price = { feature_key: 'mails', currency: 'EUR', model: 'per_unit', unit_amount: '0.01' };
  await made(server, `${at}/usage-prices`, price);
  const user = await openPortal(server);
  await made(server, '/subscriptions', { customer_id: user.customer, product_id: product.id });
  const { said, bars } = await usageOf(user, 'mails', 25);
  expect(said).toContain('25 of 10 mails used (15 billed)');
  expect(bars).toEqual(['']);
});

test("a live customer's portal shows no test mode, and without a processor no card form", async () => {
  const key = server.organisation.liveKey;
  const { json: customer } = await server.call('POST', '/customers', {
    key,
    body: { name: 'Live' },
  });
  const { json } = await server.call('POST', `/customers/${customer.id}/portal-tokens`, { key });
  const page = await server.call('GET', `/portal/${json.token}`, { key: null });
  expect([
    page.status,
    page.text.includes('Test mode'),
    page.text.includes('payment-method'),
  ]).toEqual([200, false, false]);
  const form = await server.call('GET', `/portal/${json.token}/payment-method`, { key: null });
  expect(form.status).toBe(404);
});

test('another portal token of the same customer sees the same', async () => {
  const again = await portalOf(server, portal.customer);
  const [one, two] = [(await portal.get()).text, (await again.get()).text];
  expect(two.replaceAll(again.token, portal.token)).toBe(one);
});
