// Pages without a service: as they are written, or in a real browser as wide as a phone; and what
// holds for each of them.
import { expect } from 'bun:test';
import type { Page as BrowserPage } from 'playwright-core';
import { sendPage } from '../../src/http/page.ts';
import type { Page } from '../../src/pages/layout.ts';
import { openBrowser } from './browser.ts';
import { all, type Element, parse, tagged, textOf } from './document.ts';

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
export type Pages = Readonly<Record<string, Readonly<Record<string, () => Page>>>>;

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

/** What is looked at: its markup, and what can be read of it. */
export type Sheet = { content(): Promise<string>; text(): Promise<string> };

export const written = ({ text }: Page): Sheet => ({
  content: () => Promise.resolve(text),
  text: () => Promise.resolve(textOf(tagged(parse(text), 'body')[0]!)),
});

export const shownIn = (page: BrowserPage): Sheet => ({
  content: () => page.content(),
  text: () => page.locator('body').innerText(),
});

export async function expectToFit(page: BrowserPage): Promise<void> {
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(WIDTH);
}

/** No hostile text has become markup, and the texts `shown` are readable. */
export async function expectOnlyText(sheet: Sheet, shown: readonly string[]): Promise<void> {
  const page = parse(await sheet.content());
  expect(tagged(page, 'title').map((title) => textOf(title))).not.toContain('owned');
  expect(tagged(page, 'script', 'img', 'iframe')).toEqual([]);
  const handlers = /^on(?:load|error|focus|mouseover)$/;
  const isHandled = ({ attributes }: Element) =>
    [...attributes.keys()].some((at) => handlers.test(at));
  expect(all(page, isHandled)).toEqual([]);
  expect(tagged(page, 'style')).toHaveLength(1);
  await expectSaid(sheet, shown);
}

export async function expectSaid(sheet: Sheet, shown: readonly string[]): Promise<void> {
  // The styles say what stands apart.
  const spaceless = (text: string) => text.replaceAll(/\s+/g, '');
  const body = spaceless(await sheet.text());
  for (const text of shown) expect(body).toContain(spaceless(text));
}

/**
 * Every field has a label, every id is unique, every reference has its target, and there is one
 * main heading.
 */
export async function expectAccessible(sheet: Pick<Sheet, 'content'>): Promise<void> {
  const page = parse(await sheet.content());
  const everything = all(page, () => true);
  const ids = everything.flatMap(({ attributes }) => attributes.get('id') ?? []);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  const labels = tagged(page, 'label');
  const labelsOf = (field: Element) =>
    labels.filter(
      (label) =>
        all(label, (inner) => inner === field).length > 0 ||
        (label.attributes.has('for') && label.attributes.get('for') === field.attributes.get('id')),
    );
  const fields = tagged(page, 'input', 'select').filter(
    ({ attributes }) => attributes.get('type') !== 'hidden',
  );
  expect(fields.filter((field) => labelsOf(field).length !== 1).map(named)).toEqual([]);
  expect(tagged(page, 'button').filter((button) => textOf(button) === '')).toEqual([]);
  const references = everything.flatMap(({ attributes }) =>
    ['aria-describedby', 'aria-labelledby'].flatMap((at) => attributes.get(at)?.split(' ') ?? []),
  );
  expect(references.filter((id) => !ids.includes(id))).toEqual([]);
  expect(tagged(page, 'h1')).toHaveLength(1);
  expect(tagged(page, 'html')[0]?.attributes.get('lang')).toBe('en');
}

const named = ({ tag, attributes }: Element): string => `${tag} ${attributes.get('name')}`;

/** Nothing is named that a browser would load. */
export async function expectNothingToLoad(sheet: Sheet): Promise<void> {
  const text = await sheet.content();
  const page = parse(text);
  const isLoaded = ({ tag, attributes }: Element) =>
    attributes.has('src') || attributes.has('srcset') || (tag === 'link' && attributes.has('href'));
  const loaded = all(page, isLoaded).map(({ attributes }) => attributes.get('href'));
  expect(loaded).toEqual(['data:,']);
  const styles = text.match(/<style>[\s\S]*?<\/style>/g) ?? [];
  for (const style of styles) expect(style).not.toMatch(/url\((?!["']?data:)|@import/);
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
