/** Values that can be made again, kept for the next who asks. Starts afresh when it is full. */
export class BoundedCache<V> {
  readonly #values = new Map<string, V>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get(key: string, make: () => V): V {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    if (this.#values.size >= this.#max) this.#values.clear();
    const made = make();
    this.#values.set(key, made);
    return made;
  }
}
