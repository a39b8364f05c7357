import { assert } from '../assert.ts';
import { decideTick } from '../advance.ts';
import { LedgerUnavailable } from '../ports.ts';
import type { Alarm, AlarmKind } from '../storage.ts';
import type { Term, TermDeps } from './term.ts';

const POLL_MS = 1000;
const AT_ONCE = 500;
const REST_MS = 8000;
const RESTING_MAX = 10_000;

/**
 * Fires what time alone brings about: grants that start or expire, periods that end, processors that are to be asked again. An alarm
 * is a row that the flush wrote which made it necessary; what it brings about is a decision like any other, so it cannot race with
 * one, and it moves or removes its own row. Calls do not wait for alarms: every decision does first what was due.
 *
 * One of these for each kind, and no alarm waits for another: a processor that is silent holds up nobody's period.
 */
export class Alarms<K extends AlarmKind> {
  readonly #deps: TermDeps;
  readonly #term: () => Term | null;
  readonly #kind: K;
  readonly #ring: (term: Term, alarm: Alarm<K>) => Promise<void>;
  /** By subject: those that ring now, and those that failed and are left alone for a while. */
  readonly #ringing = new Map<string, Alarm<K>>();
  readonly #resting = new Map<string, Alarm<K>>();
  #stop: () => void = () => undefined;
  #stopped = false;

  constructor(
    deps: TermDeps,
    options: {
      term: () => Term | null;
      kind: K;
      ring: (term: Term, alarm: Alarm<K>) => Promise<void>;
    },
  ) {
    this.#deps = deps;
    this.#term = options.term;
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

  /** Whether there were more than may ring at once; then those that it could take have rung. */
  async #fire(): Promise<boolean> {
    const term = this.#term();
    const room = AT_ONCE - this.#ringing.size;
    if (term === null || !term.journal.isLeaseValid() || room === 0) return false;
    const { storage, clock } = this.#deps;
    const except = [...this.#ringing.values(), ...this.#resting.values()];
    const due = await storage.dueAlarms({
      kind: this.#kind,
      now: clock.now(),
      atMost: room,
      except,
    });
    assert(due.length <= room, 'no more alarms ring than there is room for');
    const rung = due.map((alarm) => this.#start(term, alarm));
    if (due.length < room) return false;
    await Promise.all(rung);
    return true;
  }

  async #start(term: Term, alarm: Alarm<K>): Promise<void> {
    const name = `${alarm.actorId} ${alarm.subjectId}`;
    assert(alarm.kind === this.#kind, 'an alarm rings with its own kind');
    assert(!this.#ringing.has(name), 'an alarm rings once at a time');
    this.#ringing.set(name, alarm);
    try {
      await this.#ring(term, alarm);
    } catch (error) {
      this.#deps.log.warn({ err: error, kind: alarm.kind }, 'an alarm failed');
      if (!(error instanceof LedgerUnavailable)) this.#rest(name, alarm);
    } finally {
      this.#ringing.delete(name);
    }
  }

  /** What the database refuses costs everybody whose decision was in the same flush: it must not come again at once. */
  #rest(name: string, alarm: Alarm<K>): void {
    if (this.#resting.size >= RESTING_MAX) return;
    this.#resting.set(name, alarm);
    this.#deps.timers.after(REST_MS, () => this.#resting.delete(name));
  }
}

/** Does what is due on a customer's meter. */
export async function tick(term: Term, { actorId, subjectId }: Alarm<'meter'>): Promise<void> {
  const actor = await term.directory.findAny(actorId);
  const meter = actor?.holdings.get(subjectId)?.meter;
  if (!actor || meter === undefined) return;
  await term.decide(actor, meter, (context, state) => ({
    outcome: null,
    effects: decideTick(context, state),
  }));
}
