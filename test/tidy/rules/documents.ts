// References in documents must exist: invariants by number, files by path, chapters by link.
import { dirname, join } from 'node:path';
import { lineAt, PLANTS, type Tree, type Violation } from '../tree.ts';

const INVARIANTS = 'ledger/README.md';
const DEFINITION = /^\s*(?:[-*]\s+)?\*\*I(\d+)\*\*/gm;
const CITATION = /\bI(\d+)\b/g;

const IN_BACKTICKS = /`([^`\n]+)`/g;
const FENCED = /^```[\s\S]*?^```/gm;
const REPOSITORY_PATH = /^(?:\.\/)?(?:src|ledger|workers|test|docs|\.ci|\.github)\/[\w./*{},-]*$/;
const LINK = /\]\(([^)\s]+)\)/g;
const HEADING = /^#+ (.*)$/gm;
const BARE_FILE = /^[\w.-]+\.(?:ts|sql|md)$/;

/**
 * The list in ledger/README.md is the only one: a number is defined there once, and is cited
 * somewhere.
 */
export function checkInvariants(tree: Tree): Violation[] {
  const found: Violation[] = [];
  const defined = new Set<string>();
  const list = tree.get(INVARIANTS) ?? '';
  for (const match of list.matchAll(DEFINITION)) {
    const number = match[1]!;
    if (defined.has(number)) {
      const line = lineAt(list, match.index + match[0].indexOf('**'));
      found.push({ path: INVARIANTS, line, message: `I${number} is defined twice` });
    }
    defined.add(number);
  }
  const cited = new Set<string>();
  for (const [path, text] of tree) {
    if (!/\.(?:ts|sql)$/.test(path) || path === PLANTS) continue;
    for (const match of text.matchAll(CITATION)) {
      cited.add(match[1]!);
      if (!path.startsWith('ledger/') || defined.has(match[1]!)) continue;
      const line = lineAt(text, match.index);
      found.push({ path, line, message: `${match[0]} is not defined in ${INVARIANTS}` });
    }
  }
  for (const number of defined) {
    if (cited.has(number)) continue;
    found.push({
      path: INVARIANTS,
      line: 1,
      message: `I${number} is cited by no code and no test`,
    });
  }
  return found;
}

export function checkDocumentPaths(tree: Tree): Violation[] {
  const found: Violation[] = [];
  for (const [path, text] of tree) {
    // The changelog describes the past.
    if (!path.endsWith('.md') || path === 'CHANGELOG.md') continue;
    const prose = proseOf(text);
    for (const match of prose.matchAll(IN_BACKTICKS)) {
      for (const word of match[1]!.split(/\s+/)) {
        const named = word.replace(/:\d+(?:-\d+)?$/, '');
        if (!REPOSITORY_PATH.test(named) && !BARE_FILE.test(named)) continue;
        if (exists({ tree, named: named.replace(/\/$/, ''), folder: dirname(path) })) continue;
        found.push({ path, line: lineAt(prose, match.index), message: `${named} does not exist` });
      }
    }
  }
  return found;
}

/** A link names a file relative to its own folder, and a chapter as GitHub does. */
export function checkLinks(tree: Tree): Violation[] {
  const found: Violation[] = [];
  for (const [path, text] of tree) {
    if (!path.endsWith('.md')) continue;
    const prose = proseOf(text);
    for (const match of prose.matchAll(LINK)) {
      const [, target = ''] = match;
      if (/^https?:/.test(target)) continue;
      const [file = '', chapter] = target.split('#');
      const named = file === '' ? path : join(dirname(path), file);
      if (tree.has(named) && hasChapter(tree.get(named)!, chapter)) continue;
      found.push({ path, line: lineAt(prose, match.index), message: `${target} leads nowhere` });
    }
  }
  return found;
}

export function hasChapter(text: string, chapter: string | undefined): boolean {
  if (chapter === undefined) return true;
  const slugs = [...proseOf(text).matchAll(HEADING)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
  return slugs.includes(chapter);
}

/** Without code, on the same lines. */
const proseOf = (text: string): string =>
  text.replace(FENCED, (block) => block.replace(/[^\n]/g, ' '));

/**
 * A document names a file from the root or from its own folder, and may name a folder or a glob.
 */
function exists(options: { tree: Tree; named: string; folder: string }): boolean {
  const { tree, named, folder } = options;
  return [join(named), join(folder, named)].some((candidate) => {
    const glob = new Bun.Glob(candidate);
    for (const path of tree.keys()) {
      if (path === candidate || path.startsWith(`${candidate}/`) || glob.match(path)) return true;
    }
    return false;
  });
}
