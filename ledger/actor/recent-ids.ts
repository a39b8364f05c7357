import { assert } from '../kernel/assert.ts';
import { RECENT_IDS_MAX } from '../limits.ts';

/**
 * Ids that were used lately. A retry is looked up first, so it does not spoil a flush for the other
 * units in it. Only a hint: the constraint in the database decides.
 *
 * Tags are kept in flat arrays: a growing Set of strings raised p99 from 1.6 to 23 ms by garbage
 * collection alone. There are two generations; when the young one is full it becomes the old one.
 * The last 20 bits of an id say where its tag stands, the 28 before them are the tag. So one in
 * some hundred million new ids is taken for a recent one, which costs a query.
 */
export class RecentIds {
  // Made when they are needed: a node that idles needs neither.
  #young = NONE;
  #old = NONE;
  #count = 0;

  add(id: string): void {
    if (this.#young === NONE || this.#count >= RECENT_IDS_MAX) {
      const spare = this.#old === NONE ? new Int32Array(PLACES) : this.#old.fill(0);
      [this.#young, this.#old] = [spare, this.#young];
      this.#count = 0;
    }
    const tag = tagOf(id);
    const place = placeOf(this.#young, id, tag);
    if (this.#young[place] === 0) this.#count += 1;
    this.#young[place] = tag;
  }

  has(id: string): boolean {
    const tag = tagOf(id);
    return (
      this.#young[placeOf(this.#young, id, tag)] === tag ||
      this.#old[placeOf(this.#old, id, tag)] === tag
    );
  }
}

/** At most half of the places are taken, so a search soon meets a free one. */
const PLACES = RECENT_IDS_MAX * 2;
assert(PLACES === 1 << 20, 'five digits of an id say a place');

/** One free place, and never taken. */
const NONE = new Int32Array(1);

/** Never 0, which marks a free place. */
function tagOf(id: string): number {
  assert(id.length === 36, () => `not an id: ${id}`);
  return digits(id, 24, 31) + 1;
}

/** Where the tag stands, or the free place where it would go. */
function placeOf(table: Int32Array, id: string, tag: number): number {
  let place = digits(id, 31, 36) % table.length;
  for (;;) {
    const found = table[place];
    if (found === 0 || found === tag) return place;
    place = place + 1 === table.length ? 0 : place + 1;
  }
}

/**
 * At most seven hexadecimal digits, lower case: `Number.parseInt` of them takes five times as long.
 */
function digits(id: string, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i += 1) {
    const code = id.charCodeAt(i);
    value = (value << 4) | ((code & 15) + (code >> 6) * 9);
  }
  return value;
}
