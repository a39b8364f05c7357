// The branding page in a real browser: a logo from a file, with JavaScript and without, and a
// preview without it.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { openBrowser } from '../pages/browser.ts';
import { expectAccessible } from '../pages/gallery.ts';
import type { Shop } from '../payments/shop.ts';
import { png, pngOfBytes } from '../support/images.ts';
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

const fileOf = (buffer: Buffer, name = 'logo.png') => ({ name, mimeType: 'image/png', buffer });

async function seated(javaScriptEnabled: boolean): Promise<Seat> {
  const seat = await openSeat(browser, { javaScriptEnabled });
  await signIn(seat, shop.server);
  return seat;
}

test.each([true, false])(
  'the dashboard uploads, shows and removes a logo; JavaScript: %p',
  async (hasScript) => {
    const seat = await seated(hasScript);
    const { page } = seat;
    await page.goto(address);
    await page.getByRole('link', { name: 'Upload a logo' }).click();
    await page.getByLabel('Image').setInputFiles(fileOf(png(120, 40)));
    await page.getByRole('button', { name: 'Upload' }).click();
    await page.waitForURL((url) => url.pathname.endsWith('/settings/branding'));
    const logo = page.locator('#brand-preview .logo').first();
    await logo.waitFor();
    if (hasScript) {
      const width = `(async () => {
        const image = document.querySelector('#brand-preview .logo');
        await image.decode();
        return image.naturalWidth;
      })()`;
      expect(await page.evaluate(width)).toBe(120);
      await expectAccessible(page);
      expect(await violationsOf(page)).toEqual([]);
    }
    await page.getByRole('link', { name: 'Remove logo' }).click();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('Removed.').waitFor();
    expect(await page.locator('#brand-preview .logo').count()).toBe(0);
    expect(seat.complaints).toEqual([]);
    await seat.context.close();
  },
);

test.each([
  [true, 65_537],
  [true, 8_000_000],
  [false, 8_000_000],
])(
  'the dashboard says on the page that a logo is too large; JavaScript: %p, %d bytes',
  async (hasScript, bytes) => {
    const seat = await seated(hasScript);
    const { page } = seat;
    await page.goto(`${address}/logo`);
    const named = `"><img src=x onerror=alert(1)>.png`;
    await page.getByLabel('Image').setInputFiles(fileOf(pngOfBytes(bytes), named));
    await page.getByRole('button', { name: 'Upload' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.locator('#f-data-error').innerText()).toContain('at most 64 KiB');
    expect(await page.locator('main img').count()).toBe(0);
    if (hasScript) expect(await violationsOf(page)).toEqual([]);
    expect(seat.complaints).toEqual([]);
    await seat.context.close();
  },
);

test('without JavaScript the branding preview shows what is saved', async () => {
  const body = { branding: { color: '#5b2a86', support_email: 'help@acme.example' } };
  await shop.server.call('PATCH', '/organization', { body });
  const seat = await seated(false);
  const { page } = seat;
  await page.goto(address);
  await page.getByLabel('Colour').fill('#00aa00');
  expect(await page.locator('#brand-preview').getByText('help@acme.example').count()).toBe(2);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  expect(await page.locator('style').nth(1).textContent()).toContain('--fill:#00aa00');
  await seat.context.close();
});
