// A customer in the portal, in a real browser: with JavaScript and without, on a phone.
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
import { CHALLENGED, DECLINED, GOOD, made, subscribe } from '../http/portal/customer.ts';
import { type Bed, type BuyerOptions, fillCard, openBed } from './bed.ts';

setDefaultTimeout(60_000);

let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
});
afterAll(() => bed.close());

/** No page may have reported an error. */
afterEach(async () => expect(await bed.leave()).toEqual([]));

/** The customer's portal, open in a browser of its own. */
async function visit(options: BuyerOptions = {}, fields: object = {}) {
  const { id: customer } = await made(bed.server, '/customers', {
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    ...fields,
  });
  const { url } = await made(bed.server, `/customers/${customer}/portal-tokens`, {});
  const buyer = await bed.buyer(options);
  await buyer.page.goto(url);
  return { customer, url, page: buyer.page };
}

async function saveCard(page: Page, number: string): Promise<void> {
  await page.getByRole('link', { name: /^(Replace|Add a payment method)$/ }).click();
  await fillCard(page, number);
  await page.getByRole('button', { name: 'Save the payment method' }).click();
}

const status = (page: Page) => page.getByRole('status').innerText();
const press = (page: Page, name: string) => page.getByRole('button', { name }).click();
const follow = (page: Page, name: RegExp) => page.getByRole('link', { name }).click();
const stateOf = async (id: string) => (await bed.server.call('GET', `/subscriptions/${id}`)).json;
const body = async (page: Page) => (await page.locator('body').innerText()).replaceAll(/\s+/g, ' ');

describe.each([true, false])('with JavaScript %p', (javaScriptEnabled) => {
  test('a customer adds a card, cancels, takes it back, pauses, resumes, and cancels at once', async () => {
    const { page, customer, url } = await visit({ javaScriptEnabled });
    expect(await page.title()).toBe('Your account · One');
    await saveCard(page, GOOD);
    expect(await status(page)).toContain('The payment method was replaced.');
    const { id } = await subscribe(bed.server, customer);
    await page.goto(url);
    expect(await body(page)).toContain('Atlas Pro Active €12.00 a month Next payment');

    await follow(page, /^Cancel/);
    const end = new Date((await stateOf(id)).current_period_end);
    const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(
      end,
    );
    expect(await body(page)).toContain(`Access until ${day}; no further charge.`);
    await press(page, 'Cancel the subscription');
    expect(await status(page)).toContain('will end with its period');
    expect(await body(page)).toContain(`Ends soon €12.00 a month Access until ${day}`);
    expect((await stateOf(id)).cancel_at_period_end).toBe(true);

    await follow(page, /^Keep it after all/);
    await press(page, 'Keep the subscription');
    expect(await status(page)).toContain('goes on as before');

    await follow(page, /^Pause/);
    const until = new Date(Date.now() + 20 * 86_400_000).toISOString().slice(0, 10);
    await page.getByLabel('Resume by itself on').fill(until);
    await page.getByLabel('Keep the invoices coming').check();
    await press(page, 'Pause the subscription');
    expect(await status(page)).toContain('is paused');
    expect(await stateOf(id)).toMatchObject({
      status: 'paused',
      resumes_at: `${until}T00:00:00.000Z`,
      keep_invoices: true,
    });

    await follow(page, /^Resume/);
    expect(await body(page)).toContain('nothing is charged for it again');
    await press(page, 'Resume the subscription');
    expect(await status(page)).toContain('is active again');

    await follow(page, /^Cancel/);
    await page.getByLabel('Now').check();
    await press(page, 'Cancel the subscription');
    expect(await status(page)).toContain('has ended');
    expect(await body(page)).toContain('Atlas Pro Ended');
    expect(await page.getByRole('link', { name: /^(Pause|Cancel|Resume)/ }).count()).toBe(0);
  });

  test('looking and going back changes nothing', async () => {
    const { page, customer, url } = await visit({ javaScriptEnabled });
    const { id } = await subscribe(bed.server, customer, { trial_days: 14 });
    await page.goto(url);
    expect(await body(page)).toContain('Trial €12.00 a month Free until');
    const before = await stateOf(id);
    for (const action of [/^Cancel/, /^Pause/]) {
      await follow(page, action);
      await follow(page, /^Back, change nothing$/);
      await page.getByRole('heading', { name: 'Your account' }).waitFor();
    }
    expect(await stateOf(id)).toEqual(before);
  });

  test('to load the page again after an action does nothing again', async () => {
    const { page, customer, url } = await visit({ javaScriptEnabled });
    const { id } = await subscribe(bed.server, customer, { amount: '0' });
    await page.goto(url);
    await follow(page, /^Pause/);
    await press(page, 'Pause the subscription');
    await page.getByRole('status').waitFor();
    await bed.server.call('POST', `/subscriptions/${id}/resume`, { body: {} });
    await page.reload();
    expect((await stateOf(id)).status).toBe('active');
    expect(await body(page)).toContain('Atlas Pro Active');
  });

  test('a card that is declined, one whose bank asks, and what is overdue is paid', async () => {
    const { page, customer, url } = await visit({ javaScriptEnabled });
    const { id } = await subscribe(bed.server, customer);
    await page.goto(url);
    expect(await body(page)).toContain('Payment overdue');
    await saveCard(page, DECLINED);
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.innerText()).toContain('declined');
    expect(await page.inputValue('[name=card_number]')).toBe('');
    await fillCard(page, CHALLENGED);
    await press(page, 'Save the payment method');
    await press(page, 'Complete');
    expect(await status(page)).toContain('The payment method was replaced.');
    expect(await body(page)).toContain('•••• 3184');
    await page.goto(url);
    expect((await stateOf(id)).overdue_state).toBe('clear');
    expect(await body(page)).toContain('Atlas Pro Active');
  });

  test('after a failure at the bank the form is back, and nothing is saved', async () => {
    const { page, url } = await visit({ javaScriptEnabled });
    await saveCard(page, CHALLENGED);
    await press(page, 'Fail');
    await page.getByRole('alert').waitFor();
    await page.goto(url);
    expect(await body(page)).toContain('There is none on file.');
  });

  test('an invoice is there to print', async () => {
    const { page, customer, url } = await visit({ javaScriptEnabled });
    await saveCard(page, GOOD);
    await subscribe(bed.server, customer);
    await page.goto(url);
    const number = await page.locator('.invoices a').innerText();
    expect(number).toMatch(/^INV-\d{4}-\d{6}$/);
    await page.locator('.invoices a').click();
    await page.getByRole('heading', { name: 'Invoice' }).waitFor();
    expect(await body(page)).toContain(number);
  });
});

