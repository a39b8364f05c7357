// Every page of the dashboard with one of each thing in it, in a real browser: on a phone in light and
// on a desk in dark.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import type { Shop } from '../payments/shop.ts';
import { openBrowser } from '../pages/browser.ts';
import { expectAccessible } from '../pages/gallery.ts';
import { type Book, makeBook, openShop, PLAIN, SHOWN_PATHS } from './book.ts';
import {
  DESKTOP,
  fileName,
  keepPicture,
  LOOKS_ONLY,
  openSeat,
  PHONE,
  type Seat,
  signIn,
  violationsOf,
} from './browser.ts';

setDefaultTimeout(60_000);

let shop: Shop;
let browser: Browser;
let book: Book;
let seat: Seat;
beforeAll(async () => {
  [shop, browser] = await Promise.all([openShop(), openBrowser()]);
  book = await makeBook(shop, PLAIN);
  seat = await openSeat(browser);
  await signIn(seat, shop.server);
});
afterAll(async () => {
  await browser.close();
  await shop.server.stop();
  expect(seat.complaints).toEqual([]);
});

const LOOKS = [
  { name: 'phone', viewport: PHONE, colorScheme: 'light' },
  { name: 'desk-dark', viewport: DESKTOP, colorScheme: 'dark' },
] as const;

test.each(SHOWN_PATHS)('"%s"', async (path) => {
  const { page } = seat;
  const { server } = shop;
  const base = `${server.url}/dashboard/${server.organisation.id}/test`;
  const reply = await page.goto(base + book.addressOf(path));
  expect(reply?.status()).toBe(200);
  await expectAccessible(page);
  for (const [at, { name, viewport, colorScheme }] of LOOKS.entries()) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
    expect(await violationsOf(page, at === 0 ? undefined : LOOKS_ONLY)).toEqual([]);
    await keepPicture(page, `${fileName(path)}.${name}`);
  }
});
