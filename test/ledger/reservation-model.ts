// One meter reckoned unit by unit, with lists and loops and none of the ledger's code: top-ups, and a
// plan of so many a day with what rolls over of it. What is held or used are units of a source.
import { DAY, T0 } from './world.ts';

type Source = {
  readonly id: string;
  readonly kind: 'top-up' | 'plan' | 'rolled';
  size: number;
  /** Used or held; of the plan, since it was last given. */
  taken: number;
  /** How often the plan was given; of what has rolled over, when. */
  cycle: number;
  priority: number;
  readonly expiresAt: number;
  readonly createdAt: number;
  isLive: boolean;
  rests: boolean;
};

type Unit = { readonly source: Source; readonly cycle: number; isStruck: boolean };

type Held = {
  readonly id: string;
  readonly period: Period;
  amount: number;
  expiresAt: number;
  status: 'open' | 'committed' | 'released' | 'expired';
  units: Unit[];
};

type Period = { readonly start: number; sum: number; settled: number };

export class Model {
  now = T0;
  readonly sources: Source[] = [];
  readonly held: Held[] = [];
  readonly periods: Period[] = [{ start: T0, sum: 0, settled: 0 }];
  readonly #rollover: { readonly max: number; readonly periods: number } | null;
  #plan: Source;

  constructor(size: number, rollover: { readonly max: number; readonly periods: number } | null) {
    this.#rollover = rollover;
    this.#plan = this.#add({ id: 'plan', kind: 'plan', size, priority: 100, expiresAt: Infinity });
  }

  get period(): Period {
    return this.periods.at(-1)!;
  }

  get hasPlan(): boolean {
    return this.#plan.isLive;
  }

  /** Whether units go back to the plan alone. Which of several gets them is the specification's (`reference/walk.ts`). */
  get isPlain(): boolean {
    const isOld = ({ kind, taken }: Source): boolean => kind === 'top-up' && taken > 0;
    const isOver = this.#plan.isLive && this.#plan.taken > this.#plan.size;
    return !isOver && !this.sources.some(isOld);
  }

  get open(): Held[] {
    return this.held.filter(({ status }) => status === 'open').sort(byEnd);
  }

  limit(): number {
    let limit = this.period.settled;
    for (const source of this.sources) limit += free(source);
    for (const { period, units } of this.open) if (period === this.period) limit += units.length;
    return limit;
  }

  reserved(period: Period): number {
    let sum = 0;
    for (const one of this.open) if (one.period === period) sum += one.amount;
    return sum;
  }

  balance(): number {
    return this.limit() - consumed(this.period) - this.reserved(this.period);
  }

  /** What is left of each source, where anything is. */
  remaining(): Record<string, number> {
    let due = consumed(this.period) - this.period.settled;
    for (const { period, amount, units } of this.open) {
      if (period === this.period) due += amount - units.length;
    }
    const left: Record<string, number> = {};
    for (const source of this.#inOrder()) {
      const taken = Math.min(due, free(source));
      due -= taken;
      const rest = free(source) - taken;
      if (rest > 0) left[source.id] = rest;
    }
    return left;
  }

  /** What may be held now. */
  usable(): number {
    let resting = 0;
    for (const [id, rest] of Object.entries(this.remaining())) {
      if (this.sources.some((one) => one.id === id && one.rests)) resting += rest;
    }
    return this.balance() - resting;
  }

  pass(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      const [first] = this.open;
      const ends = this.sources.filter(({ isLive }) => isLive).map(({ expiresAt }) => expiresAt);
      const end = this.hasPlan ? T0 + (this.#plan.cycle + 1) * DAY : Infinity;
      const due = Math.min(first?.expiresAt ?? Infinity, end, ...ends);
      if (due > until) break;
      this.now = due;
      if (first?.expiresAt === due) this.#letGo(first, 'expired');
      else if (ends.includes(due)) {
        this.#settle();
        this.sources.find(({ isLive, expiresAt }) => isLive && expiresAt === due)!.isLive = false;
      } else this.#giveAnew();
    }
    this.now = until;
  }

  use(value: number): void {
    this.period.sum += value;
    if (consumed(this.period) >= this.period.settled) return;
    // The last to burn get it back; what none of them has used is gone.
    const wanted = this.period.settled - consumed(this.period);
    let rest = wanted;
    for (const source of this.#inOrder().reverse()) {
      let kept = 0;
      for (const one of this.open) kept += one.units.filter((unit) => isOf(unit, source)).length;
      const back = Math.min(rest, source.taken - kept);
      source.taken -= back;
      rest -= back;
    }
    this.period.settled -= wanted;
    this.#settle();
  }

  topUp(id: string, size: number, priority: number, expiresAt: number): void {
    this.#settle();
    this.#add({ id, kind: 'top-up', size, priority, expiresAt });
  }

  end(id: string): void {
    this.#settle();
    for (const source of this.sources) if (source.id === id) source.isLive = false;
  }

  hold(id: string, amount: number, expiresAt: number): void {
    this.held.push({ id, period: this.period, amount, expiresAt, status: 'open', units: [] });
  }

  resolve(one: Held, value: number): void {
    const inIt = Math.min(value, one.amount);
    const before = consumed(one.period);
    one.period.sum += inIt;
    this.#letGo(one, 'committed', consumed(one.period) - before);
    this.period.sum += value - inIt;
  }

  release(one: Held): void {
    this.#letGo(one, 'released');
  }

