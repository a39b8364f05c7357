// The relay: committed events become deliveries. The transaction that writes an event queues it;
// the relay passes the queue on, a bounded step at a time.
//
// How it works: whoever commits events tells, and the relay also looks every second. A step is one
// statement (`relay_events`, in the migrations). It takes the oldest events of organisations in
// turn, gives each the next position, writes its deliveries, and takes it off the queue. Any number
// of relays may run; only one has the step, and the others leave it to that one.
// Holds: an event is passed once, whatever is killed when: it is on the queue until the commit that
// passes it. Within a step no organisation waits for more than ROWS_MAX rows of another. Positions
// have no gap, and those of an organisation are in the order of its commits. An event that cannot
// be passed is set aside, alone, and logged.
// Does not: remember anything. A database that was restored, or failed over, has all of its state.
import { type Clock, type Log, pause, type Timers } from '../ledger/ports.ts';
import type { Executor, Sql } from '../src/platform/postgres/postgres.ts';
import { type Channel, tell } from '../src/platform/postgres/tell.ts';

const CHANNEL: Channel = 'tollhouse_events';
const SWEEP_MS = 1000;
/** Of one step. An event for more endpoints than ROWS_MAX is a step of its own. */
const EVENTS_MAX = 250;
const ROWS_MAX = 500;
/**
 * While there is more, the relay rests as long as it worked: others need the database too. Workers
 * deliver at a quarter of its rate.
 */
const REST = 1;

export type Step = {
  /** Events. */
  readonly passed: number;
  /** Deliveries. */
  readonly made: number;
  /** Events that were set aside, and why the last of them was. */
  readonly failed: readonly string[];
  readonly why: string | null;
  readonly more: boolean;
  /**
   * Endpoints with deliveries that are due, and whose events got positions: "organisation mode".
   */
  readonly due: readonly string[];
  readonly news: readonly string[];
};

/** One step. null where another relay has it. */
export async function passEvents(sql: Executor): Promise<Step | null> {
  const [step] = await sql<Step[]>`
    select passed::int, made::int, failed, why, more, due, news from relay_events(${EVENTS_MAX}, ${ROWS_MAX})`;
  if (step === undefined) return null;
  // Events that were passed one by one name theirs each.
  return { ...step, due: [...new Set(step.due)], news: [...new Set(step.news)] };
}

export type RelayDeps = {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
};

export class Relay {
  readonly #deps: RelayDeps;
  #stopTimer: () => void = () => undefined;
  #unlisten: () => Promise<void> = () => Promise.resolve();
  #running: Promise<void> | null = null;
  #isAsked = false;
  #isFailing = false;
  #closed = false;

  constructor(deps: RelayDeps) {
    this.#deps = deps;
  }

  async open(): Promise<void> {
    const listening = await this.#deps.sql.listen(CHANNEL, () => {
      // While steps fail, the sweep tries.
      if (!this.#isFailing) this.#wake();
    });
    this.#unlisten = () => listening.unlisten();
    this.#sweep();
  }

  /** The current step is the last one. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopTimer();
    await this.#running;
    await this.#unlisten().catch(() => undefined);
  }

  #sweep(): void {
    this.#wake();
    this.#stopTimer = this.#deps.timers.after(SWEEP_MS, () => this.#sweep());
  }

  #wake(): void {
    if (this.#closed) return;
    this.#isAsked = true;
    this.#running ??= this.#run().finally(() => (this.#running = null));
  }

  /** Works until the queue is empty, or another relay has the step. Never rejects. */
  async #run(): Promise<void> {
    const { sql, clock, timers, log } = this.#deps;
    while (this.#isAsked && !this.#closed) {
      this.#isAsked = false;
      const began = clock.monotonic();
      try {
        const step = await passEvents(sql);
        this.#isFailing = false;
        if (step === null) continue;
        for (const endpoint of step.due) tell(sql, 'tollhouse_deliveries', endpoint);
        if (step.news.length > 0) tell(sql, 'tollhouse_positions', step.news.join(','));
        if (step.failed.length > 0) {
          log.error({ events: step.failed, why: step.why }, 'events could not be passed on');
        }
        if (!step.more) continue;
        this.#isAsked = true;
        await pause(timers, (clock.monotonic() - began) * REST);
      } catch (error) {
        if (!this.#isFailing) log.warn({ err: error }, 'events are not passed on');
        this.#isFailing = true;
        return;
      }
    }
  }
}
