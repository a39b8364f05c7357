// Pages without a service, in a real browser as wide as a phone, and what holds for each of them.
import { expect } from 'bun:test';
import type { Page as BrowserPage } from 'playwright-core';
import { sendPage } from '../../src/http/page.ts';
import type { Page } from '../../src/pages/layout.ts';
import { openBrowser } from './browser.ts';

/**
 * Each breaks out of another context: an attribute, an element, a style, a title, a link, a
 * comment.
 */
const HOSTILE = [
  `"><script>document.title='owned'</script>`,
  `<img src=x onerror=alert(1)>'`,
  `</title><svg onload=alert(2)>`,
  `</style><style>*{display:none}</style>`,
  `" autofocus onfocus=alert(3) x="`,
  `' onmouseover='alert(4)`,
  `javascript:alert(5)//`,
  `--><iframe srcdoc="<script>alert(6)</script>">`,
  `{{7*7}}\${7*7}&lt;b&gt;&#60;i&#62;`,
  '\u202e\u2066 right ',
].join(' ');

/** The same texts, as an attacker would write them. */
export function hostile<T extends Readonly<Record<string, string>>>(texts: T): T {
  return Object.fromEntries(Object.keys(texts).map((name) => [name, `${name} ${HOSTILE}`])) as T;
}

/** By the kind of texts that they show, and by name. */
type Pages = Readonly<Record<string, Readonly<Record<string, () => Page>>>>;

export type Gallery = {
  readonly page: BrowserPage;
  open(texts: string, name: string): Promise<unknown>;
  /** @throws where a page reported an error: a script, the content security policy, a dialog */
  close(): Promise<void>;
};

const WIDTH = 320;

export async function openGallery(pages: Pages): Promise<Gallery> {
  const server = Bun.serve({
    port: 0,
    fetch(request) {
      const [, texts = '', name = ''] = new URL(request.url).pathname.split('/');
      return sendPage(pages[texts]![name]!(), { formAction: ["'self'"] });
    },
  });
  const browser = await openBrowser();
  const page = await browser.newPage({ viewport: { width: WIDTH, height: 640 } });
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('dialog', (dialog) => complaints.push(dialog.message()));
  return {
    page,
    open: (texts, name) => page.goto(`${server.url.href}${texts}/${name}`),
    async close() {
      await browser.close();
      await server.stop(true);
      expect(complaints).toEqual([]);
    },
  };
}

export async function expectToFit(page: BrowserPage): Promise<void> {
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(WIDTH);
}

/** No hostile text has become markup, and the texts `shown` are readable. */
export async function expectOnlyText(page: BrowserPage, shown: readonly string[]): Promise<void> {
  expect(await page.title()).not.toBe('owned');
  const made = 'script, img, iframe, [onload], [onfocus], [onmouseover]';
  expect(await page.locator(made).count()).toBe(0);
  expect(await page.locator('style').count()).toBe(1);
  const squeezed = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
  const body = squeezed(await page.locator('body').innerText());
  for (const text of shown) expect(body).toContain(squeezed(text));
}

/**
 * Every field has a label, every id is unique, every reference has its target, and there is one
 * main heading.
 */
export async function expectAccessible(page: BrowserPage): Promise<void> {
  const unnamed = `[...document.querySelectorAll('input:not([type=hidden]), select, button')]
    .filter((field) => field.tagName !== 'BUTTON' ? field.labels.length !== 1 : field.textContent.trim() === '').length`;
  expect(await page.evaluate(unnamed)).toBe(0);
  const repeated = `[...document.querySelectorAll('[id]')].map(({ id }) => id)
    .filter((id, index, all) => all.indexOf(id) !== index)`;
  expect(await page.evaluate(repeated)).toEqual([]);
  const dangling = `['aria-describedby', 'aria-labelledby']
    .flatMap((name) => [...document.querySelectorAll('[' + name + ']')].flatMap((field) => field.getAttribute(name).split(' ')))
    .filter((id) => document.getElementById(id) === null)`;
  expect(await page.evaluate(dangling)).toEqual([]);
  expect(await page.locator('h1').count()).toBe(1);
  expect(await page.locator('html').getAttribute('lang')).toBe('en');
}

/** The response; nothing else can be loaded. */
export async function expectOneRequest(
  page: BrowserPage,
  open: () => Promise<unknown>,
): Promise<void> {
  const requests: string[] = [];
  const count = (request: { url(): string }) => requests.push(request.url());
  page.on('request', count);
  await open();
  page.off('request', count);
  expect(requests.filter((url) => !url.startsWith('data:'))).toHaveLength(1);
}
