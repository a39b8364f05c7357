// The time of a test's own server. The machine's would move for all servers of the process.
import type { Clock } from '../../ledger/ports.ts';
import { clock } from '../../src/platform/clock.ts';

export class MovedClock implements Clock {
  #at: number | null = null;

  /** It stands still there, so that times are exact; null lets it go on as the machine's. */
  travel(at: number | null): void {
    this.#at = at;
  }

  now(): number {
    return this.#at ?? clock.now();
  }

  monotonic(): number {
    return clock.monotonic();
  }
}
