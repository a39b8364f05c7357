// Reads one HTTP/1.1 answer as its bytes come (RFC 9112). Pure.
//
// Holds: it is strict with what frames the answer, and keeps nothing that it does not need: the
// status, Retry-After and the first bytes of the body. No more than HEADERS_BYTES_MAX and
// BODY_BYTES_MAX are read, announcements (100, 103) aside, which are bounded in number. An answer
// counts from the end of its headers on: what is wrong with a body ends the body only.
// Does not: decompress, follow a redirect, or read what was asked for in another protocol.
import { ChunkedBody } from './chunked.ts';

/** Bounds of an answer: the head that is kept as text, and all that is read. */
const HEAD_BYTES = 1024;
const BODY_BYTES_MAX = 16 * 1024;
const HEADERS_BYTES_MAX = 16 * 1024;
const ANNOUNCEMENTS_MAX = 8;

const PREFIX = 'HTTP/1.';
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?$/;
/** As much of a status line as can be judged before its end comes. */
const STATUS_START = /^HTTP\/1\.[01] [1-9]\d\d(?: |\r|$)/;
const STATUS_START_LENGTH = 13;
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)$/;
const HEADERS_END = '\r\n\r\n';
const NO_BYTES = Buffer.alloc(0);

export type HttpReply = {
  readonly kind: 'answered';
  readonly statusCode: number;
  readonly retryAfter: string | null;
  /** The first bytes of the body. */
  readonly head: string;
};

/** `over` and `cut` are answers: after `over` the connection is fit for the next request. */
export type Reading = 'more' | 'over' | 'cut' | 'protocol' | 'too_large_headers' | 'switched';

type Headers = {
  readonly statusCode: number;
  readonly retryAfter: string | null;
  readonly keepsAlive: boolean;
  /** Bytes of the body; 'end': until the connection ends. */
  readonly framing: number | 'chunked' | 'end';
};

export class Answer {
  /** Begins with the bytes of headers that have not ended, as many as `#heldBytes`. */
  #held: Buffer = NO_BYTES;
  #heldBytes = 0;
  #announced = 0;
  #headers: Headers | null = null;
  #chunked: ChunkedBody | null = null;
  /** Of the body, with what frames it. */
  #bytes = 0;
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;

