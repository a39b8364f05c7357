// What sold usage comes to, reckoned from the raw events: no accounts, no marks, no spans that
// change. The times at which plans, periods and invoices changed come from the history.
import { type Aggregation } from '../../ledger/metering/meter.ts';
import { rateAll, rounded } from '../../ledger/subscriptions/rating.ts';
import { soldUnits } from './sold-units.ts';
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
  /** When that is to end. */
  readonly until: number;
  readonly start: number;
  end: number;
};

/** How events count. Where a meter carries, those of the periods before do, too. */
export type Counts = { readonly aggregation: Aggregation; readonly carry: boolean };

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
  readonly #pauses: { readonly from: number; readonly to: number }[] = [];
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
    if (!this.isPaused) this.#pausedAt = at;
    this.isPaused = true;
    this.#keeps = keeps;
  }

  resume(at: number): void {
    this.pass(at);
    if (this.isPaused) this.#pauses.push({ from: this.#pausedAt, to: at });
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
    if (this.isPaused) this.#pauses.push({ from: this.#pausedAt, to: at });
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
      else this.#stretches.push({ offer, period, until: next, start: this.#now, end });
      this.#now = end;
    }
  }

  /**
   * The sum of money over all invoices. What a price sells in a period is rated as one; what is
   * first billed on one invoice is rounded as one.
   */
  total(counts: Counts, events: readonly Event[]): bigint {
    const { aggregation } = counts;
    const sold = Map.groupBy(
      this.#stretches,
      ({ period, until, offer }) => `${period} ${until} ${offer.price.id}`,
    );
    const lines = Map.groupBy(sold.values(), ([{ end, offer } = NEVER]) => {
      const billedAt = this.#bills.filter((at) => at >= end).sort((a, b) => a - b)[0];
      return `${billedAt} ${offer.price.id}`;
    });
    const units = new Map<Stretch, bigint>();
    for (const its of Map.groupBy(this.#stretches, ({ period }) => period).values()) {
      const of = soldIn(counts, events, its);
      for (const [index, one] of its.entries()) units.set(one, of[index] ?? 0n);
    }
    const isFlow = aggregation === 'sum' || aggregation === 'count';
    let sum = 0n;
    for (const line of lines.values()) {
      const { price } = (line[0]?.[0] ?? NEVER).offer;
      if (!isFlow) {
        const runs = line.flatMap(runsOf);
        const exact = runs.reduce(
          (all, run) =>
            all + levelCost(run, this.#soldTime(run), units.get(run.at(-1) ?? NEVER) ?? 0n),
          0n,
        );
        sum += rounded(exact, price.currency);
        continue;
      }
      const rated = line.map((stretches) => ({
        quantity: stretches.reduce((all, one) => all + (units.get(one) ?? 0n), 0n),
        minimum: minimumOf(stretches, this.#soldTime(stretches)),
      }));
      sum += rounded(rateAll(price, rated, 0).amount, price.currency);
    }
    return sum;
  }

  /** Without the time in which it was paused. */
  #soldTime(stretches: readonly Stretch[]): bigint {
    let time = 0;
    for (const { start, end } of stretches) {
      time += end - start;
      for (const { from, to } of this.#pauses) {
        time -= Math.max(0, Math.min(end, to) - Math.max(start, from));
      }
    }
    return BigInt(time);
  }
}

const NEVER: Stretch = {
  get offer(): never {
    throw new Error('a period of a price has a stretch');
  },
  period: 0,
  until: 0,
  start: 0,
  end: 0,
};

/** What each stretch of one period sold, from its events. */
function soldIn(
  { aggregation, carry }: Counts,
  events: readonly Event[],
  stretches: readonly Stretch[],
): readonly bigint[] {
  const used = stretches.map(({ offer: { limit }, period, start, end }) => {
    const [from = 0n, to = 0n] = [start, end].map((until) => {
      const own = events.filter(({ at }) => (carry || at >= period) && at < until);
      const aggregate = aggregated(aggregation, own);
      return aggregate > 0n ? aggregate : 0n;
    });
    return { from, to, limit };
  });
  if (aggregation === 'sum' || aggregation === 'count') return soldUnits(used);
  return used.map(({ to, limit }) => (to > limit ? to - limit : 0n));
}

/** Without a gap. */
function runsOf(stretches: readonly Stretch[]): readonly (readonly Stretch[])[] {
  const begins = stretches.filter(({ start }) => !stretches.some(({ end }) => end === start));
  return begins.map((begin, index) => {
    const next = begins[index + 1]?.start ?? Infinity;
    return stretches.filter(({ start }) => start >= begin.start && start < next);
  });
}

/** A level above the limit, for the share of the period: in 10^-21 of the major unit, half up. */
function levelCost(run: readonly Stretch[], part: bigint, level: bigint): bigint {
  const { offer, period, until } = run[0] ?? NEVER;
  const whole = BigInt(until - period);
  const { amount } = rateAll(
    offer.price,
    [{ quantity: level, minimum: offer.price.minimum ?? 0n }],
    0,
  );
  return (2n * amount * part + whole) / (2n * whole);
}

/** For the share of the period, half up. */
function minimumOf(stretches: readonly Stretch[], part: bigint): bigint {
  const { offer, period, until } = stretches[0] ?? NEVER;
  const whole = BigInt(until - period);
  return ((offer.price.minimum ?? 0n) * part * 2n + whole) / (whole * 2n);
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
