// Claims for many endpoints together: all that is asked for during one statement is in the next
// one.
//
// Holds: an endpoint is in a statement once, and its rows go to the one that asked. The rows of a
// statement are bounded. A statement that takes long, or whose connection is silent, holds up those
// that are in it, and no others.
import type { Clock, Log, Timers } from '../ledger/ports.ts';
import type { Sql } from '../src/platform/postgres/postgres.ts';
import { claim, type Claimed } from './claims.ts';

/** Of one statement, unless the first endpoint alone may have more. */
const ROWS_MAX = 512;
/** After so long the next statement does not wait for this one. Most take some milliseconds. */
const STATEMENT_MS = 250;

/** What was claimed, and the worker that has it. */
export type Taken = Claimed & { readonly worker: string };

type Ask = {
  readonly endpointId: string;
  readonly atMost: number;
  readonly answer: PromiseWithResolvers<Taken | null>;
};

export type ClaimerDeps = {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** The id under which this process claims now. */
  readonly worker: () => string;
};

export class Claimer {
  readonly #deps: ClaimerDeps;
  #asked: Ask[] = [];
  /** The loop whose statement the others wait for. */
  #loop: symbol | null = null;

  constructor(deps: ClaimerDeps) {
    this.#deps = deps;
  }

  /** null where nothing may be sent. Rejects where the database does not answer. */
  async take(endpointId: string, atMost: number): Promise<Taken | null> {
    const ask = { endpointId, atMost, answer: Promise.withResolvers<Taken | null>() };
    this.#asked.push(ask);
    if (this.#loop === null) this.#start();
    return ask.answer.promise;
  }

  #start(): void {
    const loop = Symbol('loop');
    this.#loop = loop;
    this.#claimAll(loop).catch((error: unknown) =>
      this.#deps.log.error({ err: error }, 'claiming'),
    );
  }

  async #claimAll(loop: symbol): Promise<void> {
    while (this.#loop === loop && this.#asked.length > 0) {
      const cancel = this.#deps.timers.after(STATEMENT_MS, () => this.#passOn());
      await this.#claim(this.#next());
      cancel();
    }
    if (this.#loop === loop) this.#loop = null;
  }

  /** What is asked for from now on does not wait for the statement under way. */
  #passOn(): void {
    this.#loop = null;
    if (this.#asked.length > 0) this.#start();
  }

  /** Each that asked hears of a failure. */
  async #claim(asks: ReadonlyMap<string, Ask>): Promise<void> {
    const { sql, clock } = this.#deps;
    const worker = this.#deps.worker();
    try {
      const claimed = await claim(sql, { asks: [...asks.values()], worker, now: clock.now() });
      for (const [endpointId, { answer }] of asks) {
        const found = claimed.get(endpointId);
        answer.resolve(found === undefined ? null : { ...found, worker });
      }
    } catch (error) {
      for (const { answer } of asks.values()) answer.reject(error);
    }
  }

  /** The asks of the next statement, by endpoint. */
  #next(): ReadonlyMap<string, Ask> {
    const asks = new Map<string, Ask>();
    const later: Ask[] = [];
    let rows = 0;
    for (const ask of this.#asked) {
      const fits = asks.size === 0 || rows + ask.atMost <= ROWS_MAX;
      if (fits && !asks.has(ask.endpointId)) {
        asks.set(ask.endpointId, ask);
        rows += ask.atMost;
      } else {
        later.push(ask);
      }
    }
    this.#asked = later;
    return asks;
  }
}
