// Answers that are kept for a moment: many who ask for the same cost one reckoning.
//
// Holds: an answer is handed out for so long after it was begun, or while it is being reckoned. A
// reckoning that failed is not kept. The number of answers has a bound: the oldest goes first.
import type { Clock } from '../../ledger/ports.ts';

type Answer<T> = { readonly began: number; readonly answer: Promise<T>; isReady: boolean };

export class Kept<T> {
  readonly #ms: number;
  readonly #max: number;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** In the order in which they were begun. */
  readonly #answers = new Map<string, Answer<T>>();

  constructor(options: {
    readonly ms: number;
    readonly max: number;
    readonly clock: Pick<Clock, 'monotonic'>;
  }) {
    this.#ms = options.ms;
    this.#max = options.max;
    this.#clock = options.clock;
  }

  get size(): number {
    return this.#answers.size;
  }

  /** @param reckon is called where no answer is kept; throws what it throws */
  get(key: string, reckon: () => Promise<T>): Promise<T> {
    const now = this.#clock.monotonic();
    this.#forgetBefore(now - this.#ms);
    const known = this.#answers.get(key);
    if (known !== undefined) return known.answer;
    return this.#begin(key, now, reckon);
  }

  #begin(key: string, began: number, reckon: () => Promise<T>): Promise<T> {
    const [oldest] = this.#answers.keys();
    if (oldest !== undefined && this.#answers.size >= this.#max) this.#answers.delete(oldest);
    const entry: Answer<T> = { began, answer: reckon(), isReady: false };
    this.#answers.set(key, entry);
    entry.answer.then(
      () => (entry.isReady = true),
      () => this.#forget(key, entry),
    );
    return entry.answer;
  }

  #forgetBefore(time: number): void {
    for (const [key, entry] of this.#answers) {
      if (entry.began >= time) return;
      if (entry.isReady) this.#forget(key, entry);
    }
  }

  #forget(key: string, entry: Answer<T>): void {
    if (this.#answers.get(key) === entry) this.#answers.delete(key);
  }
}
