// The words that docs/GLOSSARY.md has replaced are in no text and in no name.
import { lineAt, NOT_YET, PLANTS, type Tree, type Violation } from '../tree.ts';

const GLOSSARY = 'docs/GLOSSARY.md';
const ROW = /^\| ([^|]+?) \| ([^|]+?) \|$/gm;
/** What it was is said there. */
const PASSED_OVER = new Set([GLOSSARY, 'CHANGELOG.md', PLANTS]);

export function checkWords(tree: Tree): Violation[] {
  const [, replaced = ''] = (tree.get(GLOSSARY) ?? '').split('## Replaced');
  const rows = [...replaced.matchAll(ROW)].map(([, not = '', but = '']) => ({ not, but }));
  const words = rows.filter(({ not }) => not !== 'not' && !not.startsWith('---'));
  const found: Violation[] = [];
  for (const [path, text] of tree) {
    if (!/\.(?:ts|md)$/.test(path) || PASSED_OVER.has(path) || NOT_YET.test(path)) continue;
    for (const { not, but } of words) {
      const at = text.indexOf(not);
      if (at === -1) continue;
      found.push({ path, line: lineAt(text, at), message: `"${not}": write "${but}"` });
    }
  }
  return found;
}
