// A picture of each page, where a reviewer looks at all of them: `GALLERY=1` writes them, and so
// does CI.
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

const GALLERY = 'dist/gallery';
const IS_KEPT = process.env['GALLERY'] === '1' || process.env['CI'] !== undefined;
/** A PNG takes half as long again. */
const TYPE = 'jpeg';
const QUALITY = 80;
/** A longer page is cut there. */
const HEIGHT_MAX = 3000;
/** Of one picture. */
const BYTES_MAX = 1_000_000;

/** What the pictures of this process took, in milliseconds. */
let took = 0;

/** Of the page as it looks now. `path` is the page's in the table of pages. */
export async function keepPicture(page: Page, path: string, look: string): Promise<void> {
  if (!IS_KEPT) return;
  const began = performance.now();
  const { width = 0 } = page.viewportSize() ?? {};
  const whole = Number(await page.evaluate('document.documentElement.scrollHeight'));
  const clip = { x: 0, y: 0, width, height: Math.min(whole, HEIGHT_MAX) };
  const picture = await page.screenshot({ fullPage: true, clip, type: TYPE, quality: QUALITY });
  if (picture.length > BYTES_MAX) throw new Error(`${path}: ${picture.length} bytes`);
  mkdirSync(GALLERY, { recursive: true });
  writeFileSync(`${GALLERY}/${fileName(path)}.${look}.${TYPE}`, picture);
  took += performance.now() - began;
}

/** A page with all pictures that are there: a row for each path, a column for each look. */
export function indexPictures(): void {
  if (!IS_KEPT || !existsSync(GALLERY)) return;
  const names = readdirSync(GALLERY).filter((name) => name.endsWith(`.${TYPE}`));
  const bytes = names.reduce((sum, name) => sum + statSync(`${GALLERY}/${name}`).size, 0);
  const parts = names.map((name) => name.split('.'));
  const of = (at: 0 | 1) => [...new Set(parts.map((part) => part[at] ?? ''))].toSorted();
  const head = `${names.length} pictures, ${(bytes / 1e6).toFixed(1)} MB`;
  writeFileSync(`${GALLERY}/index.html`, indexOf(of(0), of(1), { names, head }));
  console.log(
    `${GALLERY}/index.html: ${head}; those of this file took ${(took / 1e3).toFixed(1)} s`,
  );
}

function indexOf(
  pages: readonly string[],
  looks: readonly string[],
  { names, head }: { readonly names: readonly string[]; readonly head: string },
): string {
  const cell = (page: string, look: string) => {
    const name = `${page}.${look}.${TYPE}`;
    if (!names.includes(name)) return '<td></td>';
    return `<td><a href="${name}"><img src="${name}" alt="${page}, ${look}" loading="lazy"></a></td>`;
  };
  const row = (page: string) =>
    `<tr><th scope="row">${page}</th>${looks.map((look) => cell(page, look)).join('')}</tr>`;
  const columns = looks.map((look) => `<th scope="col">${look}</th>`).join('');
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>The pages of the dashboard</title>
<style>
body { margin: 1rem; font-family: system-ui, sans-serif; }
th, td { padding: .5rem; text-align: left; vertical-align: top; }
thead th { position: sticky; top: 0; background: white; }
img { width: 20rem; max-height: 60vh; object-fit: cover; object-position: top; border: 1px solid silver; }
</style>
<h1>The pages of the dashboard</h1>
<p>${head}</p>
<table>
<thead><tr><th scope="col">page</th>${columns}</tr></thead>
<tbody>
${pages.map(row).join('\n')}
</tbody>
</table>
</html>
`;
}

/** A page's path as the name of a file. */
function fileName(path: string): string {
  return (
    path
      .replaceAll(/[:?=&]/g, '')
      .replaceAll('/', '-')
      .replace(/^-/, '') || 'home'
  );
}
