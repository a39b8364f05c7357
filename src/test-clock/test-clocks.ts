// Moves an organisation's clock in test mode, and does on the way all that was due, as if the time had passed.
//
//     stop its clock on every node ─▶ ( next due ─▶ clocks to that time ─▶ ring ─▶ what follows is done )* ─▶ target ─▶ run on
//
// One node moves it. Each step is first a row of the database, then it is told to every node that lives, and when all of them stand there
// the node rings what is due, wherever that is decided. A node that joins reads the row. What makes it the one is the row, too: it names
// who moves it, and counts while that one's lease runs; so a clock stands for no longer than its mover lives, and nobody need let it go.
//
// Holds: what is due is done in due order, each at its own time (what is due within a minute goes together, at the last of those
// times), and all of it before the answer. While its clock stands none of an organisation's alarms rings by itself, on any node, and all
// nodes show the same time. A clock only goes forward: it is stopped where the node is that is furthest.
// Each step is on disk before anything happens at its time: after a crash the clock runs on from the last one, what was due
// then is still due, and whoever asks again goes on. It is moved for whoever waits for it: years of hourly allowances are hours of
// work for everybody's database, and nobody else could end them.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { LedgerUnavailable, pause, type Timers } from '../../ledger/ports.ts';
import type { DueAlarm } from '../../ledger/storage.ts';
import type { OrgClocks, TestClock } from '../platform/org-clock.ts';

/** Five years, two of which are leap years. */
const AHEAD_MS_MAX = (5 * 365 + 2) * 24 * 60 * 60 * 1000;

/** However often it is moved: what is then due later still has a time that can be written down. */
const END = Date.UTC(3000, 0);

/** What is due and does not move is being done by somebody else: how often, and how long after each other, it is looked at again. */
const TRIES_MAX = 100;
const TRY_AGAIN_MS = 50;

/** How soon it is tried again to let a clock run. */
const RUN_AGAIN_MS = 1000;

/** What time brings about. */
export type DueAlarms = {
  /** Resolves when nothing rings any more that rang by itself. */
  quiet(organisationId: string): Promise<void>;
  next(organisationId: string, until: number): Promise<readonly DueAlarm[]>;
  ring(due: readonly DueAlarm[]): Promise<void>;
};

/** What follows from it, in other places. */
export type OutboxWork = {
  /** Carries out what is not done yet; whether there was anything. */
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
  /** Has every other node take it in; what time each of them has then. */
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
  /** Somebody else is moving it. */
  | 'moving';

export class TestClocks {
  readonly #deps: TestClocksDeps;
  readonly #moving = new Set<string>();

  constructor(deps: TestClocksDeps) {
    this.#deps = deps;
  }

  isMoving(organisationId: string): boolean {
    return this.#moving.has(organisationId) || this.#deps.clocks.stopped.has(organisationId);
  }

  now(organisationId: string): number {
    return this.#deps.clocks.now({ organisationId, mode: 'test' });
  }

  /** What whoever moves it tells every node. Resolves with what time it is here, when nothing rings by itself. */
  async take(clock: TestClock): Promise<number> {
    const { clocks, due } = this.#deps;
    const { organisationId, stoppedAt } = clock;
    clocks.set(clock);
    if (stoppedAt !== null) await due.quiet(organisationId);
    return this.now(organisationId);
  }

  /**
   * `target` gives where to, from where it is. Whoever asked may have `left`: then it goes no further.
   * @throws LedgerUnavailable where it has come only part of the way
   */
  async move(
    organisationId: string,
    target: (now: number) => number,
    left: AbortSignal,
  ): Promise<Moved> {
    if (this.isMoving(organisationId)) return 'moving';
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
      await this.#run(organisationId);
      this.#moving.delete(organisationId);
    }
    return 'moved';
  }

  async #pass(
    organisationId: string,
    { from, to }: { readonly from: number; readonly to: number },
    left: AbortSignal,
  ): Promise<void> {
    const { due } = this.#deps;
    let at = from;
    // What a crash left behind, too.
    await this.#settle(organisationId);
    let last: readonly DueAlarm[] = [];
    for (let tries = 0; ;) {
      const next = await due.next(organisationId, to);
      const latest = next.at(-1);
      if (latest === undefined) break;
      if (left.aborted) throw new LedgerUnavailable('nobody waits for the clock any more');
      tries = isSame(next, last) ? tries + 1 : 0;
      if (tries > 0) await this.#wait(tries);
      if (latest.dueAt > at) at = await this.#moveOn(organisationId, latest.dueAt);
      await due.ring(next);
      await this.#settle(organisationId);
      last = next;
    }
    if (to > at) await this.#moveOn(organisationId, to);
  }

  async #moveOn(organisationId: string, to: number): Promise<number> {
    const at = await this.#stop(organisationId, to);
    if (at === null) throw new LedgerUnavailable('another node moves the clock');
    return at;
  }

  /** Every node's clock stands there, or where the one was that is furthest; null where another node moves it. */
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

  /** Never rejects: while it cannot be let go it stands, and this goes on trying. */
  async #run(organisationId: string): Promise<void> {
    const { rows, tellAll, timers } = this.#deps;
    try {
      const clock = await rows.run(organisationId);
      if (clock === null) return;
      await this.take(clock);
      // Who does not hear it now reads it.
      await tellAll(clock).catch(() => undefined);
    } catch {
      timers.after(RUN_AGAIN_MS, () => {
        this.#run(organisationId).catch(() => undefined);
      });
    }
  }

  /** What was brought about is carried out, and what that brings about. */
  async #settle(organisationId: string): Promise<void> {
    const tenant = { organisationId, mode: 'test' } as const;
    for (let tries = 0; ; tries += 1) {
      const found = await Promise.all(this.#deps.owed.map((one) => one.carryOut(tenant)));
      if (!found.includes(true)) return;
      if (tries > 0) await this.#wait(tries);
    }
  }

  async #wait(tries: number): Promise<void> {
    if (tries > TRIES_MAX) throw new LedgerUnavailable('what is due now is not getting done');
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
