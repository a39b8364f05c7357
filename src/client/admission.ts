// Who waits to call, until there is room for a call of any kind: `ready()`.
//
// Holds: the waiting are admitted in their order. Each admission keeps a place, until a call takes
// it or the turn of the event loop ends; a caller that was admitted calls in a microtask of that
// turn. So nobody waits for a caller that makes no call, and as many as there is room for go on.
import type { Gate } from './gate.ts';

export class Admission {
  readonly #gates: readonly Gate[];
  readonly #waiting: (() => void)[] = [];
  #head = 0;
  #hasTurn = false;

  constructor(gates: readonly Gate[]) {
    this.#gates = gates;
  }

  ready(): Promise<void> {
    if (this.#waiting.length === 0 && this.#hasRoom()) {
      this.#admit();
      return Promise.resolve();
    }
    if (this.#waiting.length === 0) this.#listen(() => this.#left());
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #hasRoom(): boolean {
    return this.#gates.every((gate) => gate.hasRoom);
  }

  #admit(): void {
    for (const gate of this.#gates) gate.admit();
    if (this.#hasTurn) return;
    this.#hasTurn = true;
    setTimeout(() => this.#endTurn(), 0);
  }

  #endTurn(): void {
    this.#hasTurn = false;
    for (const gate of this.#gates) gate.expectNone();
    this.#left();
  }

  /** Admits many at a time: their calls go in one batch. */
  #left(): void {
    if (this.#gates.some((gate) => gate.isCrowded)) return;
    this.#admitWaiting();
  }

  #admitWaiting(): void {
    while (this.#head < this.#waiting.length && this.#hasRoom()) {
      this.#admit();
      this.#waiting[this.#head]?.();
      this.#head += 1;
    }
    if (this.#head * 2 < this.#waiting.length) return;
    this.#waiting.splice(0, this.#head);
    this.#head = 0;
    if (this.#waiting.length === 0) this.#listen(null);
  }

  #listen(left: (() => void) | null): void {
    for (const gate of this.#gates) gate.onLeave = left;
  }
}
