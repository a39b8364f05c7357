/**
 * Runs tasks that share a key one after the other, in order of arrival. Only for tasks of this
 * process.
 */
export class KeyedMutex<K> {
  readonly #underWay = new Map<K, Promise<undefined>>();

  /**
   * Runs `task` when no other task with any of these keys is running. Takes all keys at once, so
   * there is no deadlock.
   */
  async alone<T>(keys: readonly K[], task: () => Promise<T>): Promise<T> {
    for (let isFree = false; !isFree;) {
      isFree = true;
      for (const key of keys) {
        const other = this.#underWay.get(key);
        if (other === undefined) continue;
        isFree = false;
        await other;
      }
    }
    const { promise, resolve } = Promise.withResolvers<undefined>();
    for (const key of keys) this.#underWay.set(key, promise);
    try {
      return await task();
    } finally {
      for (const key of keys) this.#underWay.delete(key);
      resolve(undefined);
    }
  }
}
