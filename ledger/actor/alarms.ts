import { decideTick } from '../advance.ts';
import type { Term, TermDeps } from './term.ts';

const POLL_MS = 1000;
const ALARMS_AT_ONCE = 500;

/**
 * Fires what time alone brings about: grants that start or expire, periods that end, processors that are to be asked again. An alarm is a row that the flush wrote which
 * made it necessary; firing it is a decision like any other, so it cannot race with one, and it moves or removes its own row.
 * Calls do not wait for alarms: every decision does first what was due.
 */
export class Alarms {
  readonly #deps: TermDeps;
  readonly #term: () => Term | null;
  #stop: () => void = () => undefined;
  #stopped = false;

  constructor(deps: TermDeps, term: () => Term | null) {
    this.#deps = deps;
    this.#term = term;
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
        (count) => this.#later(count === ALARMS_AT_ONCE ? 0 : POLL_MS),
        (error: unknown) => {
          if (!this.#stopped) this.#deps.log.warn({ err: error }, 'alarms could not be fired');
          this.#later(POLL_MS);
        },
      );
    });
  }

  /** How many were due. */
  async #fire(): Promise<number> {
    const term = this.#term();
    if (term === null || !term.journal.isLeaseValid()) return 0;
    const due = await this.#deps.storage.dueAlarms(this.#deps.clock.now(), ALARMS_AT_ONCE);
    await Promise.all(
      due.map((alarm) =>
        alarm.kind === 'meter'
          ? this.#tick(term, alarm)
          : this.#deps.onPaymentDue(alarm.paymentId).catch((error: unknown) => {
              this.#deps.log.warn({ err: error }, 'a payment could not be asked about');
            }),
      ),
    );
    return due.length;
  }

  async #tick(
    term: Term,
    { customerId, meterId }: { readonly customerId: string; readonly meterId: string },
  ): Promise<void> {
    const actor = await term.directory.findAny(customerId);
    const meter = actor?.holdings.get(meterId)?.meter;
    if (!actor || meter === undefined) return;
    await term.decide(actor, meter, (context, state) => ({
      outcome: null,
      effects: decideTick(context, state),
    }));
  }
}
