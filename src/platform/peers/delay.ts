/**
 * The most that two clocks drift apart, as a part of elapsed time. Real clocks stay below a tenth
 * of it.
 */
const DRIFT = 0.001;

/**
 * How long a frame was delayed: in a stalled network, or unread here while this process was busy or
 * stopped. The two monotonic clocks are unrelated, but the fastest frame so far shows their
 * difference; a slower frame was late by what it took longer.
 */
export class Delay {
  #fastestMs = Infinity;
  #at = 0;

  of(sentAt: number, now: number): number {
    const tookMs = now - sentAt;
    this.#fastestMs = Math.min(this.#fastestMs + (now - this.#at) * DRIFT, tookMs);
    this.#at = now;
    return tookMs - this.#fastestMs;
  }
}
