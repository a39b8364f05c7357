// Every page of the checkout, the portal and an invoice, with any texts, as it is written; in a
// browser one of them. All of them in a browser: rendering.long.test.ts.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { all, type Element, parse, tagged, textOf } from './document.ts';
import { GALLERIES, PORTAL } from './galleries.ts';
import {
  expectAccessible,
  expectNothingToLoad,
  expectOneRequest,
  expectOnlyText,
  expectSaid,
  expectToFit,
  openGallery,
  shownIn,
  written,
} from './gallery.ts';

setDefaultTimeout(60_000);

describe.each(GALLERIES)('the pages in %s', (name, kinds, rows) => {
  test.each(rows)('show texts of others as text, and load nothing: $name', async (row) => {
    const sheet = written(kinds.hostile[row.name]!());
    await expectOnlyText(sheet, row.shown);
    await expectNothingToLoad(sheet);
  });

  test.each(rows)('are accessible to a screen reader, and say: $name', async (row) => {
    const sheet = written(kinds.plain[row.name]!());
    await expectAccessible(sheet);
    await expectSaid(sheet, row.says);
  });

  test('the first page in a browser fits a phone, is text, and loads nothing', async () => {
    const gallery = await openGallery({ [name]: kinds.hostile });
    const { page } = gallery;
    const [first] = rows;
    await expectOneRequest(page, () => gallery.open(name, first!.name));
    await expectToFit(page);
    await expectOnlyText(shownIn(page), first!.shown);
    await gallery.close();
  });
});

const portal = (name: string) => parse(PORTAL.plain[name]!().text);

test.each(Object.keys(PORTAL.plain))(
  'two links with one name on a page lead to one place: %s',
  (name) => {
    expectOneMeaning(portal(name));
  },
);

function expectOneMeaning(page: Element): void {
  const links = tagged(tagged(page, 'main')[0]!, 'a').filter(({ attributes }) =>
    attributes.get('class')?.split(' ').includes('button'),
  );
  const byText = Object.groupBy(links, (link) => textOf(link));
  const placeOf = ({ attributes }: Element) => attributes.get('href')?.replace(/=.*/, '');
  const ambiguous = Object.values(byText).filter((same) => new Set(same!.map(placeOf)).size > 1);
  expect(ambiguous).toEqual([]);
}

test('a subscription that is scheduled to end can only end sooner in the portal', () => {
  const modes = all(
    portal('cancel_scheduled'),
    ({ attributes }) => attributes.get('name') === 'mode',
  );
  expect(modes).toHaveLength(1);
  expect(modes[0]!.attributes.has('checked')).toBe(true);
  expect(modes[0]!.attributes.get('value')).toBe('immediate');
});

test('a bar on a page is as long as the usage', () => {
  const bars = all(
    portal('home'),
    ({ tag, parent }) => tag === 'rect' && /^bar\b/.test(parent?.attributes.get('class') ?? ''),
  );
  const widths = bars.map(({ attributes }) => attributes.get('width'));
  expect(widths).toEqual(['62%', '85%', '100%', '100%', '100%']);
});
