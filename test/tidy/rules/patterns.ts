// No regular expression may backtrack for long: its input may come from a caller.
import { withoutComments } from '../source.ts';
import { isTypeScript, lineAt, type Tree, type Violation } from '../tree.ts';

/** A literal where a value may begin, or a `pattern` of a schema. */
const LITERAL =
  /(?<=[=(,:?&|!;[]\s*|return )\/(?![/*])((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+)\/[dgimsuvy]*/g;
const PATTERN = /(?:pattern:|[A-Z]+ =)\s*(['`])(\^(?:\\.|(?!\1)[^\\])*)\1/g;

/** `*`, `+`, `{2,}` and `{2,5}`: the matcher tries different counts. */
const VARIABLE = /^(?:[*+]|\{\d+,\d*\})/;

const REPEATED = 'a choice or a repetition is repeated';

export function checkPatterns(tree: Tree): Violation[] {
  const found: Violation[] = [];
  for (const [path, text] of tree) {
    if (!isTypeScript(path) || !/^(?:src|ledger|workers)\//.test(path)) continue;
    const code = withoutComments(text);
    const tell = (fault: string, source: string, index: number) =>
      found.push({ path, line: lineAt(code, index), message: `${fault}: ${source.slice(0, 60)}` });
    for (const { 1: source = '', index } of code.matchAll(LITERAL)) {
      if (repeatsChoice(source)) tell(REPEATED, source, index);
    }
    for (const { 2: source = '', index } of code.matchAll(PATTERN)) {
      if (source.includes('${')) tell('a pattern is put together', source, index);
      else if (repeatsChoice(source.replaceAll('\\\\', '\\'))) tell(REPEATED, source, index);
    }
  }
  return found;
}

/** Whether a group that can match in several ways is repeated without a fixed count. */
function repeatsChoice(source: string): boolean {
  const isOpen: boolean[] = [];
  for (let at = 0; at < source.length; at += 1) {
    const here = source[at];
    if (here === '\\') {
      at += 1;
    } else if (here === '[') {
      while (source[at] !== ']' && at < source.length) at += source[at] === '\\' ? 2 : 1;
    } else if (here === '(') {
      isOpen.push(false);
    } else if (here === ')') {
      const wasOpen = isOpen.pop() === true;
      if (wasOpen && VARIABLE.test(source.slice(at + 1))) return true;
      // What a group contains, the group around it contains too.
      if (wasOpen && isOpen.length > 0) isOpen[isOpen.length - 1] = true;
      continue;
    }
    const isChoice = here === '|' || VARIABLE.test(source.slice(at));
    if (isChoice && isOpen.length > 0) isOpen[isOpen.length - 1] = true;
  }
  return false;
}
