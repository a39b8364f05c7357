// What a buyer does in a real browser where the card is asked for by Stripe's page.
import type { Page } from 'playwright-core';
import { openBrowser } from '../pages/browser.ts';
import type { Buyer } from './buyer.ts';

export type BrowserBuyer = Buyer & { close(): Promise<void> };

/** `stripeUrl`: where the pages of Stripe are. */
export async function openBrowserBuyer(stripeUrl: string): Promise<BrowserBuyer> {
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

  async function payAtStripe(page: Page, number: string): Promise<void> {
    await page.waitForURL(`${stripeUrl}/c/pay/**`);
    await page.fill('[name=number]', number);
    await page.fill('[name=expiry]', '12 / 34');
    await page.fill('[name=cvc]', '123');
    await page.getByRole('button', { name: 'Pay' }).click();
  }

  return {
    pay: (url, number) =>
      visit(url, async (page) => {
        await page.getByRole('button', { name: 'Continue to payment' }).click();
        await payAtStripe(page, number);
        await page.getByRole('heading', { name: 'Thank you!' }).waitFor();
      }),
    replaceCard: (url, number) =>
      visit(url, async (page) => {
        await page.getByRole('link', { name: 'Replace', exact: true }).click();
        await page.getByRole('button', { name: 'Continue to Stripe' }).click();
        await payAtStripe(page, number);
        await page.getByText('The payment method was replaced.').waitFor();
      }),
    act: (url, action) => Promise.reject(new Error(`no page leads a buyer to ${action} at ${url}`)),
    close: () => browser.close(),
  };
}