  /** Another plan: what was taken of the old one counts. */
  change(id: string, size: number): void {
    this.#settle();
    const before = this.#plan;
    this.#plan = { ...before, id, size };
    this.sources.splice(this.sources.indexOf(before), 1, this.#plan);
    for (const one of this.held) {
      one.units = one.units.map((unit) =>
        unit.source === before
          ? { ...unit, source: this.#plan, isStruck: unit.isStruck || unit.cycle !== before.cycle }
          : unit,
      );
    }
  }

  rest(rests: boolean): void {
    const isSame = this.sources.every((one) => one.kind === 'top-up' || one.rests === rests);
    if (isSame) return;
    this.#settle();
    for (const source of this.sources) if (source.kind !== 'top-up') source.rests = rests;
  }

  withdraw(): void {
    this.#settle();
    for (const source of this.sources) if (source.kind !== 'top-up') source.isLive = false;
    if (this.period.start < this.now) this.#next();
  }

  #add(fields: Pick<Source, 'id' | 'kind' | 'size' | 'priority' | 'expiresAt'>): Source {
    const rests = fields.kind === 'rolled' && this.#plan.rests;
    const own = { taken: 0, cycle: 0, createdAt: this.now, isLive: true, rests };
    const source: Source = { ...fields, ...own };
    this.sources.push(source);
    return source;
  }

  #next(): void {
    this.periods.push({ start: this.now, sum: 0, settled: 0 });
  }

  #inOrder(): Source[] {
    return this.sources
      .filter(({ isLive }) => isLive)
      .sort(
        (a, b) =>
          Number(a.rests) - Number(b.rests) ||
          a.priority - b.priority ||
          (a.expiresAt === b.expiresAt ? 0 : a.expiresAt - b.expiresAt) ||
          Number(b.kind === 'rolled') - Number(a.kind === 'rolled') ||
          a.createdAt - b.createdAt,
      );
  }

  #take(): Unit | null {
    const source = this.#inOrder().find((one) => free(one) > 0);
    if (source === undefined) return null;
    source.taken += 1;
    return { source, cycle: source.cycle, isStruck: false };
  }

  /** What was used, and then what is held, are units of the sources from now on. */
  #settle(): void {
    const { period } = this;
    while (consumed(period) > period.settled && this.#take() !== null) period.settled += 1;
    for (const one of this.open) {
      if (one.period !== period) continue;
      while (one.units.length < one.amount) {
        const unit = this.#take();
        if (unit === null) return;
        one.units.push(unit);
      }
    }
  }

  #letGo(one: Held, status: Held['status'], kept = 0): void {
    one.status = status;
    const { units } = one;
    one.units = [];
    if (one.period === this.period) this.period.settled += Math.min(kept, units.length);
    for (const unit of units.slice(kept)) this.#giveBack(unit);
  }

  #giveBack(unit: Unit): void {
    const { source, cycle, isStruck } = unit;
    if (!source.isLive || isStruck) return;
    if (isOf(unit, source)) source.taken -= 1;
    else this.#rollLate(cycle);
  }

  #rollLate(cycle: number): void {
    this.#settle();
    const expiresAt = this.#rolledUntil(cycle + 1);
    if (this.#room(cycle + 1) <= 0 || expiresAt <= this.now) return;
    const known = this.sources.find(
      (one) => one.isLive && one.kind === 'rolled' && one.cycle === cycle + 1,
    );
    if (known === undefined) this.#roll(cycle + 1, 1);
    else known.size += 1;
  }

  #roll(cycle: number, size: number): void {
    const { priority } = this.#plan;
    const expiresAt = this.#rolledUntil(cycle);
    const id = `rolled ${cycle} ${this.sources.length}`;
    const source = this.#add({ id, kind: 'rolled', size, priority, expiresAt });
    source.cycle = cycle;
  }

  #rolledUntil(cycle: number): number {
    return T0 + (cycle + (this.#rollover?.periods ?? 0)) * DAY;
  }

  /** The cap is for all that lives at once, and for all that one period has rolled over. */
  #room(cycle: number): number {
    if (this.#rollover === null || this.#plan.rests) return 0;
    let [living, ofPeriod] = [0, 0];
    for (const source of this.sources) {
      if (source.kind !== 'rolled') continue;
      living += free(source);
      if (source.isLive && source.cycle === cycle) ofPeriod += source.size;
    }
    return this.#rollover.max - Math.max(living, ofPeriod);
  }

  #giveAnew(): void {
    this.#settle();
    this.#next();
    const plan = this.#plan;
    let over = plan.taken - plan.size;
    for (const unit of this.open.flatMap(({ units }) => units)) {
      if (over <= 0 || !isOf(unit, plan)) continue;
      unit.isStruck = true;
      over -= 1;
    }
    const rolled = Math.min(free(plan), this.#room(plan.cycle + 1));
    plan.cycle += 1;
    plan.taken = 0;
    if (rolled > 0) this.#roll(plan.cycle, rolled);
    const pays = (source: Source): boolean =>
      this.open.some(({ units }) => units.some((unit) => unit.source === source));
    for (const source of this.sources) {
      if (source.kind !== 'plan' && free(source) === 0 && !pays(source)) source.isLive = false;
    }
  }
}

export function consumed({ sum }: Period): number {
  return Math.max(0, sum);
}

function free({ isLive, size, taken }: Source): number {
  return isLive ? Math.max(0, size - taken) : 0;
}

function isOf(unit: Unit, source: Source): boolean {
  return unit.source === source && unit.cycle === source.cycle && !unit.isStruck;
}

function byEnd(a: Held, b: Held): number {
  return a.expiresAt - b.expiresAt || (a.id < b.id ? -1 : 1);
}
