// What `bun test` writes about its tests with `--reporter=junit`: each test by file, describes and
// name. A file that did not load is not in it.

export interface Case {
  /** Relative to where `bun test` ran. */
  readonly file: string;
  /** The describes around it, the outermost first, and its own name. */
  readonly names: readonly string[];
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** Of a failure: the error and where it was thrown. */
  readonly said: string;
}

/** Of a hook, such as `beforeAll`, that fails. */
export const UNNAMED = '(unnamed)';

const TAG = /<(\/?)(testsuite|testcase|failure|skipped)\b([^>]*?)(\/?)>([^<]*)/g;
const ATTRIBUTE = /([\w-]+)="([^"]*)"/g;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  gt: '>',
  lt: '<',
  quot: '"',
};

export function casesIn(xml: string): readonly Case[] {
  const cases: Case[] = [];
  // The first is the file itself.
  const suites: string[] = [];
  let open: { file: string; names: string[]; outcome: Case['outcome']; said: string } | undefined;
  const close = (): void => {
    if (open !== undefined) cases.push(open);
    open = undefined;
  };
  for (const [, closing, tag, written = '', single, text = ''] of xml.matchAll(TAG)) {
    const attributes = attributesOf(written);
    const { name = '', file = '' } = attributes;
    if (tag === 'testsuite') {
      if (closing === '/') suites.pop();
      else if (single !== '/') suites.push(name);
    } else if (tag === 'testcase') {
      if (closing === '/') close();
      else open = { file, names: [...suites.slice(1), name], outcome: 'passed', said: '' };
      if (single === '/') close();
    } else if (open !== undefined && closing !== '/') {
      open.outcome = tag === 'failure' ? 'failed' : 'skipped';
      open.said = decoded(text).trim() || (attributes['message'] ?? '');
    }
  }
  return cases;
}

function attributesOf(written: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [, name, value] of written.matchAll(ATTRIBUTE)) found[name!] = decoded(value!);
  return found;
}

function decoded(text: string): string {
  return text.replace(/&(?:#(x?)([\da-f]+)|(\w+));/gi, (whole, hex, code, name) => {
    if (code === undefined) return ENTITIES[name as string] ?? whole;
    return String.fromCodePoint(Number(hex === '' ? code : `0x${code as string}`));
  });
}
