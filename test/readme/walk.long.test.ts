// A new user's first half hour, in a browser: the service is started as the README says, its
// printed link is followed, and what the dashboard offers is done there. Only a program's calls are
// made over HTTP, with a key from the dashboard.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { DESKTOP, openSeat, type Seat } from '../dashboard/browser.ts';
import { openBrowser } from '../pages/browser.ts';
import { freePort } from '../support/free-port.ts';
import { exchangesOf, linesOf, partsOf } from './book.ts';
import { type Clone, openClone, Started } from './clone.ts';

setDefaultTimeout(120_000);

/** What the dashboard promises: usage that /track has acknowledged is seen as soon as this. */
const SEEN_WITHIN_MS = 2000;

const README = readFileSync(join(import.meta.dir, '../../README.md'), 'utf8');
const [START] = exchangesOf(linesOf(partsOf(README, 'Start')[1]));

let clone: Clone;
let service: Started;
let address: string;
let browser: Browser;
let seat: Seat;
/** The tab with the dashboard. */
let page: Page;
let key: string;

beforeAll(async () => {
  [clone, browser] = await Promise.all([openClone(), openBrowser()]);
  const port = await freePort();
  address = `http://localhost:${port}`;
  service = new Started(clone, START!.command, port);
  seat = await openSeat(browser);
  page = seat.page;
  await page.setViewportSize(DESKTOP);
});
afterAll(async () => {
  await browser.close();
  await service.interrupt();
  clone.remove();
  expect(seat.complaints).toEqual([]);
});

const press = (name: string | RegExp) => page.getByRole('button', { name }).click();
const follow = (name: string | RegExp) => page.getByRole('link', { name, exact: true }).click();
const goTo = (name: string) =>
  page.getByRole('navigation').getByRole('link', { name, exact: true }).click();

/** Fills in fields by their labels, and sends the form. */
async function fill(fields: Readonly<Record<string, string>>, submit: string): Promise<void> {
  for (const [label, value] of Object.entries(fields)) {
    const control = page.getByLabel(label, { exact: true });
    const isChoice = (await control.and(page.getByRole('combobox')).count()) > 0;
    await (isChoice ? control.selectOption({ label: value }) : control.fill(value));
  }
  await page.getByRole('button', { name: submit, exact: true }).click();
  await page.getByRole('status').first().waitFor();
}

/** As the user's program calls. */
async function call(path: string, body: object) {
  const reply = await fetch(address + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(reply.status).toBe(200);
  return { json: await reply.json(), requestId: reply.headers.get('x-request-id') ?? '' };
}

const USE = { feature_key: 'api-calls', external_customer_id: 'user-1' };

test('walking through the README, the printed link signs in', async () => {
  const said = await service.says('"listening"');
  await page.goto(/http:\S+\/dashboard\/sign-in\/\S+/.exec(said)![0]);
  await press('Sign in');
  await page.getByRole('heading', { name: 'Get started' }).waitFor();
});

test('walking through the README, a plan with a usage price is made', async () => {
  await follow('Create a meter: what you count');
  await fill({ Slug: 'api-calls', Name: 'API calls', Unit: 'calls' }, 'Create');
  await goTo('Home');
  await follow('Create a product: what you sell');
  await fill({ Name: 'Pro', Amount: '10.00', Billing: 'every month' }, 'Create');
  await follow('Add a feature');
  await fill({ Limit: '1000' }, 'Add feature');
  await follow('Add a usage price');
  await fill({ 'Unit amount': '0.002' }, 'Add usage price');
  const seen = page.getByRole('group', { name: 'Preview' });
  await seen.getByText('1,000 calls included each month').waitFor();
});

test('walking through the README, the plan is bought in another tab, and the dashboard shows that', async () => {
  await follow('Sell');
  const buyer = { 'E-mail of the buyer': 'ada@example.com', 'Your customer id': 'user-1' };
  await fill(buyer, 'Create checkout');
  const opened = seat.context.waitForEvent('page');
  await page.getByRole('link', { name: /\/pay\// }).click({ modifiers: ['Control'] });
  const tab = await opened;
  await tab.getByLabel('Card number').fill('4242 4242 4242 4242');
  await tab.getByLabel('Expiry').fill('12 / 34');
  await tab.getByLabel('Security code').fill('123');
  await tab.getByRole('button', { name: 'Subscribe and pay $10.00' }).click();
  await tab.getByRole('heading', { name: 'Thank you!' }).waitFor();
  await tab.close();
  await page.getByText('paid', { exact: true }).waitFor();
});

test('walking through the README, an API key is made, and a program calls with it', async () => {
  await goTo('API keys');
  await follow('New key');
  await fill({ Name: 'my program' }, 'Create key');
  key = /svc_test_\w+/.exec(await page.getByRole('main').innerText())![0];
  expect((await call('/check', USE)).json).toMatchObject({ allowed: true, remaining: 1000 });
});

test('walking through the README, usage is on the dashboard within two seconds, without a reload', async () => {
  const home = await seat.context.newPage();
  await home.goto(`${address}/dashboard`);
  await goTo('Customers');
  await follow('ada@example.com');
  for (const tab of [home, page]) await tab.evaluate('window.isOld = true');
  const tracked = await call('/track', { ...USE, value: 1500 });
  expect(tracked.json).toMatchObject({ consumed: 1500, overage: 500 });
  const began = performance.now();
  const seen = async (of: Page, what: Locator) => {
    await what.waitFor({ timeout: SEEN_WITHIN_MS });
    expect(await of.evaluate('window.isOld')).toBe(true);
    return Math.round(performance.now() - began);
  };
  const took = await Promise.all([
    seen(page, page.getByText('1,500 of 1,000')),
    seen(home, home.getByRole('figure').filter({ hasText: 'Usage of api-calls' })),
  ]);
  console.log(`usage was seen after ${took.join(' and ')} ms`);
  expect(Math.max(...took)).toBeLessThan(SEEN_WITHIN_MS);
  await home.close();
});

test('walking through the README, a part of a payment is refunded, and the rest is left', async () => {
  await goTo('Payments');
  await page
    .getByRole('row', { name: /ada@example\.com/ })
    .getByRole('link')
    .first()
    .click();
  await follow('Refund');
  await fill({ 'Amount in USD': '4.50' }, 'Refund');
  await page.getByText('partially refunded', { exact: true }).waitFor();
  const text = await page.getByRole('main').innerText();
  expect(text).toMatch(/Refunded\s+\$4\.50/);
  expect(text).toMatch(/Refundable\s+\$5\.50/);
  expect(text).toMatch(/\$4\.50\s+succeeded\s+requested by customer/);
});

test('walking through the README, the page Why tells by request id why a check was denied', async () => {
  await goTo('Customers');
  await follow('ada@example.com');
  const cap = page.locator('section').filter({ hasText: 'Spend cap' });
  await cap.getByRole('link', { name: 'Change', exact: true }).click();
  await fill({ Amount: '1.00' }, 'Save cap');
  const { json, requestId } = await call('/check', USE);
  expect(json).toMatchObject({ allowed: false, reason: 'spend_cap' });
  await goTo('Why');
  await page.getByLabel('Request id, event id or key').fill(requestId);
  await page.getByRole('search', { name: 'By id or key' }).getByRole('button').click();
  const answer = await page.getByRole('region', { name: 'The answer' }).innerText();
  expect(answer).toContain('Denied');
  expect(answer).toContain(
    '1500 of 1000 were used. 1 was asked for, which would have cost more than was left of the spend cap.',
  );
  expect(answer).toContain(requestId);
});
