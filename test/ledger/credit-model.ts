// What pools pay for, reckoned from the spec: sums over events and holds, with none of the ledger's
// code. What a meter's own grants allow in a period (its limit) is not reckoned here but given.
import { DAY } from './world.ts';

/** From `start`, until `end` of a plan's days. */
type Plan = { readonly start: number; end: number };

type Held = {
  readonly id: string;
  readonly slug: string;
  /** The start of its period. */
  readonly start: number;
  amount: bigint;
  expiresAt: number;
  status: 'open' | 'committed' | 'released' | 'expired';
};

type Ofs = {
  readonly sums: Map<number, bigint>;
  readonly plans: Plan[];
};

type List = { readonly since: number; readonly rates: ReadonlyMap<string, bigint> };

/** Of one period of a meter: what its own grants give. null: everything. */
export type LimitOf = (slug: string, start: number) => bigint | null;

export class CreditModel {
  now: number;
  readonly held: Held[] = [];
  readonly #meters = new Map<string, Ofs>();
  readonly #lists = new Map<string, List[]>();
  /** By pool, when it could pay first. */
  readonly #begun = new Map<string, number>();
  /** What was drawn for a period of a member, by the period of its pool. */
  readonly #drawn = new Map<string, Map<number, bigint>>();

  constructor(now: number) {
    this.now = now;
  }

  list(pool: string, since: number, rates: ReadonlyMap<string, bigint>): void {
    const lists = this.#lists.get(pool) ?? [];
    lists.push({ since, rates });
    this.#lists.set(pool, lists);
  }

  poolOf(slug: string): string | null {
    for (const [pool, lists] of this.#lists) {
      if (lists.some(({ rates }) => rates.has(slug))) return pool;
    }
    return null;
  }

  granted(slug: string): void {
    if (!this.#begun.has(slug)) this.#begun.set(slug, this.now);
  }

  planOf(slug: string): Plan | undefined {
    return this.#of(slug).plans.find(({ end }) => end > this.now);
  }

  begin(slug: string): void {
    this.#of(slug).plans.push({ start: this.now, end: Infinity });
    this.granted(slug);
  }

  end(slug: string): void {
    const plan = this.planOf(slug);
    if (plan !== undefined) plan.end = this.now;
  }

  /** Whether a plan that was there then, of the meter or of its pool, has ended since. */
  hasEnded(slug: string, at: number): boolean {
    const pool = this.poolOf(slug);
    return [slug, pool ?? slug].some((one) =>
      this.#of(one).plans.some(({ start, end }) => start <= at && at < end && end <= this.now),
    );
  }

  /** The start of the period that the time is in. */
  startAt(slug: string, at: number): number {
    let start = 0;
    const { plans } = this.#of(slug);
    const last = plans.findLast((plan) => plan.start <= at);
    if (last !== undefined && at < last.end) {
      return last.start + Math.floor((at - last.start) / DAY) * DAY;
    }
    if (last !== undefined) start = last.end;
    const pool = this.poolOf(slug);
    // Without a plan of its own it has the periods of its pool.
    return pool === null ? start : Math.max(start, this.startAt(pool, at));
  }

  /** The periods that anything was counted in or held of, and the current one. */
  startsOf(slug: string): number[] {
    const { sums } = this.#of(slug);
    const open = this.open(slug).map(({ start }) => start);
    const starts = new Set([...sums.keys(), ...open, this.startAt(slug, this.now)]);
    return [...starts].sort((a, b) => a - b);
  }

  use(slug: string, value: bigint, at = this.now): void {
    this.add(slug, this.startAt(slug, at), value);
  }

  add(slug: string, start: number, value: bigint): void {
    const { sums } = this.#of(slug);
    sums.set(start, (sums.get(start) ?? 0n) + value);
  }

  open(slug: string): Held[] {
    return this.held.filter((one) => one.slug === slug && one.status === 'open');
  }

  expire(): void {
    for (const one of this.held) {
      if (one.status === 'open' && one.expiresAt <= this.now) one.status = 'expired';
    }
  }

  sum(slug: string, start: number): bigint {
    let sum = this.#of(slug).sums.get(start) ?? 0n;
    for (const [key, byPool] of this.#drawn) {
      if (this.poolOf(key.split(' ')[0]!) === slug) sum += byPool.get(start) ?? 0n;
    }
    return sum;
  }

  consumed(slug: string, start: number): bigint {
    const sum = this.sum(slug, start);
    return sum > 0n ? sum : 0n;
  }

  reserved(slug: string, start: number): bigint {
    let sum = 0n;
    for (const one of this.open(slug)) if (one.start === start) sum += one.amount;
    return sum;
  }

  /** What a unit of the member costs in a period of it; null where its pool does not pay. */
  rate(slug: string, start: number): bigint | null {
    const pool = this.poolOf(slug);
    const begun = this.#begun.get(pool ?? '');
    if (pool === null || begun === undefined) return null;
    // It has ended before the pool began.
    if (this.startAt(slug, begun) > start) return null;
    const from = Math.max(begun, this.startAt(pool, start));
    const list = this.#lists.get(pool)!.findLast(({ since }) => since <= from);
    return list?.rates.get(slug) ?? null;
  }

  /** What is used and held beyond the limit, in units. */
  beyond(limit: bigint | null, units: bigint): bigint {
    return limit !== null && units > limit ? units - limit : 0n;
  }

  /** Takes what is beyond the limits from the pools. */
  settle(members: readonly string[], limitOf: LimitOf): void {
    for (const slug of members) {
      const pool = this.poolOf(slug)!;
      for (const start of this.startsOf(slug)) {
        const rate = this.rate(slug, start);
        if (rate === null) continue;
        const paid = this.#drawn.get(`${slug} ${start}`) ?? new Map<number, bigint>();
        this.#drawn.set(`${slug} ${start}`, paid);
        let sum = 0n;
        for (const credits of paid.values()) sum += credits;
        const due = rate * this.beyond(limitOf(slug, start), this.consumed(slug, start));
        const isCurrent = start === this.startAt(slug, this.now);
        const from = this.startAt(pool, isCurrent ? this.now : start);
        if (due !== sum) paid.set(from, (paid.get(from) ?? 0n) + due - sum);
      }
    }
  }

  drawn(slug: string, start: number): bigint {
    let sum = 0n;
    for (const credits of this.#drawn.get(`${slug} ${start}`)?.values() ?? []) sum += credits;
    return sum;
  }

  /** Credits that are held for a period of a member. */
  heldFor(slug: string, start: number, limit: bigint | null): bigint {
    const used = this.consumed(slug, start);
    const reserved = this.reserved(slug, start);
    const units = this.beyond(limit, used + reserved) - this.beyond(limit, used);
    return (this.rate(slug, start) ?? 0n) * units;
  }

  #of(slug: string): Ofs {
    const known = this.#meters.get(slug) ?? { sums: new Map<number, bigint>(), plans: [] };
    this.#meters.set(slug, known);
    return known;
  }
}
