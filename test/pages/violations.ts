// What an automated check of a page in a browser finds.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Half as large as `axe.source`: each page gets it anew. */
const SOURCE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

const EVERYTHING = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** What depends on the colours and the width of a page, and on nothing else. */
export const LOOKS_ONLY = { type: 'rule', values: ['color-contrast', 'target-size'] } as const;

/** Automated checks of WCAG 2.2 AA: each violation with the element that it is about. */
export async function violationsOf(
  page: Page,
  runOnly: object = { type: 'tag', values: EVERYTHING },
): Promise<string[]> {
  const isThere = await page.evaluate("typeof axe === 'object'");
  if (isThere !== true) await page.evaluate(SOURCE);
  const options = JSON.stringify({ runOnly, resultTypes: ['violations'] });
  const { violations }: axe.AxeResults = await page.evaluate(`axe.run(document, ${options})`);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
