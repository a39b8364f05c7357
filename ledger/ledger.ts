import type { Actor } from './actor/actor.ts';
import type { CustomerRef } from './actor/directory.ts';
import { AlarmDesk } from './actor/alarm-desk.ts';
import { PaymentDesk } from './actor/payment-desk.ts';
import { SubscriptionDesk } from './actor/subscription-desk.ts';
import { Term, type TermDeps } from './actor/term.ts';
import { advanced } from './advance.ts';
import { type GrantOutcome, type VoidOutcome, decideGrant, decideVoid } from './allowance.ts';
import { type BatchItem, recordBatch, recordOne } from './actor/recording.ts';
import type { BatchOutcome, RecordOutcome, UsageRequest } from './outcome.ts';
import type { Grant } from './grants.ts';
import {
  type CheckAnswer,
  type Meter,
  type MeterState,
  balance,
  breakdown,
  check,
  snapshotOf,
} from './meter.ts';
import type { Snapshot } from './meter.ts';
import { LedgerUnavailable, type Tenant } from './ports.ts';

/**
 * The door of the ledger. Everything that moves money or usage comes through here, and nothing that leaves through here is less
 * than durable.
 *
 * A node writes in terms. A term begins when the node has taken its seat and ends when it loses it: then all of its memory is
 * thrown away at once, everything unanswered is refused as unavailable, and the node asks for the seat again. Between terms
 * nothing is answered from memory (I6).
 *
 * Throws `LedgerUnavailable` where it cannot answer now; everything else that it refuses is a value.
 */
