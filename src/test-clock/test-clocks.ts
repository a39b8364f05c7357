// Moves an organisation's clock in test mode, and does all that becomes due on the way.
//
//     stop on every node ─▶ ( next due ─▶ clocks to then ─▶ fire ─▶ follow-ups )* ─▶ target ─▶ run
//
// How it works: one node moves the clock. Each step is first a row of the database and is then sent
// to every live node. When the clock stands there on all of them, the node fires what is due, at
// whichever node decides it. A node that joins reads the row. The row also names the mover, and
// counts only while the mover's lease runs: a clock never stands longer than that.
//
// Holds: what is due is done in due order, each at its own time, and all before the answer. What is
// due within one minute is done together, at the last of those times; what meters have due within a
// day as well, as far as nothing else is due: a meter does each step at its own time, whenever it
// is asked. While the clock stands, no
// alarm of the organisation fires by itself on any node, and all nodes show the same time. The
// clock only goes forward: it stops at the time of the node that is furthest ahead. Each step is on
// disk before anything happens at its time. After a crash the clock runs on from the last step;
// what was due is still due, and the same call again goes on.
//
// Does not: go on for a caller that has left. Years of hourly allowances are hours of work for the
// database, and no one else could stop it.
import { DAY_MS } from '../../ledger/kernel/durations.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { LedgerUnavailable, pause, type Timers } from '../../ledger/ports.ts';
import type { DueAlarm, NextAlarms } from '../../ledger/storage.ts';
import type { OrgClocks, TestClock } from '../platform/org-clock.ts';

/** Five years, two of which are leap years. */
const AHEAD_MS_MAX = (5 * 365 + 2) * DAY_MS;

/** The latest time that it may be moved to: what is due after it still has a valid time. */
const END = Date.UTC(3000, 0);

/**
 * If due work does not progress, another node is doing it: how often, and after what pause, it is
 * checked again.
 */
const TRIES_MAX = 100;
const TRY_AGAIN_MS = 50;

/** The pause before another try to let a clock run. */
const RUN_AGAIN_MS = 1000;

/** Alarms. */
export type DueAlarms = {
  /** Waits for running alarms. */
  quiet(organisationId: string): Promise<void>;
  next(organisationId: string, until: number): Promise<NextAlarms>;
  ring(due: readonly DueAlarm[]): Promise<void>;
};

/** Follow-ups of the alarms. */
export type OutboxWork = {
  /** Executes follow-ups that are due. Returns whether there were any. */
  carryOut(tenant: Tenant): Promise<boolean>;
};

export type TestClocksDeps = {
  readonly clocks: OrgClocks;
  readonly due: DueAlarms;
  readonly owed: readonly OutboxWork[];
  readonly rows: {
    /** null where another node moves it. */
    stop(
      to: Omit<TestClock, 'version'> & { readonly stoppedAt: number },
    ): Promise<TestClock | null>;
    /** null where it runs already. */
    run(organisationId: string): Promise<TestClock | null>;
  };
  /** Sends it to every other node. Returns the time of each. */
  readonly tellAll: (clock: TestClock) => Promise<readonly number[]>;
  readonly timers: Timers;
};

export type Moved =
  | 'moved'
  /** It is later already. */
  | 'back'
  | 'too_far'
  /** The year 3000. */
  | 'past_end'
  /** Another node is moving it. */
  | 'moving';

export class TestClocks {
  readonly #deps: TestClocksDeps;
  readonly #moving = new Set<string>();
  /** Clocks that this node lets run, until every node knows. */
  readonly #ending = new Map<string, Promise<void>>();

  constructor(deps: TestClocksDeps) {
    this.#deps = deps;
  }

  isMoving(organisationId: string): boolean {
    return this.#moving.has(organisationId) || this.#deps.clocks.stopped.has(organisationId);
  }

  now(organisationId: string): number {
    return this.#deps.clocks.now({ organisationId, mode: 'test' });
  }

  /**
   * Applies what the mover publishes. Resolves with this node's time, after waiting for running
   * alarms.
   */
  async take(clock: TestClock): Promise<number> {
    const { clocks, due } = this.#deps;
    const { organisationId, stoppedAt } = clock;
    clocks.set(clock);
    if (stoppedAt !== null) await due.quiet(organisationId);
    return this.now(organisationId);
  }

