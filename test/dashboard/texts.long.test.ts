// Every page of the dashboard with nothing in it, with hostile texts in every field, and with words
// that no line has room for: on a phone, in a real browser.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { openBrowser } from '../pages/browser.ts';
import { expectAccessible } from '../pages/gallery.ts';
import type { Shop } from '../payments/shop.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { type Book, HOSTILE, LONG, makeBook, openShop, SHOWN_PATHS, type Texts } from './book.ts';
import { violationsOf } from '../pages/violations.ts';
import { expectOnlyText, openSeat, PHONE, type Seat, signIn } from './browser.ts';
import { indexPictures, keepPicture } from './pictures.ts';

setDefaultTimeout(60_000);

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  indexPictures();
});

async function open(seat: Seat, server: TestServer, path: string): Promise<void> {
  const address = `${server.url}/dashboard/${server.organisation.id}/test${path}`;
  const reply = await seat.page.goto(address);
  expect(reply?.status()).toBe(200);
  expect(await seat.page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
}

/** Of a logo that an organisation without data does not have. */
const LOGO = '/settings/branding/logo/remove';

const BOOKS: Readonly<Record<string, Texts>> = { hostile: HOSTILE, long: LONG };

describe.each(Object.entries(BOOKS))('texts of others in the dashboard, %s', (kind, texts) => {
  let shop: Shop;
  let book: Book;
  let seat: Seat;
  beforeAll(async () => {
    shop = await openShop();
    book = await makeBook(shop, texts);
    seat = await openSeat(browser);
    await signIn(seat, shop.server);
  });
  afterAll(async () => {
    expect(seat.complaints).toEqual([]);
    await shop.server.stop();
  });

  test.each(SHOWN_PATHS)('fit the page "%s"', async (path) => {
    await open(seat, shop.server, book.addressOf(path));
    await expectOnlyText(seat.page);
    await keepPicture(seat.page, path, kind);
  });
});

describe('the dashboard of an organisation without data', () => {
  let server: TestServer;
  let seat: Seat;
  beforeAll(async () => {
    server = await startServer();
    seat = await openSeat(browser);
    await signIn(seat, server);
  });
  afterAll(async () => {
    expect(seat.complaints).toEqual([]);
    await server.stop();
  });

  test.each(SHOWN_PATHS.filter((path) => !path.includes(':') && path !== LOGO))(
    'fits the page "%s"',
    async (path) => {
      await open(seat, server, path);
      await expectAccessible(seat.page);
      expect(await violationsOf(seat.page)).toEqual([]);
      await keepPicture(seat.page, path, 'empty');
    },
  );
});
