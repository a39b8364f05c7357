import { assert } from './assert.ts';

/** Counts by key. A key with a count of 0 takes no memory. */
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

  /** The keys with this count or more. */
  atLeast(count: number): string[] {
    return [...this.#counts].flatMap(([key, own]) => (own >= count ? [key] : []));
  }
}
