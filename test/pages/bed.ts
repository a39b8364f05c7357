// A shop, its buyers, and the service between them, all real: the start of the tests of what buyers
// and customers do.
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'bun:test';
import type { Settings } from '../../src/config.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { TEST_SETTINGS } from '../support/settings.ts';
import { settle, UNHURRIED } from '../support/settling.ts';
import { openBrowser } from './browser.ts';
import { PlainVisitor } from './plain-visitor.ts';
import { BrowserVisitor, type Visitor } from './visitor.ts';

/** For what a page shows sooner or later: where several browsers share the machine, later. */
const PATIENCE_MS = 15_000;

export type Bed = {
  readonly server: TestServer;
  /** The merchant's page, which shows what a buyer brings back; it loads nothing. */
  readonly shopUrl: string;
  product(fields?: object): Promise<{ readonly id: string }>;
  checkout(fields?: object): Promise<{ readonly id: string; readonly url: string }>;
  buyer(options?: BuyerOptions): Promise<Buyer>;
  /** Someone who goes to the pages in this way. */
  visitor(way: Way, options?: BuyerOptions): Promise<Someone>;
  /** Closes the browsers of all buyers; returns the errors of their pages. */
  leave(): Promise<readonly string[]>;
  /** Settles what is pending at the bank. */
  settle(): Promise<void>;
  close(): Promise<void>;
};

export type BuyerOptions = {
  readonly javaScriptEnabled?: boolean;
  readonly locale?: string;
  readonly width?: number;
};

/** By forms and links alone, or in a browser. */
export type Way = 'plain' | 'browser' | 'browser without JavaScript';

export type Someone = {
  readonly visitor: Visitor;
  /** The same one in another tab. */
  readonly another: () => Promise<Visitor>;
};

/** A browser of its own, which collects the errors of its pages. */
export type Buyer = {
  readonly page: Page;
  /** Console errors, failed scripts, and what the content security policy blocked. */
  readonly complaints: readonly string[];
  readonly another: () => Promise<Page>;
  close(): Promise<void>;
};

/** `settings`: beyond the usual ones. */
export async function openBed(settings: Partial<Settings> = {}): Promise<Bed> {
  // Where all of them are plain there is none.
  let browser: Promise<Browser> | undefined;
  const shop = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('thanks') });
  const server = await startServer({
    settings: (url) => ({
      baseUrl: url,
      appUrl: url,
      checkoutUrl: `${url}/pay`,
      ...UNHURRIED,
      limits: { ...TEST_SETTINGS.limits, cardAttempts: 3 },
      ...settings,
    }),
  });
  const made = async (path: string, body: object) => {
    const reply = await server.call('POST', path, { body });
    expect({ path, status: reply.status, text: reply.text }).toMatchObject({ status: 201 });
    return reply.json;
  };
  const product = (fields: object = {}) =>
    made('/products', {
      name: 'Field guide',
      prices: [{ amount: '48', currency: 'EUR' }],
      ...fields,
    });
  let buyers: Buyer[] = [];
  const enter = async (options: BuyerOptions = {}) => {
    browser ??= openBrowser();
    const opened = await openBuyer(await browser, options);
    buyers.push(opened);
    return opened;
  };
  return {
    server,
    shopUrl: `http://127.0.0.1:${shop.port}`,
    product,
    async checkout({ product_id, ...fields }: { product_id?: string } & object = {}) {
      const id = product_id ?? (await product()).id;
      return made('/checkouts', { product_id: id, customer_email: 'ada@example.com', ...fields });
    },
    buyer: enter,
    async visitor(way, options = {}) {
      if (way === 'plain') {
        const visitor = new PlainVisitor(options.locale);
        return { visitor, another: () => Promise.resolve(visitor.another()) };
      }
      const { page, another } = await enter({ ...options, javaScriptEnabled: way === 'browser' });
      const visitor = new BrowserVisitor(page);
      return { visitor, another: async () => new BrowserVisitor(await another()) };
    },
    async leave() {
      const all = buyers;
      buyers = [];
      await Promise.all(all.map((buyer) => buyer.close()));
      return all.flatMap((buyer) => buyer.complaints);
    },
    settle: () => settle(server),
    async close() {
      await (await browser)?.close();
      await server.stop();
      await shop.stop(true);
    },
  };
}

async function openBuyer(browser: Browser, options: BuyerOptions): Promise<Buyer> {
  const { javaScriptEnabled = true, locale = 'en-US', width = 390 } = options;
  const viewport = { width, height: 800 };
  const context = await browser.newContext({ javaScriptEnabled, locale, viewport });
  context.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  listen(context, complaints);
  return {
    page: await context.newPage(),
    complaints,
    another: () => context.newPage(),
    close: () => context.close(),
  };
}

function listen(context: BrowserContext, complaints: string[]): void {
  // A refused form is a 400 on purpose, and Chromium reports every one. What has the focus already
  // when a page asks for it depends on who was faster.
  const expected = /status of 4\d\d|^Autofocus processing was blocked because a document already/;
  context.on('console', (message) => {
    if (!expected.test(message.text())) complaints.push(message.text());
  });
  context.on('weberror', (failure) => complaints.push(failure.error().message));
  context.on('dialog', (dialog) => complaints.push(`dialog: ${dialog.message()}`));
}

/** The same on the page that is shown, and sent. */
export async function payBy(visitor: Visitor, card: string): Promise<void> {
  await enterCard(visitor, card);
  await visitor.press(PAYS);
}

export async function enterCard(visitor: Visitor, card: string): Promise<void> {
  await visitor.fill('card_number', card);
  await visitor.fill('card_expiry', '12 / 34');
  await visitor.fill('card_cvc', '123');
}

export const PAYS = /^(Pay|Complete order)/;

/** Fills a card in; the other fields are already filled. */
export async function fillCard(page: Page, number: string): Promise<void> {
  await page.fill('[name=card_number]', number);
  await page.fill('[name=card_expiry]', '12 / 34');
  await page.fill('[name=card_cvc]', '123');
}

export async function pay(page: Page): Promise<void> {
  await page.getByRole('button', { name: PAYS }).click();
}
