// A meter that counts, settled from its facts by walking its stretches in the order of time
// (docs/spec/balance.md#stretches). Slow: every question walks all of them.
import { type Facts, knownAt, type Price, type Subscription } from './facts.ts';
import {
  burnOrder,
  edgesOf,
  isEdge,
  isPaused,
  onceOf,
  planAt,
  potOf,
  type Recurring,
  recurringOf,
  rolloverOf,
  room,
  type Source,
} from './sources.ts';

/** Some use of a stretch, and who covers it; `source` null: nobody. */
type Part = {
  readonly stretch: number;
  amount: bigint;
  source: Source | null;
  /** Covered at a later boundary, not when it was used. */
  isGrown: boolean;
  /** It is sold by this span where nobody covers it. */
  readonly span: Span | null;
  readonly isHeld: boolean;
  isBilled: boolean;
};

/** The time in which a price is in force within a period of the meter. */
export type Span = {
  readonly subscription: Subscription;
  readonly price: Price;
  readonly start: number;
  readonly end: number;
  /** How long it was in force, in milliseconds. */
  part: number;
  quantity: bigint;
};

export type Balance = {
  readonly balance: bigint | null;
  readonly limit: bigint | null;
  readonly consumed: bigint;
  readonly reserved: bigint;
  readonly billed: bigint;
  readonly periodStart: number;
  /** Of what is in force, in burn order; null: unlimited. */
  readonly left: readonly (readonly [id: string, units: bigint | null])[];
};

export type Settled = {
  readonly balance: Balance;
  readonly spans: readonly Span[];
  /** What nobody covers, by the start of its stretch: what a pool pays of its member. */
  readonly uncovered: readonly { readonly at: number; readonly amount: bigint }[];
};

/** As it is known at `now`. `cuts`: further boundaries. */
export function settle(all: Facts, now: number, cuts: readonly number[] = []): Settled {
  const facts = knownAt(all, now);
  const walk = new Walk(facts, now);
  const bounds = boundaries(facts, now, cuts);
  bounds.forEach((from, index) => walk.stretch(from, bounds[index + 1] ?? now + 1));
  return walk.end();
}

/** All that changes what may be used or what it costs. */
function boundaries(facts: Facts, now: number, cuts: readonly number[]): number[] {
  const times = [...cuts, ...facts.uses.map(({ at }) => at), ...facts.holds.map(({ at }) => at)];
  // The first stretch has no boundary before it.
  const found = new Set(times.length === 0 ? [] : [Math.min(...times)]);
  for (const { from, until } of onceOf(facts)) found.add(from).add(until);
  for (const recurring of recurringOf(facts)) {
    found.add(recurring.from).add(recurring.until);
    const last = Math.min(now, recurring.until);
    for (const edge of edgesOf(recurring, recurring.from, last)) found.add(edge);
  }
  for (const { plans, end, paused = [] } of facts.subscriptions) {
    // Neighbours with the same terms are one stretch; what is sold is billed.
    const isAnother = (index: number): boolean =>
      plans[index]?.plan !== plans[index - 1]?.plan || plans[index]?.plan.price !== undefined;
    for (const [index, { at }] of plans.entries()) if (isAnother(index)) found.add(at);
    if (end !== undefined) found.add(end);
    for (const { from, until } of paused) found.add(from).add(until ?? Infinity);
  }
  for (const cut of cuts) found.add(cut);
  return [...found].filter((at) => at <= now).toSorted((a, b) => a - b);
}

class Walk {
  readonly #facts: Facts;
  readonly #now: number;
  readonly #recurring: readonly Recurring[];
  readonly #sources: Source[];
  /** Of the current period. */
  #parts: Part[] = [];
  readonly #past: Part[] = [];
  readonly #spans = new Map<string, Span>();
  #leader: Recurring | null = null;
  #start: number | null = null;
  /** Corrections beyond what the period has used; 0 or less. */
  #below = 0n;

  constructor(facts: Facts, now: number) {
    this.#facts = facts;
    this.#now = now;
    this.#recurring = recurringOf(facts);
    this.#sources = onceOf(facts);
  }

