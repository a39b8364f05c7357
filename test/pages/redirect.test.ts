// A buyer and a customer who are led to Stripe's page and back, in a real browser: with JavaScript
// and without.
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
import { made, subscribe } from '../http/portal/customer.ts';
import { openStripeFake, type StripeFake } from '../processors/stripe/fake.ts';
import { NUMBERS } from '../support/means.ts';
import { type Bed, openBed } from './bed.ts';

setDefaultTimeout(60_000);

const { good: GOOD, declined: DECLINED, challenge: CHALLENGED, iban: IBAN } = NUMBERS;

let bed: Bed;
let fake: StripeFake;
beforeAll(async () => {
  fake = await openStripeFake();
  fake.webhooks.mode = 'off';
  bed = await openBed({ stripeApiUrl: new URL(fake.url) });
  const body = { type: 'stripe', secret_key: fake.newAccount().testKey };
  expect((await bed.server.call('PUT', '/organization/processor', { body })).status).toBe(200);
});
afterAll(async () => {
  await bed.close();
  await fake.close();
});

/** No page may have reported an error: the content security policy lets the forms lead there. */
afterEach(async () => expect(await bed.leave()).toEqual([]));

const press = (page: Page, name: string) => page.getByRole('button', { name }).click();
const follow = (page: Page, name: string) => page.getByRole('link', { name }).click();
const heading = (page: Page, name: string) => page.getByRole('heading', { name }).waitFor();
const thanks = (id: string) => `${bed.shopUrl}/thanks?status=paid&payment_link_id=${id}`;
const statusOf = async (id: string) =>
  (await bed.server.call('GET', `/checkouts/${id}`)).json.status;
const body = async (page: Page) => (await page.locator('body').innerText()).replaceAll(/\s+/g, ' ');

/** On the form that leads there. */
async function goOn(page: Page): Promise<void> {
  await press(page, 'Continue to payment');
  await page.waitForURL(`${fake.url}/c/pay/**`);
}

async function enter(page: Page, number: string): Promise<void> {
  await page.fill('[name=number]', number);
  await page.fill('[name=expiry]', '12 / 34');
  await page.fill('[name=cvc]', '123');
  await press(page, 'Pay');
}

