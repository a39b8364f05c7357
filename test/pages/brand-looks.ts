// Pages with a brand in a real browser as wide as a phone, and what holds for each of them.
import { expect } from 'bun:test';
import type { Page as BrowserPage } from 'playwright-core';
import { type Brand, NO_BRAND } from '../../src/pages/brand.ts';
import { checkoutPage } from '../../src/pages/checkout/page.ts';
import { invoicePage } from '../../src/pages/invoice.ts';
import { sendPage } from '../../src/http/page.ts';
import { png } from '../support/images.ts';
import { openBrowser } from './browser.ts';
import { expectAccessible } from './gallery.ts';
import { PLAIN_INVOICE, sheet } from './invoice-sheets.ts';
import { everyPortalPage, PLAIN_PORTAL } from './portal-views.ts';
import { everyView, PLAIN } from './views.ts';
import { LOOKS_ONLY, violationsOf } from './violations.ts';

const LOGO = png(240, 60);
const RULES = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'];

const pages = (brand: Brand) => ({
  checkout: () => checkoutPage(everyView(PLAIN)['open']!, null, brand),
  paid: () => checkoutPage(everyView(PLAIN)['paid']!, null, brand),
  portal: () => everyPortalPage(PLAIN_PORTAL, brand)['home']!(),
  invoice: () => invoicePage(sheet(PLAIN_INVOICE), { brand }),
});

type Name = keyof ReturnType<typeof pages>;
export const LOOKED_AT = Object.keys(pages(NO_BRAND)) as Name[];

export type Looks = {
  readonly page: BrowserPage;
  /** `color`: six digits. */
  open(color: string, name: Name): Promise<void>;
  /** In light and in dark; the logo alone is loaded. */
  expectReadable(color: string, name: Name): Promise<void>;
  /** @throws where a page reported an error */
  close(): Promise<void>;
};

export async function openLooks(): Promise<Looks> {
  const asked: string[] = [];
  const server = Bun.serve({
    port: 0,
    fetch(request) {
      const { pathname, origin } = new URL(request.url);
      asked.push(pathname);
      if (pathname === '/logos/one')
        return new Response(LOGO, { headers: { 'content-type': 'image/png' } });
      const [, color = '', name = ''] = pathname.split('/');
      const brand = {
        color: `#${color}`,
        logo: { url: `${origin}/logos/one`, width: 240, height: 60 },
        supportEmail: `${'a'.repeat(60)}@example.com`,
        supportUrl: `https://help.example.com/${'x'.repeat(200)}`,
      };
      return sendPage(pages(brand)[name as Name]());
    },
  });
  const browser = await openBrowser();
  const page = await browser.newPage({ viewport: { width: 320, height: 640 } });
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  const open = async (color: string, name: Name) => {
    await page.emulateMedia({ colorScheme: 'light', media: 'screen' });
    await page.goto(new URL(`/${color}/${name}`, server.url).href);
  };
  return {
    page,
    open,
    async expectReadable(color, name) {
      asked.length = 0;
      await open(color, name);
      expect(asked).toEqual([`/${color}/${name}`, '/logos/one']);
      expect(await page.evaluate(`document.querySelector('.logo').naturalWidth`)).toBe(240);
      await expectAccessible(page);
      // The rest does not depend on the scheme.
      for (const [colorScheme, runOnly] of [
        ['light', { type: 'tag', values: RULES }],
        ['dark', LOOKS_ONLY],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
        expect(await violationsOf(page, runOnly)).toEqual([]);
      }
    },
    async close() {
      await browser.close();
      await server.stop(true);
      expect(complaints).toEqual([]);
    },
  };
}
