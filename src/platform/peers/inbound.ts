// A connection that a peer opened: its requests to us.
//
//   challenged ──its proof──▶ serving ──closed──▶ gone
//
// How: requests begin in the order in which they were made, each before the next frame is read.
// They are answered as they finish; the answers of one tick share a frame. A request past its
// deadline is not begun.
import type { ServerWebSocket } from 'bun';
import { Delay } from './delay.ts';
import {
  answersFrame,
  MalformedFrame,
  type Answered,
  type Ask,
  type Outcome,
  pack,
  readAsks,
} from './frame.ts';
import type { Parts } from './parts.ts';
import { newNonce } from './proof.ts';

/**
 * Answers one request. Requests begin in order; an exception is a bug here, and is reported as one.
 */
export type RequestHandler = (request: unknown, from: string) => unknown;

export type Caller = {
  /** The host:port that the peer claims. */
  readonly from: string;
  /** Our host:port, which it dialled. */
  readonly self: string;
  readonly nonce: string;
  readonly answer: RequestHandler;
};

/** Close codes of our own. */
const NO_PROOF = 4401;
const MALFORMED = 4400;

export class Inbound {
  readonly #options: Parts & Caller;
  readonly #nonce = newNonce();
  readonly #delay = new Delay();
  #socket: ServerWebSocket<Inbound> | null = null;
  #isProven = false;
  #heardAt: number;
  #begun = 0;
  #done: Answered[] = [];
  #isSending = false;
  #refusal: string | null = null;

  constructor(options: Parts & Caller) {
    this.#options = options;
    this.#heardAt = options.clock.monotonic();
  }

  /** Requests begun and not answered. */
  get calls(): number {
    return this.#begun + this.#done.length;
  }

  opened(socket: ServerWebSocket<Inbound>): void {
    this.#socket = socket;
    const proof = this.#options.prover.prove('answerer', this.#said());
    socket.sendText(`${this.#nonce} ${proof}`);
  }

  closed(): void {
    this.#socket = null;
    this.#done = [];
  }

  /** The peer is alive. Pings before the proof do not count, so such a connection times out. */
  pinged(): void {
    if (this.#isProven) this.#heardAt = this.#options.clock.monotonic();
  }

  beat(now: number, slept: boolean): void {
    if (slept) this.#heardAt = now;
    if (now - this.#heardAt > this.#options.limits.silentMs) this.#socket?.terminate();
  }

  /** From now on requests are refused. */
  refuse(why: string): void {
    this.#refusal = why;
  }

  heard(data: string | Uint8Array): void {
    if (!this.#isProven) return this.#admit(data);
    this.pinged();
    try {
      if (typeof data === 'string') throw new MalformedFrame();
      this.#beginAll(data);
    } catch (error) {
      if (!(error instanceof MalformedFrame)) throw error;
      const { counters, log } = this.#options;
      counters.malformed += 1;
      log.warn({ peer: this.#options.from }, 'a request of a peer is malformed');
      this.#socket?.close(MALFORMED, 'malformed');
    }
  }

  #admit(proof: string | Uint8Array): void {
    const { prover, counters, log } = this.#options;
    this.#isProven = typeof proof === 'string' && prover.holds(proof, 'asker', this.#said());
    if (this.#isProven) return this.pinged();
    counters.strangers += 1;
    log.warn({ peer: this.#options.from }, 'a peer that does not hold our NODE_SECRET was refused');
    this.#socket?.close(NO_PROOF, 'no proof');
  }

  #said(): readonly string[] {
    const { from, self, nonce } = this.#options;
    return [from, self, nonce, this.#nonce];
  }

  #beginAll(data: Uint8Array): void {
    const { sentAt, firstId, asks } = readAsks(data);
    const lateMs = this.#delay.of(sentAt, this.#options.clock.monotonic());
    for (const [at, ask] of asks.entries()) this.#begin(firstId + at, ask, lateMs);
  }

  #begin(id: number, { leftMs, request }: Ask, lateMs: number): void {
    const { answer, from, counters, limits } = this.#options;
    if (this.#refusal !== null) return this.#reply(id, 'refused', this.#refusal);
    if (leftMs <= lateMs) {
      counters.overdue += 1;
      return this.#reply(id, 'overdue', null);
    }
    if (this.#begun >= limits.callsMax) return this.#reply(id, 'refused', 'it is busy');
    counters.answered += 1;
    this.#begun += 1;
    let answered: unknown;
    try {
      answered = answer(request, from);
    } catch (error) {
      return this.#threw(id, error);
    }
    if (!(answered instanceof Promise)) return this.#finish(id, answered);
    answered.then(
      (value) => this.#finish(id, value),
      (error: unknown) => this.#threw(id, error),
    );
  }

  #finish(id: number, value: unknown): void {
    this.#begun -= 1;
    this.#reply(id, 'answered', value);
  }

  #threw(id: number, error: unknown): void {
    this.#begun -= 1;
    this.#options.log.error({ err: error, peer: this.#options.from }, 'answering a peer failed');
    this.#reply(id, 'threw', error instanceof Error ? error.message : String(error));
  }

  #reply(id: number, outcome: Outcome, value: unknown): void {
    if (this.#socket === null) return;
    this.#done.push({ id, outcome, value });
    if (this.#isSending) return;
    this.#isSending = true;
    this.#options.timers.soon(() => {
      this.#isSending = false;
      this.#send();
    });
  }

  #send(): void {
    const { limits, log, from } = this.#options;
    const answers = this.#done;
    this.#done = [];
    if (answers.length === 0) return;
    pack(answers, {
      bytesMax: limits.frameBytesMax,
      partsMax: limits.frameCallsMax,
      frameOf: answersFrame,
      // Where the peer leaves too much unread, Bun closes the connection.
      packed: (frame) => void this.#socket?.sendBinary(frame),
      unfit: ({ id }, reason) => {
        log.error({ peer: from, reason }, 'an answer to a peer cannot be sent');
        this.#reply(id, 'threw', `its answer cannot be sent: ${reason}`);
      },
    });
  }
}
