// Works tickets off: claims what is due at an endpoint, sends it, and hands on the results.
//
// Holds: a ticket keeps its slot for a moment only. An endpoint that hangs goes on hanging beside
// it, and gets no more until it has answered; the next ticket is another endpoint's turn. The
// deliveries in flight are bounded for the process.
import type { Clock, Log, Timers } from '../ledger/ports.ts';
import type { Sql } from '../src/platform/postgres/postgres.ts';
import type { Attempts } from './attempt.ts';
import { Claimer } from './claimer.ts';
import type { Claimed, Due } from './claims.ts';
import { type Result, Settler } from './settler.ts';
import type { Sweeper } from './sweeper.ts';

/** In flight, of one process. */
const IN_FLIGHT_MAX = 2000;
/** Rows of one claim: few, because an endpoint that hangs holds as many; more while one answers. */
const CLAIM_MIN = 4;
const CLAIM_MAX = 32;
/** How long a ticket waits for its answers before the next endpoint has its turn. */
const TURN_MS = 250;
/** How many results may wait to be written. Beyond that nothing new is claimed. */
const UNWRITTEN_MAX = 10_000;

export type DelivererDeps = {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly sweeper: Sweeper;
  readonly attempts: Attempts;
  /** Claimed and not settled. */
  readonly inHand: Set<Due>;
  readonly onAttempt: (made: {
    readonly result: string;
    /** From the event's commit to the end of a first attempt. */
    readonly sinceCommitMs: number | null;
  }) => void;
};

export class Deliverer {
  readonly #deps: DelivererDeps;
  readonly #claimer: Claimer;
  readonly #settler: Settler;
  /** Endpoints whose turn ended before they had answered. */
  readonly #hanging = new Set<string>();
  /** Rows of the next claim, of endpoints that answer and have more. */
  readonly #pace = new Map<string, number>();
  readonly #sending = new Set<Promise<void>>();
  /** Rows that claims under way may return. */
  #claiming = 0;

  constructor(deps: DelivererDeps) {
    this.#deps = deps;
    const { sweeper } = deps;
    this.#claimer = new Claimer({ ...deps, worker: () => sweeper.worker });
    this.#settler = new Settler(deps);
  }

  /** One ticket: claims again while its turn lasts and there is more. */
  async work(endpointId: string): Promise<void> {
    const { clock, sweeper } = this.#deps;
    const over = clock.monotonic() + TURN_MS / 2;
    let isMore = await this.#step(endpointId);
    while (isMore && clock.monotonic() < over) isMore = await this.#step(endpointId);
    // The sweep would find it too, a second later.
    if (isMore) await sweeper.ticket([endpointId]);
  }

  /** Whether there may be more to do for the endpoint now. */
  async #step(endpointId: string): Promise<boolean> {
    const pace = this.#pace.get(endpointId) ?? CLAIM_MIN;
    const { inHand } = this.#deps;
    const atMost = Math.min(pace, IN_FLIGHT_MAX - inHand.size - this.#claiming);
    // The first one that ends writes another ticket.
    if (atMost <= 0 || this.#hanging.has(endpointId) || this.#settler.waiting > UNWRITTEN_MAX) {
      return false;
    }
    this.#claiming += atMost;
    const claimed = await this.#claimer
      .take(endpointId, atMost)
      .finally(() => (this.#claiming -= atMost));
    if (claimed === null) return false;
    const sent = this.#sendAll(claimed.worker, claimed);
    this.#sending.add(sent);
    sent.finally(() => this.#sending.delete(sent)).catch(() => undefined);
    const isInTime = await this.#takeTurn(endpointId, sent);
    const isMore = isInTime && claimed.due.length === atMost;
    if (isMore) this.#pace.set(endpointId, Math.min(pace * 2, CLAIM_MAX));
    else this.#pace.delete(endpointId);
    return isMore;
  }

  /**
   * Whether it answered before its turn ended. If not, the endpoint gets nothing more until it has.
   */
  async #takeTurn(endpointId: string, sent: Promise<void>): Promise<boolean> {
    const turn = Promise.withResolvers<'over'>();
    const cancel = this.#deps.timers.after(TURN_MS, () => turn.resolve('over'));
    const ended = await Promise.race([sent, turn.promise]);
    cancel();
    if (ended !== 'over') return true;
    this.#hanging.add(endpointId);
    sent
      .finally(() => this.#hanging.delete(endpointId))
      .then(() => this.#deps.sweeper.ticket([endpointId]))
      .catch((error: unknown) => this.#deps.log.error({ err: error }, 'after a turn'));
    return false;
  }

  async #sendAll(worker: string, { target, due }: Claimed): Promise<void> {
    const { inHand } = this.#deps;
    for (const one of due) inHand.add(one);
    try {
      const attempt = this.#deps.attempts(target);
      await Promise.all(due.map((one) => this.#deliver(worker, one, attempt)));
    } catch (error) {
      // A bug, or a secret that cannot be decrypted. The sweep releases the deliveries, and the
      // others go on.
      this.#deps.log.error({ err: error, endpoint: target.endpointId }, 'deliveries failed');
    } finally {
      for (const one of due) inHand.delete(one);
    }
  }

  /** Waits for the deliveries in flight, and for their results to be written. */
  async drain(): Promise<void> {
    while (this.#sending.size > 0) await Promise.all(this.#sending);
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
