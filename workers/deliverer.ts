// Tickets worked off: claim what is due at an endpoint, send it, write down what became of it.
//
// Holds: a ticket keeps its worker's slot for a moment only; a receiver that hangs goes on hanging in the pool, where each endpoint
// has a bounded share, and the next ticket is another endpoint's turn. What is in flight is bounded for the process.
import type { Clock, Log, Timers } from '../ledger/ports.ts';
import type { Sql } from '../src/platform/postgres.ts';
import { claim, type Claimed } from './claims.ts';
import type { Attempt } from './attempt.ts';
import { Settler } from './settler.ts';
import type { Sweeper } from './sweeper.ts';

/** Sockets of one process, and of them one endpoint's. */
const IN_FLIGHT_MAX = 2000;
const IN_FLIGHT_PER_ENDPOINT_MAX = 64;
/** Rows of one ticket. */
const CLAIM_MAX = 32;
/** How long a ticket waits for its answers before it lets others have their turn. */
const TURN_MS = 400;
/** The results that wait to be written, at most: beyond, nothing new is claimed. */
const UNWRITTEN_MAX = 10_000;
/** When a worker has lost what it claimed, if nobody strikes it off: well beyond the deadline of an attempt. */
const LEASE_MS = 60_000;

export type DelivererDeps = {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly sweeper: Sweeper;
  readonly attempt: Attempt;
  readonly onAttempt: (made: {
    readonly result: string;
    /** Since the event was committed, of a first attempt. */
    readonly sinceCommitMs: number | null;
  }) => void;
};

export class Deliverer {
  readonly #deps: DelivererDeps;
  readonly #settler: Settler;
  readonly #flying = new Map<string, number>();
  readonly #landing = new Set<Promise<void>>();
  #inFlight = 0;

  constructor(deps: DelivererDeps) {
    this.#deps = deps;
    this.#settler = new Settler(deps);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** One ticket. */
  async work(endpointId: string): Promise<void> {
    const { sql, clock, timers, sweeper } = this.#deps;
    const room = Math.min(
      CLAIM_MAX,
      IN_FLIGHT_PER_ENDPOINT_MAX - (this.#flying.get(endpointId) ?? 0),
      IN_FLIGHT_MAX - this.#inFlight,
    );
    // Whoever lands first writes another ticket.
    if (room <= 0 || this.#settler.waiting > UNWRITTEN_MAX) return;
    const { worker } = sweeper;
    const now = clock.now();
    this.#fly(endpointId, room);
    let claimed: Claimed[] = [];
    try {
      claimed = await claim(sql, { endpointId, worker, atMost: room, now, until: now + LEASE_MS });
    } finally {
      this.#fly(endpointId, claimed.length - room);
    }
    if (claimed.length === 0) return;
    const landed = Promise.all(claimed.map((one) => this.#deliver(worker, one))).then(() =>
      claimed.length === room ? sweeper.ticket([endpointId]) : undefined,
    );
    this.#landing.add(landed);
    landed.finally(() => this.#landing.delete(landed)).catch(() => undefined);
    const turn = Promise.withResolvers<void>();
    const cancel = timers.after(TURN_MS, turn.resolve);
    await Promise.race([landed, turn.promise]);
    cancel();
  }

  /** Waits for what is in flight, and for its results to be written. */
  async land(): Promise<void> {
    while (this.#landing.size > 0) await Promise.all(this.#landing);
  }

  #fly(endpointId: string, count: number): void {
    this.#inFlight += count;
    const flying = (this.#flying.get(endpointId) ?? 0) + count;
    if (flying === 0) this.#flying.delete(endpointId);
    else this.#flying.set(endpointId, flying);
  }

  async #deliver(worker: string, claimed: Claimed): Promise<void> {
    const { attempt, log, onAttempt, clock } = this.#deps;
    try {
      const began = clock.now();
      const result = await attempt(claimed);
      const isFirst = claimed.firstAt === null;
      onAttempt({
        result: result.error ?? String(result.statusCode),
        sinceCommitMs: isFirst ? began - claimed.createdAt.getTime() : null,
      });
      await this.#settler.add(worker, result);
    } catch (error) {
      // A bug: the row comes back when its lease is over, and the others go on.
      log.error({ err: error, delivery: claimed.deliveryId }, 'a delivery failed');
    } finally {
      this.#fly(claimed.target.endpointId, -1);
    }
  }
}
