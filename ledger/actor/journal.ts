import { assert } from '../assert.ts';
import type { Effects } from '../effects.ts';
import { FLUSH_TRANSFERS_MAX, QUEUE_TRANSFERS_MAX, QUEUE_UNITS_MAX } from '../limits.ts';
import { type Clock, type Log, pause, type Timers } from '../ports.ts';
import { RowBuilder } from './rows.ts';
import type { Fence, FlushRows, Storage } from '../storage.ts';

/**
 * The one writer of a process. Units are decided against memory at once and queue up; whatever queued while the last flush was on
 * its way goes into the next one. There is no timer: an idle service answers in one commit, a busy one grows its batches.
 *
 *     submit ─▶ decide, applied to the tentative state ─▶ queue ─▶ flush ─▶ durable ─▶ reply leaves
 *
 * Holds:
 * - Nothing leaves for a unit before its flush is committed (I8), not even a refusal that rests on what is not yet durable.
 * - Flushes are numbered without a gap (I7); each moves the node's fence, so that a node which lost its seat writes nothing (I6).
 * - Units become durable in the order in which they were decided.
 *
 * When a flush fails:
 * - `fenced`: everything queued is refused as unavailable, and the owner of the journal drops all memory; for good where the database
 *   is behind what it acknowledged.
 * - `duplicate`: an id was in use. The units that brought it are told so; the rest is rolled back and decided again.
 * - `rejected`: a broken invariant. Units are flushed one by one until the guilty one fails alone; its callers get the error.
 * - `unknown`: never retried blindly. The storage makes sure the lost flush can no longer land and tells whether it did.
 *
 * Does not: choose who owns what, load actors, or know what a unit means.
 */
export class Journal {
  readonly #deps: JournalDeps;
  readonly #rows = new RowBuilder();
  #queue: Unit[] = [];
  #queuedTransfers = 0;
  #fence: Fence;
  #flushing = false;
  #scheduled = false;
  #closed = false;
  /** How many units are still to be flushed one by one, to find the one that the database rejects. */
  #isolated = 0;
  /** What the flush under way is about. */
  #inHand: readonly Unit[] = [];
  #leaseUntil: { monotonic: number; wall: number };
  #idle: (() => void)[] = [];
  #stopHeartbeat: () => void = () => undefined;
  readonly #stats = { flushes: 0, transfers: 0, units: 0, overloaded: 0, rollbacks: 0 };

  constructor(deps: JournalDeps, claim: { fence: Fence; askedAt: Lease }) {
    assert(deps.leaseMs > 0 && claim.fence.epoch > 0n, 'a journal has a seat');
    this.#deps = deps;
    this.#fence = claim.fence;
    this.#leaseUntil = this.#lease(claim.askedAt);
    this.#beat();
  }

  get stats(): Readonly<Record<string, number>> {
    return {
      ...this.#stats,
      queuedUnits: this.#queue.length,
      queuedTransfers: this.#queuedTransfers,
      leaseMs: this.#leaseMsLeft(),
    };
  }

  get node(): number {
    return this.#fence.node;
  }

  get fence(): Fence {
    return this.#fence;
  }

  /**
   * Whether memory may be served: no other node can have taken over before the lease that PostgreSQL granted is over, and ours is
   * counted from before we asked for it. Both clocks must agree, because the monotonic one stands still while a machine sleeps.
   */
  isLeaseValid(): boolean {
    const { clock } = this.#deps;
    return (
      !this.#closed &&
      clock.monotonic() < this.#leaseUntil.monotonic &&
      clock.now() < this.#leaseUntil.wall
    );
  }

  isOverloaded(): boolean {
    return this.#queue.length >= QUEUE_UNITS_MAX || this.#queuedTransfers >= QUEUE_TRANSFERS_MAX;
  }

