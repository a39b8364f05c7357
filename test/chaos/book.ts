// What the callers know: every event that was answered, and whether it counts. The truth that the database is compared with, and from
// which follows what a reader may see in between.
import { CAPPED_GRANT, CAPPED_METER } from './tenant.ts';
import { until } from './until.ts';
import type { Event, Usage } from './usage.ts';

export type Known = Event & { readonly counts: boolean };

/** Sums of one customer and meter that only grow. */
type Sums = {
  /** Of whatever was asked for. */
  begun: number;
  /** Of what was answered with a yes. */
  counted: number;
  /** And with a no. */
  refused: number;
  /** Grants asked for, and answered. */
  granting: number;
  granted: number;
};

/** What was known when a reader asked. */
export type Mark = Readonly<Sums>;

export type Seen = { readonly consumed: number; readonly limit: number | null };

const nameOf = ({ customer, meter }: Pick<Event, 'customer' | 'meter'>): string =>
  `${customer} ${meter}`;

export class Book {
  readonly events = new Map<string, Known>();
  /** Of callers without a key: what they were told of, by the id that they got, and what they never heard of again. */
  readonly unkeyed = new Map<string, Event>();
  readonly lost: Event[] = [];
  /** What should never have been answered. */
  readonly faults: string[] = [];
  /** How often a call was not answered, or refused as unavailable. */
  unknown = 0;
  unavailable = 0;
  answers = 0;
  readonly #sums = new Map<string, Sums>();
  readonly #begun = new Set<string>();

  /** A call is about to be sent, for the first time or again. */
  begin(usage: Usage): void {
    for (const event of usage.events) {
      if (this.#begun.has(event.key) || this.events.has(event.key)) continue;
      this.#begun.add(event.key);
      this.#sumsOf(nameOf(event)).begun += event.value;
    }
  }

  /** A call was answered, for the first time or again. */
  enter(usage: Usage, countsNow: boolean): void {
    for (const event of usage.events) {
      const before = this.events.get(event.key);
      if (before === undefined) {
        this.#sumsOf(nameOf(event))[countsNow ? 'counted' : 'refused'] += event.value;
      } else if (before.counts !== countsNow) {
        this.faults.push(`${event.key} was answered ${before.counts}, and then ${countsNow}`);
      }
      this.#begun.delete(event.key);
      this.events.set(event.key, { ...event, counts: countsNow });
    }
    this.answers += 1;
  }

  /** A call without a key is sent once. */
  beginUnkeyed(event: Event): void {
    this.#sumsOf(nameOf(event)).begun += event.value;
  }

  enterUnkeyed(id: string, event: Event): void {
    if (this.unkeyed.has(id)) this.faults.push(`${id} was answered to two calls`);
    this.unkeyed.set(id, event);
    this.#sumsOf(nameOf(event)).counted += event.value;
    this.answers += 1;
  }

  /** Whether it is one of which nobody heard again: then it was done. */
  find(id: string, { customer, meter, value }: Omit<Event, 'key'>): boolean {
    const index = this.lost.findIndex(
      (lost) => lost.customer === customer && lost.meter === meter && lost.value === value,
    );
    const [event] = index === -1 ? [] : this.lost.splice(index, 1);
    if (event === undefined) return false;
    this.unkeyed.set(id, event);
    this.#sumsOf(nameOf(event)).counted += event.value;
    return true;
  }

  beginGrant(customer: string, amount: number): void {
    this.#sumsOf(nameOf({ customer, meter: CAPPED_METER })).granting += amount;
  }

  enterGrant(customer: string, amount: number): void {
    this.#sumsOf(nameOf({ customer, meter: CAPPED_METER })).granted += amount;
    this.answers += 1;
  }

  /** Resolves when `count` more answers have come. @throws where they do not come in time */
  async moreAnswers(count: number, withinMs?: number): Promise<void> {
    const answers = this.answers + count;
    await until(`${count} more answers`, () => this.answers >= answers, withinMs);
  }

  /** Before a reader asks. */
  mark(of: Pick<Event, 'customer' | 'meter'>): Mark {
    return { ...this.#sumsOf(nameOf(of)) };
  }

  /** What is wrong with what a reader saw: it includes whatever was acknowledged before he asked, and nothing that nobody asked for. */
  judge(of: Pick<Event, 'customer' | 'meter'>, before: Mark, seen: Seen): string | null {
    const now = this.mark(of);
    const [least, most] = [before.counted, now.begun - before.refused];
    if (seen.consumed < least || seen.consumed > most) {
      return `${nameOf(of)}: a reader saw ${seen.consumed} consumed, between ${least} and ${most} it can be`;
    }
    if (of.meter !== CAPPED_METER || seen.limit === null) return null;
    const [lowest, highest] = [CAPPED_GRANT + before.granted, CAPPED_GRANT + now.granting];
    return seen.limit >= lowest && seen.limit <= highest
      ? null
      : `${nameOf(of)}: a reader saw the limit ${seen.limit}, between ${lowest} and ${highest} it can be`;
  }

  /** Sum of what counts, by customer and meter. */
  totals(): Map<string, number> {
    const totals = new Map<string, number>();
    for (const [name, { counted }] of this.#sums) if (counted > 0) totals.set(name, counted);
    return totals;
  }

  /** What the customer may consume, by name of customer and meter; null where it is not capped. */
  ceiling(name: string): number | null {
    return name.endsWith(CAPPED_METER) ? CAPPED_GRANT + this.#sumsOf(name).granted : null;
  }

  #sumsOf(name: string): Sums {
    const known = this.#sums.get(name);
    if (known !== undefined) return known;
    const sums = { begun: 0, counted: 0, refused: 0, granting: 0, granted: 0 };
    this.#sums.set(name, sums);
    return sums;
  }
}
