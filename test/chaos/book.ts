// What the callers know: every event that was answered, and whether it counts. The truth that the database is compared with.
import { until } from './until.ts';
import type { Event, Usage } from './usage.ts';

export type Known = Event & { readonly counts: boolean };

export class Book {
  readonly events = new Map<string, Known>();
  /** What should never have been answered. */
  readonly faults: string[] = [];
  /** How often a call was not answered, or refused as unavailable. */
  unknown = 0;
  unavailable = 0;
  answers = 0;

  /** A call was answered, for the first time or again. */
  enter(usage: Usage, countsNow: boolean): void {
    for (const event of usage.events) {
      const before = this.events.get(event.key);
      if (before !== undefined && before.counts !== countsNow) {
        this.faults.push(`${event.key} was answered ${before.counts}, and then ${countsNow}`);
      }
      this.events.set(event.key, { ...event, counts: countsNow });
    }
    this.answers += 1;
  }

  /** Resolves when `count` more answers have come. @throws where they do not come in time */
  async moreAnswers(count: number, withinMs?: number): Promise<void> {
    const answers = this.answers + count;
    await until(`${count} more answers`, () => this.answers >= answers, withinMs);
  }

  /** Sum of what counts, by customer and meter. */
  totals(): Map<string, number> {
    const totals = new Map<string, number>();
    for (const { customer, meter, value, counts } of this.events.values()) {
      const name = `${customer} ${meter}`;
      if (counts) totals.set(name, (totals.get(name) ?? 0) + value);
    }
    return totals;
  }
}
