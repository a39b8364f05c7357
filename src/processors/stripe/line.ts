// The line to an account at Stripe: how many calls are under way at once, and whether any is made.
//
// Holds: one account's calls wait for no other account's. Kinds of calls take turns, so a buyer
// waits for no queue of renewals. A call that is not made moves no money; it is repeated later,
// under its key.
import Stripe from 'stripe';
import type { Clock, Log, Timers } from '../../../ledger/ports.ts';
import { Lane } from '../../platform/postgres/lane.ts';
import { Breaker } from './breaker.ts';

/** Stripe takes some hundred calls a second of an account, and answers most in a third of one. */
const PLACES = 24;
/** For calls of one kind. */
const PLACES_OF_KIND = 16;
/** As many as alarms that may ring at once (ledger/actor/alarms.ts), of each kind. */
const WAITING_MAX = 600;
/** What waits longer has no time left for its answer. */
const WAIT_MS = 3000;

/** The call was not made: Stripe is silent, or too many calls wait. */
export class NotAsked extends Error {}

export type LineDeps = {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly timers: Timers;
  readonly log: Log;
};

export class Line {
  readonly #lane: Lane;
  readonly #breaker: Breaker;

  /** @param processor its name in the log */
  constructor({ clock, timers, log }: LineDeps, processor: string) {
    this.#lane = new Lane({
      places: PLACES,
      perTenant: PLACES_OF_KIND,
      waitingMax: WAITING_MAX,
      waitMs: WAIT_MS,
      timers,
    });
    this.#breaker = new Breaker({
      clock,
      opened: () => log.error({ processor }, 'Stripe circuit breaker is open: it is only probed'),
      closed: () => log.info({ processor }, 'Stripe circuit breaker is closed: it answers again'),
    });
  }

  /** Whether Stripe does not answer on it, and is only probed. */
  get isSilent(): boolean {
    return this.#breaker.isOpen;
  }

  /** What `ask` resolves to. @throws what it throws; NotAsked where it is not called */
  async ask<T>(kind: string, ask: () => Promise<T>): Promise<T> {
    if (this.#breaker.isResting) throw new NotAsked('it does not answer');
    const done = await this.#lane.run(kind, async () => ({ value: await this.#asked(ask) }));
    if (done === 'no_place') throw new NotAsked('too many calls wait');
    return done.value;
  }

  async #asked<T>(ask: () => Promise<T>): Promise<T> {
    if (!this.#breaker.admits()) throw new NotAsked('it does not answer');
    try {
      const value = await ask();
      this.#breaker.answered();
      return value;
    } catch (error) {
      if (isSilence(error)) this.#breaker.silent();
      else if (error instanceof Stripe.errors.StripeError) this.#breaker.answered();
      throw error;
    }
  }
}

/** A 409 says that another call has this key: that is an answer. */
function isSilence(error: unknown): boolean {
  const { StripeConnectionError, StripeAPIError } = Stripe.errors;
  if (error instanceof StripeConnectionError) return true;
  return error instanceof StripeAPIError && (error.statusCode ?? 500) >= 500;
}

/** The lines to all accounts, by the account's id here. */
export class Lines {
  readonly #deps: LineDeps;
  readonly #lines = new Map<string, Line>();

  constructor(deps: LineDeps) {
    this.#deps = deps;
  }

  of({ id, name }: { readonly id: string; readonly name: string }): Line {
    const known = this.#lines.get(id);
    if (known !== undefined) return known;
    const line = new Line(this.#deps, name);
    this.#lines.set(id, line);
    return line;
  }

  /** How many do not answer. */
  get silent(): number {
    return [...this.#lines.values()].filter(({ isSilent }) => isSilent).length;
  }
}
