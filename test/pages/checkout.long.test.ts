// The page of a checkout in a real browser: with JavaScript, without, and with the keyboard alone.
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
import {
  GOOD,
  JOURNEYS,
  MORE_JOURNEYS,
  paymentsOf as paidAt,
  thanks as thanksAt,
} from './checkout-journeys.ts';
import { journeys } from './journeys.ts';

setDefaultTimeout(60_000);

let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
});
afterAll(() => bed.close());

/** No page may have reported an error. */
afterEach(async () => expect(await bed.leave()).toEqual([]));

const paymentsOf = (checkoutId: string) => paidAt({ bed }, checkoutId);
const thanks = () => thanksAt({ bed });

describe.each(['browser', 'browser without JavaScript'] as const)(
  'the checkout page in a %s',
  (way) => {
    test.each(journeys(JOURNEYS, way))('%s', (_what, run) => run({ bed }));
  },
);

test.each(journeys(MORE_JOURNEYS, 'browser'))('%s', (_what, run) => run({ bed }));

test('has the focus on an error, which leads to its field', async () => {
  const { url } = await bed.checkout();
  const { page } = await bed.buyer();
  await page.goto(url);
  await page.fill('[name=card_number]', '4242 4242 4242 4241');
  await pay(page);
  const summary = page.getByRole('alert');
  await summary.waitFor();
  expect(await page.locator('*:focus').getAttribute('role')).toBe('alert');
  await summary.getByRole('link').first().click();
  expect(await page.locator('*:focus').getAttribute('name')).toBe('card_number');
});

test('pays once with two tabs and a double click', async () => {
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

test('can be paid by keyboard alone', async () => {
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
