// Whether an account at Stripe is asked at all: not while it does not answer, but for a probe now
// and then.
//
//     closed ──SILENT_MAX calls in a row without an answer──▶ open ──an answer──▶ closed
//
// Holds: what is not asked is answered so at once: nobody waits for what does not answer.
import type { Clock } from '../../../ledger/ports.ts';

const SILENT_MAX = 5;
const PROBE_MS = 2000;

export type BreakerOptions = {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly opened: () => void;
  readonly closed: () => void;
};

export class Breaker {
  readonly #options: BreakerOptions;
  /** Calls without an answer since the last answer. */
  #silent = 0;
  #probeAt = 0;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#silent >= SILENT_MAX;
  }

  /** Whether a call would be refused now. */
  get isResting(): boolean {
    return this.isOpen && this.#options.clock.monotonic() < this.#probeAt;
  }

  /**
   * Whether this call may be made. While it is open, that is a probe, and the next one is later.
   */
  admits(): boolean {
    if (this.isResting) return false;
    if (this.isOpen) this.#rest();
    return true;
  }

  answered(): void {
    const wasOpen = this.isOpen;
    this.#silent = 0;
    if (wasOpen) this.#options.closed();
  }

  silent(): void {
    const wasOpen = this.isOpen;
    this.#silent += 1;
    if (wasOpen || !this.isOpen) return;
    this.#rest();
    this.#options.opened();
  }

  #rest(): void {
    this.#probeAt = this.#options.clock.monotonic() + PROBE_MS;
  }
}
