import type { Clock } from '../ports.ts';

/** Milliseconds by both clocks. */
export type Moment = { readonly monotonic: number; readonly wall: number };

export function momentOf(clock: Clock): Moment {
  return { monotonic: clock.monotonic(), wall: clock.now() };
}

/**
 * Until when memory may be served. No other node can take over before the lease that PostgreSQL
 * granted ends, and the lease counts from before the request for it. Both clocks must agree: the
 * monotonic one stops while a machine sleeps.
 */
export class Lease {
  readonly #clock: Clock;
  /** What PostgreSQL grants, less a margin for clocks that run at different speeds. */
  readonly #length: number;
  #until: Moment;

  constructor({ clock, leaseMs }: { clock: Clock; leaseMs: number }, askedAt: Moment) {
    this.#clock = clock;
    this.#length = leaseMs * 0.9;
    this.#until = this.#endOf(askedAt);
  }

  get isValid(): boolean {
    return this.#clock.monotonic() < this.#until.monotonic && this.#clock.now() < this.#until.wall;
  }

  get msLeft(): number {
    const { monotonic, wall } = momentOf(this.#clock);
    return Math.max(0, Math.min(this.#until.monotonic - monotonic, this.#until.wall - wall));
  }

  /** PostgreSQL granted it once more, at some moment after `askedAt`. */
  renew(askedAt: Moment): void {
    this.#until = this.#endOf(askedAt);
  }

  #endOf({ monotonic, wall }: Moment): Moment {
    return { monotonic: monotonic + this.#length, wall: wall + this.#length };
  }
}
