// Moves an organisation's clock in test mode, and does on the way all that was due, as if the time had passed.
//
//     hold its alarms ─▶ stop its clock ─▶ ( next due ─▶ clock to that time ─▶ ring ─▶ what follows is done )* ─▶ target ─▶ run on
//
// Holds: what is due is done in due order, each at its own time (what is due within a minute goes together, at the last of those
// times), and all of it before the answer. Meanwhile the organisation's alarms do not ring by themselves. A clock only goes forward.
// Each step is on disk before anything happens at its time: after a crash the clock runs on from the last one, what was due
// then is still due, and whoever asks again goes on. It is moved for whoever waits for it: years of hourly allowances are hours of
// work for everybody's database, and nobody else could end them.
import { LedgerUnavailable, type Tenant, type Timers } from '../../ledger/ports.ts';
import type { DueAlarm } from '../../ledger/storage.ts';
import type { OrgClocks, TestClock } from '../platform/org-clock.ts';

/** Five years, two of which are leap years. */
const AHEAD_MS_MAX = (5 * 365 + 2) * 24 * 60 * 60 * 1000;

/** However often it is moved: what is then due later still has a time that can be written down. */
const END = Date.UTC(3000, 0);

/** What is due and does not move is being done by somebody else: how often, and how long after each other, it is looked at again. */
const TRIES_MAX = 100;
const TRY_AGAIN_MS = 50;

/** What time brings about. */
export type Due = {
  hold(organisationId: string): Promise<void>;
  release(organisationId: string): void;
  next(organisationId: string, until: number): Promise<readonly DueAlarm[]>;
  ring(due: readonly DueAlarm[]): Promise<void>;
};

/** What follows from it, in other places. */
export type Owed = {
  /** Carries out what is not done yet; whether there was anything. */
  carryOut(tenant: Tenant): Promise<boolean>;
};

export type TestClocksDeps = {
  readonly clocks: OrgClocks;
  readonly due: Due;
  readonly owed: readonly Owed[];
  readonly save: (clock: TestClock) => Promise<void>;
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
    return this.#moving.has(organisationId);
  }

  now(organisationId: string): number {
    return this.#deps.clocks.now({ organisationId, mode: 'test' });
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
    const { clocks, due } = this.#deps;
    this.#moving.add(organisationId);
    try {
      await due.hold(organisationId);
      await this.#pass(organisationId, to, left);
    } finally {
      clocks.run(organisationId);
      due.release(organisationId);
      this.#moving.delete(organisationId);
    }
    return 'moved';
  }

  async #pass(organisationId: string, to: number, left: AbortSignal): Promise<void> {
    const { clocks, due } = this.#deps;
    let at = this.now(organisationId);
    clocks.stop(organisationId, at);
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
      at = Math.max(at, latest.dueAt);
      await this.#stopAt(organisationId, at);
      await due.ring(next);
      await this.#settle(organisationId);
      last = next;
    }
    await this.#stopAt(organisationId, Math.max(at, to));
  }

  async #stopAt(organisationId: string, at: number): Promise<void> {
    const { clocks, save } = this.#deps;
    clocks.stop(organisationId, at);
    await save({ organisationId, aheadMs: clocks.aheadMs(organisationId) });
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
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#deps.timers.after(TRY_AGAIN_MS, () => resolve(undefined));
    await promise;
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
