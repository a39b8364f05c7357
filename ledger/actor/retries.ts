import { assert } from '../kernel/assert.ts';
import type { Unit } from './journal-unit.ts';

/**
 * The units whose flush did not land. They are flushed again until all are durable, but for the
 * unit that cannot be written.
 *
 *     one of its units failed it ─▶ divided: each part is a flush; a unit that is alone fails
 *     the database may have      ─▶ an empty flush tests the database
 *                                     slow or lost: flushed again as it was
 *                                     well:         divided, as above
 *
 * Holds: a unit beside a failing one is written again once for each level of parts. No unit is
 * tried more than `TRIES_MAX` times, whatever the database does.
 */
export class Retries {
  /** Each group is a flush of its own. */
  #groups: (readonly Unit[])[] = [];
  /** Units of a flush that failed for a reason that is not known yet. */
  #doubted: (readonly Unit[])[] = [];
  /** How often they did not land, and how often of that alone, by a database that was well. */
  readonly #tries = new WeakMap<Unit, number>();
  readonly #triesAlone = new WeakMap<Unit, number>();

  get size(): number {
    return [...this.#groups, ...this.#doubted].reduce((sum, units) => sum + units.length, 0);
  }

  get isEmpty(): boolean {
    return this.#groups.length === 0 && this.#doubted.length === 0;
  }

  get hasGroups(): boolean {
    return this.#groups.length > 0;
  }

  /** Whether an empty flush must test the database. */
  get isInDoubt(): boolean {
    return this.#doubted.length > 0;
  }

  /** Takes the units of the next group that are accepted. From the first that is not, they stay. */
  take(accept: (unit: Unit) => boolean): void {
    const group = this.#groups.shift();
    assert(group !== undefined, 'a group waits');
    const refused = group.findIndex((unit) => !accept(unit));
    if (refused !== -1) this.#groups.unshift(group.slice(refused));
  }

  /**
   * They were not at fault, or not known to be: once more, by themselves. Those that were tried too
   * often, which fail.
   */
  again(units: readonly Unit[]): readonly Unit[] {
    const { left, spent } = this.#count(units);
    if (left.length > 0) this.#groups.push(left);
    return spent;
  }

  /** One of several is at fault. Those that were tried too often, which fail. */
  divide(units: readonly Unit[]): readonly Unit[] {
    const { left, spent } = this.#count(units);
    this.#split(left);
    return spent;
  }

  /** Either one of them is at fault, or the database is. */
  doubt(units: readonly Unit[]): void {
    assert(units.length > 0, 'somebody is doubted');
    this.#doubted.push(units);
  }

  /** Whose fault it was, now that an empty flush took that part of a lease. Those that fail. */
  judge(partOfLease: number): readonly Unit[] {
    const isWell = partOfLease < WELL_PART;
    assert(this.isInDoubt, 'there is something to judge');
    const failed: Unit[] = [];
    for (const units of this.#doubted.splice(0)) {
      const { left, spent } = this.#count(units);
      failed.push(...spent);
      const [first] = left;
      if (first === undefined) continue;
      if (!isWell) this.#groups.push(left);
      else if (left.length > 1) this.#split(left);
      else if (this.#isAtFault(first)) failed.push(first);
      else this.#groups.push(left);
    }
    return failed;
  }

  /** Takes all. */
  clear(): readonly Unit[] {
    return [...this.#groups.splice(0), ...this.#doubted.splice(0)].flat();
  }

  #split(units: readonly Unit[]): void {
    const length = Math.ceil(units.length / PARTS);
    for (let from = 0; from < units.length; from += length)
      this.#groups.push(units.slice(from, from + length));
  }

  /** Alone, and by a database that is well: the first time may have been its bad luck. */
  #isAtFault(unit: Unit): boolean {
    const tries = (this.#triesAlone.get(unit) ?? 0) + 1;
    this.#triesAlone.set(unit, tries);
    return tries >= TRIES_ALONE_MAX;
  }

  #count(units: readonly Unit[]): { left: readonly Unit[]; spent: readonly Unit[] } {
    const [left, spent]: [Unit[], Unit[]] = [[], []];
    for (const unit of units) {
      const tries = (this.#tries.get(unit) ?? 0) + 1;
      this.#tries.set(unit, tries);
      (tries < TRIES_MAX ? left : spent).push(unit);
    }
    return { left, spent };
  }
}

/**
 * A flush of 8192 rows is single units after five levels. Each level costs one flush that fails:
 * with two parts it would be thirteen.
 */
const PARTS = 8;
const TRIES_ALONE_MAX = 2;
/** More than all levels, and some that were the database's fault. */
const TRIES_MAX = 16;

/** Within which an empty flush of a database that is well is on disk. */
const WELL_PART = 1 / 10;
