// How densely the ledger asserts. A ratchet: raise it when the code has earned it, never lower it.
import { countCodeLines, withoutComments } from '../source.ts';
import { isTypeScript, type Tree, type Violation } from '../tree.ts';

const ASSERTS_PER_1000_LINES_MIN = 14;
const ASSERTION = /(?<!function\s+)\b(?:assert\w*|must|maybe|unreachable)\(/g;

export function assertDensity(tree: Tree): { asserts: number; lines: number; per1000: number } {
  let asserts = 0;
  let lines = 0;
  for (const [path, text] of tree) {
    if (!path.startsWith('ledger/') || !isTypeScript(path)) continue;
    asserts += [...withoutComments(text).matchAll(ASSERTION)].length;
    lines += countCodeLines(text);
  }
  return { asserts, lines, per1000: lines === 0 ? 0 : (asserts * 1000) / lines };
}

export function checkAsserts(tree: Tree): Violation[] {
  const { per1000 } = assertDensity(tree);
  if (per1000 >= ASSERTS_PER_1000_LINES_MIN) return [];
  const message = `${per1000.toFixed(1)} asserts per 1000 lines, at least ${ASSERTS_PER_1000_LINES_MIN}`;
  return [{ path: 'ledger', line: 1, message }];
}
