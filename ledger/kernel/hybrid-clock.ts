import type { Clock } from '../ports.ts';

/**
 * How far ahead another node's clock may be. A clock that is further ahead is wrong and is ignored.
 */
const FOLLOWED_MS_MAX = 2000;

/**
 * The time of business on several nodes: a hybrid logical clock.
 *
 * How it works: each request and reply between nodes carries the sender's time. A node never goes
 * back behind a time that it has received.
 * What holds: a time that one node has stamped is not in the future of the node that is asked next,
 * up to the bound above.
 * What it does not do: measure time. Leases and timeouts use the clock itself.
 */
export class HybridClock {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #onWrong: (aheadMs: number) => void;
  #heard = -Infinity;
  #wrong = 0;

  /** `onWrong` is called for the first clock that is too far ahead. */
  constructor(clock: Pick<Clock, 'now'>, onWrong: (aheadMs: number) => void) {
    this.#clock = clock;
    this.#onWrong = onWrong;
  }

  now(): number {
    const own = this.#clock.now();
    // A clock that was set back is followed: this one does not stop until the other has caught up.
    return this.#heard > own && this.#heard - own <= FOLLOWED_MS_MAX ? this.#heard : own;
  }

  observe(at: number): void {
    if (at <= this.#heard) return;
    const aheadMs = at - this.#clock.now();
    if (aheadMs <= 0) return;
    if (aheadMs <= FOLLOWED_MS_MAX) {
      this.#heard = at;
      return;
    }
    this.#wrong += 1;
    if (this.#wrong === 1) this.#onWrong(aheadMs);
  }

  get stats(): HybridClockStats {
    const own = this.#clock.now();
    return { leadMs: Math.max(0, this.now() - own), wrong: this.#wrong };
  }
}

export type HybridClockStats = {
  /** How far it is ahead of this node's own clock. */
  readonly leadMs: number;
  /** How many times a clock was too far ahead. */
  readonly wrong: number;
};