  /** Decides the unit now. Its `settle` is called once: when the decision is durable, or with why it cannot be. */
  submit(unit: Unit): void {
    if (this.#closed || !this.isLeaseValid()) return unit.settle('unavailable');
    if (this.isOverloaded()) {
      this.#stats.overloaded += 1;
      return unit.settle('overloaded');
    }
    if (!this.#decide(unit)) return;
    // What depends on nothing that is still on its way may leave at once.
    if (unit.effects.length === 0 && !unit.isWaiting()) return unit.settle('committed');
    this.#queue.push(unit);
    this.#queuedTransfers += transfersOf(unit);
    this.#schedule();
  }

  /** Resolves when everything submitted so far is settled. */
  async drained(): Promise<void> {
    if (!this.#flushing && this.#queue.length === 0) return;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#idle.push(() => resolve(undefined));
    await promise;
  }

  /** Writes what is queued, and lets the seat go. Its owner lets nothing new in. */
  async close(): Promise<void> {
    this.#stopHeartbeat();
    await this.drained();
    this.#closed = true;
    try {
      await this.#deps.storage.release(this.#fence);
    } catch (error) {
      this.#deps.log.warn(
        { err: error },
        'the seat was not released: its lease runs out by itself',
      );
    }
  }

  /** Refuses what is queued and what is under way: the process must end, and what became of it is not known. */
  abandon(): void {
    this.#lose(this.#inHand, 'abandoned');
  }

  /** The same, where the seat was seen to be another's. */
  lose(): void {
    this.#lose(this.#inHand, TAKEN);
  }

  #decide(unit: Unit): boolean {
    try {
      unit.decide();
      return true;
    } catch (error) {
      // A bug in one decision must not take the others with it: it has changed nothing.
      this.#deps.log.error({ err: error }, 'a decision failed');
      unit.settle({ failed: error });
      return false;
    }
  }

  #schedule(): void {
    if (this.#flushing || this.#scheduled) return;
    this.#scheduled = true;
    // Requests that can be read now shall share the flush.
    this.#deps.timers.soon(() => {
      this.#scheduled = false;
      if (!this.#flushing && !this.#closed) this.#run().catch((error: unknown) => this.#die(error));
    });
  }

  async #run(): Promise<void> {
    this.#flushing = true;
    while (this.#queue.length > 0 && !this.#closed) {
      this.#inHand = this.#take();
      assert(this.#inHand.length > 0, 'a flush is about something');
      await this.#flush(this.#inHand);
      this.#inHand = [];
    }
    this.#flushing = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** The units of the next flush: from the front, whole, up to the bound. */
  #take(): Unit[] {
    if (this.#isolated > 0) {
      this.#isolated -= 1;
      return this.#remove(1);
    }
    let count = 0;
    let transfers = 0;
    for (const unit of this.#queue) {
      transfers += transfersOf(unit);
      if (count > 0 && transfers > FLUSH_TRANSFERS_MAX) break;
      count += 1;
    }
    return this.#remove(count);
  }

  #remove(count: number): Unit[] {
    assert(count > 0 && count <= this.#queue.length, 'a flush takes units that are queued');
    const units = this.#queue.slice(0, count);
    this.#queue = this.#queue.slice(count);
    for (const unit of units) this.#queuedTransfers -= transfersOf(unit);
    return units;
  }

