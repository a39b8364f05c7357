// Reading TypeScript without a compiler: comments out, strings kept, lines where they were.
const STRING_OR_COMMENT =
  /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;

export function withoutComments(text: string): string {
  return text.replace(STRING_OR_COMMENT, (token) =>
    token.startsWith('/') ? token.replace(/[^\n]/g, ' ') : token,
  );
}

/** Lines that hold code, not only blanks or comment. */
export function countCodeLines(text: string): number {
  return withoutComments(text)
    .split('\n')
    .filter((line) => line.trim() !== '').length;
}
