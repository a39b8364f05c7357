import { assert, must } from '../kernel/assert.ts';
import { QUEUE_BYTES_MAX, QUEUE_ROWS_MAX, QUEUE_UNITS_MAX } from '../limits.ts';
import { RoundRobin } from '../kernel/round-robin.ts';
import type { Unit } from './journal-unit.ts';

type Waiting = { units: number; rows: number; bytes: number };
type TenantQueue = Waiting & { readonly turns: RoundRobin<Unit> };

/**
 * The units that wait undecided for a flush. Organisations take turns, and of each its customers.
 *
 * Holds: one organisation has at most as much waiting as is still free, in units, rows and bytes:
 * so alone it has half of the whole, and whatever it sends, the next one finds room.
 */
export class WaitQueue {
  /** The one whose turn is next comes first. */
  readonly #tenants = new Map<string, TenantQueue>();
  readonly #all: Waiting = { units: 0, rows: 0, bytes: 0 };

  get size(): number {
    return this.#all.units;
  }

  get rows(): number {
    return this.#all.rows;
  }

  get bytes(): number {
    return this.#all.bytes;
  }

  /** The largest share that one organisation has of what may wait, in units. */
  get largestShare(): number {
    let most = 0;
    for (const { units } of this.#tenants.values()) most = Math.max(most, units);
    return most / QUEUE_UNITS_MAX;
  }

  hasRoomFor({ tenant, size }: Unit): boolean {
    const own = this.#tenants.get(tenant) ?? NOTHING;
    const all = this.#all;
    return (
      own.units + 1 <= QUEUE_UNITS_MAX - all.units - 1 &&
      own.rows + size.rows <= QUEUE_ROWS_MAX - all.rows - size.rows &&
      own.bytes + size.bytes <= QUEUE_BYTES_MAX - all.bytes - size.bytes
    );
  }

  push(unit: Unit): void {
    this.#tenantOf(unit).turns.push(unit.subject, unit);
    this.#count(unit, 1);
  }

  /** They were taken before those that wait. */
  putBack(units: readonly Unit[]): void {
    for (const unit of units.toReversed()) {
      this.#tenantOf(unit).turns.unshift(unit.subject, unit);
      this.#count(unit, 1);
    }
  }

  /**
   * Takes those that are accepted, in turn, until each organisation has none or is refused. Who was
   * refused is first the next time.
   */
  take(accept: (unit: Unit) => boolean): void {
    const takes = (unit: Unit): boolean => {
      if (!accept(unit)) return false;
      this.#count(unit, -1);
      return true;
    };
    let open = [...this.#tenants].map(([tenant, own]) => {
      return { tenant, own, takeOne: own.turns.taking(takes) };
    });
    while (open.length > 0) {
      open = open.filter(({ tenant, own, takeOne }) => {
        if (!takeOne()) return false;
        this.#tenants.delete(tenant);
        if (own.turns.size > 0) this.#tenants.set(tenant, own);
        return own.turns.size > 0;
      });
    }
  }

  /** Takes all. */
  clear(): Unit[] {
    const units: Unit[] = [];
    this.take((unit) => units.push(unit) > 0);
    return units;
  }

  #tenantOf({ tenant }: Unit): TenantQueue {
    const known = this.#tenants.get(tenant);
    if (known !== undefined) return known;
    const fresh = { turns: new RoundRobin<Unit>(), units: 0, rows: 0, bytes: 0 };
    this.#tenants.set(tenant, fresh);
    return fresh;
  }

  #count({ tenant, size }: Unit, by: 1 | -1): void {
    for (const count of [this.#all, must(this.#tenants.get(tenant), 'who waits is in the line')]) {
      count.units += by;
      count.rows += by * size.rows;
      count.bytes += by * size.bytes;
    }
    assert(this.#all.units >= 0 && this.#all.rows >= 0, 'no more is taken than waits');
  }
}

const NOTHING: Waiting = { units: 0, rows: 0, bytes: 0 };
