// The page's answers to its form, from a browser or not.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readInstrument } from '../../src/http/wire/instrument.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({
    settings: (url) => ({ baseUrl: url, appUrl: url, checkoutUrl: `${url}/pay` }),
  });
});
afterAll(() => server.stop());

const CARD = {
  payment_method: 'card',
  card_number: '4242424242424242',
  card_expiry: '12/34',
  card_cvc: '123',
};

async function checkout(fields: object = {}): Promise<{ id: string; url: string }> {
  const prices = [{ amount: '12.5', currency: 'USD' }];
  const product = await server.call('POST', '/products', { body: { name: 'Guide', prices } });
  const body = { product_id: product.json.id, customer_email: 'ada@example.com', ...fields };
  return (await server.call('POST', '/checkouts', { body })).json;
}

const send = (url: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual', headers });

const paymentsOf = async (id: string) =>
  (await server.call('GET', `/payments?checkout_id=${id}`)).json.data;

test('a checkout page has no script, loads nothing, and cannot be framed or cached', async () => {
  const { url } = await checkout({ success_url: 'https://shop.example/thanks' });
  const { headers } = await fetch(url);
  const policy = Object.fromEntries(
    headers
      .get('content-security-policy')!
      .split('; ')
      .map((part) => part.split(/ (.*)/s)),
  );
  expect(policy).toEqual({
    'default-src': "'none'",
    'style-src': expect.stringMatching(/^'sha256-[\w+/]{43}='$/),
    'img-src': 'data:',
    'form-action': `'self' ${server.url} https:`,
    'frame-ancestors': "'none'",
    'base-uri': "'none'",
  });
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  });
});

test.each([
  [null, ''],
  ['https://shop.example/thanks', ' https:'],
  ['http://localhost:8080/thanks', ' http://localhost:8080'],
])('the checkout form may lead on to %p', async (success_url, more) => {
  const { url } = await checkout(success_url === null ? {} : { success_url });
  const policy = (await fetch(url)).headers.get('content-security-policy');
  expect(policy).toContain(`form-action 'self' ${server.url}${more};`);
});

test.each(['a'.repeat(43), 'short', '%00', `${'a'.repeat(42)}'`])(
  'an unknown checkout token is a 404 page, to look at and to pay: %s',
  async (token) => {
    for (const response of [
      await fetch(`${server.url}/pay/${token}`),
      await send(`${server.url}/pay/${token}`, CARD),
    ]) {
      expect(response.status).toBe(404);
      expect(await response.text()).toContain('There is no such checkout');
    }
  },
);

test('the checkout form has its field names, and what a browser may fill into them', async () => {
  const { url } = await checkout();
  const text = await (await fetch(url)).text();
  const tags = [...text.matchAll(/<(?:input|select)[^>]*>/g)].map(([tag]) => tag);
  const attribute = (tag: string, name: string) => new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1];
  const fields = tags.map((tag) => [attribute(tag.replaceAll(/\s+/g, ' '), 'name'), tag] as const);
  expect(fields.map(([name]) => name ?? '').sort((a, b) => a.localeCompare(b))).toEqual([
    'card_cvc',
    'card_expiry',
    'card_number',
    'currency',
    'discount_code',
    'email',
    'iban',
    'name',
    'payment_method',
    'payment_method',
    'total',
  ]);
  const autocomplete = Object.fromEntries(
    fields.map(([name, tag]) => [name, attribute(tag.replaceAll(/\s+/g, ' '), 'autocomplete')]),
  );
  expect(autocomplete).toMatchObject({
    email: 'email',
    name: 'name',
    card_number: 'cc-number',
    card_expiry: 'cc-exp',
    card_cvc: 'cc-csc',
  });
});

test('the checkout form pays, and says where to go', async () => {
  const { id, url } = await checkout({ success_url: 'https://shop.example/thanks?a=1#b' });
  const response = await send(url, { ...CARD, total: '12.50 USD', currency: 'USD' });
  expect(response.status).toBe(303);
  expect(response.headers.get('location')).toBe(
    `https://shop.example/thanks?a=1&status=paid&payment_link_id=${id}#b`,
  );
});

test('the checkout form without a total pays the one that is due', async () => {
  const { id, url } = await checkout();
  expect((await send(url, CARD)).status).toBe(303);
  expect(await paymentsOf(id)).toMatchObject([{ amount: '12.50', status: 'succeeded' }]);
});

