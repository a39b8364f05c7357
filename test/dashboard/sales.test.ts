// What is sold, by its pages alone: a plan with a usage price is made, bought, changed, refunded.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { submit } from '../support/shop.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { faultIn, type Member, memberOf } from './member.ts';
import { HOSTILE } from './samples.ts';

let server: TestServer;
let member: Member;
beforeAll(async () => {
  server = await startServer();
  member = await memberOf(server);
});
afterAll(() => server.stop());

const read = async (path: string) => (await server.call('GET', path)).json;
const idAfter = (text: string, path: string): string =>
  new RegExp(`${path}/([0-9a-f-]{36})`).exec(text)?.[1] ?? '';

/** Its id. */
async function aProduct(fields: Record<string, string> = {}): Promise<string> {
  const reply = await member.send('/products/new', { name: 'Pro', ...fields });
  expect([reply.status, faultIn(reply.text)]).toEqual([303, null]);
  return idAfter(reply.headers.get('location') ?? '', '/products');
}

const MONTHLY = {
  'prices.0.amount': '30.00',
  'prices.0.currency': 'usd',
  'prices.0.interval': 'month',
};

/** A product, and a checkout of it that was paid. */
async function aSale(
  fields: Record<string, string>,
): Promise<{ product: string; payment: string }> {
  const product = await aProduct(fields);
  const reply = await member.send(`/products/${product}/buy`, {
    customer_email: `buyer-${product}@example.com`,
  });
  const checkout = idAfter(reply.headers.get('location') ?? '', '/checkouts');
  const page = await member.read(`/checkouts/${checkout}`);
  const token = /\/pay\/([\w-]+)/.exec(page)?.[1] ?? '';
  await submit(server.url, { id: checkout, token }, 'good');
  const { data } = await read(`/payments?checkout_id=${checkout}`);
  return { product, payment: data[0].id };
}

test('the dashboard makes a plan with a usage price, previews it, sells it by link and refunds it', async () => {
  await member.act('/meters/new', { slug: 'calls', name: 'API calls', unit: 'calls' });
  const product = await aProduct(MONTHLY);
  const at = `/products/${product}`;
  await member.act(`${at}/entitlements/new`, {
    feature_key: 'calls',
    limit: '1000',
    reset_interval: 'month',
  });
  const usage = {
    feature_key: 'calls',
    currency: 'USD',
    model: 'graduated',
    'tiers.0.up_to': '10000',
    'tiers.0.unit_amount': '0.002',
    'tiers.1.unit_amount': '0.0005',
  };
  const preview = await member.send(`${at}/usage-prices/new`, { ...usage, preview: 'true' });
  expect(preview.status).toBe(200);
  expect(preview.text).toContain('up to 10,000');
  expect(preview.text).toContain('$0.0005 each');
  expect(preview.text).toContain('value="0.002"');
  expect((await read(`/products/${product}/usage-prices`)).data).toEqual([]);
  const { text } = await member.act(`${at}/usage-prices/new`, usage);
  // The preview of what the buyer sees.
  expect(text).toContain('1,000 <bdi>calls</bdi> included each month');
  expect(text).toContain('class="ticket"');
  expect((await read(`/products/${product}/usage-prices`)).data).toMatchObject([
    {
      model: 'graduated',
      tiers: [
        { up_to: 10000, unit_amount: '0.002' },
        { up_to: null, unit_amount: '0.0005' },
      ],
    },
  ]);

  const sale = await member.send(`${at}/buy`, { customer_email: 'ada@example.com' });
  const checkout = idAfter(sale.headers.get('location') ?? '', '/checkouts');
  const open = await member.read(`/checkouts/${checkout}`);
  const token = /\/pay\/([\w-]+)/.exec(open)?.[1] ?? '';
  await submit(server.url, { id: checkout, token }, 'good');
  expect(await member.read(`/checkouts/${checkout}`)).not.toContain('/pay/');

  const list = await member.read('/payments?customer=ada%40example.com');
  const payment = idAfter(list, '/payments');
  const refunded = await member.act(`/payments/${payment}/refund`, { amount: '12.34' });
  expect(refunded.text).toContain('$12.34');
  expect(await read(`/payments/${payment}`)).toMatchObject({
    amount: '30.00',
    refundable_amount: '17.66',
  });
  expect(await member.read(`/payments/${payment}/refund`)).toContain('value="17.66"');
});