describe.each([true, false])('with JavaScript %p', (javaScriptEnabled) => {
  async function arrive(fields: object = {}): Promise<{ id: string; url: string; page: Page }> {
    const opened = await bed.checkout({ success_url: `${bed.shopUrl}/thanks`, ...fields });
    const { page } = await bed.buyer({ javaScriptEnabled });
    await page.goto(opened.url);
    return { ...opened, page };
  }

  test('a buyer pays there, and is sent on', async () => {
    const { id, page } = await arrive();
    expect(await body(page)).toContain('on the next page, at Stripe.');
    expect(await page.locator('[name=card_number]').count()).toBe(0);
    await goOn(page);
    await enter(page, GOOD);
    await page.waitForURL(thanks(id));
    expect(await statusOf(id)).toBe('paid');
  });

  test('the bank asks: a buyer who agrees is sent on, one who does not tries again there', async () => {
    const { id, page } = await arrive();
    await goOn(page);
    await enter(page, CHALLENGED);
    await page.waitForURL(`${fake.url}/3ds/**`);
    await press(page, 'Fail');
    await page.waitForURL(`${fake.url}/c/pay/**`);
    await page.getByRole('alert').waitFor();
    await enter(page, CHALLENGED);
    await page.waitForURL(`${fake.url}/3ds/**`);
    await press(page, 'Complete');
    await page.waitForURL(thanks(id));
  });

  test('declined, then another card, on the page of Stripe', async () => {
    const { id, page } = await arrive();
    await goOn(page);
    await enter(page, DECLINED);
    await page.getByRole('alert').waitFor();
    await enter(page, GOOD);
    await page.waitForURL(thanks(id));
  });

  test('a buyer comes back, goes on, comes back, changes the order, and pays', async () => {
    const { id, page } = await arrive();
    await goOn(page);
    const first = page.url();
    await follow(page, 'Back');
    await heading(page, 'Your payment is not finished');
    await follow(page, 'Continue to payment');
    await page.waitForURL(first);
    await follow(page, 'Back');
    await press(page, 'Change the order');
    await page.getByRole('button', { name: 'Continue to payment' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await goOn(page);
    expect(page.url()).not.toBe(first);
    await enter(page, GOOD);
    await page.waitForURL(thanks(id));
  });

  test('declined there, and back: the form says why, and pays with another card', async () => {
    const { id, page } = await arrive();
    await goOn(page);
    await enter(page, DECLINED);
    await page.getByRole('alert').waitFor();
    await follow(page, 'Back');
    await press(page, 'Change the order');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).toContain('Your card was declined.');
    await goOn(page);
    await enter(page, GOOD);
    await page.waitForURL(thanks(id));
  });

  test('paid in one tab, and given up in another that has not heard of it: sent on', async () => {
    const { id, url, page } = await arrive();
    await goOn(page);
    const session = page.url();
    await follow(page, 'Back');
    await heading(page, 'Your payment is not finished');
    expect(await fake.buyer.pays(session, GOOD)).toBe('paid');
    // The page may have noticed by itself.
    await page
      .getByRole('button', { name: 'Change the order' })
      .click({ timeout: 3000 })
      .catch(() => null);
    await page.waitForURL(thanks(id));
    expect(url).not.toBe(page.url());
    expect(await statusOf(id)).toBe('paid');
  });

  test('a bank debit is waited for', async () => {
    const { id, page } = await arrive();
    await goOn(page);
    await page.fill('[name=iban]', IBAN);
    await press(page, 'Pay');
    await heading(page, 'Your bank is on it');
    fake.settle();
    await page.waitForURL(thanks(id));
  });

  test('a customer saves a card in the portal', async () => {
    const { id: customer } = await made(bed.server, '/customers', { name: 'Ada Lovelace' });
    const { url } = await made(bed.server, `/customers/${customer}/portal-tokens`, {});
    await subscribe(bed.server, customer);
    const { page } = await bed.buyer({ javaScriptEnabled });
    await page.goto(url);
    await follow(page, 'Add a payment method');
    await press(page, 'Continue to Stripe');
    await page.waitForURL(`${fake.url}/c/pay/**`);
    await enter(page, DECLINED);
    await page.getByRole('alert').waitFor();
    await follow(page, 'Back');
    expect(await body(page)).toContain('It is not finished at Stripe. Nothing was changed yet.');
    await follow(page, 'Continue to Stripe');
    await enter(page, CHALLENGED);
    await press(page, 'Complete');
    await page.getByRole('status').waitFor();
    expect(await page.getByRole('status').innerText()).toContain(
      'The payment method was replaced.',
    );
    expect(await body(page)).toContain('Visa •••• 3184');
  });
});

describe('in a frame of a merchant', () => {
  let merchant: { readonly origin: string; stop(): Promise<void> };
  beforeAll(() => {
    const text = `<!doctype html><title>Shop</title><script src="${bed.server.url}/embed.js"></script>
      <div id="here"></div><script>
        window.heard = [];
        const hear = (name) => () => window.heard.push(name);
        window.start = (url) => Tollhouse.open(url, {
          onReady: hear('ready'), onPaid: hear('paid'), onCanceled: hear('canceled'), container: '#here',
        });
      </script>`;
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => new Response(text, { headers: { 'content-type': 'text/html' } }),
    });
    merchant = { origin: `http://localhost:${server.port}`, stop: () => server.stop(true) };
  });
  afterAll(() => merchant.stop());

  test('the buyer pays in another tab, and the frame hears of it', async () => {
    const { url } = await bed.checkout({ success_url: `${merchant.origin}/thanks` });
    const { page } = await bed.buyer({ width: 900 });
    await page.goto(merchant.origin);
    await page.evaluate(`start(${JSON.stringify(url)})`);
    const frame = page.frameLocator('iframe');
    await frame.getByRole('button', { name: 'Continue to payment' }).click();
    await frame.getByRole('heading', { name: 'Pay in another tab' }).waitFor();
    const opening = page.context().waitForEvent('page');
    await frame.getByRole('link', { name: 'Continue to payment' }).click();
    const tab = await opening;
    await tab.waitForURL(`${fake.url}/c/pay/**`);
    await enter(tab, GOOD);
    await heading(tab, 'Paid. Thank you!');
    expect(tab.url()).toBe(url);
    await page.waitForFunction(`heard.includes('paid')`);
    expect(page.url()).toBe(`${merchant.origin}/`);
    expect(await page.evaluate('heard')).toEqual(['ready', 'paid']);
  });

  test('the buyer gives it up there', async () => {
    const { id, url } = await bed.checkout({ success_url: `${merchant.origin}/thanks` });
    const { page } = await bed.buyer({ width: 900 });
    await page.goto(merchant.origin);
    await page.evaluate(`start(${JSON.stringify(url)})`);
    const frame = page.frameLocator('iframe');
    await frame.getByRole('button', { name: 'Continue to payment' }).click();
    await frame.getByRole('button', { name: 'Change the order' }).click();
    await frame.getByRole('button', { name: 'Continue to payment' }).waitFor();
    expect(await statusOf(id)).toBe('active');
    await frame.getByRole('button', { name: 'Cancel' }).click();
    await page.waitForFunction(`heard.includes('canceled')`);
  });
});
