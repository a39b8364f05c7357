import { assert } from './assert.ts';

/** How many there are of each key. Of what there is none, nothing is kept. */
export class Tally {
  readonly #counts = new Map<string, number>();

  of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  add(key: string): void {
    this.#counts.set(key, this.of(key) + 1);
  }

  remove(key: string): void {
    const left = this.of(key) - 1;
    assert(left >= 0, 'what is removed was added');
    if (left === 0) this.#counts.delete(key);
    else this.#counts.set(key, left);
  }

  /** The keys that have so many, or more. */
  atLeast(count: number): string[] {
    return [...this.#counts].flatMap(([key, own]) => (own >= count ? [key] : []));
  }
}