test('half of a rollover is refused, not left out', async () => {
  await member.act('/meters/new', { slug: 'halves' });
  const product = await aProduct();
  const path = `/products/${product}/entitlements/new`;
  const feature = { feature_key: 'halves', limit: '10', reset_interval: 'month' };
  for (const half of ['rollover.max', 'rollover.expires_after_periods']) {
    const reply = await member.send(path, { ...feature, [half]: '5' });
    expect([reply.status >= 400, faultIn(reply.text) === null]).toEqual([true, false]);
  }
  expect((await read(`/products/${product}/entitlements`)).data).toEqual([]);
});

test('a refund form sent twice in the dashboard is one refund', async () => {
  const { payment } = await aSale({ 'prices.0.amount': '9.00', 'prices.0.currency': 'EUR' });
  const to = `/payments/${payment}/refund`;
  await member.read(to);
  const [, _key = ''] = /name="_key" value="([^"]+)"/.exec(member.tab.page) ?? [];
  const [, _token = ''] = /name="_token" value="([^"]+)"/.exec(member.tab.page) ?? [];
  const fields = { _token, _key, amount: '4.00', reason: 'duplicate' };
  const replies = [
    await member.tab.post(member.base + to, fields),
    await member.tab.post(member.base + to, fields),
  ];
  expect(replies.map(({ status }) => status)).toEqual([303, 303]);
  const { data } = await read(`/payments/${payment}/refunds`);
  expect(data).toMatchObject([{ amount: '4.00', reason: 'duplicate' }]);
});

test('a refund of more than is left is refused in the dashboard, and shows what was typed', async () => {
  const { payment } = await aSale({ 'prices.0.amount': '9.00', 'prices.0.currency': 'EUR' });
  const reply = await member.send(`/payments/${payment}/refund`, { amount: '9.01' });
  expect([reply.status >= 400, faultIn(reply.text) === null]).toEqual([true, false]);
  expect(reply.text).toContain('value="9.01"');
  expect((await read(`/payments/${payment}/refunds`)).data).toEqual([]);
});