  /** From its boundary, included, to the next one. */
  stretch(from: number, to: number): void {
    this.#period(from);
    this.#pots(from);
    this.#bill(from);
    this.#shrink(from);
    this.#arrive(from);
    const span = this.#span(from, to);
    const isIn = ({ at }: { readonly at: number }): boolean => at >= from && at < to;
    const used = sum(this.#facts.uses.filter(isIn).map(({ amount }) => amount));
    const holds = this.#facts.holds.filter(isIn);
    const held = sum(holds.map(({ amount, end }) => (end === null ? amount : 0n)));
    const committed = sum(holds.map(({ amount, end }) => least(amount, end?.used ?? 0n)));
    this.#use(used + committed + held, { held, from, span });
  }

  end(): Settled {
    const all = [...this.#past, ...this.#parts];
    for (const { span, source, amount, isHeld } of all) {
      if (span !== null && source === null && !isHeld) span.quantity += amount;
    }
    return {
      balance: this.#balance(),
      spans: [...this.#spans.values()],
      uncovered: all
        .filter(({ source }) => source === null)
        .map(({ stretch, amount }) => ({ at: stretch, amount })),
    };
  }

  #period(at: number): void {
    const leader = this.#leaderAt(at);
    const isNew = leader !== this.#leader || (leader !== null && isEdge(leader, at));
    this.#start ??= at;
    if (!isNew) return;
    this.#leader = leader;
    this.#start = at;
    this.#past.push(...this.#parts);
    this.#parts = [];
    this.#below = 0n;
  }

  #leaderAt(at: number): Recurring | null {
    const alive = this.#recurring.filter(({ from, until }) => from <= at && at < until);
    const first = (a: Recurring, b: Recurring): number =>
      a.priority - b.priority || a.from - b.from || (a.id < b.id ? -1 : 1);
    return alive.toSorted(first)[0] ?? null;
  }

  /** What gives afresh then, and what rolls over of what it had before. */
  #pots(at: number): void {
    for (const recurring of this.#recurring) {
      const { id, from, until } = recurring;
      if (at < from || at > until || (at !== from && !isEdge(recurring, at))) continue;
      const before = this.#sources.findLast(
        (one) => one.kind === 'pot' && one.id.startsWith(`${id}@`) && one.until === at,
      );
      if (at < until) this.#sources.push(potOf(recurring, this.#facts, at));
      if (before === undefined || at === until) continue;
      const isLiving = (one: Source): boolean =>
        one.kind === 'rollover' && one.subscription?.id === id && one.until > at;
      const rolled = rolloverOf(before, this.#sources.filter(isLiving));
      if (rolled !== null) this.#sources.push(rolled);
    }
  }

