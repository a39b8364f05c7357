// A merchant's brand on what its customers get: each page, in its mode alone, and a receipt.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mailSettings, openPostOffice, type PostOffice } from '../../mail/post-office.ts';
import { PATIENCE_MS, Shop } from '../../payments/shop.ts';
import { png } from '../../support/images.ts';

setDefaultTimeout(PATIENCE_MS);

let shop: Shop;
let office: PostOffice;
let hash: string;
beforeAll(async () => {
  office = await openPostOffice();
  const mail = mailSettings(office);
  shop = await Shop.open({ deliver: true, settings: (url) => ({ mail, appUrl: url }) });
  await shop.server.call('PATCH', '/organization', { body: { branding: BRANDING } });
  const data = png(480, 120).toString('base64');
  const { json } = await shop.server.call('PUT', '/organization/logo', { body: { data } });
  hash = json.url.split('/').at(-1);
});
afterAll(async () => {
  await shop.close();
  await office.stop();
});

const BRANDING = {
  color: '#5b2a86',
  support_email: 'help@acme.example',
  support_url: 'https://acme.example/help',
};

/** A checkout, as it is answered. */
async function opened(key = shop.server.organisation.testKey) {
  const post = async (path: string, body: object) =>
    (await shop.server.call('POST', path, { body, key })).json;
  const { id } = await post('/products', { name: 'x', prices: [{ amount: '1', currency: 'USD' }] });
  return post('/checkouts', { product_id: id, customer_email: 'a@b.co' });
}

/** The page at an address of ours, at this server. */
async function open(url: string, headers = {}): Promise<Response> {
  const { pathname, search } = new URL(url, shop.server.url);
  return fetch(`${shop.server.url}${pathname}${search}`, { headers });
}

async function expectBranded(response: Response): Promise<void> {
  const text = await response.text();
  expect(response.status).toBe(200);
  expect(text).toContain('--fill:#5b2a86');
  expect(text).toContain('href="mailto:help@acme.example"');
  expect(text).toContain('href="https://acme.example/help"');
  const [, src = ''] = /<img class="logo" src="([^"]+)" width="480" height="120"/.exec(text) ?? [];
  expect(src).toEndWith(`/logos/${hash}`);
  // This image and no other, and two styles by their hashes.
  const policy = response.headers.get('content-security-policy')!;
  expect(policy).toContain(`img-src data: ${src};`);
  expect(policy).toMatch(/style-src 'sha256-[^' ]+' 'sha256-[^' ]+';/);
  expect((await open(src)).headers.get('content-type')).toBe('image/png');
}

async function expectOurs(response: Response): Promise<void> {
  const text = await response.text();
  expect([response.status, text.match(/<style>/g)?.length, text.includes('<img')]).toEqual([
    200,
    1,
    false,
  ]);
  expect(response.headers.get('content-security-policy')).toContain('img-src data:;');
}

test('a branded checkout page shows logo and colour, framed too, before and after it is paid', async () => {
  const { url } = await opened();
  await expectBranded(await open(url));
  await expectBranded(await open(`${url}?embed=1`));
  await shop.buy();
});

test('a branded portal shows logo and colour on its pages and on the invoice for each reader', async () => {
  const { customer_id: customer, invoice_id: invoice } = await shop.buy({
    checkout: { customer_email: 'portal@example.com', external_customer_id: 'portal' },
  });
  const { json } = await shop.server.call('POST', `/customers/${customer}/portal-tokens`, {
    body: {},
  });
  await expectBranded(await open(json.url));
  await expectBranded(await open(`${json.url}/payment-method`));
  await expectBranded(await open(`${json.url}/invoices/${invoice}`));
  const authorization = `Bearer ${shop.server.organisation.testKey}`;
  await expectBranded(await open(`/api/invoices/${invoice}/pdf`, { authorization }));
});

test('a branded receipt has the logo, the colour and the support contact, which gets its replies', async () => {
  const to = 'branded@example.com';
  await shop.buy({ checkout: { customer_email: to } });
  const [mail] = await office.to(to);
  expect(mail?.html).toContain(`/logos/${hash}" width="192" height="48" alt="One"`);
  expect(mail?.html).toContain('border-top: 4px solid #5b2a86');
  expect(mail?.html).toContain('style="color: #5b2a86">See the invoice</a>');
  expect(mail?.text).toContain('Questions: help@acme.example, https://acme.example/help');
  expect(mail?.replyTo?.value).toEqual([{ name: 'One', address: 'help@acme.example' }]);
  const link = /^See the invoice: (\S+)$/m.exec(mail?.text ?? '')?.[1] ?? '';
  await expectBranded(await open(link));
});

test("another organisation's pages have its own brand", async () => {
  const key = shop.server.other.testKey;
  await expectOurs(await open((await opened(key)).url));
});

test('no text in the database becomes CSS of a branded page', async () => {
  const { sql } = shop.server;
  const color = '#fff}</style><script>alert(1)</script>';
  const { url } = await opened();
  await sql`
    update organisation_settings set branding = ${sql.json({ color })}
    where organisation_id = ${shop.server.organisation.id} and mode = 'test'`;
  await expectOurs(await open(url));
});