test('the page of a product says what becomes of usage beyond each limit', async () => {
  for (const slug of ['sold', 'member', 'capped', 'open', 'endless', 'flag']) {
    await server.call('POST', '/meters', { body: { slug, scale: 0 } });
  }
  const costs = [{ feature_key: 'member', cost: '2' }];
  await server.call('POST', '/meters', { body: { slug: 'coins', credit_costs: costs } });
  const product = await aProduct(MONTHLY);
  const at = `/products/${product}`;
  const give = async (feature: string, more: object) => {
    const body = { feature_key: feature, limit: 10, reset_interval: 'month', ...more };
    const { status, text } = await server.call('POST', `${at}/entitlements`, { body });
    expect([feature, status, status === 201 ? '' : text]).toEqual([feature, 201, '']);
  };
  await give('sold', {});
  await give('member', {});
  await give('capped', {});
  await give('open', { overage_allowed: true });
  await give('endless', { limit: null });
  await give('flag', { type: 'boolean', limit: undefined, reset_interval: undefined });
  const rows = async (query = '') => {
    const text = await member.read(`${at}${query}`);
    const part = text.slice(text.lastIndexOf('Entitlements'));
    const found = [...(part.split('</table>')[0] ?? '').matchAll(/<tr[^>]*>(.*?)<\/tr\s*>/gs)];
    const cells = found.map(([, row = '']) =>
      [...row.matchAll(/<td[^>]*>(.*?)<\/td\s*>/gs)].map(([, cell = '']) =>
        cell.replaceAll(/<[^>]*>/g, '').trim(),
      ),
    );
    return Object.fromEntries(
      cells.filter(({ length }) => length > 0).map((row) => [row[0], row[4]]),
    );
  };
  expect(await rows()).toMatchObject({ sold: 'denied', capped: 'denied' });
  const price = { feature_key: 'sold', model: 'per_unit', unit_amount: '0.01' };
  for (const currency of ['USD', 'EUR']) {
    const body = { ...price, currency };
    expect((await server.call('POST', `${at}/usage-prices`, { body })).status).toBe(201);
  }
  const told = {
    sold: 'billed in EUR, USD',
    member: 'paid by coins',
    capped: 'denied',
    open: 'allowed',
    endless: '',
    flag: '',
  };
  expect(await rows()).toEqual(told);
  // The list of prices is further on; what is sold is the same.
  const { data } = await read(`${at}/usage-prices`);
  expect(await rows(`?usage=${data.at(-1).id}`)).toEqual(told);
  await member.act(`${at}/usage-prices/${data[1].id}/archive`);
  expect(await rows()).toMatchObject({ sold: 'billed in EUR, otherwise denied' });
});

test('the form of a feature says which priority it has where none is typed', async () => {
  await server.call('POST', '/meters', { body: { slug: 'untyped' } });
  const at = `/products/${await aProduct()}`;
  const form = await member.read(`${at}/entitlements/new`);
  const said = /Lower is used first\. Leave empty for (\d+)\./.exec(form)?.[1];
  await member.act(`${at}/entitlements/new`, { feature_key: 'untyped', priority: '' });
  const { data } = await read(`${at}/entitlements`);
  expect([data[0].priority, said]).toEqual([100, '100']);
});

const REFUSED: [string, Record<string, string>, string][] = [
  ['/products/new', { name: HOSTILE, 'prices.0.amount': 'x' }, 'prices.0.amount'],
  ['/meters/new', { slug: HOSTILE }, 'slug'],
  ['/discounts/new', { code: 'A', percent_off: '101' }, 'percent_off'],
  ['/discounts/new', { code: 'A', percent_off: '10', expires_at: HOSTILE }, 'expires_at'],
  [
    '/invoices/new',
    { customer: 'nobody', currency: 'USD', 'lines.0.description': 'x', 'lines.0.unit_amount': 'y' },
    'lines.0.unit_amount',
  ],
];

test.each(REFUSED)(
  'the dashboard form %s shows an error beside its field',
  async (path, fields, name) => {
    const reply = await member.send(path, fields);
    expect(reply.status).toBe(400);
    expect(reply.text).toContain(`id="f-${name}-error"`);
    expect(reply.text).not.toContain(HOSTILE);
    expect(reply.text).not.toContain('<script>alert');
  },
);

test('hostile names are escaped on every page of sales', async () => {
  const { product } = await aSale({ name: HOSTILE, description: HOSTILE, ...MONTHLY });
  const { data } = await read(`/subscriptions?product_id=${product}`);
  const subscription = data[0].id;
  const { data: invoices } = await read(`/invoices?subscription_id=${subscription}`);
  const paths = [
    '/products',
    `/products/${product}`,
    `/products/${product}/edit`,
    `/products/${product}/archive`,
    `/products/${product}/prices/new`,
    `/products/${product}/buy`,
    '/subscriptions',
    `/subscriptions/${subscription}`,
    `/subscriptions/${subscription}/cancel`,
    `/subscriptions/${subscription}/change`,
    `/invoices/${invoices[0].id}`,
    `/payments?customer=${encodeURIComponent(HOSTILE)}`,
  ];
  for (const path of paths) expect(await member.read(path)).not.toContain('<script>alert');
});

