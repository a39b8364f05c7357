// What a brand makes of the pages: readable whatever its colour, and CSS of numbers alone. Every
// page in a browser: brand.long.test.ts.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  type Brand,
  brandSheet,
  DARK,
  LIGHT,
  logoOnPaper,
  NO_BRAND,
  onPaper,
  paletteOf,
  supportLine,
} from '../../src/pages/brand.ts';
import { contrast, hex, parseColor, type Rgb, WHITE } from '../../src/pages/color.ts';
import { checkoutPage } from '../../src/pages/checkout/page.ts';
import { stylesheet } from '../../src/pages/styles.ts';
import { everyView, PLAIN } from './views.ts';
import { type Looks, openLooks } from './brand-looks.ts';

setDefaultTimeout(60_000);

const STEPS = [0, 17, 51, 85, 119, 153, 187, 221, 238, 255];
const COLORS = STEPS.flatMap((red) =>
  STEPS.flatMap((green) => STEPS.map((blue): Rgb => [red, green, blue])),
);
const read = (text: string) => parseColor(text)!;

describe.each([
  ['light', LIGHT, { ink: '#1d1c1a', muted: '#625d55' }],
  ['dark', DARK, { ink: '#efede8', muted: '#aaa79f' }],
] as const)('a brand colour on a %s page', (name, ground, text) => {
  test('has the backgrounds of the shared styles', () => {
    const [light = '', dark = ''] = stylesheet().css.split('prefers-color-scheme: dark');
    const css = name === 'light' ? light : dark;
    for (const color of [ground.card, ground.edge, read(text.ink), read(text.muted)]) {
      expect(css).toContain(hex(color));
    }
    for (const named of ['paper', 'card', 'field', 'warn-soft']) {
      const value = new RegExp(`--${named}: (#[0-9a-f]+)`).exec(css)![1]!;
      const long = value.length === 4 ? value.replaceAll(/[\da-f]/g, '$&$&') : value;
      expect(ground.behind.map(hex)).toContain(long);
    }
  });

  test('is readable for each of 1,000 colours, wherever it is', () => {
    const unreadable = COLORS.filter((color) => {
      const { fill, fillOver, onFill, fillLine, accent, accentOver, soft } = paletteOf(
        color,
        ground,
      );
      const grounds = [...ground.behind, soft];
      return !(
        [accent, accentOver].every((each) => grounds.every((on) => contrast(each, on) >= 4.5)) &&
        [fill, fillOver].every((on) => contrast(onFill, on) >= 4.5) &&
        [read(text.ink), read(text.muted)].every((each) => contrast(each, soft) >= 4.5) &&
        ground.behind.slice(0, 3).every((on) => contrast(fillLine ?? fill, on) >= 3) &&
        hex(fill) === hex(color)
      );
    });
    expect(unreadable.map(hex)).toEqual([]);
  });
});

test('is readable in print, too', () => {
  for (const color of COLORS) {
    const { text, fill } = onPaper({ color: hex(color) })!;
    expect(contrast(read(text), WHITE)).toBeGreaterThanOrEqual(4.5);
    expect(fill).toBe(hex(color));
  }
});

test('a brand colour that is readable stays as it is', () => {
  expect(hex(paletteOf(read('#5b2a86'), LIGHT).accent)).toBe('#5b2a86');
});

// prettier-ignore
test.each([
  'red', 'red;}', '#abc', '#aabbccdd', '#aabbcc;', '#aabbcc\n', ' #aabbcc', '#aabbcg', '#aabbcc}</style><script>alert(1)</script>', '',
])('%p is no brand colour: it changes nothing, whoever stored it', (color) => {
  expect(brandSheet({ color })).toBeNull();
  expect(onPaper({ color })).toBeNull();
  const { text, stylesheets } = checkoutPage(everyView(PLAIN)['open']!, null, { ...NO_BRAND, color });
  expect(stylesheets).toHaveLength(1);
  expect(text).toBe(checkoutPage(everyView(PLAIN)['open']!).text);
});

test('CSS of a brand colour is written from its numbers', () => {
  expect(brandSheet({ color: '#FfCc00' })!.css).toMatch(/^[\w:;#{}@() -]+$/);
  expect(brandSheet({ color: '#FfCc00' })!.css).toContain('--fill:#ffcc00;');
});

// prettier-ignore
test.each([
  [{ width: 100, height: 20 },    { width: 100, height: 20 }],
  [{ width: 1000, height: 100 },  { width: 200, height: 20 }],
  [{ width: 100, height: 1000 },  { width: 5, height: 48 }],
  [{ width: 1024, height: 1 },    { width: 200, height: 1 }],
])("a brand's logo of %o has %o in a mail", (size, shown) => {
  expect(logoOnPaper({ logo: { url: 'u', ...size } })).toEqual({ url: 'u', ...shown });
});

test("a brand's support contact is two links, one, or none", () => {
  const line = (of: Partial<Brand>) => supportLine({ ...NO_BRAND, ...of })?.text ?? null;
  expect(line({})).toBeNull();
  const both = line({ supportEmail: "o'b?cc=x&co@a.co", supportUrl: 'https://a.co/help?a=1&b="<' });
  expect(both).toContain('href="mailto:o&#39;b%3Fcc%3Dx%26co@a.co"');
  expect(both).toContain('href="https://a.co/help?a=1&amp;b=&quot;&lt;"');
  expect(both).toContain('>a.co/help</a>');
  expect(line({ supportUrl: 'https://a.co/' })).toContain('>a.co</a>');
});

describe('a branded page in a browser', () => {
  let looks: Looks;
  beforeAll(async () => {
    looks = await openLooks();
  });
  afterAll(() => looks.close());

  test("has a readable colour where the brand's is on neither background, and loads the logo alone", () =>
    looks.expectReadable('7f8000', 'checkout'));

  test('has a button in the colour, and none in print', async () => {
    const { page } = looks;
    await page.emulateMedia({ colorScheme: 'light' });
    await looks.open('5b2a86', 'checkout');
    const style = (of: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('button.button.wide')).${of}`);
    expect([await style('backgroundColor'), await style('color')]).toEqual([
      'rgb(91, 42, 134)',
      'rgb(255, 255, 255)',
    ]);
    await looks.open('5b2a86', 'invoice');
    const accent = `getComputedStyle(document.documentElement).getPropertyValue('--accent')`;
    expect(await page.evaluate(accent)).toBe('#5b2a86');
    await page.emulateMedia({ media: 'print' });
    expect(await page.evaluate(accent)).toBe('#000');
    expect(await page.locator('.logo').isVisible()).toBe(true);
    await page.emulateMedia({ media: 'screen' });
  });
});
