/**
 * Runs tasks that share a key one after the other. A new one may overtake one that waits. Only for
 * tasks of this process.
 */
export class KeyedMutex<K> {
  readonly #underWay = new Map<K, Turn<K>>();

  /**
   * Runs `task` when no other task with any of these keys is running. Takes all keys at once, so
   * there is no deadlock.
   */
  async alone<T>(keys: readonly K[], task: () => Promise<T>): Promise<T> {
    const turn = this.take(keys) ?? (await this.wait(keys));
    try {
      return await task();
    } finally {
      turn.end();
    }
  }

  /** The turn of these keys, to be ended; null where one of them is taken. */
  take(keys: readonly K[]): Turn<K> | null {
    if (this.#holderOf(keys) !== undefined) return null;
    const turn = new Turn(keys, this.#underWay);
    for (const key of keys) this.#underWay.set(key, turn);
    return turn;
  }

  /** As `take`, when all of them are free. */
  async wait(keys: readonly K[]): Promise<Turn<K>> {
    for (;;) {
      const turn = this.take(keys);
      if (turn !== null) return turn;
      await this.#holderOf(keys)?.ended;
    }
  }

  #holderOf(keys: readonly K[]): Turn<K> | undefined {
    for (const key of keys) {
      const holder = this.#underWay.get(key);
      if (holder !== undefined) return holder;
    }
    return undefined;
  }
}

/** While it lasts, nobody else has its keys. Nobody waits for most turns: these cost no promise. */
export class Turn<K> {
  readonly #keys: readonly K[];
  readonly #underWay: Map<K, Turn<K>>;
  #ended: PromiseWithResolvers<void> | null = null;

  constructor(keys: readonly K[], underWay: Map<K, Turn<K>>) {
    this.#keys = keys;
    this.#underWay = underWay;
  }

  get ended(): Promise<void> {
    this.#ended ??= Promise.withResolvers<void>();
    return this.#ended.promise;
  }

  end(): void {
    for (const key of this.#keys) this.#underWay.delete(key);
    this.#ended?.resolve();
  }
}
