import { LedgerUnavailable } from '../../ledger/ports.ts';

/**
 * A part of the service that another part calls and that is made after it. Before `bind` it is not
 * there: a call is answered as unavailable, as by a node that is just starting.
 */
export class Late<T extends object> {
  readonly #name: string;
  #part: T | null = null;

  constructor(name: string) {
    this.#name = name;
  }

  /** Makes the part known to those that call it. */
  bind(part: T): T {
    this.#part = part;
    return part;
  }

  /** @throws LedgerUnavailable before `bind` */
  get(): T {
    if (this.#part === null) throw new LedgerUnavailable(`this node is starting: no ${this.#name}`);
    return this.#part;
  }
}
