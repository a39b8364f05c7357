// Lines to batches of events, each event with a key under which it counts once.
import { createHash } from 'node:crypto';
import { type Line, LINE_BYTES_MAX, LineSplitter } from './lines.ts';

/** What one call takes. */
const EVENTS_MAX = 500;
/** Far below what a call may have, because metadata counts once for each meter that it feeds. */
const BATCH_BYTES_MAX = 512 * 1024;
/** Of a line that cannot be sent: what the rejects show of it. */
const SHOWN_CHARACTERS_MAX = 200;

export type Entry =
  | { readonly line: number; readonly event: Record<string, unknown> }
  | { readonly line: number; readonly reason: string; readonly text: string };

/** Lines that are sent in one call. */
export type Batch = {
  readonly entries: readonly Entry[];
  /** Where the file goes on behind it. */
  readonly lines: number;
  readonly offset: number;
};

export async function* batchesOf(
  chunks: AsyncIterable<Uint8Array>,
  {
    identity,
    from,
  }: {
    /** What tells the lines of this file from those of another. */
    readonly identity: string;
    readonly from: { readonly lines: number; readonly offset: number };
  },
): AsyncGenerator<Batch> {
  const splitter = new LineSplitter(from);
  const collector = new Collector(identity, from);
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    yield* collector.add(splitter.push(bytes));
  }
  yield* collector.add(splitter.end());
  yield* collector.rest();
}

class Collector {
  readonly #identity: string;
  #at: { readonly lines: number; readonly offset: number };
  #entries: Entry[] = [];
  #bytes = 0;

  constructor(identity: string, from: { readonly lines: number; readonly offset: number }) {
    this.#identity = identity;
    this.#at = from;
  }

  *add(lines: readonly Line[]): Generator<Batch> {
    for (const line of lines) {
      if (this.#bytes + line.bytes.length > BATCH_BYTES_MAX) yield* this.rest();
      const entry = entryOf(line, this.#identity);
      if (entry !== null) this.#entries.push(entry);
      this.#bytes += line.bytes.length;
      this.#at = { lines: line.number, offset: line.end };
      if (this.#entries.length === EVENTS_MAX) yield* this.rest();
    }
  }

  *rest(): Generator<Batch> {
    if (this.#entries.length > 0) yield { entries: this.#entries, ...this.#at };
    this.#entries = [];
    this.#bytes = 0;
  }
}

/** null for an empty line. */
function entryOf({ number, bytes, isTooLong }: Line, identity: string): Entry | null {
  const refuse = (reason: string): Entry => {
    const text = bytes.subarray(0, 4 * SHOWN_CHARACTERS_MAX).toString();
    return { line: number, reason, text: text.slice(0, SHOWN_CHARACTERS_MAX) };
  };
  if (isTooLong) return refuse(`is longer than ${LINE_BYTES_MAX} bytes`);
  let text: string;
  try {
    // Takes a mark at the start of the file away.
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).trim();
  } catch {
    return refuse('is not UTF-8');
  }
  if (text === '') return null;
  const event = parsed(text);
  if (event === null) return refuse('is not a JSON object');
  const { external_id: given } = event;
  if (given !== undefined && given !== null) return { line: number, event };
  return { line: number, event: { ...event, external_id: keyOf(identity, number, text) } };
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/**
 * The same for the same line of the same file, in every run. The text is in it, so that a line that
 * was changed is another event and not a refused one.
 */
function keyOf(identity: string, line: number, text: string): string {
  return createHash('sha256').update(`${identity}\n${line}\n${text}`).digest('base64url');
}
