import { breathe, type Timers } from '../ports.ts';

/**
 * Turns of the event loop for long steps: one of them in each turn, and everybody else between two.
 */
export class Turns {
  readonly #timers: Timers;
  #last: Promise<void> = Promise.resolve();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** Resolves at the start of a turn that no other long step has. */
  next(): Promise<void> {
    this.#last = this.#last.then(() => breathe(this.#timers));
    return this.#last;
  }
}
