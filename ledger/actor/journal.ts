import { assert } from '../kernel/assert.ts';
import type { Effects } from '../effects.ts';
import { breathe, type Clock, type Log, pause, type Timers } from '../ports.ts';
import type { Fence, FlushRows, Storage } from '../storage.ts';
import { Batch } from './batch.ts';
import { CallersWait } from './callers-wait.ts';
import { describe, HEARTBEAT, type Unit } from './journal-unit.ts';
import { Lease, type Moment, momentOf } from './lease.ts';
import { Pace } from './pace.ts';
import { WaitQueue } from './wait-queue.ts';
import { Retries } from './retries.ts';
import { RowBuilder } from './rows.ts';

/**
 * The only writer of a node. It puts all units that arrive during a flush into the next flush, and
 * those of callers that come back right after their answers (`CallersWait`): an idle node answers
 * after one commit, a busy node has larger flushes.
 *
 *     submit ─▶ decided at once, applied to the tentative state ─▶ flush ─▶ durable ─▶ reply
 *            ─▶ the next flush is full, or others wait: waits undecided; organisations take turns
 *
 * Holds:
 * - No reply leaves before the flush of its unit is committed (I8). This includes a refusal that
 *   depends on a decision that is not durable yet.
 * - Flushes are numbered without a gap (I7). Each one moves the node's fence, so a node that lost
 *   its seat writes nothing (I6).
 * - Units become durable in the order of their decisions. A unit that waits is undecided, so others
 *   may overtake it.
 * - A flush, one organisation's share of it, and the units that wait are bounded (`Batch`,
 *   `WaitQueue`). A unit is never split.
 * - The decisions of one turn of the event loop are bounded in time (`Pace`): the rest waits
 *   undecided, and the flush has what is decided.
 * - A flush waits for callers for 2 ms at most, and only where others did come back in that time.
 *   Nothing waits for a full flush, for a retry, or for a caller alone.
 *
 * When a flush fails, memory goes back to the durable state. The units that were not in it wait
 * again.
 * - `fenced`: all units are refused as unavailable, and the owner of the journal drops all memory.
 *   It does so for good where the database lacks what it had acknowledged.
 * - `duplicate`: an id was used before. The units with that id get this answer. The others are one
 *   flush again, without new units.
 * - `rejected`: an invariant is broken. The flush is divided until the guilty unit fails alone. Its
 *   callers get the error.
 * - `slow`: the database cancelled the flush. An empty flush renews the lease and measures the
 *   database. If that one is fast, the flush is divided as above. A unit that is too slow alone,
 *   twice, is refused and not tried again.
 * - `unknown`: never retried blindly. The storage makes sure that the lost flush can no longer
 *   land, and says whether it did. If it did not, it counts as `slow`.
 *
 * Between two flushes of failed units there is one of the others.
 *
 * Does not: choose owners, load actors, or know what a unit means.
 */
