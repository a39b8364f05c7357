// The README as something that can be done: its chapters, their blocks of code, and what stands between.

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly language: string; readonly lines: readonly string[] };

/** The parts of a chapter, in order. */
export function chapterOf(readme: string, title: string): Part[] {
  const [, chapter] = `\n${readme}`.split(`\n## ${title}\n`);
  if (chapter === undefined) throw new Error(`the README has no chapter "${title}"`);
  const [body = ''] = chapter.split('\n## ');
  return body.split('\n```').map((part, index) => {
    if (index % 2 === 0) return { kind: 'text', text: part.trim() };
    const [language = '', ...lines] = part.split('\n');
    return { kind: 'code', language, lines };
  });
}

/** A line of a terminal, and what the README says of it. */
export type Line = { readonly command: string; readonly says: string | null };

export function linesOf(lines: readonly string[]): Line[] {
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [command = '', says = null] = line.split(/\s{2,}# /);
      return { command, says };
    });
}
