import type { Clock } from '../ports.ts';

/** How far ahead another node's clock may be. One that is further is wrong, and would be everybody's. */
const FOLLOWED_MS_MAX = 2000;

/**
 * The wall clock of business where there are several nodes: a hybrid clock. Nodes tell each other what time it is with all that they ask
 * and answer, and none is behind what it has heard. So what one node has stamped has begun on every node that is asked of it next, and
 * what an owner has decided is not ahead of whoever asked for it, however much their clocks differ, up to the bound.
 *
 * Leases, and everything else that measures time, keep the clock itself.
 */
export class HybridClock {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #onWrong: (aheadMs: number) => void;
  #heard = -Infinity;
  #wrong = 0;

  /** `onWrong` is told of the first clock that is too far ahead. */
  constructor(clock: Pick<Clock, 'now'>, onWrong: (aheadMs: number) => void) {
    this.#clock = clock;
    this.#onWrong = onWrong;
  }

  now(): number {
    const own = this.#clock.now();
    // One that was set back since is believed: it does not stand until it has caught up.
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
  /** How far it is ahead of this node's own clock, because others are. */
  readonly leadMs: number;
  /** How often something was heard of a clock that is too far ahead. */
  readonly wrong: number;
};
