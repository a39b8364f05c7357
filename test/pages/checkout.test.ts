import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import type { Page } from 'playwright-core';
import { type Bed, fillCard, openBed, pay } from './bed.ts';

setDefaultTimeout(60_000);

let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
});
afterAll(() => bed.close());

/** No page may have reported an error. */
afterEach(async () => expect(await bed.leave()).toEqual([]));

const paymentsOf = async (checkoutId: string) =>
  (await bed.server.call('GET', `/payments?checkout_id=${checkoutId}`)).json.data;
const statusOf = async (checkoutId: string) =>
  (await bed.server.call('GET', `/checkouts/${checkoutId}`)).json.status;
const thanks = () => `${bed.shopUrl}/thanks`;
const paidQuery = (id: string) => `status=paid&payment_link_id=${id}`;

const DECLINED = '4000 0000 0000 0002';
const CHALLENGED = '4000 0027 6000 3184';
const GOOD = '4242 4242 4242 4242';

describe.each([true, false])('with JavaScript %p', (javaScriptEnabled) => {
  test('a buyer pays and is sent on', async () => {
    const { id, url } = await bed.checkout({
      success_url: `${thanks()}?from={CHECKOUT_TOKEN}#top`,
    });
    const { page } = await bed.buyer({ javaScriptEnabled });
    await page.goto(url);
    expect(await page.title()).toBe('Pay · Field guide · One');
    await fillCard(page, GOOD);
    await pay(page);
    await page.waitForURL(`${bed.shopUrl}/**`);
    const token = url.split('/').at(-1);
    expect(page.url()).toBe(`${thanks()}?from=${token}&${paidQuery(id)}#top`);
    expect(await statusOf(id)).toBe('paid');
  });

  test('without success_url the page is the receipt', async () => {
    const { id, url } = await bed.checkout();
    const { page } = await bed.buyer({ javaScriptEnabled });
    await page.goto(url);
    await fillCard(page, GOOD);
    await pay(page);
    await page.getByRole('heading', { name: 'Paid. Thank you!' }).waitFor();
    const [payment] = await paymentsOf(id);
    const text = await page.locator('main').innerText();
    for (const shown of ['€48.00', 'Field guide', 'ada@example.com', 'Visa', '4242', payment.id]) {
      expect(text).toContain(shown);
    }
  });

  test('a declined buyer reads why, and pays with another card', async () => {
    const { id, url } = await bed.checkout({ success_url: thanks() });
    const { page } = await bed.buyer({ javaScriptEnabled });
    await page.goto(url);
    await fillCard(page, DECLINED);
    await pay(page);
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.innerText()).toContain('declined');
    expect(await alert.innerText()).toContain('You can try 2 more times.');
    expect(await page.inputValue('[name=card_number]')).toBe('');
    await fillCard(page, GOOD);
    await pay(page);
    await page.waitForURL(`${bed.shopUrl}/**`);
    const payments = await paymentsOf(id);
    expect(payments.map((payment: { status: string }) => payment.status)).toEqual([
      'succeeded',
      'failed',
    ]);
  });

  test('a buyer whom the bank asks confirms, and is sent on', async () => {
    const { id, url } = await bed.checkout({ success_url: thanks() });
    const { page } = await bed.buyer({ javaScriptEnabled });
    await page.goto(url);
    await fillCard(page, CHALLENGED);
    await pay(page);
    await page.getByRole('button', { name: 'Complete' }).click();
    await page.waitForURL(`${bed.shopUrl}/**`);
    expect(page.url()).toBe(`${thanks()}?${paidQuery(id)}`);
    expect(await statusOf(id)).toBe('paid');
  });

  test('a buyer who fails at the bank is back at the form', async () => {
    const { id, url } = await bed.checkout({ success_url: thanks() });
    const { page } = await bed.buyer({ javaScriptEnabled });
    await page.goto(url);
    await fillCard(page, CHALLENGED);
    await pay(page);
    await page.getByRole('button', { name: 'Fail' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).toContain('The payment did not go through');
    expect(await statusOf(id)).toBe('active');
  });

  test('a bank debit is waited for', async () => {
    const { id, url } = await bed.checkout({ success_url: thanks() });
    const { page } = await bed.buyer({ javaScriptEnabled });
    await page.goto(url);
    await page.getByLabel('Bank debit').check();
    await page.fill('[name=iban]', 'DE89 3704 0044 0532 0130 00');
    await pay(page);
    await page.getByRole('heading', { name: 'Your bank is on it' }).waitFor();
    await bed.settle();
    await page.waitForURL(`${bed.shopUrl}/**`);
    expect(await statusOf(id)).toBe('paid');
  });

  test('the currency is changed, a discount applied and removed', async () => {
    const { id: product_id } = await bed.product({
      prices: [
        { amount: '48', currency: 'EUR' },
        { amount: '50', currency: 'USD' },
        { amount: '7000', currency: 'JPY' },
      ],
    });
    const code = `HALF-${javaScriptEnabled ? 'on' : 'off'}`;
    await bed.server.call('POST', '/discounts', { body: { code, percent_off: 50 } });
    const { id, url } = await bed.checkout({ product_id });
    const { page } = await bed.buyer({ javaScriptEnabled, locale: 'de-DE' });
    const total = () => page.locator('.total strong').innerText();
    await page.goto(url);
    expect(await total()).toBe('€48.00');
    await page.fill('[name=name]', 'Ada');
    await page.selectOption('[name=currency]', 'JPY');
    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByRole('button', { name: 'Pay ¥7,000' }).waitFor();
    expect(await page.inputValue('[name=name]')).toBe('Ada');
    await page.fill('[name=discount_code]', code.toLowerCase());
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('button', { name: 'Pay ¥3,500' }).waitFor();
    await page.getByRole('button', { name: 'Remove discount' }).click();
    await page.getByRole('button', { name: 'Pay ¥7,000' }).waitFor();
    await page.fill('[name=discount_code]', code);
    await page.press('[name=discount_code]', 'Enter');
    await page.getByRole('button', { name: 'Pay ¥3,500' }).waitFor();
    await fillCard(page, GOOD);
    await pay(page);
    await page.getByRole('heading', { name: 'Paid. Thank you!' }).waitFor();
    const [payment] = await paymentsOf(id);
    expect(payment).toMatchObject({ amount: '3500', currency: 'JPY', status: 'succeeded' });
  });
});

