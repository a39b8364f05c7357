// The sweeper: due deliveries become tickets, at once when it is told of them, and every second in
// any case.
//
// Holds: the sweep recovers from everything: a ticket that Redis lost, an add that failed, a worker
// that was killed, a notification that nobody heard, a retry whose time has come. It cannot flood:
// a ticket is for an endpoint, not for a row.
import type { Clock, Log, Timers } from '../ledger/ports.ts';
import type { Sql } from '../src/platform/postgres/postgres.ts';
import type { Channel } from '../src/platform/postgres/tell.ts';
import { reconcileDeliveries } from '../src/records/delivery-reconciliation.ts';
import {
  type Due,
  endpointsDue,
  heartbeat,
  letGoOfLost,
  signOff,
  signOn,
  expireWorkers,
} from './claims.ts';
import { giveUp } from './health.ts';
import type { TicketQueue } from './queue.ts';

const CHANNEL: Channel = 'tollhouse_deliveries';
const SWEEP_MS = 1000;
/**
 * Notifications that come together become one addition, with one ticket for each endpoint. After an
 * addition the next one waits four times as long as that took: in a flood tickets cost a fifth of
 * the time at most, and each of them finds more to send. Few tickets take less than a millisecond.
 */
const GATHER_MS = 5;
const GATHER_TIMES = 4;
/**
 * Each time after so many sweeps, it looks for deliveries that are held, due or claimed and should
 * not be.
 */
const ASTRAY_SWEEPS = 5;
/** A worker that was silent for so long is gone: five sweeps. */
const SILENCE_MS = 5000;

export type SweeperDeps = {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly tickets: TicketQueue;
  readonly newWorkerId: () => string;
  /** The deliveries that this process has. */
  readonly inHand: ReadonlySet<Due>;
};

export class Sweeper {
  readonly #deps: SweeperDeps;
  /** The id under which this process claims. It gets another one after it expired. */
  worker: string;
  readonly #told = new Set<string>();
  #gatherMs = GATHER_MS;
  #stopTimer: () => void = () => undefined;
  #stopGathering: () => void = () => undefined;
  #sweeping: Promise<void> = Promise.resolve();
  #unlisten: () => Promise<void> = () => Promise.resolve();
  #closed = false;
  #sweeps = 0;
  #mayBeMore = false;
  #isQueueAway = false;

  constructor(deps: SweeperDeps) {
    this.#deps = deps;
    this.worker = deps.newWorkerId();
  }

  async open(): Promise<void> {
    const { sql } = this.#deps;
    await signOn(sql, this.worker);
    const listening = await sql.listen(CHANNEL, (endpointId) => this.#hear(endpointId));
    this.#unlisten = () => listening.unlisten();
    this.#next();
  }

  /** Stops sweeping and listening. `leave` releases the deliveries that are still claimed. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopTimer();
    this.#stopGathering();
    await this.#sweeping;
    await this.#unlisten().catch(() => undefined);
  }

  async leave(): Promise<void> {
    try {
      await signOff(this.#deps.sql, this.worker);
    } catch (error) {
      this.#deps.log.warn(
        { err: error },
        "in-flight deliveries retry after this worker's heartbeat expires",
      );
    }
  }

  /** An endpoint may have something due. */
  async ticket(endpointIds: readonly string[]): Promise<void> {
    if (endpointIds.length === 0) return;
    try {
      await this.#deps.tickets.add(endpointIds);
      this.#isQueueAway = false;
    } catch (error) {
      // Once, and not for every event of an outage.
      if (!this.#isQueueAway) {
        this.#deps.log.warn({ err: error }, 'no tickets for deliveries: Redis does not answer');
      }
      this.#isQueueAway = true;
    }
  }

  #hear(endpointId: string): void {
    if (this.#closed) return;
    if (this.#told.size === 0) {
      this.#stopGathering = this.#deps.timers.after(this.#gatherMs, () => {
        this.#tell().catch((error: unknown) => this.#deps.log.error({ err: error }, 'tickets'));
      });
    }
    this.#told.add(endpointId);
  }

  async #tell(): Promise<void> {
    const { clock } = this.#deps;
    const told = [...this.#told];
    this.#told.clear();
    const began = clock.monotonic();
    await this.ticket(told);
    const wanted = (clock.monotonic() - began) * GATHER_TIMES;
    this.#gatherMs = Math.min(Math.max(wanted, GATHER_MS), SWEEP_MS);
  }

  #next(): void {
    if (this.#closed) return;
    this.#stopTimer = this.#deps.timers.after(SWEEP_MS, () => {
      this.#sweeping = this.#sweep().finally(() => this.#next());
    });
  }

  /**
   * Puts the deliveries of enabled and disabled endpoints right, a batch at each sweep while there
   * is more; lost ones are due.
   */
  async #reconcile(): Promise<void> {
    this.#sweeps += 1;
    if (!this.#mayBeMore && this.#sweeps % ASTRAY_SWEEPS !== 0) return;
    const { sql, clock, inHand } = this.#deps;
    const now = clock.now();
    this.#mayBeMore = await reconcileDeliveries(sql, { now });
    const ids = Array.from(inHand, ({ deliveryId }) => deliveryId);
    await letGoOfLost(sql, { worker: this.worker, inHand: ids, now });
  }

  async #sweep(): Promise<void> {
    const { sql, clock, log, newWorkerId } = this.#deps;
    try {
      if (!(await heartbeat(sql, this.worker))) {
        this.worker = newWorkerId();
        await signOn(sql, this.worker);
      }
      await expireWorkers(sql, SILENCE_MS);
      await this.#reconcile();
      await giveUp(sql, clock.now());
      await this.ticket(await endpointsDue(sql, clock.now()));
    } catch (error) {
      log.warn({ err: error }, 'due deliveries could not be looked up');
    }
  }
}
