// The branding page in a real browser: a preview that follows what is typed. Files of a logo, and
// the page without a script: branding-preview.long.test.ts and branding.test.ts.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { openBrowser } from '../pages/browser.ts';
import type { Shop } from '../payments/shop.ts';
import { openShop } from './book.ts';
import { violationsOf } from '../pages/violations.ts';
import { openSeat, type Seat, signIn } from './browser.ts';

setDefaultTimeout(60_000);

let shop: Shop;
let browser: Browser;
let address: string;
beforeAll(async () => {
  [shop, browser] = await Promise.all([openShop(), openBrowser()]);
  const { url, organisation } = shop.server;
  address = `${url}/dashboard/${organisation.id}/test/settings/branding`;
});
afterAll(async () => {
  await browser.close();
  await shop.close();
});

/** The colour of a button in the page. */
const fillOf = ({ page }: Seat, button: string) =>
  page.evaluate(
    `getComputedStyle(document.querySelector(${JSON.stringify(button)})).backgroundColor`,
  );
const SAMPLE = '#brand-preview .button.wide';

test('the branding preview follows the typed colour, and goes back with it', async () => {
  const body = { branding: { color: '#5b2a86' } };
  await shop.server.call('PATCH', '/organization', { body });
  const seat = await openSeat(browser);
  await signIn(seat, shop.server);
  const { page } = seat;
  await page.goto(address);
  expect(await fillOf(seat, SAMPLE)).toBe('rgb(91, 42, 134)');
  const typed = async (color: string, fill: string) => {
    await page.getByLabel('Colour').fill(color);
    // The policy of the page lets nothing wait in it but this.
    await page.evaluate(`new Promise((done) => {
      const button = document.querySelector(${JSON.stringify(SAMPLE)});
      const look = () =>
        getComputedStyle(button).backgroundColor === ${JSON.stringify(fill)} ? done() : requestAnimationFrame(look);
      look();
    })`);
  };
  await typed('#ffe600', 'rgb(255, 230, 0)');
  // What is on it is readable.
  expect(await violationsOf(page)).toEqual([]);
  await typed('', 'rgb(14, 92, 74)');
  // The button of the page itself has the dashboard's colour all along.
  await typed('#00aa00', 'rgb(0, 170, 0)');
  expect(await fillOf(seat, 'main > form .button')).toBe('rgb(14, 92, 74)');
  // Nothing is saved by looking.
  const { json } = await shop.server.call('GET', '/organization');
  expect(json.branding.color).toBe('#5b2a86');
  expect(seat.complaints).toEqual([]);
});
