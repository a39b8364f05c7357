// An invoice with usage, with any texts, in a real browser without a service.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { invoicePage } from '../../src/pages/invoice.ts';
import {
  expectAccessible,
  expectOneRequest,
  expectOnlyText,
  expectToFit,
  type Gallery,
  hostile,
  openGallery,
} from './gallery.ts';
import { type InvoiceTexts, PLAIN_INVOICE, sheet } from './invoice-sheets.ts';

setDefaultTimeout(60_000);

const HOSTILE = hostile(PLAIN_INVOICE);
const page = (texts: InvoiceTexts) => ({ invoice: () => invoicePage(sheet(texts)) });

let gallery: Gallery;
beforeAll(async () => {
  gallery = await openGallery({
    plain: page(PLAIN_INVOICE),
    hostile: page(HOSTILE),
    long: page({ ...PLAIN_INVOICE, seller: 'Donau'.repeat(30), feature: 'fahrt'.repeat(20) }),
    rightToLeft: page({ ...PLAIN_INVOICE, feature: 'طلبات (API)' }),
  });
});
afterAll(() => gallery.close());

test.each(['plain', 'hostile', 'long', 'rightToLeft'])(
  'it fits a phone of 320 pixels: %s',
  async (texts) => {
    await gallery.open(texts, 'invoice');
    await expectToFit(gallery.page);
  },
);

test('what others wrote is text, and nothing is loaded', async () => {
  await expectOneRequest(gallery.page, () => gallery.open('hostile', 'invoice'));
  await expectOnlyText(gallery.page, Object.values(HOSTILE));
});

test('a screen reader finds one heading, and what an amount is made of beside it', async () => {
  await gallery.open('plain', 'invoice');
  await expectAccessible(gallery.page);
  const row = await gallery.page.locator('tr.parted').first().ariaSnapshot();
  expect(row).toContain('API calls');
  const parts = await gallery.page.locator('tr.with-parts').first().ariaSnapshot();
  expect(parts).toContain('990,000 at $0.0002 each');
});

test('the amounts stand in one column, on a phone and on paper', async () => {
  for (const [media, width] of [
    ['screen', 320],
    ['screen', 1000],
    ['print', 794],
  ] as const) {
    await gallery.page.setViewportSize({ width, height: 900 });
    await gallery.page.emulateMedia({ media });
    await gallery.open('plain', 'invoice');
    const ends = await gallery.page.evaluate<number[]>(
      `[...document.querySelectorAll('tbody tr:not(.with-parts) td:last-child .money')].map((cell) => Math.round(cell.getBoundingClientRect().right))`,
    );
    expect(ends).toHaveLength(6);
    expect(new Set(ends).size).toBe(1);
  }
  await gallery.page.setViewportSize({ width: 320, height: 640 });
  await gallery.page.emulateMedia({ media: 'screen' });
});
