// What a buyer does in a real browser where the card is asked for by Stripe's page.
import type { Page } from 'playwright-core';
import { openBrowser } from '../pages/browser.ts';
import type { Buyer } from './buyer.ts';
import type { Side } from './side.ts';

export type BrowserBuyer = Buyer & { close(): Promise<void> };

export async function openBrowserBuyer(side: Side): Promise<BrowserBuyer> {
  const browser = await openBrowser();

  async function visit(url: string, act: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      await page.goto(url);
      await act(page);
    } finally {
      await context.close();
    }
  }

  return {
    pay: (url, number) =>
      visit(url, async (page) => {
        await page.getByRole('button', { name: 'Continue to payment' }).click();
        await side.pay(page, number);
        await page.getByRole('heading', { name: 'Thank you!' }).waitFor();
      }),
    replaceCard: (url, number) =>
      visit(url, async (page) => {
        await page.getByRole('link', { name: 'Replace', exact: true }).click();
        await page.getByRole('button', { name: 'Continue to Stripe' }).click();
        await side.pay(page, number);
        await page.getByText('The payment method was replaced.').waitFor();
      }),
    act: (url, action) => Promise.reject(new Error(`no page leads a buyer to ${action} at ${url}`)),
    close: () => browser.close(),
  };
}
