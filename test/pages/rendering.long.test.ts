// Every page of the checkout, the portal and an invoice, with any texts, in a real browser without
// a service.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { GALLERIES } from './galleries.ts';
import {
  expectAccessible,
  expectOneRequest,
  expectOnlyText,
  expectSaid,
  expectToFit,
  type Gallery,
  openGallery,
  shownIn,
} from './gallery.ts';

setDefaultTimeout(60_000);

let gallery: Gallery;
beforeAll(async () => {
  const all = GALLERIES.flatMap(([name, kinds]) =>
    Object.entries(kinds).map(([kind, pages]) => [`${name}-${kind}`, pages] as const),
  );
  gallery = await openGallery(Object.fromEntries(all));
});
afterAll(() => gallery.close());

describe.each(GALLERIES)('the pages in %s', (name, _kinds, rows) => {
  test.each(rows)(
    'show texts of others as text, fit a phone, and load nothing: $name',
    async (row) => {
      await expectOneRequest(gallery.page, () => gallery.open(`${name}-hostile`, row.name));
      await expectToFit(gallery.page);
      await expectOnlyText(shownIn(gallery.page), row.shown);
    },
  );

  test.each(rows)('fit a phone with a word that no line has room for: $name', async (row) => {
    await gallery.open(`${name}-long`, row.name);
    await expectToFit(gallery.page);
  });

  test.each(rows)('are accessible to a screen reader, and say: $name', async (row) => {
    await gallery.open(`${name}-plain`, row.name);
    await expectAccessible(gallery.page);
    await expectSaid(shownIn(gallery.page), row.says);
  });
});

// prettier-ignore
const DIRECTIONS: [gallery: string, page: string, selector: string, direction: string][] = [
  ['checkout', 'reduced', 'h1 span', 'rtl'],
  ['checkout', 'reduced', '#name',   'rtl'],
  ['checkout', 'reduced', '#email',  'ltr'],
  ['portal',   'home',    'h3',      'rtl'],
];

test.each(DIRECTIONS)(
  '%s, %s: the text of %s reads %s',
  async (name, page, selector, direction) => {
    await gallery.open(`${name}-rightToLeft`, page);
    const style = `getComputedStyle(document.querySelector('${selector}')).direction`;
    expect(await gallery.page.evaluate(style)).toBe(direction);
  },
);

describe("an invoice's page", () => {
  test.each(['plain', 'rightToLeft'])('fits a phone: %s', async (kind) => {
    await gallery.open(`invoice-${kind}`, 'invoice');
    await expectToFit(gallery.page);
  });

  test('tells beside an amount what it is made of, to a screen reader too', async () => {
    await gallery.open('invoice-plain', 'invoice');
    const row = await gallery.page.locator('tr.parted').first().ariaSnapshot();
    expect(row).toContain('API calls');
    const parts = await gallery.page.locator('tr.with-parts').first().ariaSnapshot();
    expect(parts).toContain('990,000 at $0.0002 each');
  });

  test('has its amounts in one column, on a phone and in print', async () => {
    for (const [media, width] of [
      ['screen', 320],
      ['screen', 1000],
      ['print', 794],
    ] as const) {
      await gallery.page.setViewportSize({ width, height: 900 });
      await gallery.page.emulateMedia({ media });
      await gallery.open('invoice-plain', 'invoice');
      const ends = await gallery.page.evaluate<number[]>(
        `[...document.querySelectorAll('tbody tr:not(.with-parts) td:last-child .money')].map((cell) => Math.round(cell.getBoundingClientRect().right))`,
      );
      expect(ends).toHaveLength(6);
      expect(new Set(ends).size).toBe(1);
    }
    await gallery.page.setViewportSize({ width: 320, height: 640 });
    await gallery.page.emulateMedia({ media: 'screen' });
  });
});
