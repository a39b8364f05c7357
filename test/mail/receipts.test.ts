// The mails that a buyer gets for payments and refunds.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { made, PATIENCE_MS, Shop } from '../payments/shop.ts';
import { until } from '../support/until.ts';
import { FROM, mailSettings, openPostOffice, type PostOffice } from './post-office.ts';

setDefaultTimeout(PATIENCE_MS);

let office: PostOffice;
let shop: Shop;
beforeAll(async () => {
  office = await openPostOffice();
  const mail = mailSettings(office);
  shop = await Shop.open({ deliver: true, settings: (url) => ({ mail, appUrl: url }) });
});
afterAll(async () => {
  await shop.close();
  await office.stop();
});

test('a buyer gets a receipt, whose link opens the invoice without a key', async () => {
  const to = 'paid@example.com';
  const payment = await shop.buy({ checkout: { customer_email: to } });
  const [mail] = await office.to(to);
  const { number } = await shop.read(`/invoices/${payment.invoice_id}`);
  expect(mail?.subject).toBe(`[Test] Receipt ${number} from One`);
  expect(mail?.from?.value).toEqual([{ name: 'One', address: FROM }]);
  expect(mail?.messageId).toMatch(/^<[0-9a-f-]{36}@tollhouse\.example>$/);
  expect(mail?.headers.get('auto-submitted')).toBe('auto-generated');
  const lines = (mail?.text ?? '').split('\n').filter((line) => line !== '');
  const link = /^See the invoice: (\S+)$/.exec(lines[5] ?? '')?.[1] ?? '';
  expect(lines.slice(0, 5)).toEqual([
    'Test mode: no money was moved.',
    'You paid $100.00',
    expect.stringMatching(/^Thank you for your payment to One on \d{1,2} \w+ \d{4}\.$/),
    'Lamp: $100.00',
    'Total USD: $100.00',
  ]);
  expect(mail?.html).toContain('<h1 style="font-size: 22px">You paid $100.00</h1>');
  expect(mail?.html).toContain(`<a href="${link}">`);
  const page = await fetch(link);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(number)]);
  // No address is stored, and one mail goes to one recipient.
  await until('it is written down', async () => (await settled(payment.invoice_id)).length === 1);
  expect([...(await settled(payment.invoice_id))]).toEqual([
    { kind: 'receipt', status: 'sent', recipient: null },
  ]);
  expect(office.named.filter((address) => address === to)).toHaveLength(1);
});

// prettier-ignore
test.each([
  ['JPY', '10000',  '¥10,000'],
  ['KWD', '10.000', 'KWD\u00A010.000'],
  ['CLF', '1.0000', 'CLF\u00A01.0000'],
])("a receipt's amount has the decimals of its currency: %s %s", async (currency, total, shown) => {
  const to = `${currency.toLowerCase()}@example.com`;
  await shop.buy({ currency, total, checkout: { customer_email: to, currency } });
  const [mail] = await office.to(to);
  expect(mail?.text).toContain(`You paid ${shown}\n`);
  expect(mail?.html).toContain(`You paid ${shown}<`);
});

test('a mail tells each refund', async () => {
  const to = 'refunded@example.com';
  const { id } = await shop.buy({ checkout: { customer_email: to } });
  for (const amount of ['4.50', '5.00']) {
    const { status } = await shop.server.call('POST', `/payments/${id}/refund`, {
      body: { amount },
    });
    expect(status).toBe(200);
  }
  const mails = await office.to(to, 3);
  expect(
    mails
      .map(({ subject = '' }) => subject)
      .toSorted((a, b) => (a < b ? -1 : 1))
      .slice(-2),
  ).toEqual(['[Test] Refund of $4.50 from One', '[Test] Refund of $5.00 from One']);
  // The receipt may come last: mails are sent side by side.
  const refund = mails.findLast(({ subject = '' }) => subject.includes('Refund'));
  expect(refund?.text).toContain('to your payment method');
});

test("a product's name in a mail neither begins a header nor is markup", async () => {
  const to = 'names@example.com';
  const name = 'Nice\r\nBcc: all@example.com\r\n\r\n<script>alert(1)</script>';
  const price = [{ amount: '1', currency: 'USD' }];
  const product = made(
    await shop.server.call('POST', '/products', { body: { name: 'x', prices: price } }),
  );
  await shop.server.sql`update products set name = ${name} where id = ${product.id}`;
  const seller = { name: 'A "B", <C>\r\nX-Evil: 1', email: 'shop@bücher.example' };
  await shop.server.sql`
    update organisation_settings set seller = ${shop.server.sql.json(seller)}
    where organisation_id = ${shop.server.organisation.id}`;
  await shop.buy({ total: '1.00', checkout: { product_id: product.id, customer_email: to } });
  await shop.server.sql`
    update organisation_settings set seller = '{}' where organisation_id = ${shop.server.organisation.id}`;
  const [mail] = await office.to(to);
  expect(
    [...(mail?.headers.keys() ?? [])].filter((key) => ['bcc', 'x-evil'].includes(key)),
  ).toEqual([]);
  expect(mail?.from?.value).toEqual([{ name: 'A "B", <C> X-Evil: 1', address: FROM }]);
  expect(mail?.replyTo?.value[0]?.address).toMatch(/^shop@(?:bücher|xn--bcher-kva)\.example$/);
  expect(mail?.text).toContain('Nice Bcc: all@example.com <script>alert(1)</script>: $1.00');
  expect(mail?.html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(mail?.html).not.toContain('<script>');
  const [head] = (mail?.raw ?? '').split('\r\n\r\n');
  expect(head).not.toMatch(/^(?:Bcc|X-Evil):/im);
});

test("a mail's address may be of any script", async () => {
  const to = 'ada@bücher.example';
  await shop.buy({ checkout: { customer_email: to } });
  const [mail] = await office.to(to);
  expect(mail?.raw).toContain('To: ada@xn--bcher-kva.example\r\n');
});

test('/ready says whether mails are sent', async () => {
  expect((await shop.server.call('GET', '/ready')).json).toEqual({ status: 'ready', mail: 'on' });
});

function settled(invoiceId: string) {
  return shop.server.sql<{ kind: string; status: string; recipient: string | null }[]>`
    select kind, status, recipient from mails where invoice_id = ${invoiceId} and status <> 'pending'`;
}
