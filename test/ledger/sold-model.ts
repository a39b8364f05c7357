// What sold usage comes to, reckoned from the raw events: no accounts, no marks, no spans that
// change. The times at which plans, periods and invoices changed come from the history.
import { type Aggregation } from '../../ledger/metering/meter.ts';
import { rateAll, rounded } from '../../ledger/subscriptions/rating.ts';
import type { Event, Offer } from './sold-world.ts';

const UNITS = { day: 'days', week: 'weeks', month: 'months', year: 'years' } as const;

function later(from: number, interval: keyof typeof UNITS, count: number): number {
  return Temporal.Instant.fromEpochMilliseconds(from)
    .toZonedDateTimeISO('UTC')
    .add({ [UNITS[interval]]: count }).epochMilliseconds;
}

/** A stretch of time with one plan in one period of the meter. */
type Stretch = {
  readonly offer: Offer;
  readonly period: number;
  readonly start: number;
  end: number;
};

export class SoldModel {
  readonly #stretches: Stretch[] = [];
  /** When usage was billed. */
  readonly #bills: number[] = [];
  /** A trial is free. */
  #chargesFrom = Infinity;
  offer: Offer;
  /** Where periods count from, and the start of the one that was reached. */
  #anchor: number;
  #now: number;
  isPaused: boolean = false;
  #pausedAt = 0;
  #keeps = false;
  periodStart: number;
  endedAt: number | null = null;

  constructor(offer: Offer, start: number, trialEnd: number | null) {
    this.offer = offer;
    this.#anchor = trialEnd ?? start;
    if (trialEnd === null) this.#chargesFrom = start;
    this.#now = start;
    this.periodStart = start;
  }

  get periodEnd(): number {
    if (this.periodStart < this.#anchor) return this.#anchor;
    for (let n = 1; ; n += 1) {
      const end = later(this.#anchor, this.offer.plan.interval, n);
      if (end > this.periodStart) return end;
    }
  }

  /** Periods that end by then. */
  pass(to: number): void {
    if (this.endedAt !== null) return;
    while (this.periodEnd <= to && (!this.isPaused || this.#keeps)) {
      this.periodStart = this.periodEnd;
      this.#chargesFrom = Math.min(this.#chargesFrom, this.periodStart);
      if (!this.isPaused) this.#bills.push(this.periodStart);
    }
    this.#sell(to);
  }

  change(offer: Offer, at: number): void {
    this.pass(at);
    const restarts = offer.plan.interval !== this.offer.plan.interval;
    this.offer = offer;
    if (at < this.#chargesFrom) return;
    this.#bills.push(at);
    if (!restarts) return;
    this.#anchor = at;
    this.periodStart = at;
  }

  pause(at: number, keeps: boolean): void {
    this.pass(at);
    this.isPaused = true;
    this.#pausedAt = at;
    this.#keeps = keeps;
  }

  resume(at: number): void {
    this.pass(at);
    this.isPaused = false;
    const hasDraft = this.periodStart > this.#pausedAt;
    if (at < this.periodEnd && !hasDraft) return;
    this.#anchor = at;
    this.periodStart = at;
    this.#chargesFrom = Math.min(this.#chargesFrom, at);
    this.#bills.push(at);
  }

  end(at: number): void {
    this.pass(at);
    this.#bills.push(at);
    this.endedAt = at;
  }

  /** The plan sells until then. */
  #sell(to: number): void {
    const { offer } = this;
    while (this.#now < to) {
      if (this.#now < this.#chargesFrom) {
        this.#now = Math.min(to, this.#chargesFrom);
        continue;
      }
      let [period, next] = [this.#anchor, this.#anchor];
      for (let n = 1; next <= this.#now; n += 1) {
        period = next;
        next = later(this.#anchor, offer.reset, n);
      }
      const end = Math.min(to, next);
      const last = this.#stretches.at(-1);
      const goesOn =
        last !== undefined &&
        last.end === this.#now &&
        last.offer === offer &&
        last.period === period;
      if (goesOn) last.end = end;
      else this.#stretches.push({ offer, period, start: this.#now, end });
      this.#now = end;
    }
  }

  /** The sum of money over all invoices. */
  total(aggregation: Aggregation, events: readonly Event[]): bigint {
    let sum = 0n;
    const lines = Map.groupBy(this.#stretches, ({ end, offer }) => {
      const billedAt = this.#bills.filter((at) => at >= end).sort((a, b) => a - b)[0];
      return `${billedAt} ${offer.price.id}`;
    });
    for (const stretches of lines.values()) {
      const [first] = stretches;
      if (first === undefined) continue;
      const quantities = stretches.map(({ offer, period, start, end }) => {
        const past = (until: number): bigint => {
          const own = events.filter(({ at }) => at >= period && at < until);
          const used = aggregated(aggregation, own);
          return used > offer.limit ? used - offer.limit : 0n;
        };
        const quantity = past(end) - past(start);
        return quantity > 0n ? quantity : 0n;
      });
      const { price } = first.offer;
      sum += rounded(rateAll(price, quantities, 0).amount, price.currency);
    }
    return sum;
  }
}

function aggregated(aggregation: Aggregation, events: readonly Event[]): bigint {
  if (aggregation === 'unique') return BigInt(new Set(events.map(({ member }) => member)).size);
  if (aggregation === 'count') {
    return events.reduce((sum, { value }) => sum + (value < 0n ? -1n : 1n), 0n);
  }
  if (aggregation === 'sum') return events.reduce((sum, { value }) => sum + value, 0n);
  const sorted = events.toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  if (aggregation === 'last') return sorted.at(-1)?.value ?? 0n;
  return sorted.reduce((most, { value }) => (value > most ? value : most), 0n);
}