  async #flush(units: readonly Unit[]): Promise<void> {
    const rows = this.#build(units);
    if (rows === null) return;
    const askedAt = this.#now();
    const result = await this.#deps.storage.flush(rows, this.#fence);
    switch (result.kind) {
      case 'committed':
        return this.#commit(units, rows, {
          fence: { ...this.#fence, seq: this.#fence.seq + 1n },
          askedAt,
        });
      case 'fenced':
        // By another node, or because the database has forgotten what it acknowledged.
        return this.#recover(units, rows);
      case 'duplicate':
        return this.#resolveDuplicates(units);
      case 'rejected':
        this.#deps.log.error({ err: result.error, units: units.length }, 'a flush was rejected');
        return this.#reject(units, result.error);
      case 'unknown':
        this.#deps.log.warn({ err: result.error }, 'the outcome of a flush is unknown');
        return this.#recover(units, rows);
      default:
        return result satisfies never;
    }
  }

  #build(units: readonly Unit[]): FlushRows | null {
    const effects: Effects[] = [];
    for (const unit of units) effects.push(...unit.effects);
    try {
      return this.#rows.build(effects);
    } catch (error) {
      this.#deps.log.error({ err: error }, 'an invariant failed before a flush');
      this.#reject(units, error);
      return null;
    }
  }

  #commit(
    units: readonly Unit[],
    rows: FlushRows,
    moved: { fence: Fence; askedAt: Lease | null },
  ): void {
    assert(moved.fence.seq === this.#fence.seq + 1n, 'I7: flushes are numbered without a gap');
    this.#fence = moved.fence;
    if (moved.askedAt !== null) {
      this.#leaseUntil = this.#lease(moved.askedAt);
      const ms = this.#now().monotonic - moved.askedAt.monotonic;
      this.#deps.onFlush({ ms, transfers: rows.transfers.length });
    }
    this.#rows.committed(rows);
    this.#stats.flushes += 1;
    this.#stats.transfers += rows.transfers.length;
    this.#stats.units += units.length;
    this.#beat();
    if (moved.askedAt === null) this.#queue.push(HEARTBEAT);
    for (const unit of units) unit.commit();
    for (const unit of units) unit.settle('committed');
  }

  /** The caller's own keys that exist already; whoever brought one is told, and the others are decided again. */
  async #resolveDuplicates(units: readonly Unit[]): Promise<void> {
    const { storage, timers, log } = this.#deps;
    const keys = units.flatMap((unit) => unit.keys);
    let existing: ReadonlySet<string>;
    try {
      existing = new Set(await storage.usedIds(keys));
    } catch (error) {
      log.warn({ err: error }, 'could not look up duplicate ids');
      await pause(timers, RETRY_MS_MIN);
      return this.#redo(units, []);
    }
    const guilty = units.filter((unit) => unit.keys.some((key) => existing.has(key)));
    // No caller's key: an id that the ledger derived itself was in use, which no caller can bring about.
    if (guilty.length === 0) return this.#reject(units, new Error('a derived id is in use'));
    this.#redo(units, guilty);
    for (const unit of guilty) unit.settle('duplicate');
  }

  #reject(units: readonly Unit[], error: unknown): void {
    const [first] = units;
    assert(first !== undefined, 'a flush that failed has units');
    if (units.length > 1) {
      this.#isolated = Math.max(this.#isolated, units.length);
      return this.#redo(units, []);
    }
    this.#redo(units, [first]);
    first.settle({ failed: error });
  }

  /** Rolls memory back to what is durable and decides everything undecided again, in order, without `dropped`. */
  #redo(units: readonly Unit[], dropped: readonly Unit[]): void {
    this.#stats.rollbacks += 1;
    const all = [...units, ...this.#queue];
    for (const unit of all) unit.rollback();
    this.#queue = [];
    this.#queuedTransfers = 0;
    for (const unit of all) {
      if (dropped.includes(unit) || !this.#decide(unit)) continue;
      this.#queue.push(unit);
      this.#queuedTransfers += transfersOf(unit);
    }
  }

  async #recover(units: readonly Unit[], rows: FlushRows): Promise<void> {
    const { storage, timers, log } = this.#deps;
    for (let wait = RETRY_MS_MIN; ; wait = Math.min(wait * 2, RETRY_MS_MAX)) {
      let found: Fence | 'fenced' | 'behind';
      try {
        found = await storage.recover(this.#fence);
      } catch (error) {
        if (this.#closed) return;
        if (wait === RETRY_MS_MIN) log.warn({ err: error }, 'the database cannot be reached');
        await pause(timers, wait);
        continue;
      }
      if (this.#closed) return;
      if (found === 'fenced') return this.#lose(units, TAKEN);
      if (found === 'behind') {
        const why = 'the database is behind this node: a stale copy was promoted';
        return this.#lose(units, why, 'for good');
      }
      const landed = found.seq === this.#fence.seq + 1n;
      assert(landed || found.seq === this.#fence.seq, 'I7: a flush number was skipped');
      log.info({ landed, epoch: String(found.epoch) }, 'recovered an unknown flush');
      // The lease is as it was: the next flush renews it.
      if (landed) return this.#commit(units, rows, { fence: found, askedAt: null });
      this.#fence = found;
      this.#queue = [...units, ...this.#queue];
      for (const unit of units) this.#queuedTransfers += transfersOf(unit);
      return;
    }
  }

  /** The seat is gone: nothing of what is undecided may be answered, and memory must not be served. */
  #lose(units: readonly Unit[], why: string, howLong: 'for now' | 'for good' = 'for now'): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopHeartbeat();
    this.#deps.log.error({ node: this.#fence.node }, why);
    const all = [...units, ...this.#queue];
    this.#queue = [];
    this.#queuedTransfers = 0;
    this.#deps.onLost(why, howLong);
    for (const unit of all) unit.settle('unavailable');
  }

  #die(error: unknown): void {
    this.#deps.log.error({ err: error }, 'the journal failed');
    this.#lose(this.#inHand, 'the journal failed');
    this.#flushing = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** An idle node renews its lease by an empty flush. */
  #beat(): void {
    this.#stopHeartbeat();
    this.#stopHeartbeat = this.#deps.timers.after(this.#deps.leaseMs / 3, () => {
      if (this.#closed) return;
      if (!this.#flushing && this.#queue.length === 0) {
        this.#queue.push(HEARTBEAT);
        this.#schedule();
      } else {
        this.#beat();
      }
    });
  }

  #leaseMsLeft(): number {
    const now = this.#now();
    const { monotonic, wall } = this.#leaseUntil;
    return this.#closed ? 0 : Math.max(0, Math.min(monotonic - now.monotonic, wall - now.wall));
  }

  #now(): Lease {
    const { clock } = this.#deps;
    return { monotonic: clock.monotonic(), wall: clock.now() };
  }

  /** What PostgreSQL granted at some moment after `askedAt`, less a margin for clocks that run at different speeds. */
  #lease(askedAt: Lease): Lease {
    const length = this.#deps.leaseMs * 0.9;
    return { monotonic: askedAt.monotonic + length, wall: askedAt.wall + length };
  }
}

