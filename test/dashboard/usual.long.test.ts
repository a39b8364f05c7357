// Every page of the dashboard with one of each thing in it, in a real browser: on a phone in light
// and on a desk in dark, with a picture of both.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import type { Shop } from '../payments/shop.ts';
import { openBrowser } from '../pages/browser.ts';
import { expectAccessible } from '../pages/gallery.ts';
import { type Book, makeBook, openShop, PLAIN, SHOWN_PATHS } from './book.ts';
import { LOOKS_ONLY, violationsOf } from '../pages/violations.ts';
import { brokenWords, DESKTOP, openSeat, PHONE, type Seat, signIn } from './browser.ts';
import { indexPictures, keepPicture } from './pictures.ts';

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
  indexPictures();
  expect(seat.complaints).toEqual([]);
});

/** `runOnly`: the rules that are checked; undefined for all. */
const LOOKS = [
  { name: 'phone-light', viewport: PHONE, colorScheme: 'light', runOnly: undefined },
  { name: 'desk-dark', viewport: DESKTOP, colorScheme: 'dark', runOnly: LOOKS_ONLY },
] as const;

test.each(SHOWN_PATHS)('a dashboard page of usual data fits: "%s"', async (path) => {
  const { page } = seat;
  const { server } = shop;
  const base = `${server.url}/dashboard/${server.organisation.id}/test`;
  const reply = await page.goto(base + book.addressOf(path));
  expect(reply?.status()).toBe(200);
  await expectAccessible(page);
  for (const { name, viewport, colorScheme, runOnly } of LOOKS) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
    expect(await brokenWords(page)).toEqual([]);
    expect(await violationsOf(page, runOnly)).toEqual([]);
    await keepPicture(page, path, name);
  }
});
