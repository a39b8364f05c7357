/** Values that can be made again, kept for the next who asks. Starts afresh when it is full. */
export class BoundedCache<V> {
  readonly #values = new Map<string, V>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  /** Returns the value. */
  keep(key: string, value: V): V {
    if (this.#values.size >= this.#max) this.#values.clear();
    this.#values.set(key, value);
    return value;
  }
}