  /** A change and an end bill what their subscription sells in the running period. */
  #bill(at: number): void {
    for (const part of this.#parts) {
      const { plans, end } = part.span?.subscription ?? { plans: [] };
      const isBill = end === at || plans.some((one, index) => index > 0 && one.at === at);
      if (isBill && part.source === null && !part.isHeld) part.isBilled = true;
    }
  }

  /** What a larger plan covered of earlier debt is uncovered again by a smaller one. */
  #shrink(at: number): void {
    for (const source of this.#sources) {
      const size = source.size(at);
      if (size === null || source.kind === 'grant' || at >= source.until) continue;
      for (const part of this.#parts.toReversed()) {
        const over = source.used - size;
        if (over <= 0n) break;
        if (part.source !== source || !part.isGrown) continue;
        this.#cover(part, null, least(over, part.amount));
      }
    }
  }

  /** Units that arrive cover what is uncovered and not billed, oldest first. */
  #arrive(at: number): void {
    const isOpen = ({ source, isBilled }: Part): boolean => source === null && !isBilled;
    for (const part of this.#parts.filter(isOpen)) {
      let rest = part.amount;
      for (const source of this.#burning(at)) {
        const units = least(rest, room(source, at) ?? rest);
        if (units > 0n) this.#cover(part, source, units);
        rest -= units;
      }
    }
  }

  /** So many units of the part are that source's. The others stay in it. */
  #cover(part: Part, source: Source | null, units: bigint): void {
    if (part.source !== null) part.source.used -= units;
    if (source !== null) source.used += units;
    const index = this.#parts.indexOf(part);
    const covered = { ...part, source, amount: units, isGrown: source !== null };
    this.#parts.splice(index, 0, covered);
    part.amount -= units;
    if (part.amount === 0n) this.#parts.splice(index + 1, 1);
  }

  /** In force and not suspended, in burn order. */
  #burning(at: number): Source[] {
    const inForce = this.#inForce(at).filter(
      ({ subscription }) => subscription === null || !isPaused(subscription, at),
    );
    const unlimited = inForce.filter(({ size }) => size(at) === null);
    return (unlimited.length > 0 ? unlimited : inForce).toSorted(burnOrder);
  }

  #inForce(at: number): Source[] {
    return this.#sources.filter(({ from, until }) => from <= at && at < until);
  }

  /** The span that sells then. */
  #span(from: number, to: number): Span | null {
    const sellers = this.#recurring.filter(({ subscription }) => subscription !== null);
    for (const { subscription, every } of sellers) {
      const price = subscription === null ? undefined : planAt(subscription, from)?.price;
      if (subscription === null || price === undefined || this.#start === null) continue;
      const key = `${subscription.id} ${this.#start} ${price.id}`;
      const begun = { subscription, price, start: this.#start, end: this.#start + every };
      const span = this.#spans.get(key) ?? { ...begun, part: 0, quantity: 0n };
      this.#spans.set(key, span);
      span.part += Math.min(to, this.#now) - from;
      return span;
    }
    return null;
  }

  #use(
    net: bigint,
    {
      held,
      from,
      span,
    }: { readonly held: bigint; readonly from: number; readonly span: Span | null },
  ): void {
    const filled = net > 0n ? least(net, -this.#below) : 0n;
    this.#below += filled;
    let rest = net - filled;
    if (rest < 0n) return this.#takeBack(-rest);
    const part = { stretch: from, isGrown: false, span, isHeld: false, isBilled: false };
    for (const source of this.#burning(from)) {
      const amount = least(rest, room(source, from) ?? rest);
      if (amount === 0n) continue;
      source.used += amount;
      this.#parts.push({ ...part, amount, source });
      rest -= amount;
    }
    // What is held burns last.
    const sold = rest > held ? rest - held : 0n;
    if (sold > 0n) this.#parts.push({ ...part, amount: sold, source: null });
    if (rest > sold) this.#parts.push({ ...part, amount: rest - sold, source: null, isHeld: true });
  }

  /** Newest first; in a stretch first what is uncovered, then in reverse burn order. */
  #takeBack(units: bigint): void {
    const order = (a: Part, b: Part): number => {
      if (a.stretch !== b.stretch) return b.stretch - a.stretch;
      if (a.source === null || b.source === null) {
        return Number(a.source !== null) - Number(b.source !== null);
      }
      return a.source === b.source ? 0 : burnOrder(b.source, a.source);
    };
    let rest = units;
    for (const part of this.#parts.toSorted(order)) {
      const taken = least(rest, part.amount);
      part.amount -= taken;
      if (part.source !== null) part.source.used -= taken;
      rest -= taken;
    }
    this.#parts = this.#parts.filter(({ amount }) => amount > 0n);
    this.#below -= rest;
  }

  #balance(): Balance {
    const start = this.#start ?? this.#now;
    const isIn = ({ at }: { readonly at: number }): boolean => at >= start;
    const holds = this.#facts.holds.filter(isIn);
    const used = sum(this.#facts.uses.filter(isIn).map(({ amount }) => amount));
    const committed = sum(holds.map(({ amount, end }) => least(amount, end?.used ?? 0n)));
    const aggregate = used + committed;
    const consumed = aggregate > 0n ? aggregate : 0n;
    const reserved = sum(holds.map(({ amount, end }) => (end === null ? amount : 0n)));
    const inForce = this.#inForce(this.#now).toSorted(burnOrder);
    const left = inForce.map((one) => [one.id, room(one, this.#now)] as const);
    const covered = sum(this.#parts.map((one) => (one.source === null ? 0n : one.amount)));
    const billed = sum(this.#parts.map((one) => (one.isBilled ? one.amount : 0n)));
    const isUnlimited = left.some(([, units]) => units === null);
    const limit = isUnlimited ? null : sum(left.map(([, units]) => units ?? 0n)) + covered;
    const balance = limit === null ? null : limit + billed - consumed - reserved;
    return { balance, limit, consumed, reserved, billed, periodStart: start, left };
  }
}

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((a, b) => a + b, 0n);
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
