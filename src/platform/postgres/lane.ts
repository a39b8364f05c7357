// A lane: a number of connections for one kind of work, shared fairly by the tenants.
//
// Who uses it: lists and replays, which a tenant can make slow and many. Authentication, payments
// and buyers' pages use other connections and never wait here.
// How: each connection is a place. A call gets a place at once where one is free and its tenant
// holds fewer than its share; else it waits in the tenant's own queue. A freed place goes to the
// tenants in turn, one call each.
// Holds: a tenant that asks for more than its share delays only itself. It never holds all places,
// its queue is bounded in calls, each call in waiting time, and a running query by the pool's
// statement timeout.
import type { Timers } from '../../../ledger/ports.ts';
import { Tally } from '../../../ledger/kernel/tally.ts';

export type LaneOptions = {
  readonly places: number;
  /** Places that one tenant may hold. */
  readonly perTenant: number;
  /** Calls of one tenant that may wait, and for how long. */
  readonly waitingMax: number;
  readonly waitMs: number;
  readonly timers: Timers;
};

/** The call did not begin: the tenant's queue was full or too slow. */
export type NoPlace = 'no_place';

type Waiting = { start(): void };

export class Lane {
  readonly #options: LaneOptions;
  readonly #held = new Tally();
  /** The tenants' queues, in the order of their turns. */
  readonly #lines = new Map<string, Waiting[]>();
  #free: number;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#free = options.places;
  }

  async run<T>(tenant: string, task: () => Promise<T>): Promise<T | NoPlace> {
    const started = this.#mayStart(tenant) ? this.#take(tenant) : this.#wait(tenant);
    if (started !== undefined && !(await started)) return 'no_place';
    try {
      return await task();
    } finally {
      this.#give(tenant);
    }
  }

  #mayStart(tenant: string): boolean {
    return this.#free > 0 && this.#held.of(tenant) < this.#options.perTenant;
  }

  #take(tenant: string): void {
    this.#free -= 1;
    this.#held.add(tenant);
  }

  #give(tenant: string): void {
    this.#free += 1;
    this.#held.remove(tenant);
    this.#next();
  }

  /** Whether it got a place. */
  #wait(tenant: string): Promise<boolean> {
    const { waitingMax, waitMs, timers } = this.#options;
    const line = this.#lines.get(tenant) ?? [];
    if (line.length >= waitingMax) return Promise.resolve(false);
    this.#lines.set(tenant, line);
    return new Promise((resolve) => {
      const cancel = timers.after(waitMs, () => {
        this.#leave(tenant, waiting);
        resolve(false);
      });
      const waiting: Waiting = {
        start: () => {
          cancel();
          resolve(true);
        },
      };
      line.push(waiting);
    });
  }

  #leave(tenant: string, waiting: Waiting): void {
    const line = this.#lines.get(tenant) ?? [];
    const index = line.indexOf(waiting);
    if (index !== -1) line.splice(index, 1);
    if (line.length === 0) this.#lines.delete(tenant);
  }

  /**
   * Starts one call of the tenant whose turn it is. Each start follows one freed place, so one is
   * enough.
   */
  #next(): void {
    for (const [tenant, line] of this.#lines) {
      if (!this.#mayStart(tenant)) continue;
      const first = line.shift();
      this.#lines.delete(tenant);
      if (line.length > 0) this.#lines.set(tenant, line);
      if (first === undefined) continue;
      this.#take(tenant);
      first.start();
      return;
    }
  }
}
