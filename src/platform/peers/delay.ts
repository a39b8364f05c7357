/**
 * What two clocks may drift apart, as a part of the time that passes. Real ones stay below a tenth
 * of it.
 */
const DRIFT = 0.001;

/**
 * How long a frame lay somewhere on its way: in a network that stalls, or here unread while this
 * process was busy or stopped. The clocks of the two sides have nothing in common, but the fastest
 * frame so far shows what lies between them; what another took longer, it was late.
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