test('a price in the currency of the buyer is shown first, unless the merchant pinned one', async () => {
  const prices = [
    { amount: '48', currency: 'EUR' },
    { amount: '50', currency: 'USD' },
  ];
  const { id: product_id } = await bed.product({ prices });
  const { page } = await bed.buyer({ locale: 'en-US' });
  await page.goto((await bed.checkout({ product_id })).url);
  expect(await page.inputValue('[name=currency]')).toBe('USD');
  await page.goto((await bed.checkout({ product_id, currency: 'EUR' })).url);
  expect(await page.locator('select').count()).toBe(0);
  expect(await page.locator('.total strong').innerText()).toBe('€48.00');
});

test('nothing is charged when another total is due than the page showed', async () => {
  const { id: product_id } = await bed.product();
  await bed.server.call('POST', '/discounts', { body: { code: 'SOON-GONE', percent_off: 50 } });
  const { id, url } = await bed.checkout({ product_id, discount_code: 'SOON-GONE' });
  const { page } = await bed.buyer();
  await page.goto(url);
  await page.getByRole('button', { name: 'Pay €24.00' }).waitFor();
  const { data } = (await bed.server.call('GET', '/discounts')).json;
  const gone = data.find((discount: { code: string }) => discount.code === 'SOON-GONE');
  await bed.server.call('DELETE', `/discounts/${gone.id}`);
  await fillCard(page, GOOD);
  await pay(page);
  await page.getByRole('button', { name: 'Pay €48.00' }).waitFor();
  expect(await paymentsOf(id)).toEqual([]);
});

test('what is wrong is told at the top and beside its field, and the number of a card never comes back', async () => {
  const { id, url } = await bed.checkout();
  const { page } = await bed.buyer();
  await page.goto(url);
  await page.fill('[name=card_number]', '4242 4242 4242 4241');
  await page.fill('[name=card_cvc]', '987');
  await pay(page);
  const summary = page.getByRole('alert');
  await summary.waitFor();
  expect(await page.title()).toStartWith('Error: ');
  expect(await page.locator('*:focus').getAttribute('role')).toBe('alert');
  expect(await summary.getByRole('link').allInnerTexts()).toEqual([
    'Check the number of your card: a digit is wrong.',
    'Enter the expiry date as month and year, MM / YY.',
  ]);
  await summary.getByRole('link').first().click();
  expect(await page.locator('*:focus').getAttribute('name')).toBe('card_number');
  const number = page.getByLabel('Card number');
  expect(await number.getAttribute('aria-invalid')).toBe('true');
  const described = await number.getAttribute('aria-describedby');
  expect(await page.locator(`#${described}`).innerText()).toContain('a digit is wrong');
  const source = await page.content();
  expect(source).not.toContain('4242 4242 4242 4241');
  expect(source).not.toContain('987');
  expect(await paymentsOf(id)).toEqual([]);
});

