// A page as steps: its blocks of code, and the text between them.

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly language: string; readonly lines: readonly string[] };

/** A command, and what the page shows below it. */
export type Exchange = { readonly command: string; readonly shown: readonly string[] };

/** The parts of a page, or of one of its chapters, in order. */
export function partsOf(page: string, title?: string): Part[] {
  const [, chapter] =
    title === undefined ? ['', page] : page.split(new RegExp(`\\n#{2,3} ${title}\\n`));
  if (chapter === undefined) throw new Error(`the page has no chapter "${title}"`);
  const body = title === undefined ? chapter : chapter.split(/\n#{2,3} /)[0]!;
  return `\n${body}`.split('\n```').map((part, index) => {
    if (index % 2 === 0) return { kind: 'text', text: part.replaceAll(/\s+/g, ' ').trim() };
    const [language = '', ...lines] = part.split('\n');
    return { kind: 'code', language, lines };
  });
}

/** Words before a block of code that is a file. */
export const SAVED = /Save this as `([\w.]+)`/;

export const linesOf = (part: Part | undefined) => (part?.kind === 'code' ? part.lines : []);

/** Its commands; of a program that is not saved as a file, the whole. */
export function codesOf(part: Part, at: number, parts: readonly Part[]): readonly string[] {
  if (part.kind !== 'code') return [];
  if (part.language === 'sh') return exchangesOf(part.lines).map(({ command }) => command);
  const before = parts[at - 1];
  const isSaved = before?.kind === 'text' && SAVED.test(before.text);
  return part.language === 'js' && !isSaved ? [snippetOf(part.lines).code] : [];
}

/** A command continues where a line ends with a backslash; `# ` begins its output. */
export function exchangesOf(lines: readonly string[]): Exchange[] {
  const found: { command: string; shown: string[] }[] = [];
  let goesOn = false;
  for (const line of lines.filter((one) => one.trim() !== '')) {
    const last = found.at(-1);
    if (goesOn) last!.command += `\n${line}`;
    else if (line.startsWith('# ')) last!.shown.push(line.slice(2).trim());
    else found.push({ command: line, shown: [] });
    goesOn = line.endsWith('\\');
  }
  return found;
}

/** A program, and what the page shows that it prints: comments at its end. */
export function snippetOf(lines: readonly string[]): {
  readonly code: string;
  readonly shown: readonly string[];
} {
  const written = lines.filter((line) => line.trim() !== '');
  const last = written.findLastIndex((line) => !line.startsWith('// '));
  return {
    code: written.slice(0, last + 1).join('\n'),
    shown: written.slice(last + 1).map((line) => line.slice(3).trim()),
  };
}

/** Compares the output with what the page shows: `…` stands for anything on its line. */
export function patternOf(shown: readonly string[]): RegExp {
  const lines = shown.map((line) =>
    line
      .split('…')
      .map((part) => RegExp.escape(part))
      .join('.*'),
  );
  return new RegExp(`^${lines.join('\n')}$`, 'm');
}

/** Without empty lines, and without spaces at the ends of the others. */
export const trimmed = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
