// What a file must not contain.
import { withoutComments } from '../source.ts';
import {
  findMatches,
  isTypeScript,
  lineAt,
  NOT_YET,
  PLANTS,
  type Tree,
  type Violation,
} from '../tree.ts';

const LEFT_BEHIND = /\.(?:only|skip|skipIf|todo|todoIf|failing)(?:\.\w+)?\(/g;
const CLOCK_READ = /\bnew\s+Date\s*(?:\(\s*\)|(?![\w\s(]))|(?<!new\s+)\bDate\s*\(/g;

/** A skipped test must not look like one that runs. */
export function checkTestsRun(tree: Tree): Violation[] {
  return findMatches(tree, {
    pattern: LEFT_BEHIND,
    where: (path) => path.startsWith('test/') && isTypeScript(path) && path !== PLANTS,
    message: 'a test left out or singled out',
  });
}

/** Not the lines of a diagram, which are indented. */
const COMMENT = /^\s*(?:\/\/|\/\*\*|\*(?=\s))(?! {3})/;
const COLUMNS_MAX = 100;
const GENERATED = /^src\/client\/(?:operations|types)\.ts$/;

/** The formatter keeps code within the columns, and leaves comments as they are. */
export function checkCommentWidth(tree: Tree): Violation[] {
  const found: Violation[] = [];
  for (const [path, text] of tree) {
    if (!isTypeScript(path) || GENERATED.test(path) || NOT_YET.test(path)) continue;
    for (const [at, line] of text.split('\n').entries()) {
      if (line.length <= COLUMNS_MAX || !COMMENT.test(line)) continue;
      found.push({ path, line: at + 1, message: `a comment of ${line.length} columns` });
    }
  }
  return found;
}

/** oxlint finds `Date.now`; it has no rule for a `Date` made without an argument. */
export function checkNoClock(tree: Tree): Violation[] {
  const found: Violation[] = [];
  for (const [path, text] of tree) {
    if (!path.startsWith('ledger/') || !isTypeScript(path)) continue;
    const code = withoutComments(text);
    for (const match of code.matchAll(CLOCK_READ)) {
      found.push({ path, line: lineAt(code, match.index), message: 'reads the clock' });
    }
  }
  return found;
}
