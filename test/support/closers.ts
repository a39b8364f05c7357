/** Closes everything, last opened first, even after errors. */
export class Closers {
  readonly #closers: (() => Promise<void> | void)[] = [];

  push(closer: () => Promise<void> | void): void {
    this.#closers.push(closer);
  }

  async close(): Promise<void> {
    for (let closer = this.#closers.pop(); closer !== undefined; closer = this.#closers.pop()) {
      try {
        await closer();
      } catch (error) {
        console.error(error instanceof Error ? error.message : error);
      }
    }
  }
}
