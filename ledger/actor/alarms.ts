import { assert } from '../kernel/assert.ts';
import { LedgerUnavailable, TooSlow } from '../ports.ts';
import type { Alarm, AlarmKind } from '../storage.ts';
import type { OwnershipSession, OwnershipSessionDeps } from './ownership-session.ts';

const POLL_MS = 1000;
const AT_ONCE = 500;
/** How many start together: calls wait while they are decided. */
const TOGETHER = 100;
const REST_MS = 8000;
const RESTING_MAX = 10_000;
/** To look past one that has much due costs time in proportion to it: at most this part of it. */
const TURNS_PART = 1 / 20;
const NONE = { due: [], rung: [] };

/**
 * Fires the due alarms of one kind: grants that start or expire, periods that end, processors that
 * must be asked again.
 *
 * How: an alarm is a row that the flush of a decision writes. To fire it is a decision like any
 * other, so the two cannot race; that decision moves or removes the row.
 *
 * Holds:
 * - Calls do not wait for alarms: every decision first does what was due.
 * - There is one of these for each kind, and no alarm waits for another: a silent processor delays
 *   no period.
 * - Organisations take turns. While more is due than may start together, those that do not fire now
 *   are looked up apart, every second, and get room of their own.
 * - Where an organisation's clock is stopped, the node that moves the clock fires its alarms; this
 *   one leaves them alone.
 */
export class Alarms<K extends AlarmKind> {
  readonly #deps: OwnershipSessionDeps;
  readonly #session: () => OwnershipSession | null;
  readonly #kind: K;
  readonly #ring: (alarm: Alarm<K>) => Promise<unknown>;
  /** By subject: alarms that fire now, and alarms that failed and rest for a while. */
  readonly #ringing = new Map<string, { readonly alarm: Alarm<K>; readonly done: Promise<void> }>();
  readonly #resting = new Map<string, Alarm<K>>();
  /** Organisations that had their turn; the others come before them. */
  readonly #served = new Set<string>();
  #nextTurnsAt = 0;
  #stop: () => void = () => undefined;
  #stopped = false;

  constructor(
    deps: OwnershipSessionDeps,
    options: {
      session: () => OwnershipSession | null;
      kind: K;
      ring: (alarm: Alarm<K>) => Promise<unknown>;
    },
  ) {
    this.#deps = deps;
    this.#session = options.session;
    this.#kind = options.kind;
    this.#ring = options.ring;
  }

  start(): void {
    this.#later(POLL_MS);
  }

  stop(): void {
    this.#stopped = true;
    this.#stop();
  }

  get resting(): readonly Alarm<K>[] {
    return [...this.#resting.values()];
  }

  /** Resolves when no alarm of the organisation's test mode is firing. */
  async quiet(organisationId: string): Promise<void> {
    const own = [...this.#ringing.values()].filter(
      ({ alarm: { tenant } }) => tenant.mode === 'test' && tenant.organisationId === organisationId,
    );
    await Promise.all(own.map(({ done }) => done));
  }

  /** Fires it now, unless it is firing already. Resolves when its decision is made. */
  async ring(alarm: Alarm<K>): Promise<void> {
    const name = `${alarm.actorId} ${alarm.subjectId}`;
    const ringing = this.#ringing.get(name);
    if (ringing !== undefined) return ringing.done;
    const done = this.#try(alarm).finally(() => this.#ringing.delete(name));
    this.#ringing.set(name, { alarm, done });
    return done;
  }

  #later(ms: number): void {
    if (this.#stopped) return;
    this.#stop = this.#deps.timers.after(ms, () => {
      this.#fire().then(
        (isMore) => this.#later(isMore ? 0 : POLL_MS),
        (error: unknown) => {
          if (!this.#stopped) this.#deps.log.warn({ err: error }, 'alarms could not be looked up');
          this.#later(POLL_MS);
        },
      );
    });
  }

  /** Whether more alarms are due than may start together; then there is room for them. */
  async #fire(): Promise<boolean> {
    const session = this.#session();
    const room = Math.min(TOGETHER, AT_ONCE - this.#ringing.size);
    if (session === null || !session.journal.isLeaseValid()) return false;
    const { due, rung } = room > 0 ? await this.#ringDue(session, room, []) : NONE;
    if (due.length < room) {
      this.#served.clear();
      return false;
    }
    await this.#giveTurns(session);
    if (room <= 0) return false;
    // Does not wait for all: the slowest would hold up the others.
    const oldest = [...this.#ringing.values().take(TOGETHER)].map(({ done }) => done);
    if (this.#ringing.size + rung.length > AT_ONCE) await Promise.all(oldest);
    return true;
  }

  /** More is due than may start: those that wait behind others get a turn. */
  async #giveTurns(session: OwnershipSession): Promise<void> {
    const { clock } = this.#deps;
    const startedAt = clock.monotonic();
    const room = Math.min(TOGETHER, AT_ONCE + TOGETHER - this.#ringing.size);
    if (startedAt < this.#nextTurnsAt || room <= 0) return;
    const ringing = this.#ringing.values().map(({ alarm }) => alarm.tenant.organisationId);
    const { due } = await this.#ringDue(session, room, [...new Set([...ringing, ...this.#served])]);
    for (const { tenant } of due) this.#served.add(tenant.organisationId);
    // Each has had a turn: the next ones begin anew.
    if (due.length < room) this.#served.clear();
    const now = clock.monotonic();
    this.#nextTurnsAt = now + Math.max(POLL_MS, (now - startedAt) / TURNS_PART);
  }

  /** Those that are due, `room` at most; they fire. */
  async #ringDue(
    session: OwnershipSession,
    room: number,
    without: readonly string[],
  ): Promise<{ readonly due: readonly Alarm<K>[]; readonly rung: readonly Promise<void>[] }> {
    const { storage, orgClock } = this.#deps;
    const due = await storage.dueAlarms({
      kind: this.#kind,
      slots: session.store.slots.list(),
      now: orgClock.wall(),
      atMost: room,
      except: [...this.#ringing.values().map(({ alarm }) => alarm), ...this.resting],
      held: [...orgClock.stopped],
      without,
    });
    assert(due.length <= room, 'no more alarms ring than there is room for');
    // Some clocks may have been stopped since they were looked up.
    const rung = due.filter((alarm) => !this.#isHeld(alarm)).map((alarm) => this.ring(alarm));
    return { due, rung };
  }

  #isHeld({ tenant }: Alarm<K>): boolean {
    return tenant.mode === 'test' && this.#deps.orgClock.stopped.has(tenant.organisationId);
  }

  async #try(alarm: Alarm<K>): Promise<void> {
    try {
      await this.#ring(alarm);
    } catch (error) {
      this.#deps.log.warn({ err: error, kind: alarm.kind }, 'an alarm failed');
      if (!(error instanceof LedgerUnavailable) || error instanceof TooSlow) this.#rest(alarm);
    }
  }

  /**
   * An alarm that the database refuses costs every unit of its flush: it must not come again at
   * once.
   */
  #rest(alarm: Alarm<K>): void {
    if (this.#resting.size >= RESTING_MAX) return;
    const name = `${alarm.actorId} ${alarm.subjectId}`;
    this.#resting.set(name, alarm);
    this.#deps.timers.after(REST_MS, () => this.#resting.delete(name));
  }
}
