// Every state of the page, with any texts, in a real browser without a service.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { checkoutPage } from '../../src/pages/checkout/page.ts';
import { stylesheet } from '../../src/pages/styles.ts';
import {
  expectAccessible,
  expectOneRequest,
  expectOnlyText,
  expectToFit,
  type Gallery,
  hostile,
  openGallery,
} from './gallery.ts';
import { everyView, PLAIN, type Texts } from './views.ts';

setDefaultTimeout(60_000);

const HOSTILE = hostile(PLAIN);
const pagesOf = (texts: Texts) =>
  Object.fromEntries(
    Object.entries(everyView(texts)).map(([state, view]) => [state, () => checkoutPage(view)]),
  );
const PAGES = {
  plain: pagesOf(PLAIN),
  hostile: pagesOf(HOSTILE),
  long: pagesOf({ ...PLAIN, product: 'Donau'.repeat(30), email: `${'a'.repeat(60)}@example.com` }),
  rightToLeft: pagesOf({ ...PLAIN, merchant: 'מטבעות', product: 'مدخل الجسر 12', name: 'נועה' }),
};

let gallery: Gallery;
beforeAll(async () => {
  gallery = await openGallery(PAGES);
});
afterAll(() => gallery.close());

describe.each(Object.keys(PAGES.plain))('%s', (state) => {
  test.each(['hostile', 'long'])('fits a phone of 320 pixels: %s', async (texts) => {
    await gallery.open(texts, state);
    await expectToFit(gallery.page);
  });

  test('what others wrote is text', async () => {
    await gallery.open('hostile', state);
    const { merchant, product, description } = HOSTILE;
    const shown = state === 'not_found' ? [] : [merchant, product, description];
    await expectOnlyText(gallery.page, shown);
  });

  test('every field has a label, every id is there once, and one heading leads', async () => {
    await gallery.open('plain', state);
    await expectAccessible(gallery.page);
  });
});

test('text that reads from right to left does', async () => {
  await gallery.open('rightToLeft', 'reduced');
  const direction = (selector: string) =>
    gallery.page.evaluate(`getComputedStyle(document.querySelector('${selector}')).direction`);
  expect(await direction('h1 span')).toBe('rtl');
  expect(await direction('#name')).toBe('rtl');
  expect(await direction('#email')).toBe('ltr');
});

test('there is one response and nothing else to load', () =>
  expectOneRequest(gallery.page, () => gallery.open('plain', 'wrong')));

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