test('a free order asks for no card', async () => {
  await bed.server.call('POST', '/discounts', { body: { code: 'ALL', percent_off: 100 } });
  const { url } = await bed.checkout({ discount_code: 'ALL' });
  const { page } = await bed.buyer();
  await page.goto(url);
  expect(await page.locator('[name=card_number]').count()).toBe(0);
  await page.getByRole('button', { name: 'Complete order' }).click();
  await page.getByRole('heading', { name: 'Paid. Thank you!' }).waitFor();
});

test('a buy link asks who buys, and keeps it after a decline', async () => {
  const { id } = await bed.product();
  const link = (await bed.server.call('POST', `/buy-links/${id}/checkout`, { key: null })).json;
  const { page } = await bed.buyer();
  await page.goto(link.url);
  await fillCard(page, DECLINED);
  await pay(page);
  await page.getByRole('link', { name: /e-mail address/ }).waitFor();
  await page.fill('[name=email]', 'grace@example.com');
  await page.fill('[name=name]', 'Grace');
  await fillCard(page, DECLINED);
  await pay(page);
  await page.getByText('The payment did not go through').waitFor();
  expect(await page.inputValue('[name=email]')).toBe('grace@example.com');
  expect(await page.inputValue('[name=name]')).toBe('Grace');
  await page.fill('[name=email]', 'hopper@example.com');
  await fillCard(page, GOOD);
  await pay(page);
  await page.getByRole('heading', { name: 'Paid. Thank you!' }).waitFor();
  const [payment] = await paymentsOf(link.id);
  expect(payment.customer_email).toBe('hopper@example.com');
});

test('after the last attempt it is locked, and a good card is not charged any more', async () => {
  const { id, url } = await bed.checkout({ cancel_url: `${bed.shopUrl}/cart` });
  const { page: late, another } = await bed.buyer();
  await late.goto(url);
  const page = await another();
  await page.goto(url);
  for (const left of ['2 more times', 'one more time']) {
    await fillCard(page, DECLINED);
    await pay(page);
    await page.getByText(left).waitFor();
  }
  await fillCard(page, DECLINED);
  await pay(page);
  await page.getByRole('heading', { name: 'Too many attempts' }).waitFor();
  await late.bringToFront();
  await fillCard(late, GOOD);
  await pay(late);
  await late.getByRole('heading', { name: 'Too many attempts' }).waitFor();
  expect(await paymentsOf(id)).toHaveLength(3);
  await late.getByRole('link', { name: 'Back to One' }).click();
  expect(late.url()).toBe(`${bed.shopUrl}/cart`);
});

test('an expired checkout says so, on a new page and on an open one', async () => {
  const { id, url } = await bed.checkout();
  const { page } = await bed.buyer();
  await page.goto(url);
  await fillCard(page, GOOD);
  await bed.server.call('POST', `/checkouts/${id}/expire`);
  await pay(page);
  await page.getByRole('heading', { name: 'This checkout has expired' }).waitFor();
  expect(await paymentsOf(id)).toEqual([]);
  const response = await page.goto(url);
  expect(response?.status()).toBe(200);
  await page.getByRole('heading', { name: 'This checkout has expired' }).waitFor();
});

test('a paid checkout that is opened again says so, and leads on', async () => {
  const { id, url } = await bed.checkout({ success_url: thanks() });
  const { page: stale, another } = await bed.buyer();
  await stale.goto(url);
  const page = await another();
  await page.goto(url);
  await fillCard(page, GOOD);
  await pay(page);
  await page.waitForURL(`${bed.shopUrl}/**`);
  await page.goto(url);
  await page.getByRole('heading', { name: 'Paid. Thank you!' }).waitFor();
  await page.getByRole('link', { name: 'Continue to One' }).click();
  expect(page.url()).toBe(`${thanks()}?${paidQuery(id)}`);
  await stale.bringToFront();
  await fillCard(stale, GOOD);
  await pay(stale);
  await stale.waitForURL(`${bed.shopUrl}/**`);
  expect(await paymentsOf(id)).toHaveLength(1);
});

test('two tabs and a double click pay once', async () => {
  const { id, url } = await bed.checkout({ success_url: thanks() });
  const { page, another } = await bed.buyer();
  const second = await another();
  for (const tab of [page, second]) {
    await tab.bringToFront();
    await tab.goto(url);
    await fillCard(tab, GOOD);
  }
  await Promise.all([page.getByRole('button', { name: /^Pay/ }).dblclick(), pay(second)]);
  // The buyer waited in both tabs: one redirects, the other shows that it is paid.
  const paid = (tab: Page) =>
    Promise.any([
      tab.waitForURL(`${bed.shopUrl}/**`),
      tab.getByRole('heading', { name: 'Paid. Thank you!' }).waitFor(),
    ]);
  await Promise.all([paid(page), paid(second)]);
  expect(await paymentsOf(id)).toHaveLength(1);
});

