// Bounds how long requests begin in one turn of the event loop.
//
// Why: Bun hands on at once all requests that a connection has sent, and what is answered without a
// wait is answered in the same turn: 50,000 pipelined ones of a stranger held everybody for
// seconds.
// Holds: where requests have begun for TURN_MS, at most twice that, in a turn, further ones wait
// for its end. Then each connection has one. For Bun does not answer a request while the one before
// it on its connection waits: it ends the connection. So who pipelines more than that loses the
// connection, and everybody else waits for less than a turn.
// Costs: a comparison for a request, and one timer for TURN_MS.
import { breathe, type Timers } from '../../../ledger/ports.ts';

const TURN_MS = 5;

export class Entrance {
  readonly #timers: Timers;
  #until = Number.NEGATIVE_INFINITY;
  /** Until the turn ends in which `#until` was set. */
  #isSameTurn = false;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** undefined where a request may begin now, else it waits for that. */
  enter(now: number): Promise<void> | undefined {
    if (now < this.#until) return undefined;
    if (this.#isSameTurn) return breathe(this.#timers);
    this.#until = now + TURN_MS;
    this.#isSameTurn = true;
    this.#timers.soon(() => {
      this.#isSameTurn = false;
    });
    return undefined;
  }
}
