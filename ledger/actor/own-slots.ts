import { assert } from '../kernel/assert.ts';
import { SLOTS } from '../limits.ts';

/**
 * The slots that an ownership session serves. Each gain or loss of a slot gives it a new version.
 * Data that was loaded under an older version is not used: another node may have changed it since.
 */
export class OwnSlots {
  /** Odd while it is ours. */
  readonly #versions = new Int32Array(SLOTS);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(slot: number): boolean {
    return ((this.#versions[slot] ?? 0) & 1) === 1;
  }

  gain(slots: readonly number[]): void {
    for (const slot of slots) {
      assert(!this.has(slot), 'a slot that comes was not ours');
      this.#move(slot, 1);
    }
  }

  lose(slots: readonly number[]): void {
    for (const slot of slots) {
      assert(this.has(slot), 'a slot that goes was ours');
      this.#move(slot, -1);
    }
  }

  list(): number[] {
    const slots: number[] = [];
    for (let slot = 0; slot < SLOTS; slot += 1) if (this.has(slot)) slots.push(slot);
    return slots;
  }

  /** As they are now; for `isSince`. */
  mark(): SlotVersions {
    return this.#versions.slice();
  }

  /** Whether the slot has been ours without a break since it was marked. */
  isSince(mark: SlotVersions, slot: number): boolean {
    return this.has(slot) && mark[slot] === this.#versions[slot];
  }

  #move(slot: number, by: 1 | -1): void {
    this.#versions[slot] = (this.#versions[slot] ?? 0) + 1;
    this.#size += by;
  }
}

export type SlotVersions = Readonly<Int32Array>;

/** All of them, for what no node owns. */
export function everySlot(): OwnSlots {
  const slots = new OwnSlots();
  slots.gain([...Array.from({ length: SLOTS }).keys()]);
  return slots;
}

/** Another node owns the slot, or will soon: the caller finds the owner and asks it. */
export class NotOwner extends Error {
  override readonly name = 'NotOwner';
}
