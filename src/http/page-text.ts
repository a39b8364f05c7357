// The rows of a page as JSON text, for as long as they fit into an answer.
import { PAGE_BYTES_MAX } from '../platform/answer-bounds.ts';
import { jsonText } from './json-text.ts';

export class PageText {
  readonly #rows: string[] = [];
  #bytes = 0;

  get rows(): number {
    return this.#rows.length;
  }

  /** Whether the row is on the page. The first one is, however large it is. */
  add(row: object): boolean {
    const text = JSON.stringify(row);
    const bytes = this.#bytes + Buffer.byteLength(text) + 1;
    if (this.#rows.length > 0 && bytes > PAGE_BYTES_MAX) return false;
    this.#rows.push(text);
    this.#bytes = bytes;
    return true;
  }

  /** About as many as still fit: rows as those that are there. */
  rowsLeft(): number {
    if (this.#rows.length === 0) return Infinity;
    const mean = this.#bytes / this.#rows.length;
    return Math.max(1, Math.ceil((PAGE_BYTES_MAX - this.#bytes) / mean));
  }

  /** `data` with what stands beside it. */
  answer(beside: object): Response {
    const rest = JSON.stringify(beside).slice(1);
    return jsonText(`{"data":[${this.#rows.join(',')}],${rest}`);
  }
}
