// Where files are and what they are called.
import { isTypeScript, type Tree, type Violation } from '../tree.ts';

const TOP_LEVEL = new Set([
  'src',
  'ledger',
  'workers',
  'test',
  'package.json',
  'bunfig.toml',
  'tsconfig.json',
  'bun.lock',
  'README.md',
  'CHANGELOG.md',
  'docs',
  'Dockerfile',
  'compose.yaml',
  'patches',
]);

// Names that say nothing about the content.
const BANNED_WORDS = new Set([
  'util',
  'utils',
  'helper',
  'helpers',
  'common',
  'shared',
  'manager',
  'misc',
  'studys',
]);
const VERSION_SUFFIX = /(?:[-_.]v|V)\d+(?=$|[-_.])/;

const LINES_MAX = 500;
/** Generated from short files (`bun run schema`, `bun run client:types`). */
const GENERATED = /\/schema\.sql$|^src\/client\/(?:operations|types)\.ts$/;

export function checkTopLevel(tree: Tree): Violation[] {
  const found: Violation[] = [];
  for (const path of tree.keys()) {
    const top = path.split('/')[0]!;
    if (top.startsWith('.') || TOP_LEVEL.has(top)) continue;
    found.push({ path, line: 1, message: `${top} is not part of the fixed top level` });
  }
  return found;
}

export function checkNames(tree: Tree): Violation[] {
  const found: Violation[] = [];
  for (const path of tree.keys()) {
    for (const segment of path.split('/')) {
      const words = segment
        .replace(/([a-z\d])([A-Z])/g, '$1-$2')
        .toLowerCase()
        .split(/[-_.]/);
      const banned = words.find((word) => BANNED_WORDS.has(word));
      if (banned !== undefined) found.push({ path, line: 1, message: `banned name: ${banned}` });
      if (VERSION_SUFFIX.test(segment)) {
        found.push({ path, line: 1, message: `version in a name: ${segment}` });
      }
    }
  }
  return found;
}

export function checkLength(tree: Tree): Violation[] {
  const found: Violation[] = [];
  for (const [path, text] of tree) {
    if (GENERATED.test(path) || (!isTypeScript(path) && !path.endsWith('.sql'))) continue;
    const lines = text.trimEnd().split('\n').length;
    if (lines > LINES_MAX) {
      found.push({ path, line: lines, message: `${lines} lines, at most ${LINES_MAX}` });
    }
  }
  return found;
}