test('the dashboard changes, archives and publishes a product', async () => {
  const product = await aProduct();
  const at = `/products/${product}`;
  expect(await member.read(at)).toContain('it cannot be bought');
  await member.act(`${at}/edit`, { name: 'Max', description: '' });
  await member.act(`${at}/prices/new`, { amount: '5', currency: 'EUR', interval: 'year' });
  expect(await read(at)).toMatchObject({
    name: 'Max',
    description: '',
    prices: [{ amount: '5.00', interval: 'year' }],
  });
  await member.act(`${at}/archive`);
  expect((await read(at)).status).toBe('archived');
  expect(await member.read('/products?status=archived')).toContain('Max');
  expect(await member.read('/products?status=active')).not.toContain('Max');
  await member.act(`${at}/publish`);
  const { prices } = await read(at);
  await member.act(`${at}/prices/${prices[0].id}/archive`);
  expect(await read(at)).toMatchObject({ status: 'active', prices: [{ status: 'archived' }] });
});

test('the dashboard previews a price with its trial, and writes nothing', async () => {
  const product = await aProduct();
  const typed = { amount: '40', currency: 'USD', interval: 'month', trial_days: '14' };
  const { text } = await member.send(`/products/${product}/prices/new`, {
    ...typed,
    preview: 'true',
  });
  expect(text).toContain('Due today');
  expect(text).toContain('$40.00</span> per month from');
  expect((await read(`/products/${product}`)).prices).toEqual([]);
});

test('the dashboard makes, changes and deletes meters and discounts', async () => {
  const { text } = await member.act('/meters/new', {
    slug: 'seats',
    aggregation: 'last',
    carry: 'on',
  });
  const meter = idAfter(text, '/meters');
  await member.act(`/meters/${meter}/edit`, { name: 'Seats', unit: 'seats', status: 'archived' });
  expect(text).toContain('with the level of the one before');
  const now = { name: 'Seats', status: 'archived', carry: true };
  expect(await read(`/meters/${meter}`)).toMatchObject(now);
  await member.act(`/meters/${meter}/delete`);
  expect((await server.call('GET', `/meters/${meter}`)).status).toBe(404);
  const made = await member.act('/discounts/new', {
    code: 'SPRING',
    percent_off: '20',
    expires_at: '2099-06-01T12:00',
  });
  expect(made.text).toContain('20 %');
  const { data } = await read('/discounts');
  await member.act(`/discounts/${data[0].id}/delete`);
  expect((await read('/discounts')).data).toEqual([]);
});

test('the dashboard offers each action on a subscription where it is legal, and does it', async () => {
  const { product } = await aSale({ name: 'Team', ...MONTHLY });
  const { data } = await read(`/subscriptions?product_id=${product}`);
  const at = `/subscriptions/${data[0].id}`;
  const offered = async () => {
    const page = await member.read(at);
    return [...page.matchAll(new RegExp(`href="[^"]*${at}/([\\w-]+)"`, 'g'))].map(
      ([, name]) => name,
    );
  };
  expect(await offered()).toEqual(['change', 'pause', 'cancel']);
  expect(await member.read(`${at}/resume`)).toContain('does not allow this now');
  await member.act(`${at}/cancel`, { mode: 'at_period_end' });
  expect(await offered()).toEqual(['change', 'pause', 'uncancel', 'cancel']);
  await member.act(`${at}/uncancel`);
  expect((await read(at)).cancel_at_period_end).toBe(false);
  const change = { price_id: data[0].price_id, quantity: '2' };
  await member.confirm(await member.act(`${at}/change`, change), `${at}/change`);
  expect((await read(at)).quantity).toBe(2);
  const refused = await member.send(`${at}/pause`, { resumes_at: '2001-01-01T00:00' });
  expect(refused.text).toContain('value="2001-01-01T00:00"');
  await member.act(`${at}/pause`);
  expect(await offered()).toEqual(['pause', 'resume', 'cancel']);
  expect(await member.read(`${at}/resume`)).toContain('Nothing is charged now');
  await member.act(`${at}/resume`);
  await member.act(`${at}/cancel`, { mode: 'immediate' });
  expect((await read(at)).status).toBe('canceled');
  expect(await offered()).toEqual([]);
  expect(await member.read(at)).toContain('subscription canceled');
});

