// The page of a buy link: a visit opens a checkout, and nothing else does.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { TEST_SETTINGS } from '../../support/settings.ts';
import { checkouts, product } from '../checkouts/fixture.ts';

let server: TestServer;
beforeAll(async () => {
  const limits = { ...TEST_SETTINGS.limits, buyLinks: 0 };
  server = await startServer({ settings: { limits } });
});
afterAll(() => server.stop());

type Headers = Readonly<Record<string, string>>;

const VISIT: Headers = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

const at = (reference: string, init: RequestInit = {}) =>
  fetch(`${server.url}/buy-links/${reference}`, { redirect: 'manual', ...init });

test('a visit to a buy link opens a checkout and leads there, each time another', async () => {
  const { id, slug } = await product(server);
  const before = await checkouts(server);
  const places = new Set<string | null>();
  for (const reference of [id, `prod_${id}`, slug]) {
    const reply = await at(reference, { headers: VISIT });
    expect([reply.status, reply.headers.get('cache-control')]).toEqual([302, 'no-store']);
    const place = reply.headers.get('location');
    expect(place).toMatch(/^http:\/\/localhost\/pay\/[0-9A-Za-z]{43}$/);
    places.add(place);
  }
  expect(places.size).toBe(3);
  expect(await checkouts(server)).toBe(before + 3);
});

test('a visit to a buy link keeps the currency and the code of its address, and nothing else', async () => {
  const { id } = await product(server);
  const reply = await at(`${id}?discount_code=A%26B&currency=EUR`, { headers: VISIT });
  expect(reply.headers.get('location')).toEndWith('?discount_code=A%26B&currency=EUR');
});

// prettier-ignore
const LOOKS: [string, string, Headers][] = [
  ['a program',            'GET',  {}],
  ['HEAD',                 'HEAD', VISIT],
  ['a prefetch',           'GET',  { ...VISIT, 'sec-purpose': 'prefetch;prerender' }],
  ['a frame',              'GET',  { ...VISIT, 'sec-fetch-dest': 'iframe' }],
  ['an image of a page',   'GET',  { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }],
];

test.each(LOOKS)(
  '%s that looks at a buy link opens no checkout',
  async (_what, method, headers) => {
    const { id } = await product(server, { body: { name: 'Lamp & <b>shade</b>' } });
    const before = await checkouts(server);
    const reply = await at(id, { method, headers });
    expect([reply.status, reply.headers.get('x-robots-tag')]).toEqual([200, 'noindex']);
    const text = await reply.text();
    if (method === 'GET') {
      expect(text).toContain('Lamp &amp; &lt;b&gt;shade&lt;/b&gt;');
      expect(text).toContain('<form method="post"');
    }
    expect(await checkouts(server)).toBe(before);
  },
);

test('the button of the page opens a checkout, from that page alone', async () => {
  const { id } = await product(server);
  const before = await checkouts(server);
  const press = (site: string) =>
    at(id, {
      method: 'POST',
      headers: { 'sec-fetch-site': site, 'content-type': 'application/x-www-form-urlencoded' },
    });
  expect((await press('cross-site')).status).toBe(403);
  expect(await checkouts(server)).toBe(before);
  const reply = await press('same-origin');
  expect([reply.status, reply.headers.get('location')]).toEqual([
    303,
    expect.stringContaining('/pay/'),
  ]);
  expect(await checkouts(server)).toBe(before + 1);
});

test('a buy link of an unknown or archived product is a page that says so', async () => {
  const { id } = await product(server);
  await server.call('POST', `/products/${id}/archive`);
  const pages: string[] = [];
  for (const reference of [id, 'nothing-of-the-kind', 'a%00b']) {
    for (const init of [{ headers: VISIT }, {}]) {
      const reply = await at(reference, init);
      expect([reply.status, reply.headers.get('content-type')]).toEqual([
        404,
        'text/html; charset=utf-8',
      ]);
      pages.push(await reply.text());
    }
  }
  expect(new Set(pages).size).toBe(1);
  expect(pages[0]).toContain('This is not for sale');
});

test('a visit to a buy link without a price says that it cannot be bought', async () => {
  const { json } = await server.call('POST', '/products', { body: { name: 'Priceless' } });
  const reply = await at(json.id, { headers: VISIT });
  expect(reply.status).toBe(409);
  expect(await reply.text()).toContain('This cannot be bought now');
});
