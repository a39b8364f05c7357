import {
  FLUSH_BYTES_A_TURN,
  FLUSH_BYTES_BESIDE_OTHERS,
  FLUSH_BYTES_MAX,
  FLUSH_ROWS_A_TURN,
  FLUSH_ROWS_BESIDE_OTHERS,
  FLUSH_ROWS_MAX,
  TENANT_FLUSH_BYTES_MAX,
  TENANT_FLUSH_ROWS_MAX,
} from '../limits.ts';
import { rowsOf, type Unit } from './journal-unit.ts';

/** The decided units of one flush, in order. */
export class Batch {
  readonly units: Unit[];
  #rows = 0;
  #bytes = 0;
  readonly #ofTenant = new Map<string, { rows: number; bytes: number }>();

  constructor(units: Unit[] = []) {
    this.units = units;
  }

  /** Whether to build its rows and to encode them is too much for one turn. */
  get isLong(): boolean {
    return this.#rows > FLUSH_ROWS_A_TURN || this.#bytes > FLUSH_BYTES_A_TURN;
  }

  /** Whether both are little beside all that may be decided and answered in a turn. */
  get isShort(): boolean {
    return this.#rows <= FLUSH_ROWS_BESIDE_OTHERS && this.#bytes <= FLUSH_BYTES_BESIDE_OTHERS;
  }

  /**
   * A unit is never split: the first unit of a flush, and of an organisation, may exceed the share.
   */
  hasRoomFor({ tenant, size: { rows, bytes } }: Unit): boolean {
    if (this.units.length === 0) return true;
    if (this.#rows + rows > FLUSH_ROWS_MAX || this.#bytes + bytes > FLUSH_BYTES_MAX) return false;
    const own = this.#ofTenant.get(tenant);
    return (
      own === undefined ||
      (own.rows + rows <= TENANT_FLUSH_ROWS_MAX && own.bytes + bytes <= TENANT_FLUSH_BYTES_MAX)
    );
  }

  add(unit: Unit): void {
    const { bytes } = unit.size;
    const rows = rowsOf(unit);
    this.units.push(unit);
    this.#rows += rows;
    this.#bytes += bytes;
    const own = this.#ofTenant.get(unit.tenant);
    if (own === undefined) {
      this.#ofTenant.set(unit.tenant, { rows, bytes });
    } else {
      own.rows += rows;
      own.bytes += bytes;
    }
  }
}
