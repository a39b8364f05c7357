// A browser that is signed in to the dashboard, and what holds for each of its pages.
import { expect } from 'bun:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Role } from '../../src/records/members.ts';
import { aLink, aMember } from '../http/people/tab.ts';
import type { TestServer } from '../support/server.ts';

const PATIENCE_MS = 30_000;

export const PHONE = { width: 390, height: 800 };
export const DESKTOP = { width: 1280, height: 900 };

export type Seat = {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Console errors, failed scripts, and what the content security policy blocked. */
  readonly complaints: string[];
};

export async function openSeat(
  browser: Browser,
  options: { readonly javaScriptEnabled?: boolean } = {},
): Promise<Seat> {
  const context = await browser.newContext({ ...options, viewport: PHONE });
  context.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  // A refusal is a 4xx on purpose, and Chromium reports every one.
  context.on('console', (message) => {
    if (!/status of 4\d\d/.test(message.text())) complaints.push(message.text());
  });
  context.on('weberror', (failure) => complaints.push(failure.error().message));
  context.on('dialog', (dialog) => complaints.push(`dialog: ${dialog.message()}`));
  return { context, complaints, page: await context.newPage() };
}

/** By the link of a mail and its button, as people do. */
export async function signIn(
  { page }: Seat,
  server: TestServer,
  {
    role = 'owner',
    organisationId = server.organisation.id,
  }: { role?: Role; organisationId?: string } = {},
): Promise<void> {
  const user = await aMember(server, role, { organisationId });
  await page.goto(server.url + (await aLink(server, user.id)));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((url) => url.pathname.startsWith(`/dashboard/${organisationId}/`));
}

/** Short words of tables that are broken into lines: a table scrolls instead. */
export function brokenWords(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('td')].flatMap((cell) => {
    const broken = [];
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
      for (const { 0: word, index } of text.data.matchAll(/(?<![\\w.@-])[A-Za-z]{2,14}(?![\\w.@-])|INV-[0-9-]+/g)) {
        const range = document.createRange();
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        const lines = [...range.getClientRects()].map(({ top }) => Math.round(top));
        const isId = /[0-9a-f]{8}-/.test(text.data);
        if (!isId && new Set(lines).size > 1) broken.push(word);
      }
    }
    return broken;
  })`);
}

/** No text has become markup. */
export async function expectOnlyText(page: Page): Promise<void> {
  expect(await page.title()).not.toBe('owned');
  const made =
    'img:not(.logo), iframe, [onload], [onerror], [onmouseover], main script, main style';
  expect(await page.locator(made).count()).toBe(0);
  expect(await page.locator('style').count()).toBe(1);
}
