// Calls that have not ended, and those who wait until all that were made before have. Nothing is
// attached to the calls' own promises: a failure that nobody handles stays unhandled.

/** The calls between two flushes. */
export class Epoch {
  waiting = 0;
  readonly ended: Promise<void>;
  end!: () => void;

  constructor() {
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
  }
}

export class Pending {
  #epoch = new Epoch();
  /** Those that a flush waits for. */
  readonly #flushed = new Set<Epoch>();

  /** A call begins; it leaves the epoch at its end. */
  enter(): Epoch {
    this.#epoch.waiting += 1;
    return this.#epoch;
  }

  leave(epoch: Epoch): void {
    epoch.waiting -= 1;
    if (epoch.waiting === 0 && this.#flushed.delete(epoch)) epoch.end();
  }

  /** Resolves when each call that has begun before has ended. */
  async flush(): Promise<void> {
    if (this.#epoch.waiting > 0) {
      this.#flushed.add(this.#epoch);
      this.#epoch = new Epoch();
    }
    await Promise.all(Array.from(this.#flushed, ({ ended }) => ended));
  }
}
