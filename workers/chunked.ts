// A chunked body (RFC 9112, 7.1), read as its bytes come. Pure. The caller bounds its bytes.

const SIZE = /^([0-9a-f]{1,8})[ \t]*(?:;.*)?\r$/i;

export class ChunkedBody {
  #next: 'size' | 'data' | 'end_of_data' | 'trailer' = 'size';
  /** Of a line that has not ended. */
  #line = '';
  /** Bytes of the chunk that have not come. */
  #left = 0;

  /** `cut`: it is malformed, or bytes follow its end. */
  read(bytes: Buffer, keep: (data: Buffer) => void): 'more' | 'over' | 'cut' {
    for (let at = 0; at < bytes.length;) {
      if (this.#next === 'data') {
        const data = bytes.subarray(at, at + this.#left);
        keep(data);
        at += data.length;
        this.#left -= data.length;
        if (this.#left === 0) this.#next = 'end_of_data';
        continue;
      }
      const end = bytes.indexOf(10, at);
      this.#line += bytes.toString('latin1', at, end < 0 ? bytes.length : end);
      if (end < 0) return 'more';
      at = end + 1;
      const line = this.#line;
      this.#line = '';
      if (this.#next === 'trailer' && line === '\r') return at === bytes.length ? 'over' : 'cut';
      if (!this.#take(line)) return 'cut';
    }
    return 'more';
  }

  /** Whether this line may be here. */
  #take(line: string): boolean {
    if (this.#next === 'trailer') return line.endsWith('\r');
    if (this.#next === 'end_of_data') {
      this.#next = 'size';
      return line === '\r';
    }
    const size = SIZE.exec(line)?.[1];
    if (size === undefined) return false;
    this.#left = Number.parseInt(size, 16);
    this.#next = this.#left === 0 ? 'trailer' : 'data';
    return true;
  }
}
