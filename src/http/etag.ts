import { createHash } from 'node:crypto';

/**
 * A text that is the same until the next start: its bytes and their tag are made once, and who has
 * it gets nothing but the tag.
 */
export class FixedText {
  readonly #bytes: Blob;
  readonly #tag: string;
  readonly #headers: Headers;
  readonly #headersOfTag: Headers;

  constructor(text: string, headers: Readonly<Record<string, string>>) {
    this.#bytes = new Blob([text]);
    this.#tag = `"${createHash('sha256').update(text).digest('base64url')}"`;
    this.#headers = new Headers({ ...headers, etag: this.#tag });
    this.#headersOfTag = new Headers(this.#headers);
    this.#headersOfTag.delete('content-type');
  }

  answer(request: Request): Response {
    return hasAlready(request, this.#tag)
      ? new Response(null, { status: 304, headers: this.#headersOfTag })
      : new Response(this.#bytes, { headers: this.#headers });
  }
}

/** Whether the caller has it already: If-None-Match names its tag. */
export function hasAlready({ headers }: Request, tag: string): boolean {
  const sent = headers.get('if-none-match')?.split(',') ?? [];
  const tags = sent.map((each) => each.trim().replace(/^W\//, ''));
  return tags.includes(tag) || tags.includes('*');
}