  /** null until its headers have come. */
  get reply(): HttpReply | null {
    if (this.#headers === null) return null;
    const { statusCode, retryAfter } = this.#headers;
    return { kind: 'answered', statusCode, retryAfter, head: textOf(this.#kept) };
  }

  /** The next bytes of the connection. Nothing may follow anything but `more`. */
  read(bytes: Buffer): Reading {
    if (this.#headers !== null) return this.#readBody(this.#headers, bytes);
    // What was held has no end of headers, but it may have the beginning of one.
    let from = Math.max(0, this.#heldBytes - HEADERS_END.length);
    let rest = this.#heldBytes === 0 ? bytes : this.#hold(bytes);
    for (;;) {
      const end = rest.indexOf(HEADERS_END, from);
      if (end > HEADERS_BYTES_MAX || (end < 0 && rest.length > HEADERS_BYTES_MAX)) {
        return mayBegin(rest) ? 'too_large_headers' : 'protocol';
      }
      if (end < 0) {
        if (rest.length !== this.#heldBytes) {
          this.#heldBytes = 0;
          this.#hold(rest);
        }
        return mayBegin(rest) ? 'more' : 'protocol';
      }
      const headers = headersOf(rest.toString('latin1', 0, end));
      if (headers === null) return 'protocol';
      rest = rest.subarray(end + HEADERS_END.length);
      from = 0;
      if (headers.statusCode === 101) return 'switched';
      if (headers.statusCode >= 200) {
        this.#headers = headers;
        this.#held = NO_BYTES;
        if (headers.framing === 'chunked') this.#chunked = new ChunkedBody();
        return this.#readBody(headers, rest);
      }
      this.#announced += 1;
      if (this.#announced > ANNOUNCEMENTS_MAX) return 'protocol';
    }
  }

  /** All that is held then. It grows by doubling: each byte may come alone. */
  #hold(bytes: Buffer): Buffer {
    const size = this.#heldBytes + bytes.length;
    if (size > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(size, 2 * this.#held.length));
      this.#held.copy(larger, 0, 0, this.#heldBytes);
      this.#held = larger;
    }
    bytes.copy(this.#held, this.#heldBytes);
    this.#heldBytes = size;
    return this.#held.subarray(0, size);
  }

  #readBody({ framing, keepsAlive }: Headers, bytes: Buffer): Reading {
    const before = this.#bytes;
    this.#bytes += bytes.length;
    if (this.#chunked !== null) {
      const reading = this.#chunked.read(bytes, (data) => this.#keep(data));
      if (reading === 'over') return keepsAlive ? 'over' : 'cut';
      if (reading === 'cut') return 'cut';
    } else if (framing === 'end') {
      this.#keep(bytes);
    } else {
      this.#keep(bytes.subarray(0, Number(framing) - before));
      if (this.#bytes > Number(framing)) return 'cut';
      if (this.#bytes === framing) return keepsAlive ? 'over' : 'cut';
    }
    return this.#bytes > BODY_BYTES_MAX ? 'cut' : 'more';
  }

  #keep(data: Buffer): void {
    const wanted = HEAD_BYTES - this.#keptBytes;
    if (wanted === 0 || data.length === 0) return;
    // A copy: the rest of the bytes is not kept for it.
    const kept = Buffer.from(data.subarray(0, wanted));
    this.#kept.push(kept);
    this.#keptBytes += kept.length;
  }
}

/** Whether an answer can begin with these bytes. */
function mayBegin(bytes: Buffer): boolean {
  const text = bytes.toString('latin1', 0, STATUS_START_LENGTH);
  if (text.length < STATUS_START_LENGTH) {
    return PREFIX.startsWith(text.slice(0, PREFIX.length)) && !/[\r\n]/.test(text);
  }
  return STATUS_START.test(text);
}

/** null where it is not HTTP/1.x, or says two things about its length. */
function headersOf(text: string): Headers | null {
  // A line that begins with a space goes on with the one before it.
  const lines = text.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');
  const status = STATUS_LINE.exec(lines[0] ?? '');
  if (status === null) return null;
  const statusCode = Number(status[2]);
  const framed: Record<string, string | undefined> = {};
  for (let index = 1; index < lines.length; index += 1) {
    const header = HEADER.exec(lines[index] ?? '');
    if (header === null) return null;
    const known = header[1]?.toLowerCase() ?? '';
    if (!KEPT.has(known)) continue;
    const value = header[2]?.trim() ?? '';
    const other = framed[known];
    if (other === undefined) framed[known] = value;
    else if (known === 'content-length') return null;
    else if (known !== 'retry-after') framed[known] = `${other}, ${value}`;
  }
  const framing = framingOf(statusCode, framed);
  if (framing === null) return null;
  return {
    statusCode,
    retryAfter: framed['retry-after'] ?? null,
    keepsAlive: status[1] === '1' && !/\bclose\b/i.test(framed['connection'] ?? ''),
    framing,
  };
}

const KEPT: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'retry-after',
  'transfer-encoding',
]);

function framingOf(
  statusCode: number,
  headers: Readonly<Record<string, string | undefined>>,
): Headers['framing'] | null {
  const length = headers['content-length'];
  const encoding = headers['transfer-encoding'];
  if (length !== undefined && (encoding !== undefined || !/^\d{1,15}$/.test(length))) return null;
  if (statusCode < 200 || statusCode === 204 || statusCode === 304) return 0;
  if (encoding !== undefined) return /(?:^|,)[ \t]*chunked$/i.test(encoding) ? 'chunked' : 'end';
  return length === undefined ? 'end' : Number(length);
}

/** As text that PostgreSQL stores: valid UTF-8 without NUL. */
function textOf(pieces: readonly Buffer[]): string {
  if (pieces.length === 0) return '';
  // As a stream: it drops the rest of a character that was cut in two.
  const text = new TextDecoder().decode(Buffer.concat(pieces), { stream: true });
  return text.replaceAll('\0', '\uFFFD');
}
