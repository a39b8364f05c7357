// A lane: so many connections for work of one kind, shared fairly by those who ask.
//
// Who uses it: lists and replays, which a tenant can make slow and many. What authenticates, takes
// money or answers a buyer has other connections, and never waits here.
// How: a place for each connection. Whoever asks gets one at once where one is free and the asker
// has fewer than a tenant may hold; else it waits in the tenant's own line. A place that becomes
// free goes to the tenants in turn, one call each.
// Holds: a tenant that asks for more than its share makes nobody wait but itself: it never holds
// all places, its line has a bound in calls and each of them one in time, and what runs is ended by
// the database (the pool's statement timeout).
import type { Timers } from '../../../ledger/ports.ts';
import { Tally } from '../../../ledger/kernel/tally.ts';

export type LaneOptions = {
  readonly places: number;
  /** Of them one tenant holds so many at most. */
  readonly perTenant: number;
  /** Calls of one tenant that may wait, and for how long. */
  readonly waitingMax: number;
  readonly waitMs: number;
  readonly timers: Timers;
};

/** What could not begin: the tenant's own line is full, or was too slow. */
export type NoPlace = 'no_place';

type Waiting = { start(): void };

export class Lane {
  readonly #options: LaneOptions;
  readonly #held = new Tally();
  /** In the order of their turns. */
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

  /** One call of the tenant whose turn it is. A place that is given frees one, so one is enough. */
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