export class Ledger {
  readonly #deps: LedgerDeps;
  #term: Term | null = null;
  #closed = false;
  /** Why it will not serve again. */
  #stopped: string | null = null;
  #waitingSince: number;
  #stopClaiming: () => void = () => undefined;
  readonly alarms: AlarmDesk;
  readonly payments = new PaymentDesk(() => this.#live());
  readonly subscriptions = new SubscriptionDesk(() => this.#live());

  constructor(deps: LedgerDeps) {
    this.#deps = deps;
    this.#waitingSince = deps.clock.now();
    this.alarms = new AlarmDesk(deps, { term: () => this.#term, live: () => this.#live() });
  }

  /** Tries for the seat now, and then until it has it. Throws where the database cannot be reached the first time. */
  async open(): Promise<void> {
    await this.#claim();
    this.alarms.start();
  }

  /** Whether it can serve; if not, why. */
  readiness(): { readonly ready: boolean; readonly reason?: string } {
    if (this.#closed) return { ready: false, reason: 'shutting down' };
    if (this.#stopped !== null) return { ready: false, reason: this.#stopped };
    if (this.#term === null) {
      const seconds = Math.round((this.#deps.clock.now() - this.#waitingSince) / 1000);
      return { ready: false, reason: `waiting ${seconds} s for another node to give up its lease` };
    }
    if (!this.#term.journal.isLeaseValid())
      return { ready: false, reason: 'the lease is not renewed' };
    return { ready: true };
  }

  get stats(): Readonly<Record<string, number>> {
    return this.#term === null ? {} : this.#term.stats;
  }

  /** The tenant's customer, or null. Without a promise where it is in memory. */
  find(tenant: Tenant, ref: CustomerRef): Actor | null | Promise<Actor | null> {
    // Finding reads nothing that a lease protects: whoever decides or answers on the actor asks for the lease.
    return (this.#term ?? this.#live()).directory.find(tenant, ref);
  }

  /** Any customer's row may have been changed. */
  forgetAll(): void {
    this.#term?.directory.forgetAll();
  }

  /** The customer's row was changed by somebody else: read it again. */
  forget(customerId: string): void {
    this.#term?.directory.forget(customerId);
  }

  /**
   * Whether `units` may be used now, from memory. Of the tentative and the durable state it reads the one with the lower balance:
   * it never allows on what may still be rolled back, and never forgets what was acknowledged.
   */
  check(actor: Actor, meter: Meter, units: bigint): CheckAnswer | Promise<CheckAnswer> {
    const term = this.#live();
    if (actor.dropped) return this.#checkAgain(actor, meter, units);
    const holding = actor.holding(meter);
    const isSettled = actor.pending === 0 || holding?.durable === holding?.tentative;
    if (holding !== undefined && isSettled) {
      const kept = holding.kept;
      // Asked the same while nothing has changed, it says the same.
      if (
        kept !== null &&
        kept.state === holding.tentative &&
        kept.answer.units === units &&
        this.#deps.orgClock.now(actor.customer) < kept.until
      ) {
        return kept.answer;
      }
    }
    const context = term.context(actor, meter);
    const tentative = holding?.tentative ?? term.emptyState(actor, meter);
    const answer = check(advanced(context, tentative), units);
    if (holding !== undefined && context.now < tentative.nextDue) {
      holding.kept = { answer, state: tentative, until: tentative.nextDue };
    }
    if (isSettled) return answer;
    const durable = holding?.durable ?? term.emptyState(actor, meter);
    const other = check(advanced(context, durable), units);
    return lower(other, answer) ? other : answer;
  }

  async #checkAgain(actor: Actor, meter: Meter, units: bigint): Promise<CheckAnswer> {
    return this.check(await this.#live().again(actor), meter, units);
  }

  /** Records one usage, once for each key. */
  record(actor: Actor, meter: Meter, request: UsageRequest): Promise<RecordOutcome> {
    return recordOne(this.#live(), { actor, meter, request });
  }

  /** Records all of these or, where one is refused, none. Keys that were used before are left out and named. */
  async recordAll(items: readonly BatchItem[]): Promise<BatchOutcome> {
    return recordBatch(this.#live(), items);
  }

  /** Adds a grant, once for each id: `exists` is asked whether an earlier call with a key that gives this id has added it. */
  async grant(
    actor: Actor,
    meter: Meter,
    grant: Grant,
    exists: () => Promise<boolean>,
  ): Promise<GrantOutcome | { readonly kind: 'duplicate' }> {
    const term = this.#live();
    return term.oneAtATime(grant.id, async () => {
      if (await exists()) return { kind: 'duplicate' };
      return term.decide(actor, meter, (context, state) => decideGrant(context, state, grant));
    });
  }

  async voidGrant(actor: Actor, meter: Meter, grantId: string): Promise<VoidOutcome> {
    const term = this.#live();
    return term.decide(actor, meter, (context, state) => decideVoid(context, state, grantId));
  }

  /** What the customer has of each meter, as it is durable now. */
  async balances(found: Actor): Promise<readonly MeterBalance[]> {
    let actor = found;
    while (actor.dropped) actor = await this.#live().again(actor);
    const term = this.#live();
    return [...actor.holdings.values()].flatMap(({ meter, durable }) => {
      if (durable === undefined) return [];
      const state = advanced(term.context(actor, meter), durable);
      return [{ meter, snapshot: snapshotOf(state), breakdown: breakdown(state), state }];
    });
  }

  /** Takes no new work, writes what is queued, and lets the seat go. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopClaiming();
    this.alarms.stop();
    await this.#term?.journal.close();
    this.#term = null;
  }

  /** Refuses everything that has no answer yet: the process must end, and the database does not answer. */
  abandon(): void {
    this.#closed = true;
    this.#term?.journal.abandon();
  }

  #live(): Term {
    const term = this.#term;
    if (term === null || this.#closed || !term.journal.isLeaseValid()) {
      throw new LedgerUnavailable(this.readiness().reason ?? 'this node cannot answer now');
    }
    return term;
  }

  async #claim(): Promise<void> {
    const { storage, clock, log } = this.#deps;
    const askedAt = { monotonic: clock.monotonic(), wall: clock.now() };
    const fence = await storage.claim();
    if (this.#closed) {
      // It came too late: the next node shall not wait for it.
      if (fence !== null) await storage.release(fence);
      return;
    }
    if (fence === null) return this.#claimLater();
    log.info({ node: fence.node, epoch: String(fence.epoch) }, 'took the seat');
    const term: Term = new Term(this.#deps, {
      fence,
      askedAt,
      onLost: (why, howLong) => {
        if (this.#term !== term) return;
        this.#term = null;
        if (howLong === 'for good') {
          this.#stopped = why;
          return;
        }
        this.#waitingSince = clock.now();
        this.#claimLater();
      },
    });
    this.#term = term;
  }

  #claimLater(): void {
    if (this.#closed) return;
    const { timers, log, leaseMs } = this.#deps;
    this.#stopClaiming = timers.after(leaseMs / 5, () => {
      this.#claim().catch((error: unknown) => {
        log.warn({ err: error }, 'could not ask for the seat');
        this.#claimLater();
      });
    });
  }
}

export type LedgerDeps = Omit<TermDeps, 'onLost'>;

export type MeterBalance = {
  readonly meter: Meter;
  readonly snapshot: Snapshot;
  readonly breakdown: ReturnType<typeof breakdown>;
  readonly state: MeterState;
};

function lower(a: CheckAnswer, b: CheckAnswer): boolean {
  const [left, right] = [balance(a.snapshot), balance(b.snapshot)];
  if (left === null) return false;
  if (right === null) return true;
  // At the same balance the one that denies.
  return left < right || (left === right && !a.allowed);
}