describe('the checkout form charges nothing, and says why', () => {
  test.each<[string, Record<string, string>, number, string]>([
    ['another total', { total: '12.00 USD' }, 409, 'The total is now'],
    ['the total in another currency', { total: '12.50 EUR' }, 409, 'The total is now'],
    ['a total that is none', { total: '' }, 409, 'The total is now'],
    ['a currency without a price', { currency: 'EUR' }, 400, 'This currency is not offered.'],
    ['no currency at all', { currency: '<b>' }, 400, 'This currency is not offered.'],
    ['an unknown code', { discount_code: 'NONE' }, 400, 'This code is not known.'],
    ['only an update', { action: 'update' }, 200, 'Pay $12.50'],
    ['a long name', { name: 'a'.repeat(256) }, 400, 'Enter a shorter name.'],
    ['no card', { card_number: '' }, 400, '12 to 19 digits'],
    [
      'an account that is none',
      { payment_method: 'bank_debit', iban: 'DE00' },
      400,
      'Enter an IBAN',
    ],
    ['a method that is none', { payment_method: 'cash', card_cvc: '' }, 400, 'security code'],
  ])('for %s', async (_what, fields, status, told) => {
    const { id, url } = await checkout();
    const response = await send(url, { ...CARD, name: 'Ada', ...fields });
    expect(response.status).toBe(status);
    const text = await response.text();
    expect(text.replaceAll(/\s+/g, ' ')).toContain(told);
    for (const secret of [CARD.card_number, `"${CARD.card_cvc}"`])
      expect(text).not.toContain(secret);
    expect(await paymentsOf(id)).toEqual([]);
  });

  test("where a buy link's e-mail is invalid", async () => {
    const prices = [{ amount: '1', currency: 'USD' }];
    const product = await server.call('POST', '/products', { body: { name: 'Guide', prices } });
    const made = await server.call('POST', `/buy-links/${product.json.id}/checkout`, { key: null });
    for (const email of ['', 'ada', 'ada@', '@example.com', 'a b@example.com', '<b>@example.com']) {
      const response = await send(made.json.url, { ...CARD, email });
      expect(response.status).toBe(400);
      expect(await response.text()).toContain('Enter an e-mail address');
    }
    expect(await paymentsOf(made.json.id)).toEqual([]);
  });

  test('where it was sent from a page of another site', async () => {
    const { id, url } = await checkout();
    expect((await send(url, CARD, { origin: 'https://evil.example' })).status).toBe(403);
    expect(await paymentsOf(id)).toEqual([]);
  });
});

test('a checkout page ignores what a bank appends to its address', async () => {
  const { url } = await checkout();
  expect((await fetch(`${url}?payment_intent=pi_1&payment_intent=pi_2`)).status).toBe(200);
});

test("a checkout page's address chooses a currency and a discount", async () => {
  const prices = ['USD', 'JPY'].map((currency) => ({ amount: '1000', currency }));
  const product = await server.call('POST', '/products', { body: { name: 'Guide', prices } });
  await server.call('POST', '/discounts', { body: { code: 'TENTH', percent_off: 10 } });
  const { url } = await checkout({ product_id: product.json.id });
  const text = await (await fetch(`${url}?currency=JPY&discount_code=tenth`)).text();
  expect(text).toContain('Pay ¥900');
});

describe('cards and accounts in the checkout form', () => {
  const NOW = Date.UTC(2026, 10, 21);

  test.each([
    ['12/34', '12/34'],
    [' 1 / 30 ', '01/30'],
    ['1230', '12/30'],
    ['12 2030', '12/30'],
    ['11/26', '11/26'],
    ['11-2026', '11/26'],
  ])('the expiry %p is %p', (card_expiry, expiry) => {
    const read = readInstrument('card', { ...CARD, card_expiry }, NOW);
    expect(read).toMatchObject({ ok: true, instrument: { expiry } });
  });

  test.each(['', '13/30', '00/30', '10/26', '12/2', '12/20300', '1/1/30', 'ab/cd'])(
    'the expiry %p is invalid',
    (card_expiry) => {
      const read = readInstrument('card', { ...CARD, card_expiry }, NOW);
      expect(read).toMatchObject({ ok: false, errors: [{ field: 'card_expiry' }] });
    },
  );

  test.each([
    ['4242 4242 4242 4242', true],
    ['4242-4242-4242-4242', true],
    ['4242424242424241', false],
    ['42424242424', false],
    ['4242424242424242424242', false],
    ['４２４２４２４２４２４２４２４２', false],
    ['', false],
  ])('the card number %p is %p', (card_number, ok) => {
    expect(readInstrument('card', { ...CARD, card_number }, NOW).ok).toBe(ok);
  });

  test.each([
    ['DE89 3704 0044 0532 0130 00', true],
    ['de89370400440532013000', true],
    ['DE62370400440532013001', true],
    ['DE88370400440532013000', false],
    ['DE89', false],
    ['', false],
  ])('the IBAN %p is %p', (iban, ok) => {
    expect(readInstrument('bank_debit', { iban }, NOW).ok).toBe(ok);
  });
});
