// Every state of the page, whatever is written in it: in a real browser, without a service behind it.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { sendPage } from '../../src/http/page.ts';
import { checkoutPage } from '../../src/pages/checkout/page.ts';
import { stylesheet } from '../../src/pages/styles.ts';
import { openBrowser } from './browser.ts';
import { everyView, PLAIN, type Texts } from './views.ts';

setDefaultTimeout(20_000);

const HOSTILE = `"><script>document.title='owned'</script><img src=x onerror=alert(1)>'`;
const hostileTexts = Object.fromEntries(
  Object.keys(PLAIN).map((name) => [name, `${name} ${HOSTILE}`]),
) as Texts;

const VIEWS = {
  plain: everyView(PLAIN),
  hostile: everyView(hostileTexts),
  long: everyView({
    ...PLAIN,
    product: 'Donau'.repeat(30),
    email: `${'a'.repeat(60)}@example.com`,
  }),
  rightToLeft: everyView({ ...PLAIN, merchant: 'מטבעות', product: 'مدخل الجسر 12', name: 'נועה' }),
} as const;
const STATES = Object.keys(VIEWS.plain);

let browser: Browser;
let page: Page;
let server: ReturnType<typeof Bun.serve>;
const complaints: string[] = [];
beforeAll(async () => {
  server = Bun.serve({
    port: 0,
    fetch(request) {
      const [, texts, state] = new URL(request.url).pathname.split('/');
      const view = VIEWS[texts as keyof typeof VIEWS][state!]!;
      return sendPage(checkoutPage(view), { formAction: ["'self'"] });
    },
  });
  browser = await openBrowser();
  page = await browser.newPage({ viewport: { width: 320, height: 640 } });
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('dialog', (dialog) => complaints.push(dialog.message()));
});
afterAll(async () => {
  await browser.close();
  await server.stop(true);
  expect(complaints).toEqual([]);
});

const open = (texts: string, state: string) => page.goto(`${server.url.href}${texts}/${state}`);

describe.each(STATES)('%s', (state) => {
  test.each(['hostile', 'long'])('fits a phone of 320 pixels: %s', async (texts) => {
    await open(texts, state);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
  });

  test('what others wrote is text', async () => {
    await open('hostile', state);
    expect(await page.title()).not.toBe('owned');
    expect(await page.locator('script, img').count()).toBe(0);
    const shown = await page.locator('body').innerText();
    if (state !== 'not_found') {
      for (const name of ['merchant', 'product', 'description'] as const) {
        expect(shown).toContain(hostileTexts[name]);
      }
    }
  });

  test('every field has a label, every id is there once, and one heading leads', async () => {
    await open('plain', state);
    const unnamed = `[...document.querySelectorAll('input:not([type=hidden]), select, button')]
      .filter((field) => field.tagName !== 'BUTTON' ? field.labels.length !== 1 : field.textContent.trim() === '').length`;
    expect(await page.evaluate(unnamed)).toBe(0);
    const repeated = `[...document.querySelectorAll('[id]')].map(({ id }) => id)
      .filter((id, index, all) => all.indexOf(id) !== index)`;
    expect(await page.evaluate(repeated)).toEqual([]);
    const dangling = `[...document.querySelectorAll('[aria-describedby]')]
      .flatMap((field) => field.getAttribute('aria-describedby').split(' '))
      .filter((id) => document.getElementById(id) === null)`;
    expect(await page.evaluate(dangling)).toEqual([]);
    expect(await page.locator('h1').count()).toBe(1);
    expect(await page.locator('html').getAttribute('lang')).toBe('en');
  });
});

test('text that reads from right to left does', async () => {
  await open('rightToLeft', 'reduced');
  const direction = (selector: string) =>
    page.evaluate(`getComputedStyle(document.querySelector('${selector}')).direction`);
  expect(await direction('h1 span')).toBe('rtl');
  expect(await direction('#name')).toBe('rtl');
  expect(await direction('#email')).toBe('ltr');
});

test('there is one response and nothing else to load', async () => {
  const requests: string[] = [];
  const count = (request: { url(): string }) => requests.push(request.url());
  page.on('request', count);
  await open('plain', 'wrong');
  page.off('request', count);
  expect(requests.filter((url) => !url.startsWith('data:'))).toHaveLength(1);
});

describe('contrast', () => {
  const { css } = stylesheet();
  const schemes = [...css.matchAll(/:root \{([^}]*)\}/g)].map(([, block = '']) =>
    Object.fromEntries(
      [...block.matchAll(/--([\w-]+): (#[0-9a-f]{3,6});/g)].map(([, name, value]) => [
        name,
        value!,
      ]),
    ),
  );

  test('light and dark are both there', () => expect(schemes).toHaveLength(2));

  // Text needs 4.5, the edge of a field 3 (WCAG 1.4.3, 1.4.11).
  test.each([
    ['ink', 'paper', 4.5],
    ['ink', 'card', 4.5],
    ['ink', 'field', 4.5],
    ['ink', 'soft', 4.5],
    ['ink', 'danger-soft', 4.5],
    ['ink', 'warn-soft', 4.5],
    ['muted', 'paper', 4.5],
    ['muted', 'card', 4.5],
    ['accent', 'paper', 4.5],
    ['accent', 'card', 4.5],
    ['on-accent', 'accent', 4.5],
    ['on-accent', 'accent-over', 4.5],
    ['danger', 'paper', 4.5],
    ['danger', 'card', 4.5],
    ['danger', 'danger-soft', 4.5],
    ['card', 'danger', 4.5],
    ['warn', 'card', 4.5],
    ['warn', 'warn-soft', 4.5],
    ['field-line', 'paper', 3],
    ['field-line', 'card', 3],
    ['field-line', 'field', 3],
  ])('%s on %s', (over, under, least) => {
    for (const scheme of schemes) {
      const ratio = contrast(scheme[over] ?? '', scheme[under] ?? '');
      expect(ratio).toBeGreaterThanOrEqual(least);
    }
  });
});

function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (light! + 0.05) / (dark! + 0.05);
}

function luminance(color: string): number {
  const hex = color.length === 4 ? color.replaceAll(/[0-9a-f]/g, '$&$&') : color;
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return channel <= 0.040_45 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}