test('names that are markup are text, on every page, on a phone', async () => {
  const hostile = `<script>document.title='owned'</script>"><img src=x onerror=alert(1)>`;
  const { page, customer, url } = await visit({ width: 320 }, { name: hostile });
  await bed.server.call('PATCH', '/organization', { body: { name: hostile } });
  const product = await made(bed.server, '/products', {
    name: hostile,
    prices: [{ amount: '0', currency: 'EUR', interval: 'month' }],
  });
  const meter = { slug: 'hostile', name: hostile, unit: hostile.slice(0, 40) };
  await made(bed.server, '/meters', meter);
  const feature = { feature_key: 'hostile', limit: 5 };
  await made(bed.server, `/products/${product.id}/entitlements`, feature);
  await made(bed.server, '/subscriptions', { customer_id: customer, product_id: product.id });
  await page.goto(url);
  const hrefs = await page
    .locator('main a.button')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href')!));
  expect(hrefs.length).toBe(3);
  for (const href of ['', ...hrefs]) {
    await page.goto(new URL(href, url).href);
    expect(await page.title()).not.toBe('owned');
    expect(await page.locator('script, img').count()).toBe(0);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    expect(await body(page)).toContain(hostile);
  }
  await bed.server.call('PATCH', '/organization', { body: { name: 'One' } });
});

test('a link that has expired says so, and nothing else', async () => {
  const { page, url, customer } = await visit();
  await bed.server.sql`
    update portal_tokens set created_at = now() - interval '2 days', expires_at = now() where customer_id = ${customer}`;
  const response = await page.goto(url);
  expect(response!.status()).toBe(401);
  expect(await page.title()).toBe('This link does not open anything');
  expect(await body(page)).not.toContain('Ada');
});
