// Just enough HTTP/1.1 to know when an answer is complete and whether it is 2xx.
//
// Holds: one request is in flight for each reader, so an answer ends where the bytes end. The heads
// of one server differ in digits only: Content-Length is first looked for where it was last time,
// and a full search is the exception. Does not: read interim (1xx) answers, or answers that end
// with the connection.
const CR = 13;
const LF = 10;
const COLON = 58;
const DIGIT_0 = 48;
const DIGIT_2 = 50;
const DIGIT_9 = 57;
const STATUS_AT = 9;
const HEAD_END = Buffer.from('\r\n\r\n');
const BODY_SHOWN_MAX = 300;

export type Answer = 'partial' | 'ok' | 'refused' | 'broken';

/**
 * Where the digits of Content-Length began in the last head; shared by all connections to a server.
 */
export class HeadLayout {
  lengthAt = 0;
}

export class ResponseReader {
  /** Whether the server closes the connection after this answer. */
  isLast = false;
  readonly #layout: HeadLayout;
  #missing = 0;
  /** The bytes so far, where the length alone does not decide. */
  #held: Buffer | undefined;

  constructor(layout: HeadLayout) {
    this.#layout = layout;
  }

  /** Takes received bytes. 'refused' is any status but 2xx; `shown` then describes it. */
  take(chunk: Buffer): Answer {
    if (this.#missing > 0) {
      this.#missing -= chunk.length;
      return this.#missing > 0 ? 'partial' : this.#missing === 0 ? 'ok' : 'broken';
    }
    if (this.#held === undefined) {
      const end = this.#endOfUsual(chunk);
      if (end === chunk.length) return 'ok';
      if (end > chunk.length) {
        this.#missing = end - chunk.length;
        return 'partial';
      }
    }
    return this.#takeUnusual(chunk);
  }

  shown(): string {
    return (this.#held ?? Buffer.alloc(0)).toString('utf8', 0, BODY_SHOWN_MAX);
  }

  reset(): void {
    this.isLast = false;
    this.#missing = 0;
    this.#held = undefined;
  }

  /** The length of a 2xx answer whose head looks like the last one; 0 where it does not. */
  #endOfUsual(chunk: Buffer): number {
    let at = this.#layout.lengthAt;
    if (at === 0 || chunk[STATUS_AT] !== DIGIT_2 || chunk[at - 2] !== COLON) return 0;
    let length = 0;
    let digit = chunk[at] ?? 0;
    while (digit >= DIGIT_0 && digit <= DIGIT_9) {
      length = length * 10 + digit - DIGIT_0;
      at += 1;
      digit = chunk[at] ?? 0;
    }
    const ended =
      digit === CR && chunk[at + 1] === LF && chunk[at + 2] === CR && chunk[at + 3] === LF;
    return ended ? at + 4 + length : 0;
  }

  #takeUnusual(chunk: Buffer): Answer {
    const held = this.#held === undefined ? Buffer.from(chunk) : Buffer.concat([this.#held, chunk]);
    this.#held = held;
    const headEnd = held.indexOf(HEAD_END);
    if (headEnd === -1) return 'partial';
    const head = held.toString('latin1', 0, headEnd + HEAD_END.length);
    const end = this.#endOf(held, head);
    if (end === undefined) return 'broken';
    if (held.length < end) return 'partial';
    if (held.length > end) return 'broken';
    if (!/^HTTP\/1\.1 2\d\d/.test(head)) return 'refused';
    this.#held = undefined;
    return 'ok';
  }

  /** Where the answer ends, or will end; undefined where the head does not say. */
  #endOf(held: Buffer, head: string): number | undefined {
    this.isLast = /\r\nconnection: close\r\n/i.test(head);
    const length = /\r\ncontent-length: (\d+)\r\n/i.exec(head);
    if (length !== null) {
      // An unusual head is searched again next time.
      if (!this.isLast) this.#layout.lengthAt = length.index + length[0].indexOf(':') + 2;
      return head.length + Number(length[1]);
    }
    if (head.startsWith('HTTP/1.1 204')) return head.length;
    if (/\r\ntransfer-encoding: chunked\r\n/i.test(head)) return endOfChunks(held, head.length);
    return undefined;
  }
}

/** Where a chunked body ends; Infinity while its last chunk has not arrived. */
function endOfChunks(held: Buffer, bodyAt: number): number | undefined {
  let at = bodyAt;
  for (;;) {
    const lineEnd = held.indexOf('\r\n', at);
    if (lineEnd === -1) return Infinity;
    const size = Number.parseInt(held.toString('latin1', at, lineEnd), 16);
    if (Number.isNaN(size)) return undefined;
    at = lineEnd + 2 + size + 2;
    if (size === 0) return at;
  }
}