  /**
   * `target` computes the target from the current time. If the caller has `left`, it goes no
   * further.
   * @throws LedgerUnavailable where it has come only part of the way
   */
  async move(
    organisationId: string,
    target: (now: number) => number,
    left: AbortSignal,
  ): Promise<Moved> {
    // Another node may have read already that it runs. Where this one has not, the row decides.
    await this.#ending.get(organisationId);
    if (this.#moving.has(organisationId)) return 'moving';
    const now = this.now(organisationId);
    const to = target(now);
    if (to < now) return 'back';
    if (to - now > AHEAD_MS_MAX) return 'too_far';
    if (to >= END) return 'past_end';
    this.#moving.add(organisationId);
    try {
      const from = await this.#stop(organisationId, now);
      if (from === null) return 'moving';
      await this.#pass(organisationId, { from, to }, left);
    } finally {
      await this.#end(organisationId);
    }
    return 'moved';
  }

  #end(organisationId: string): Promise<void> {
    const ended = this.#run(organisationId).finally(() => {
      this.#moving.delete(organisationId);
      this.#ending.delete(organisationId);
    });
    this.#ending.set(organisationId, ended);
    return ended;
  }

  async #pass(
    organisationId: string,
    { from, to }: { readonly from: number; readonly to: number },
    left: AbortSignal,
  ): Promise<void> {
    const { due } = this.#deps;
    let at = from;
    // Also what a crash left behind.
    await this.#settle(organisationId);
    let last: readonly DueAlarm[] = [];
    for (let tries = 0; ;) {
      const next = await due.next(organisationId, to);
      if (next.alarms.length === 0) break;
      if (left.aborted) throw new LedgerUnavailable('the call that moved the clock has ended');
      tries = isSame(next.alarms, last) ? tries + 1 : 0;
      if (tries > 0) await this.#wait(tries);
      if (next.at > at) at = await this.#moveOn(organisationId, next.at);
      await due.ring(next.alarms);
      await this.#settle(organisationId);
      last = next.alarms;
    }
    if (to > at) await this.#moveOn(organisationId, to);
  }

  async #moveOn(organisationId: string, to: number): Promise<number> {
    const at = await this.#stop(organisationId, to);
    if (at === null) throw new LedgerUnavailable('another node moves the clock');
    return at;
  }

  /**
   * Stops the clock on every node, at this time or at that of the node furthest ahead. null if
   * another node moves it.
   */
  async #stop(organisationId: string, at: number): Promise<number | null> {
    const { clocks, rows, tellAll } = this.#deps;
    for (let stoppedAt = at; ;) {
      const aheadMs = Math.max(0, stoppedAt - clocks.wall());
      const clock = await rows.stop({ organisationId, stoppedAt, aheadMs });
      if (clock === null) return null;
      const latest = Math.max(await this.take(clock), ...(await tellAll(clock)));
      if (latest <= stoppedAt) return stoppedAt;
      stoppedAt = latest;
    }
  }

  /** Never rejects. While it cannot be released the clock stands, and this keeps trying. */
  async #run(organisationId: string): Promise<void> {
    const { rows, tellAll, timers } = this.#deps;
    try {
      const clock = await rows.run(organisationId);
      if (clock === null) return;
      await this.take(clock);
      // A node that does not get it now reads it.
      await tellAll(clock).catch(() => undefined);
    } catch {
      timers.after(RUN_AGAIN_MS, () => {
        // Another move began: it lets it run.
        if (this.#moving.has(organisationId)) return;
        this.#run(organisationId).catch(() => undefined);
      });
    }
  }

  /** Executes follow-ups, and those that follow from them. */
  async #settle(organisationId: string): Promise<void> {
    const tenant = { organisationId, mode: 'test' } as const;
    for (let tries = 0; ; tries += 1) {
      const found = await Promise.all(this.#deps.owed.map((one) => one.carryOut(tenant)));
      if (!found.includes(true)) return;
      if (tries > 0) await this.#wait(tries);
    }
  }

  async #wait(tries: number): Promise<void> {
    if (tries > TRIES_MAX) throw new LedgerUnavailable('due work is not getting done');
    await pause(this.#deps.timers, TRY_AGAIN_MS);
  }
}

function isSame(some: readonly DueAlarm[], others: readonly DueAlarm[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ actorId, subjectId, dueAt }, index) => {
      const other = others[index];
      return actorId === other?.actorId && subjectId === other.subjectId && dueAt === other.dueAt;
    })
  );
}