export class Journal {
  readonly #deps: JournalDeps;
  readonly #rows = new RowBuilder();
  /** Decided units that depend on the flush in progress. */
  #next = new Batch();
  readonly #line = new WaitQueue();
  readonly #retries = new Retries();
  readonly #callers: CallersWait;
  readonly #pace: Pace;
  /** Whether the flush in progress has no units of a failed flush. */
  #isRetryNext = true;
  #fence: Fence;
  #flushing = false;
  #scheduled = false;
  #closed = false;
  /** Whether the lease is to be renewed by an empty flush, where no other lands before. */
  #isBeatDue = false;
  /** The units of the flush in progress. */
  #inHand: readonly Unit[] = [];
  readonly #lease: Lease;
  #idle: (() => void)[] = [];
  #stopHeartbeat: () => void = () => undefined;
  readonly #stats = {
    flushes: 0,
    transfers: 0,
    units: 0,
    overloaded: 0,
    rollbacks: 0,
    failedSlow: 0,
    failedRejected: 0,
  };

  constructor(deps: JournalDeps, claim: { fence: Fence; askedAt: Moment }) {
    assert(deps.leaseMs > 0 && claim.fence.epoch > 0n, 'a journal has a seat');
    this.#deps = deps;
    this.#fence = claim.fence;
    this.#lease = new Lease(deps, claim.askedAt);
    this.#callers = new CallersWait(deps);
    this.#pace = new Pace(deps);
    this.#beat();
  }

  get stats(): Readonly<Record<string, number>> {
    return {
      ...this.#stats,
      queuedUnits: this.#line.size + this.#next.units.length + this.#retries.size,
      queuedRows: this.#line.rows,
      queuedBytes: this.#line.bytes,
      queueShare: this.#line.largestShare,
      leaseMs: this.#closed ? 0 : this.#lease.msLeft,
    };
  }

  get node(): number {
    return this.#fence.node;
  }

  get fence(): Fence {
    return this.#fence;
  }

  /** Whether memory may be served. */
  isLeaseValid(): boolean {
    return !this.#closed && this.#lease.isValid;
  }

  /**
   * Decides the unit now or in its turn. Calls its `settle` once: when it is durable, or cannot be.
   */
  submit(unit: Unit): void {
    if (this.#closed || !this.isLeaseValid()) return unit.settle('unavailable');
    // The node's own units come when they are due, not after an answer.
    if (unit.tenant !== '') this.#callers.came();
    const isFirst = this.#line.size === 0 && this.#retries.isEmpty;
    if (isFirst && !this.#pace.isOver && this.#next.hasRoomFor(unit)) {
      if (this.#put(unit, this.#next)) this.#schedule();
      return;
    }
    // The node's own units do not count against callers.
    if (unit.tenant !== '' && !this.#line.hasRoomFor(unit)) {
      this.#stats.overloaded += 1;
      return unit.settle('overloaded');
    }
    this.#line.push(unit);
    this.#callers.end();
    this.#schedule();
  }

  /** Resolves when everything submitted so far is settled. */
  async drained(): Promise<void> {
    if (!this.#flushing && this.#isIdle) return;
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
      this.#deps.log.warn({ err: error }, 'the seat was not released: its lease will expire');
    }
  }

  /** Refuses queued and flushing units: the process must end, and their outcome is not known. */
  abandon(): void {
    this.#lose(this.#inHand, 'abandoned');
  }

  /** The same, where the seat was seen to be another's. */
  lose(): void {
    this.#lose(this.#inHand, TAKEN);
  }

  get #isIdle(): boolean {
    return !this.#hasOthers && this.#retries.isEmpty;
  }

  /** Whether there is something that no failed flush had. */
  get #hasOthers(): boolean {
    return this.#isBeatDue || this.#line.size > 0 || this.#next.units.length > 0;
  }

  /** Decides it, and adds it to the batch. False where it is settled by that. */
  #put(unit: Unit, batch: Batch): boolean {
    try {
      this.#pace.decide(unit);
    } catch (error) {
      // A bug in one decision must not fail the others. It has changed nothing.
      this.#deps.log.error({ err: error }, 'a decision failed');
      unit.settle({ failed: error });
      return false;
    }
    // A unit that depends on nothing in progress is answered at once.
    if (unit.effects.length === 0 && !unit.isWaiting()) {
      this.#pace.answer(unit);
      return false;
    }
    batch.add(unit);
    return true;
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
    for (;;) {
      await this.#waitForCallers();
      if (this.#pace.isOver) await breathe(this.#deps.timers);
      if (this.#isIdle || this.#closed) break;
      const batch = this.#take();
      this.#inHand = batch.units;
      // All of them may be settled by now.
      if (batch.units.length > 0) await this.#flush(batch);
      this.#inHand = [];
    }
    this.#flushing = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Those whom the last flush answered may share the next one. */
  async #waitForCallers(): Promise<void> {
    const isFull = this.#line.size > 0;
    if (isFull || !this.#retries.isEmpty || this.#next.units.length === 0) return;
    await this.#callers.wait();
  }

  /** The units of the next flush, decided. */
  #take(): Batch {
    if (this.#retries.isInDoubt) {
      // Who waited beside what was too slow goes before it is tried again.
      this.#isRetryNext = false;
      return new Batch([HEARTBEAT]);
    }
    if (this.#retries.hasGroups && (this.#isRetryNext || !this.#hasOthers)) {
      this.#isRetryNext = false;
      assert(this.#next.units.length === 0, 'what was decided is written first');
      const group = new Batch();
      this.#retries.take((unit) => {
        if (this.#pace.isOver) return false;
        this.#put(unit, group);
        return true;
      });
      return group;
    }
    this.#isRetryNext = true;
    const batch = this.#next;
    this.#next = new Batch();
    this.#line.take((unit) => {
      if (this.#pace.isOver || !batch.hasRoomFor(unit)) return false;
      this.#put(unit, batch);
      return true;
    });
    // Whoever waits may have nothing to write, without end.
    if (batch.units.length > 0 || !this.#isBeatDue) return batch;
    this.#isBeatDue = false;
    return new Batch([HEARTBEAT]);
  }

  async #flush(batch: Batch): Promise<void> {
    // A long one was decided in one turn, is built in another and encoded in a third.
    if (!this.#pace.hasRoomFor(batch)) await breathe(this.#deps.timers);
    const { units } = batch;
    const rows = this.#closed ? null : this.#build(units);
    if (rows === null) return;
    if (batch.isLong) await breathe(this.#deps.timers);
    if (this.#closed) return;
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
      case 'slow':
        this.#deps.log.warn({ err: result.error, units: units.length }, 'a flush was too slow');
        return this.#doubt(units);
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
    moved: { fence: Fence; askedAt: Moment | null },
  ): Promise<void> {
    assert(moved.fence.seq === this.#fence.seq + 1n, 'I7: flushes are numbered without a gap');
    this.#fence = moved.fence;
    if (moved.askedAt !== null) {
      this.#lease.renew(moved.askedAt);
      const now = this.#now().monotonic;
      const ms = now - moved.askedAt.monotonic;
      this.#deps.onFlush({ ms, transfers: rows.transfers.length });
      const callers = units.filter(({ tenant }) => tenant !== '');
      this.#callers.answered(callers.length, { now, ms });
    }
    this.#pace.begin();
    this.#rows.committed(rows);
    this.#stats.flushes += 1;
    this.#stats.transfers += rows.transfers.length;
    this.#stats.units += units.length;
    this.#beat();
    this.#isBeatDue = moved.askedAt === null;
    for (const unit of units) unit.commit();
    if (rows.topUpOrders.length > 0) this.#deps.onTopUpsOrdered(rows.topUpOrders);
    if (this.#retries.isInDoubt) this.#judge(moved.askedAt);
    // What is on disk is not refused any more, whatever becomes of the seat.
    this.#inHand = [];
    return this.#pace.answerAll(units);
  }

  /**
   * The keys of callers that exist already. Their units get that answer; the others are decided
   * again.
   */
  async #resolveDuplicates(units: readonly Unit[]): Promise<void> {
    const { storage, timers, log } = this.#deps;
    const keys = units.flatMap((unit) => unit.keys);
    let existing: ReadonlySet<string>;
    try {
      existing = new Set(await storage.usedIds(keys));
    } catch (error) {
      log.warn({ err: error }, 'could not look up duplicate ids');
      await pause(timers, RETRY_MS_MIN);
      this.#undecide(units);
      return this.#refuseSlow(this.#retries.again(units));
    }
    const guilty = new Set(units.filter((unit) => unit.keys.some((key) => existing.has(key))));
    // No caller's key: an id that the ledger derived itself was in use, which no caller can bring
    // about.
    if (guilty.size === 0) return this.#reject(units, new Error('a derived id is in use'));
    this.#undecide(units);
    const rest = units.filter((unit) => !guilty.has(unit));
    if (rest.length > 0) this.#refuseSlow(this.#retries.again(rest));
    for (const unit of guilty) unit.settle('duplicate');
  }

  #reject(units: readonly Unit[], error: unknown): void {
    const [first] = units;
    assert(first !== undefined, 'a flush that failed has units');
    this.#undecide(units);
    if (units.length > 1) return this.#refuseSlow(this.#retries.divide(units));
    this.#stats.failedRejected += 1;
    this.#deps.log.error(describe(first), 'a decision cannot be written');
    first.settle({ failed: error });
  }

  /**
   * The flush did not land: because of one of its units, or because of the database. An empty one
   * will tell.
   */
  #doubt(units: readonly Unit[]): void {
    this.#undecide(units);
    if (units.includes(HEARTBEAT)) this.#isBeatDue = true;
    else this.#retries.doubt(units);
  }

  /** An empty flush has landed; `askedAt` is null where it was not seen to. */
  #judge(askedAt: Moment | null): void {
    const ms = askedAt === null ? Infinity : this.#now().monotonic - askedAt.monotonic;
    this.#refuseSlow(this.#retries.judge(ms / this.#deps.leaseMs));
  }

  #refuseSlow(units: readonly Unit[]): void {
    for (const unit of units) {
      this.#stats.failedSlow += 1;
      this.#deps.log.warn(describe(unit), 'a decision was not written in time, and is refused');
      unit.settle('slow');
    }
  }

  /** Memory goes back to what is durable. Of what was decided, all but `units` waits again. */
  #undecide(units: readonly Unit[]): void {
    this.#stats.rollbacks += 1;
    for (const unit of units) unit.rollback();
    for (const unit of this.#next.units) unit.rollback();
    this.#line.putBack(this.#next.units);
    this.#next = new Batch();
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
      return this.#doubt(units);
    }
  }

  /** The seat is lost: undecided units get no answer, and memory is not served. */
  #lose(units: readonly Unit[], why: string, howLong: 'for now' | 'for good' = 'for now'): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopHeartbeat();
    this.#deps.log.error({ node: this.#fence.node }, why);
    const all = [...units, ...this.#next.units, ...this.#retries.clear(), ...this.#line.clear()];
    this.#next = new Batch();
    this.#deps.onLost(why, howLong);
    for (const unit of all) unit.settle('unavailable');
  }

  #die(error: unknown): void {
    this.#deps.log.error({ err: error }, 'the journal failed');
    this.#lose(this.#inHand, 'the journal failed');
    this.#flushing = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Where no flush has landed for a while, an empty one renews the lease. */
  #beat(): void {
    this.#stopHeartbeat();
    this.#stopHeartbeat = this.#deps.timers.after(this.#deps.leaseMs / 3, () => {
      if (this.#closed) return;
      this.#isBeatDue = true;
      this.#schedule();
      // Until a flush lands: one that fails renews nothing.
      this.#beat();
    });
  }

  #now(): Moment {
    return momentOf(this.#deps.clock);
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
  /** Charges of automatic top-ups were ordered, and are on disk. */
  readonly onTopUpsOrdered: (orders: FlushRows['topUpOrders']) => void;
  /**
   * Called once, before anything is answered, when the seat is lost. `for good`: acknowledged
   * writes are missing from the database, and an operator must decide.
   */
  readonly onLost: (why: string, howLong: 'for now' | 'for good') => void;
};

/** Between attempts to reach a database that does not answer, doubling. */
const RETRY_MS_MIN = 20;
const RETRY_MS_MAX = 1000;

const TAKEN = 'another node has taken the seat';
