// One open stream: what its caller has been handed, and how new events reach it.
//
//     starting ──position known──▶ behind ──a page that is the last──▶ live ──▶ over
//         └──the relay has not passed the event to go on after──▶ awaiting ──▶ live
//
// Holds: it is handed the events of its tenant in the order of their positions, each once. While it
// is not live, what is new is held for it from before it looked; so nothing is missing between what
// it read and what is held.
import { BEGINNING } from '../records/event-positions.ts';
import type { Chunk } from './chunk.ts';
import { OpenBody } from './open-body.ts';

/** Bytes that may wait for one caller, or be held for it. Beyond it is too slow. */
const WAITING_BYTES_MAX = 256 * 1024;

export type ReaderEnd = 'left' | 'slow' | 'ended';

export class Reader {
  readonly body: OpenBody;
  readonly #onSent: (events: number) => void;
  readonly #onEnd: (why: ReaderEnd) => void;
  #position = BEGINNING;
  #isLive = false;
  #isOver = false;
  /** The event that it goes on after. */
  #awaited: string | null = null;
  /** What is new since it looked; null where that was too much. */
  #held: Chunk[] | null = [];
  #heldBytes = 0;

  constructor(on: {
    readonly sent: (events: number) => void;
    readonly end: (why: ReaderEnd) => void;
  }) {
    this.#onSent = on.sent;
    this.#onEnd = on.end;
    this.body = new OpenBody(() => this.end('left'));
  }

  get position(): bigint {
    return this.#position;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether it goes on after an event that has no position yet. */
  get isAwaiting(): boolean {
    return this.#awaited !== null && !this.#isLive;
  }

  /** New events of its tenant, right after those of the call before. */
  take(chunk: Chunk): void {
    if (this.#isLive) return this.send(chunk);
    if (this.#awaited === null) return this.#hold(chunk);
    const position = chunk.positionOf(this.#awaited);
    if (position === undefined) return;
    this.#position = position;
    this.#isLive = true;
    this.send(chunk);
  }

  send(chunk: Chunk): void {
    if (this.#isOver || chunk.to <= this.#position) return;
    if (this.body.bytes > WAITING_BYTES_MAX) return this.end('slow');
    const { bytes, count } = chunk.after(this.#position);
    this.#position = chunk.to;
    this.body.write(bytes);
    this.#onSent(count);
  }

  /** Says nothing where something waits, which says as much. */
  comment(bytes: Uint8Array): void {
    if (this.body.bytes === 0) this.body.write(bytes);
  }

  /** It goes on after an event that has no position yet. */
  awaitEvent(id: string): void {
    const held = this.#held;
    // More was new than can be held while it asked.
    if (held === null) return this.end('slow');
    this.#awaited = id;
    this.#held = null;
    for (const chunk of held) this.take(chunk);
  }

  /**
   * It goes on after this position. Whether it is live: where all that comes after it is held or
   * still to come. `head`: that of the tenant now.
   */
  startAt(position: bigint, head: bigint): boolean {
    this.#position = position;
    return position >= (this.#held?.[0]?.from ?? head) && this.goLive();
  }

  /** From now on what is new is held. What is read after this is joined to it without a gap. */
  holdAnew(): void {
    this.#held = [];
    this.#heldBytes = 0;
  }

  /** Whether it is live now; not where more was new than can be held. */
  goLive(): boolean {
    const held = this.#held;
    if (held === null) return false;
    this.#held = null;
    this.#isLive = true;
    for (const chunk of held) this.send(chunk);
    return true;
  }

  end(why: ReaderEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#held = null;
    this.#onEnd(why);
    this.body.end();
  }

  #hold(chunk: Chunk): void {
    this.#heldBytes += chunk.bytes.length;
    if (this.#heldBytes > WAITING_BYTES_MAX) this.#held = null;
    this.#held?.push(chunk);
  }
}
