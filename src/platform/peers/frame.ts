// The wire format between nodes: many requests or many answers to a frame.
//
// How: a structured clone, encoded by the engine itself. Each frame is independent of the others,
// and keys and texts of a customer come out as they went in. An object that occurs twice in a frame
// is sent once.
import { deserialize, serialize } from 'bun:jsc';

/**
 * The version that both sides must share: of our frames, of the requests in them (since 2, the key
 * of a usage belongs to its customer; a node of version 1 would count it again), and of the
 * engine's format.
 */
export const FORMAT = `2-${serialize(null, { binaryType: 'nodebuffer' }).toString('hex')}`;

/** A request, and how long the asker will still wait. */
export type Ask = { readonly leftMs: number; readonly request: unknown };

export type Asks = {
  /** On the asker's monotonic clock. */
  readonly sentAt: number;
  /** The id of the first request; the others count up from it. */
  readonly firstId: number;
  readonly asks: readonly Ask[];
};

export const OUTCOMES = ['answered', 'threw', 'overdue', 'refused'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** `value`: the answer; for `threw` the error's message; for `refused` the reason. */
export type Answered = {
  readonly id: number;
  readonly outcome: Outcome;
  readonly value: unknown;
};

/** The other side uses another format: its connection is closed. */
export class MalformedFrame extends Error {
  override readonly name = 'MalformedFrame';
}

export type Packing<Part> = {
  readonly bytesMax: number;
  readonly partsMax: number;
  readonly frameOf: (parts: readonly Part[]) => unknown;
  readonly packed: (frame: Buffer, parts: readonly Part[]) => void;
  /** A part that no frame can hold: too large, or no plain data. The other parts are sent. */
  readonly unfit: (part: Part, reason: string) => void;
};

/** Packs all parts, in order, into as few frames as the bounds allow. */
export function pack<Part>(parts: readonly Part[], packing: Packing<Part>): void {
  const { bytesMax, partsMax, frameOf, packed, unfit } = packing;
  if (parts.length <= partsMax) {
    const frame = encode(frameOf(parts));
    if (!(frame instanceof Error) && frame.length <= bytesMax) return packed(frame, parts);
    if (parts.length === 1) {
      const [part] = parts as readonly [Part];
      return unfit(part, frame instanceof Error ? frame.message : `${frame.length} bytes`);
    }
  }
  const half = Math.min(Math.ceil(parts.length / 2), partsMax);
  pack(parts.slice(0, half), packing);
  pack(parts.slice(half), packing);
}

function encode(frame: unknown): Buffer | Error {
  try {
    // Copied: `serialize` returns shared memory, which a WebSocket does not send.
    return Buffer.from(serialize(frame, { binaryType: 'nodebuffer' }));
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

export function asksFrame(
  sentAt: number,
  firstId: number,
  calls: readonly { readonly deadline: number; readonly request: unknown }[],
): unknown {
  const frame: unknown[] = [sentAt, firstId];
  for (const { deadline, request } of calls) frame.push(deadline - sentAt, request);
  return frame;
}

/** @throws MalformedFrame */
export function readAsks(bytes: Uint8Array): Asks {
  const frame = decode(bytes);
  const [sentAt, firstId] = frame;
  if (!isNumber(sentAt) || !isId(firstId) || frame.length % 2 !== 0) throw new MalformedFrame();
  const asks: Ask[] = [];
  for (let at = 2; at < frame.length; at += 2) {
    const leftMs = frame[at];
    if (!isNumber(leftMs)) throw new MalformedFrame();
    asks.push({ leftMs, request: frame[at + 1] });
  }
  return { sentAt, firstId, asks };
}

export function answersFrame(answers: readonly Answered[]): unknown {
  const frame: unknown[] = [];
  for (const { id, outcome, value } of answers) frame.push(id, OUTCOMES.indexOf(outcome), value);
  return frame;
}

/** @throws MalformedFrame */
export function readAnswers(bytes: Uint8Array): readonly Answered[] {
  const frame = decode(bytes);
  if (frame.length % 3 !== 0) throw new MalformedFrame();
  const answers: Answered[] = [];
  for (let at = 0; at < frame.length; at += 3) {
    const id = frame[at];
    const outcome = OUTCOMES[frame[at + 1] as number];
    if (!isId(id) || outcome === undefined) throw new MalformedFrame();
    answers.push({ id, outcome, value: frame[at + 2] });
  }
  return answers;
}

function decode(bytes: Uint8Array): readonly unknown[] {
  let frame: unknown;
  try {
    frame = deserialize(bytes);
  } catch (cause) {
    throw new MalformedFrame('not a structured clone', { cause });
  }
  if (!Array.isArray(frame)) throw new MalformedFrame();
  return frame;
}

const isNumber = (value: unknown): value is number => typeof value === 'number';
const isId = (value: unknown): value is number => Number.isSafeInteger(value);
