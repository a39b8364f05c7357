import { LedgerUnavailable } from '../ports.ts';
import type { Timers } from '../ports.ts';
import { Tally } from './tally.ts';
import { RoundRobin } from './round-robin.ts';

type Waiting<K, V> = {
  readonly key: K;
  readonly promise: Promise<V | null>;
  readonly resolve: (value: V | null) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Loads by key: each key once, however many calls ask for it; many keys in a query, few queries at
 * a time. The number of waiting keys is bounded: a call beyond it is refused as unavailable, so a
 * cold start does not pile up. Tenants take turns in the keys of a query.
 */
export class Batcher<K, V> {
  readonly #options: BatcherOptions<K, V>;
  readonly #waiting = new Map<string, Waiting<K, V>>();
  readonly #queue = new RoundRobin<string>();
  #running = 0;
  #waiters = 0;
  readonly #waitersOf = new Tally();
  #scheduled = false;

  constructor(options: BatcherOptions<K, V>) {
    this.#options = options;
  }

  /** Calls that wait now. */
  get waiting(): number {
    return this.#waiters;
  }

  /**
   * The value, or null where there is none. Rejects where the load failed or too many keys wait.
   * Without a `tenant`, the owner of the key is not known.
   */
  async get(key: K, tenant = ''): Promise<V | null> {
    const room = this.#options.waitingMax - this.#waiters - 1;
    if (room < 0 || (tenant !== '' && this.#waitersOf.of(tenant) + 1 > room)) {
      throw new LedgerUnavailable('too many calls wait for customers to load');
    }
    this.#waiters += 1;
    this.#waitersOf.add(tenant);
    try {
      return await this.#join(key, tenant).promise;
    } finally {
      this.#waiters -= 1;
      this.#waitersOf.remove(tenant);
    }
  }

  #join(key: K, tenant: string): Waiting<K, V> {
    const name = this.#options.nameOf(key);
    const known = this.#waiting.get(name);
    if (known !== undefined) return known;
    const { promise, resolve, reject } = Promise.withResolvers<V | null>();
    const entry = { key, promise, resolve, reject };
    this.#waiting.set(name, entry);
    this.#queue.push(tenant, name);
    this.#schedule();
    return entry;
  }

  #schedule(): void {
    if (this.#scheduled || this.#running >= this.#options.concurrentMax) return;
    this.#scheduled = true;
    this.#options.timers.soon(() => {
      this.#scheduled = false;
      while (this.#queue.size > 0 && this.#running < this.#options.concurrentMax) {
        const names: string[] = [];
        const takeOne = this.#queue.taking((name) => names.push(name) > 0);
        while (names.length < this.#options.keysMax && takeOne());
        this.#running += 1;
        // Never rejects: a failure goes to those who wait.
        this.#load(names).then(
          () => this.#loaded(),
          () => this.#loaded(),
        );
      }
    });
  }

  #loaded(): void {
    this.#running -= 1;
    if (this.#queue.size > 0) this.#schedule();
  }

  async #load(names: readonly string[]): Promise<void> {
    const entries = names.flatMap((name) => {
      const entry = this.#waiting.get(name);
      return entry === undefined ? [] : [{ name, entry }];
    });
    try {
      const found = new Map(await this.#options.load(entries.map(({ entry }) => entry.key)));
      for (const { name, entry } of entries) {
        this.#waiting.delete(name);
        entry.resolve(found.get(name) ?? null);
      }
    } catch (error) {
      for (const { name, entry } of entries) {
        this.#waiting.delete(name);
        entry.reject(error);
      }
    }
  }
}

export type BatcherOptions<K, V> = {
  readonly timers: Timers;
  readonly nameOf: (key: K) => string;
  /** Pairs of name and value, for those that exist. */
  readonly load: (keys: readonly K[]) => Promise<readonly (readonly [string, V])[]>;
  readonly keysMax: number;
  readonly concurrentMax: number;
  readonly waitingMax: number;
};
