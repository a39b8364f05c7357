// Bytes to lines, in whatever pieces they come. What is kept of an unfinished line has a bound.

/**
 * The largest event that the service takes has 50 values of 500 characters in its metadata; this
 * leaves room for each of them written as an escape.
 */
export const LINE_BYTES_MAX = 256 * 1024;
const NEWLINE = 10;

export type Line = {
  /** 1 for the first of the file. */
  readonly number: number;
  /** Where the next one begins, in bytes. */
  readonly end: number;
  /** Of one that is too long, its beginning. */
  readonly bytes: Buffer;
  readonly isTooLong: boolean;
};

export class LineSplitter {
  #number: number;
  #offset: number;
  /** The unfinished line, as far as it is kept. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** Its whole length. */
  #length = 0;

  constructor(from: { readonly lines: number; readonly offset: number }) {
    this.#number = from.lines;
    this.#offset = from.offset;
  }

  /** The lines that these bytes end. */
  push(chunk: Buffer): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, start)) {
      this.#hold(chunk.subarray(start, at));
      lines.push(this.#finish(1));
      start = at + 1;
    }
    this.#hold(chunk.subarray(start));
    return lines;
  }

  /** The last line, where no newline ends it. */
  end(): Line[] {
    return this.#length === 0 ? [] : [this.#finish(0)];
  }

  #hold(bytes: Buffer): void {
    this.#length += bytes.length;
    const kept = bytes.subarray(0, LINE_BYTES_MAX - this.#heldBytes);
    if (kept.length === 0) return;
    this.#held.push(kept);
    this.#heldBytes += kept.length;
  }

  #finish(newlineBytes: 0 | 1): Line {
    this.#number += 1;
    this.#offset += this.#length + newlineBytes;
    const [only] = this.#held;
    const bytes = this.#held.length === 1 && only !== undefined ? only : Buffer.concat(this.#held);
    const isTooLong = this.#length > LINE_BYTES_MAX;
    this.#held = [];
    this.#heldBytes = 0;
    this.#length = 0;
    return { number: this.#number, end: this.#offset, bytes, isTooLong };
  }
}