test('the dashboard drafts, issues, prints and voids an invoice', async () => {
  await server.call('POST', '/customers', { body: { external_customer_id: 'user-9' } });
  const made = await member.act('/invoices/new', {
    customer: 'user-9',
    currency: 'EUR',
    'lines.0.description': 'Onboarding',
    'lines.0.quantity': '2',
    'lines.0.unit_amount': '150.00',
    'lines.2.description': 'Travel',
    'lines.2.unit_amount': '20',
  });
  expect(made.text).toContain('€320.00');
  const invoice = idAfter(made.text, '/invoices');
  const at = `/invoices/${invoice}`;
  await member.act(`${at}/finalize`);
  expect(await member.read('/dunning')).toContain('€320.00');
  const print = await member.get(`${at}/print`);
  expect(print.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(print.text).toContain('Onboarding');
  const csv = await member.get(`${at}/usage`);
  expect(csv.headers.get('content-type')).toContain('text/csv');
  expect(csv.text).toStartWith('line_id,');
  const refused = await member.send(`${at}/pay`);
  expect(faultIn(refused.text)).not.toBeNull();
  await member.act(`${at}/void`);
  expect((await read(at)).status).toBe('void');
});

test('the dashboard expires a checkout', async () => {
  const product = await aProduct(MONTHLY);
  const reply = await member.send(`/products/${product}/buy`, { customer_email: 'c@example.com' });
  const checkout = idAfter(reply.headers.get('location') ?? '', '/checkouts');
  await member.act(`/checkouts/${checkout}/expire`);
  expect(await member.read('/checkouts?status=expired')).toContain(checkout);
});

test('a dashboard filter that matches nothing, or is invalid, leaves the list empty', async () => {
  for (const path of ['/payments', '/subscriptions', '/invoices']) {
    for (const asked of ['customer=nobody%40example.com', 'customer=nobody', 'after=x']) {
      expect(await member.read(`${path}?${asked}`)).toContain('match these filters.');
    }
  }
});

test('the dashboard finds a product by the beginning of its name or its id, an invoice by number', async () => {
  const { product, payment } = await aSale({ name: `${HOSTILE} Zeppelin`, ...MONTHLY });
  const other = await aProduct({ name: 'Yacht' });
  const found = (page: string) => [product, other].map((id) => page.includes(`/products/${id}"`));
  const search = async (text: string, rest = '') =>
    found(await member.read(`/products?search=${encodeURIComponent(text)}${rest}`));
  expect(await search(HOSTILE)).toEqual([true, false]);
  expect(await search('YACH')).toEqual([false, true]);
  expect(await search(product)).toEqual([true, false]);
  expect(await search('yacht', '&status=archived')).toEqual([false, false]);
  for (const none of ['Zeppelin', '%', '.', 'x'.repeat(255), product.replace(/.$/, 'g')]) {
    expect([none, await search(none)]).toEqual([none, [false, false]]);
  }
  const { invoice_id: id } = await read(`/payments/${payment}`);
  const { number } = await read(`/invoices/${id}`);
  expect(await member.read(`/invoices?number=${number}`)).toContain(`/invoices/${id}"`);
  expect(await member.read(`/invoices?number=${number}&status=void`)).toContain(
    'match these filters',
  );
  expect(faultIn(await member.read('/products?search=%00'))).toBeString();
  expect(faultIn(await member.read(`/invoices?number=${'9'.repeat(65)}`))).toBeString();
});
