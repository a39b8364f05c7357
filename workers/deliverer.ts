// Tickets worked off: claim what is due at an endpoint, send it, write down what became of it.
//
// Holds: a ticket keeps its worker's slot for a moment only. A receiver that hangs goes on hanging beside it, and gets no more until it has
// answered; the next ticket is another endpoint's turn. What is in flight is bounded for the process.
import type { Clock, Log, Timers } from '../ledger/ports.ts';
import type { Sql } from '../src/platform/postgres.ts';
import type { Attempts } from './attempt.ts';
import { claim, type Claimed, type Due } from './claims.ts';
import { type Result, Settler } from './settler.ts';
import type { Sweeper } from './sweeper.ts';

/** Of one process. */
const IN_FLIGHT_MAX = 2000;
/** Rows of one ticket, and so what an endpoint that hangs can hold of them. */
const CLAIM_MAX = 16;
/** How long a ticket waits for its answers before it lets others have their turn. */
const TURN_MS = 250;
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
  readonly attempts: Attempts;
  readonly onAttempt: (made: {
    readonly result: string;
    /** Since the event was committed, of a first attempt. */
    readonly sinceCommitMs: number | null;
  }) => void;
};

export class Deliverer {
  readonly #deps: DelivererDeps;
  readonly #settler: Settler;
  /** Endpoints whose turn was over before they had answered. */
  readonly #hanging = new Set<string>();
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
    const room = Math.min(CLAIM_MAX, IN_FLIGHT_MAX - this.#inFlight);
    // Whoever lands first writes another ticket.
    if (room <= 0 || this.#hanging.has(endpointId) || this.#settler.waiting > UNWRITTEN_MAX) return;
    const { sql, clock, sweeper } = this.#deps;
    const { worker } = sweeper;
    const now = clock.now();
    const claimed = await claim(sql, {
      endpointId,
      worker,
      now,
      atMost: room,
      until: now + LEASE_MS,
    });
    if (claimed === null) return;
    const landed = this.#sendAll(worker, claimed);
    this.#landing.add(landed);
    landed.finally(() => this.#landing.delete(landed)).catch(() => undefined);
    await this.#takeTurn(endpointId, landed);
    // While it was this one's turn, or after it: the sweep would come to it too, a second later.
    if (claimed.due.length === room && !this.#hanging.has(endpointId)) {
      await sweeper.ticket([endpointId]);
    }
  }

  /** Resolves with the answers, or when the turn is over. Then the endpoint gets nothing more until it has answered. */
  async #takeTurn(endpointId: string, landed: Promise<void>): Promise<void> {
    const turn = Promise.withResolvers<'over'>();
    const cancel = this.#deps.timers.after(TURN_MS, () => turn.resolve('over'));
    const ended = await Promise.race([landed, turn.promise]);
    cancel();
    if (ended !== 'over') return;
    this.#hanging.add(endpointId);
    landed
      .finally(() => this.#hanging.delete(endpointId))
      .then(() => this.#deps.sweeper.ticket([endpointId]))
      .catch((error: unknown) => this.#deps.log.error({ err: error }, 'after a turn'));
  }

  async #sendAll(worker: string, { target, due }: Claimed): Promise<void> {
    this.#inFlight += due.length;
    try {
      const attempt = this.#deps.attempts(target);
      await Promise.all(due.map((one) => this.#deliver(worker, one, attempt)));
    } catch (error) {
      // A bug, or a secret that cannot be read: the rows come back when their lease is over, and the others go on.
      this.#deps.log.error({ err: error, endpoint: target.endpointId }, 'deliveries failed');
    } finally {
      this.#inFlight -= due.length;
    }
  }

  /** Waits for what is in flight, and for its results to be written. */
  async land(): Promise<void> {
    while (this.#landing.size > 0) await Promise.all(this.#landing);
  }

  async #deliver(worker: string, due: Due, attempt: (due: Due) => Promise<Result>): Promise<void> {
    const { clock, onAttempt } = this.#deps;
    const began = clock.now();
    const result = await attempt(due);
    onAttempt({
      result: result.error ?? String(result.statusCode),
      sinceCommitMs: due.firstAt === null ? began - due.createdAt.getTime() : null,
    });
    await this.#settler.add(worker, result);
  }
}
