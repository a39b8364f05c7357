// How many calls may wait, and in how many bytes; and those who wait until fewer do.

/** What a call holds beside its text. */
const CALL_BYTES = 200;

export class Gate {
  readonly #callsMax: number;
  readonly #bytesMax: number;
  #calls = 0;
  #bytes = 0;
  /** In their order. */
  #waiters: (() => void)[] = [];

  constructor(callsMax: number, bytesMax: number) {
    this.#callsMax = callsMax;
    this.#bytesMax = bytesMax;
  }

  /** False where there is no room. */
  enter(length: number): boolean {
    if (this.#calls >= this.#callsMax || this.#bytes >= this.#bytesMax) return false;
    this.#calls += 1;
    this.#bytes += length + CALL_BYTES;
    return true;
  }

  leave(length: number): void {
    this.#calls -= 1;
    this.#bytes -= length + CALL_BYTES;
    if (this.#waiters.length > 0) this.#admit();
  }

  /** Resolves at once while less than half of the room is taken; then in turn. */
  ready(): Promise<void> {
    if (this.#waiters.length === 0 && this.#free() > 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
    });
  }

  /** Calls that may come in before half of the room is taken. */
  #free(): number {
    if (this.#bytes * 2 >= this.#bytesMax) return 0;
    return Math.ceil(this.#callsMax / 2) - this.#calls;
  }

  /**
   * As many as there is room for, and a part of them at a time: one that is admitted makes its call
   * in a later microtask.
   */
  #admit(): void {
    const free = this.#free();
    if (free * 4 < this.#callsMax && this.#calls > 0) return;
    const admitted = this.#waiters.splice(0, Math.max(1, free));
    for (const resolve of admitted) resolve();
  }
}
