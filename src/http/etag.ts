/** Whether the caller has it already: If-None-Match names its tag. */
export function hasAlready({ headers }: Request, tag: string): boolean {
  const sent = headers.get('if-none-match')?.split(',') ?? [];
  const tags = sent.map((each) => each.trim().replace(/^W\//, ''));
  return tags.includes(tag) || tags.includes('*');
}
