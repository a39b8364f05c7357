// What may not stand in a file.
import { withoutComments } from '../source.ts';
import { findMatches, isTypeScript, lineAt, PLANTS, type Tree, type Violation } from '../tree.ts';

const LEFT_BEHIND = /\.(?:only|skip|skipIf|todo|todoIf|failing)(?:\.\w+)?\(/g;
const MACHINE_PATH = /(?<=^|[\s'"`(=:])\/(?:work|root|farm)\/[^\s'"`)]*/gm;
const REGISTRY_HOST =
  /\b(?:registry\.[\w-]+\.\w+|[\w.-]*(?:artifactory|verdaccio|npmmirror)[\w-]*\.\w[\w.-]*|[\w.-]+\.pkg\.dev)\b/gi;
const CLOCK_READ = /\bnew\s+Date\s*(?:\(\s*\)|(?![\w\s(]))|(?<!new\s+)\bDate\s*\(/g;

/** A test that does not run must not look like one that does. */
export function checkTestsRun(tree: Tree): Violation[] {
  return findMatches(tree, {
    pattern: LEFT_BEHIND,
    where: (path) => path.startsWith('test/') && isTypeScript(path) && path !== PLANTS,
    message: 'a test left out or singled out',
  });
}

/** The repository is the same on every machine. */
export function checkNoMachine(tree: Tree): Violation[] {
  const where = (path: string): boolean => path !== PLANTS;
  return [
    ...findMatches(tree, { pattern: MACHINE_PATH, where, message: 'a path of one machine' }),
    ...findMatches(tree, { pattern: REGISTRY_HOST, where, message: 'the host of a registry' }),
  ];
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
