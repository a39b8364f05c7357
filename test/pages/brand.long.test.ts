// Each page with each look of a brand, in a real browser.
import { afterAll, beforeAll, setDefaultTimeout, test } from 'bun:test';
import { LOOKED_AT, type Looks, openLooks } from './brand-looks.ts';

setDefaultTimeout(60_000);

/** Readable in the dark alone, in the light alone, in neither, in both. */
const LOOKS = { light: '5b2a86', dark: '10131a', pale: 'fff27a', ugly: '7f8000' };

let looks: Looks;
beforeAll(async () => {
  looks = await openLooks();
});
afterAll(() => looks.close());

test.each(
  Object.entries(LOOKS).flatMap(([look, color]) =>
    LOOKED_AT.map((name) => [look, name, color] as const),
  ),
)(
  '%s in a brand: the %s is readable in light and in dark, and loads the logo alone',
  (_look, name, color) => looks.expectReadable(color, name),
);
