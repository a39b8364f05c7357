// How many calls of one kind may wait, and in how many bytes.

/** What a call holds beside its text. */
const CALL_BYTES = 200;

export class Gate {
  readonly #callsMax: number;
  readonly #bytesMax: number;
  #calls = 0;
  #bytes = 0;
  /** Who was admitted and has not called: a call like the last one is expected of each. */
  #admitted = 0;
  #lastBytes = CALL_BYTES;
  /** Told when a call has ended. */
  onLeave: (() => void) | null = null;

  constructor(callsMax: number, bytesMax: number) {
    this.#callsMax = callsMax;
    this.#bytesMax = bytesMax;
  }

  /** False where there is no room. */
  enter(length: number): boolean {
    if (this.#calls >= this.#callsMax || this.#bytes >= this.#bytesMax) return false;
    this.#lastBytes = length + CALL_BYTES;
    this.#calls += 1;
    this.#bytes += this.#lastBytes;
    if (this.#admitted > 0) this.#admitted -= 1;
    return true;
  }

  leave(length: number): void {
    this.#calls -= 1;
    this.#bytes -= length + CALL_BYTES;
    this.onLeave?.();
  }

  /** Whether less than half of the room is taken, with what is expected. */
  get hasRoom(): boolean {
    const bytes = this.#bytes + this.#admitted * this.#lastBytes;
    return bytes * 2 < this.#bytesMax && (this.#calls + this.#admitted) * 2 < this.#callsMax;
  }

  /** Whether so little has left it since it was full that the next batch would be a small one. */
  get isCrowded(): boolean {
    return this.#calls * 4 > this.#callsMax;
  }

  admit(): void {
    this.#admitted += 1;
  }

  /** Expects no call of those who were admitted. */
  expectNone(): void {
    this.#admitted = 0;
  }
}
