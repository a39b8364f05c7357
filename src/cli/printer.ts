// What is printed, and where: a terminal gets colours and lines that are drawn again, a file or a
// pipe gets plain lines.
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';

export type Colour = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

const CODES: Readonly<Record<Colour, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
};

/** What a printer needs of `process.stdout`. */
export type Sink = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  readonly columns?: number;
};

export class Printer {
  readonly #sink: Sink;
  readonly #hasColours: boolean;
  /** Whether the last line is one that is drawn again. */
  #isDrawn = false;

  constructor(sink: Sink, { hasColours }: { readonly hasColours: boolean }) {
    this.#sink = sink;
    this.#hasColours = hasColours;
  }

  get isTerminal(): boolean {
    return this.#sink.isTTY === true;
  }

  get width(): number {
    return this.#sink.columns ?? 80;
  }

  paint(colour: Colour, text: string): string {
    if (!this.#hasColours) return text;
    const [on, off] = CODES[colour];
    return `\u001B[${on}m${text}\u001B[${off}m`;
  }

  /** Resolves when the reader has room for more: what waits in memory is bounded. */
  async line(text = ''): Promise<void> {
    const isRoom = this.#sink.write(`${this.#erased()}${text}\n`);
    this.#isDrawn = false;
    if (!isRoom) await once(this.#sink, 'drain');
  }

  /** Without a wait for the reader: for what is seldom said. */
  tell(text: string): void {
    this.#sink.write(`${this.#erased()}${text}\n`);
    this.#isDrawn = false;
  }

  /** A line that the next one replaces; on a terminal only. */
  draw(text: string): void {
    if (!this.isTerminal) return;
    this.#sink.write(`${this.#erased()}${text}`);
    this.#isDrawn = true;
  }

  /** Takes back what was drawn. */
  clear(): void {
    this.#sink.write(this.#erased());
    this.#isDrawn = false;
  }

  #erased(): string {
    return this.#isDrawn ? '\r\u001B[2K' : '';
  }
}

/**
 * Text of others on one line of a terminal: no control character of theirs reaches it, so that a
 * name cannot recolour or rewrite what stands there.
 */
export function shown(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\uFFFD');
}
