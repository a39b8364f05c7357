import type { Timers } from '../../../ledger/ports.ts';

/**
 * Batches small tasks of one kind: what is requested at the same moment, or while a batch runs,
 * goes into the next one. A key that is requested again before its batch begins is done once; while
 * its batch runs, it is done again after it.
 */
export class Batches<R> {
  readonly #options: BatchesOptions<R>;
  readonly #waiting = new Map<string, PromiseWithResolvers<R | undefined>>();
  readonly #running = new Set<Promise<void>>();
  /** Resolves when what was requested at this moment may begin. */
  #soon: Promise<void> | null = null;

  constructor(options: BatchesOptions<R>) {
    this.#options = options;
  }

  /** The result; undefined where there is none or its batch failed: the sweep does it then. */
  do(key: string): Promise<R | undefined> {
    const entry = this.#waiting.get(key) ?? Promise.withResolvers<R | undefined>();
    this.#waiting.set(key, entry);
    this.#soon ??= new Promise((resolve) => {
      // A flush answers many at once: they are one batch.
      this.#options.timers.soon(() => {
        this.#soon = null;
        this.#next();
        resolve();
      });
    });
    return entry.promise;
  }

  /** Resolves when no batch runs. */
  async idle(): Promise<void> {
    while (this.#soon !== null || this.#running.size > 0) {
      await Promise.all([this.#soon, ...this.#running]);
    }
  }

  #next(): void {
    const { atMost, concurrentMax } = this.#options;
    while (this.#waiting.size > 0 && this.#running.size < concurrentMax) {
      const batch = [...this.#waiting.entries().take(atMost)];
      for (const [key] of batch) this.#waiting.delete(key);
      const running: Promise<void> = this.#run(batch).finally(() => {
        this.#running.delete(running);
        this.#next();
      });
      this.#running.add(running);
    }
  }

  async #run(batch: readonly (readonly [string, PromiseWithResolvers<R | undefined>])[]) {
    const results = await this.#results(batch.map(([key]) => key));
    for (const [key, { resolve }] of batch) resolve(results.get(key));
  }

  /**
   * Where a batch fails, its tasks are done one by one, so that a task that always fails affects no
   * other.
   */
  async #results(keys: readonly string[]): Promise<ReadonlyMap<string, R>> {
    const { work, failed } = this.#options;
    try {
      return await work(keys);
    } catch (error) {
      const [key, ...others] = keys;
      if (key !== undefined && others.length === 0) {
        await failed(key, error);
        return new Map();
      }
    }
    const results = new Map<string, R>();
    for (const key of keys) {
      for (const [done, result] of await this.#results([key])) results.set(done, result);
    }
    return results;
  }
}

export type BatchesOptions<R> = {
  readonly timers: Timers;
  readonly atMost: number;
  readonly concurrentMax: number;
  readonly work: (keys: readonly string[]) => Promise<ReadonlyMap<string, R>>;
  /** Never rejects. */
  readonly failed: (key: string, error: unknown) => Promise<void> | void;
};