export type JournalDeps = {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** Milliseconds that PostgreSQL grants a node with each flush. */
  readonly leaseMs: number;
  /** Called for each flush that is on disk, with how long that took. */
  readonly onFlush: (flush: { readonly ms: number; readonly transfers: number }) => void;
  /**
   * Called once, before anything is answered, when the seat is lost. `for good`: acknowledged writes are missing from the
   * database, and an operator must decide.
   */
  readonly onLost: (why: string, howLong: 'for now' | 'for good') => void;
};

/** Milliseconds by both clocks. */
export type Lease = { readonly monotonic: number; readonly wall: number };

export type Settled =
  | 'committed'
  | 'duplicate'
  | 'overloaded'
  | 'unavailable'
  | { readonly failed: unknown };

/** Something that is decided as a whole, becomes durable as a whole, and can be decided again. */
export type Unit = {
  /** Ids that the caller chose, by its idempotency keys. */
  readonly keys: readonly string[];
  /** Of the last `decide`. Empty: nothing to write. */
  readonly effects: readonly Effects[];
  /** Decides against tentative memory and applies the result to it. */
  decide(): void;
  /** Whether what it was decided on is not yet durable. */
  isWaiting(): boolean;
  /** Its effects are durable. */
  commit(): void;
  /** Memory goes back to what is durable, for every actor that it touched. */
  rollback(): void;
  settle(how: Settled): void;
};

/** Between attempts to reach a database that does not answer, doubling. */
const RETRY_MS_MIN = 20;
const RETRY_MS_MAX = 1000;

/** An event costs a flush as much as many transfers: it is fanned out to every endpoint that asks for it, in the same transaction. */
const EVENT_WEIGHT = 16;

const TAKEN = 'another node has taken the seat';

const HEARTBEAT: Unit = {
  keys: [],
  effects: [],
  decide: () => undefined,
  isWaiting: () => true,
  commit: () => undefined,
  rollback: () => undefined,
  settle: () => undefined,
};

/** What a unit adds to a flush, in transfers. */
function transfersOf(unit: Unit): number {
  let count = 0;
  for (const effects of unit.effects) {
    if (effects.kind === 'handover') continue;
    const transfers = effects.kind === 'subscription' ? 0 : effects.transfers.length;
    count += transfers + effects.events.length * EVENT_WEIGHT;
  }
  return count;
}