test('a buyer who left the bank is led back to it, and sent on from there once', async () => {
  const { url } = await bed.checkout({ success_url: thanks() });
  const { page } = await bed.buyer();
  await page.goto(url);
  await fillCard(page, CHALLENGED);
  await pay(page);
  await page.getByRole('button', { name: 'Complete' }).waitFor();
  await page.goto(url);
  await page.getByRole('link', { name: 'Continue to your bank' }).click();
  await page.getByRole('button', { name: 'Complete' }).click();
  await page.waitForURL(`${bed.shopUrl}/**`);
  await page.goto(url);
  await page.getByRole('heading', { name: 'Paid. Thank you!' }).waitFor();
});

test('a keyboard alone pays', async () => {
  const { url } = await bed.checkout({ success_url: thanks() });
  const { page } = await bed.buyer({ width: 1280 });
  await page.goto(url);
  const focused = () => page.evaluate<string>('document.activeElement.getAttribute("name")');
  const tabTo = async (name: string) => {
    for (let presses = 0; presses < 20 && (await focused()) !== name; presses += 1) {
      await page.keyboard.press('Tab');
    }
    expect(await focused()).toBe(name);
  };
  await tabTo('payment_method');
  await page.keyboard.press('ArrowDown');
  await tabTo('iban');
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('ArrowUp');
  await tabTo('card_number');
  await page.keyboard.type('4242424242424242');
  await page.keyboard.press('Tab');
  await page.keyboard.type('1234');
  await page.keyboard.press('Tab');
  await page.keyboard.type('123');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${bed.shopUrl}/**`);
});

test('an unknown token is a 404 page', async () => {
  const { page } = await bed.buyer();
  const response = await page.goto(`${bed.server.url}/pay/${'a'.repeat(43)}`);
  expect(response?.status()).toBe(404);
  await page.getByRole('heading', { name: 'There is no such checkout' }).waitFor();
});

test('whatever a merchant or a buyer writes is text, to the receipt', async () => {
  const script = (name: string) => `${name}"'><script>document.title="owned"</script>`;
  const { organisation, sql } = bed.server;
  await sql`update organisations set name = ${script('org')} where id = ${organisation.id}`;
  const { id: product_id } = await bed.product({
    name: script('product'),
    description: script('description'),
  });
  const { url } = await bed.checkout({
    product_id,
    customer_name: script('customer'),
    success_url: `${bed.shopUrl}/thanks?"><script>alert(1)</script>`,
    cancel_url: `${bed.shopUrl}/cart?"><script>alert(2)</script>`,
  });
  const link = await bed.server.call('POST', `/buy-links/${product_id}/checkout`, { key: null });
  const { page } = await bed.buyer();
  const isPlain = async (...texts: string[]) => {
    expect(await page.locator('script').count()).toBe(0);
    expect(await page.title()).not.toBe('owned');
    const shown = await page.locator('body').innerText();
    for (const text of texts) expect(shown).toContain(script(text));
  };
  await page.goto(link.json.url);
  const fields = ['email', 'name', 'discount_code', 'card_number', 'card_expiry', 'card_cvc'];
  for (const field of fields) {
    await page.locator(`[name=${field}]`).evaluate('(input) => input.removeAttribute("maxlength")');
    await page.fill(`[name=${field}]`, script(field));
  }
  await pay(page);
  await page.getByRole('alert').waitFor();
  await isPlain('org', 'product', 'description');
  for (const field of ['email', 'name', 'discount_code']) {
    expect(await page.inputValue(`[name=${field}]`)).toBe(script(field));
  }
  await page.goto(`${link.json.url}?currency=${encodeURIComponent(script('currency'))}`);
  await isPlain('org');
  await page.goto(url);
  await isPlain('org', 'product', 'description');
  expect(await page.inputValue('[name=name]')).toBe(script('customer'));
  await fillCard(page, GOOD);
  await pay(page);
  await page.waitForURL(`${bed.shopUrl}/**`);
  await page.goto(url);
  await page.getByRole('heading', { name: 'Paid. Thank you!' }).waitFor();
  await isPlain('org', 'product', 'description');
  await sql`update organisations set name = 'One' where id = ${organisation.id}`;
});
