// A comment that rests on the specification names its document and chapter.
import { hasChapter } from './documents.ts';
import { lineAt, NOT_YET, PLANTS, type Tree, type Violation } from '../tree.ts';

const CITATION = /\bdocs\/spec\/([\w-]+\.md)(?:#([\w-]*\w))?/g;
/** By the names of texts that are not in the repository. */
const UNKNOWN =
  /\b(?:decisions(?:\.md)? \d|(?:beyond|decisions|interface)\.md|research \d)|(?<!docs\/spec\/)\bbalance\.md\b|\(contract, /g;

/** Migrations never change, the changelog tells of the past, and documents have links. */
const PASSED_OVER =
  /^(?:src\/database\/migrations\/|src\/database\/schema\.sql|CHANGELOG\.md|docs\/)/;

export function checkCitations(tree: Tree): Violation[] {
  const found: Violation[] = [];
  for (const [path, text] of tree) {
    if (PASSED_OVER.test(path) || path === PLANTS || path.endsWith('rules/citations.ts')) continue;
    const tell = (index: number, message: string) =>
      found.push({ path, line: lineAt(text, index), message });
    for (const { 0: citation, 1: file = '', 2: chapter, index } of text.matchAll(CITATION)) {
      const cited = tree.get(`docs/spec/${file}`);
      if (cited === undefined || !hasChapter(cited, chapter)) tell(index, `${citation} is nowhere`);
    }
    if (NOT_YET.test(path)) continue;
    for (const { 0: name, index } of text.matchAll(UNKNOWN)) {
      tell(index, `${name} is not in the repository: name a chapter of docs/spec`);
    }
  }
  return found;
}
