// What the callers know: every event that was answered, and whether it counts. The database is
// compared with it, and it bounds what a reader may see.
import { until } from '../support/until.ts';
import { CAPPED_METER, type Tenant } from './tenant.ts';
import type { Event, Usage } from './usage.ts';

export type Known = Event & { readonly counts: boolean };

/**
 * Sums of one customer and meter; they only grow. A repeated call counts in memory until the node
 * knows that it is a repetition, so that `/check` allows nothing against usage that may be undone.
 * Pending is therefore all that was sent and has not ended.
 */
type Sums = {
  /** Everything sent, counted each time. */
  sent: number;
  /** Accepted, counted once each. */
  counted: number;
  /** Refused, repeated, or certainly not pending any more. */
  ended: number;
  /** The same for grants. */
  granting: number;
  granted: number;
  grantsEnded: number;
};

/** The state of the book when a reader asked. */
export type Mark = Readonly<Sums>;

export type Seen = { readonly consumed: number; readonly limit: number | null };

/** An unanswered call may still run for this long on some node. */
const LATE_MS_MAX = 30_000;

type Late = { readonly until: number; readonly end: () => void };

const nameOf = ({ customer, meter }: Pick<Event, 'customer' | 'meter'>): string =>
  `${customer} ${meter}`;

export class Book {
  readonly events = new Map<string, Known>();
  /** Calls without a key: those answered, by the id they got, and those never answered. */
  readonly unkeyed = new Map<string, Event>();
  readonly lost: Event[] = [];
  /** Answers that must not occur. */
  readonly faults: string[] = [];
  /** How often a call got no answer, or a 503. */
  unknown = 0;
  unavailable = 0;
  answers = 0;
  readonly #granted: number;
  readonly #sums = new Map<string, Sums>();
  /** Unanswered calls, in order of time. */
  readonly #late: Late[] = [];

  constructor({ granted }: Pick<Tenant, 'granted'>) {
    this.#granted = granted;
  }

  /** A call is about to be sent, for the first time or again. */
  begin(usage: Usage): void {
    for (const event of usage.events) this.#sumsOf(event).sent += event.value;
  }

  /** It was answered. */
  enter(usage: Usage, countsNow: boolean): void {
    for (const event of usage.events) {
      const before = this.events.get(event.key);
      this.#sumsOf(event)[countsNow && before === undefined ? 'counted' : 'ended'] += event.value;
      if (before !== undefined && before.counts !== countsNow) {
        this.faults.push(`${event.key} was answered ${before.counts}, and then ${countsNow}`);
      }
      this.events.set(event.key, { ...event, counts: countsNow });
    }
    this.answers += 1;
  }

  /** It got no answer, or a 503. */
  miss(usage: Usage): void {
    this.#endLate(() => {
      for (const event of usage.events) this.#sumsOf(event).ended += event.value;
    });
  }

  /** A call without a key is sent once. */
  beginUnkeyed(event: Event): void {
    this.#sumsOf(event).sent += event.value;
  }

  enterUnkeyed(id: string, event: Event): void {
    if (this.unkeyed.has(id)) this.faults.push(`${id} was answered to two calls`);
    this.unkeyed.set(id, event);
    this.#sumsOf(event).counted += event.value;
    this.answers += 1;
  }

  /** It must leave no trace. */
  refuseUnkeyed(event: Event): void {
    this.#sumsOf(event).ended += event.value;
  }

  /** Whether it is one of the unanswered calls: then it was recorded. */
  find(id: string, { customer, meter, value }: Omit<Event, 'key'>): boolean {
    const index = this.lost.findIndex(
      (lost) => lost.customer === customer && lost.meter === meter && lost.value === value,
    );
    const [event] = index === -1 ? [] : this.lost.splice(index, 1);
    if (event === undefined) return false;
    this.unkeyed.set(id, event);
    this.#sumsOf(event).counted += event.value;
    return true;
  }

  beginGrant(customer: string, amount: number): void {
    this.#sumsOf({ customer, meter: CAPPED_METER }).granting += amount;
  }

  enterGrant(customer: string, amount: number): void {
    this.#sumsOf({ customer, meter: CAPPED_METER }).granted += amount;
    this.answers += 1;
  }

  missGrant(customer: string, amount: number): void {
    this.#endLate(() => {
      this.#sumsOf({ customer, meter: CAPPED_METER }).grantsEnded += amount;
    });
  }

  /** Resolves when `count` more answers have come. @throws where they do not come in time */
  async moreAnswers(count: number, withinMs?: number): Promise<void> {
    const answers = this.answers + count;
    await until(`${count} more answers`, () => this.answers >= answers, withinMs);
  }

  /** Call this before a reader asks. */
  mark(of: Pick<Event, 'customer' | 'meter'>): Mark {
    while (this.#late[0] !== undefined && this.#late[0].until < performance.now()) {
      this.#late.shift()?.end();
    }
    return { ...this.#sumsOf(of) };
  }

  /**
   * What is wrong with a read. It must include all that was acknowledged before the read, and
   * nothing that was not sent.
   */
  judge(of: Pick<Event, 'customer' | 'meter'>, before: Mark, seen: Seen): string | null {
    const now = this.mark(of);
    const [least, most] = [before.counted, now.sent - before.ended];
    if (seen.consumed < least || seen.consumed > most) {
      return `${nameOf(of)}: a reader saw ${seen.consumed} consumed, between ${least} and ${most} it can be`;
    }
    if (of.meter !== CAPPED_METER || seen.limit === null) return null;
    const lowest = this.#granted + before.granted;
    const highest = this.#granted + now.granting - before.grantsEnded;
    return seen.limit >= lowest && seen.limit <= highest
      ? null
      : `${nameOf(of)}: a reader saw the limit ${seen.limit}, between ${lowest} and ${highest} it can be`;
  }

  /** The sum of what counts, by customer and meter. */
  totals(): Map<string, number> {
    const totals = new Map<string, number>();
    for (const [name, { counted }] of this.#sums) if (counted > 0) totals.set(name, counted);
    return totals;
  }

  /** What the customer may consume; null for no cap. */
  ceiling(of: Pick<Event, 'customer' | 'meter'>): number | null {
    return of.meter === CAPPED_METER ? this.#granted + this.#sumsOf(of).granted : null;
  }

  #endLate(end: () => void): void {
    this.#late.push({ until: performance.now() + LATE_MS_MAX, end });
  }

  #sumsOf(of: Pick<Event, 'customer' | 'meter'>): Sums {
    const name = nameOf(of);
    const known = this.#sums.get(name);
    if (known !== undefined) return known;
    const sums = { sent: 0, counted: 0, ended: 0, granting: 0, granted: 0, grantsEnded: 0 };
    this.#sums.set(name, sums);
    return sums;
  }
}
