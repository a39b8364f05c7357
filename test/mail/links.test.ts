// The link to an invoice: it opens the invoice without a key, in its current state, and nothing
// else does.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { ids } from '../../src/platform/ids.ts';
import { openInvoiceLinks } from '../../src/invoices/links.ts';
import { PATIENCE_MS, Shop } from '../payments/shop.ts';
import { TEST_SECRETS_KEY, TEST_SETTINGS } from '../support/settings.ts';
import { until } from '../support/until.ts';

setDefaultTimeout(PATIENCE_MS);

const links = openInvoiceLinks(TEST_SECRETS_KEY);
const LIMIT = 5;

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open({ settings: { limits: { ...TEST_SETTINGS.limits, portal: LIMIT } } });
});
afterAll(() => shop.close());

const open = (token: string) =>
  shop.server.call('GET', `/api/invoices/links/open/${token}`, { key: null });

test("a mailed link's token is of one invoice and one key, and any other text is none", () => {
  const id = ids.next();
  const token = links.tokenOf(id);
  expect(token).toMatch(/^[0-9A-Za-z]{65}$/);
  expect(links.invoiceOf(token)).toBe(id);
  expect(links.tokenOf(id)).toBe(token);
  expect(openInvoiceLinks(new Uint8Array(32).fill(8)).invoiceOf(token)).toBeNull();
  for (let at = 0; at < token.length; at += 1) {
    const changed = token[at] === 'a' ? 'b' : 'a';
    expect(links.invoiceOf(token.slice(0, at) + changed + token.slice(at + 1))).toBeNull();
  }
  const others = [
    '',
    id,
    `${token}0`,
    token.slice(1),
    'z'.repeat(65),
    '-'.repeat(65),
    '😀'.repeat(65),
  ];
  expect(others.map((text) => links.invoiceOf(text))).toEqual(others.map(() => null));
});

test('a mailed link opens the invoice as it is, for no search engine, frame or cache', async () => {
  const { id, invoice_id: invoiceId } = await shop.buy();
  const { number } = await shop.read(`/invoices/${invoiceId}`);
  const token = links.tokenOf(invoiceId);
  const paid = await open(token);
  expect([paid.status, paid.text]).toEqual([200, expect.stringContaining(number)]);
  expect(paid.text).not.toContain('Refunded');
  expect(paid.headers.get('x-robots-tag')).toBe('noindex');
  expect(paid.headers.get('cache-control')).toBe('no-store');
  expect(paid.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  await shop.server.call('POST', `/payments/${id}/refund`, { body: {} });
  await until('the invoice has it', async () => {
    return (await shop.read(`/invoices/${invoiceId}`)).amount_refunded === '100.00';
  });
  expect((await open(token)).text).toContain('Refunded');
  for (let n = 0; n < LIMIT; n += 1) await open(token);
  const { status, headers, text } = await open(token);
  expect([status, text]).toEqual([429, expect.stringContaining('Too many requests')]);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  expect(shop.server.logged.join('')).not.toContain(token);
});

test('a mailed link that is wrong is 404, and says nothing', async () => {
  const unknown = links.tokenOf(ids.next());
  for (const token of [unknown, 'x', unknown.slice(0, -1)]) {
    const { status, text } = await open(token);
    expect([token, status]).toEqual([token, 404]);
    expect(text).toContain('This link is invalid or has expired');
  }
  expect(shop.server.logged.join('')).not.toContain(unknown);
});
