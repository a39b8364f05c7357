/**
 * How long a flush waits for more units: group commit.
 *
 * A caller in a loop comes back right after its answer. A flush that began at once, with the units
 * that came during the last one, would miss it: the callers would stay divided into two groups that
 * take turns, and each group would pay the fixed cost of a flush. So a flush waits until as many
 * units have come as the last flush answered, or for as long as that flush took, but 2 ms at most.
 *
 * Holds:
 * - The time counts from the answers. So a node that was idle does not wait.
 * - A caller alone does not wait: it is all that was answered.
 * - Waits in vain are rare: each one doubles the number of flushes that begin at once before the
 *   next wait, up to 127. A wait that three quarters came back to halves that number.
 * - Callers that come at random are not taken for ones that come back. In a wait and in a flush,
 *   which takes as long, equally many come at random. So once a flush has answered those of both,
 *   only half of that number comes in the next wait. The first wait after others is not judged.
 *
 * Times come in. The timer is in `CallersWait`.
 */
export class GroupCommit {
  /** Units that the last flush answered, and units that have come since. */
  #answered = 0;
  #came = 0;
  #waitUntil = 0;
  /** Whether the last flush waited. */
  #hasWaited = false;
  /** Flushes that begin at once after a wait in vain, and how many of these are left. */
  #pause = 0;
  #pauseLeft = 0;

  /** A flush of so many callers' units has landed at `now` and took `ms`. */
  answered(units: number, { now, ms }: { now: number; ms: number }): void {
    this.#answered = units;
    this.#came = 0;
    this.#waitUntil = now + Math.min(ms, WAIT_MS_MAX);
  }

  /** One more unit has come. Whether there is nobody left to wait for. */
  came(): boolean {
    this.#came += 1;
    return this.#came >= this.#answered;
  }

  /** How long the next flush waits, in milliseconds. Asked once for each flush. */
  waitMs(now: number): number {
    if (this.#came >= this.#answered) return 0;
    const isPause = this.#pauseLeft > 0;
    if (!isPause && now < this.#waitUntil) return this.#waitUntil - now;
    if (isPause) this.#pauseLeft -= 1;
    this.#hasWaited = false;
    return 0;
  }

  /** A wait is over. */
  waited(): void {
    if (this.#hasWaited) {
      const helped = this.#came >= this.#answered * HELPFUL_PART;
      this.#pause = helped ? this.#pause >> 1 : Math.min(2 * this.#pause + 1, PAUSE_MAX);
      this.#pauseLeft = this.#pause;
    }
    this.#hasWaited = true;
  }
}

const WAIT_MS_MAX = 2;
const PAUSE_MAX = 127;
const HELPFUL_PART = 3 / 4;
