// One meter with reservations, as facts: the reference settles them (`reference/walk.ts`).
import { type Facts, NOTHING, type Plan } from './reference/facts.ts';
import { type Balance, settle } from './reference/walk.ts';
import { DAY, T0 } from './world.ts';

type Held = {
  readonly id: string;
  readonly at: number;
  amount: number;
  expiresAt: number;
  status: 'open' | 'committed' | 'released' | 'expired';
  committed: number;
  resolvedAt: number;
};

type Top = { readonly id: string; readonly expiresAt: number; isVoid: boolean };

type Rollover = { readonly max: number; readonly periods: number };

/** A plan of so many a day, with what rolls over of it, beside top-ups. */
export class Model {
  now = T0;
  readonly held: Held[] = [];
  readonly tops: Top[] = [];
  readonly #rollover: Rollover | null;
  #facts: Facts = NOTHING;
  #rests: { readonly from: number; readonly until: number | null }[] = [];
  #plans: { readonly at: number; readonly plan: Plan }[] = [];
  readonly #bySize = new Map<number, Plan>();
  #endedAt: number | null = null;

  constructor(size: number, rollover: Rollover | null) {
    this.#rollover = rollover;
    this.change(size);
  }

  get hasPlan(): boolean {
    return this.#endedAt === null;
  }

  get isResting(): boolean {
    return this.#rests.some(({ until }) => until === null);
  }

  get open(): readonly Held[] {
    return this.held
      .filter(({ status }) => status === 'open')
      .toSorted((a, b) => a.expiresAt - b.expiresAt || (a.id < b.id ? -1 : 1));
  }

  get liveTops(): readonly Top[] {
    return this.tops.filter(({ isVoid, expiresAt }) => !isVoid && expiresAt > this.now);
  }

  get facts(): Facts {
    const subscription = {
      id: 'plan',
      plans: this.#plans,
      every: DAY,
      billedEvery: 30 * DAY,
      paused: this.#rests,
      ...(this.#endedAt !== null && { end: this.#endedAt }),
    };
    const holds = this.held.map(({ at, amount, status, committed, resolvedAt, expiresAt }) => ({
      at,
      amount: BigInt(amount),
      end:
        status === 'open'
          ? { told: expiresAt, used: 0n }
          : { told: resolvedAt, used: BigInt(Math.min(committed, amount)) },
    }));
    return { ...this.#facts, holds, subscriptions: [subscription] };
  }

  balance(): Balance {
    return settle(this.facts, this.now).balance;
  }

  pass(ms: number): void {
    this.now += ms;
    for (const one of this.open) {
      if (one.expiresAt <= this.now)
        Object.assign(one, { status: 'expired', resolvedAt: one.expiresAt });
    }
  }

  use(value: number): void {
    const { uses } = this.#facts;
    const use = { at: this.now, told: this.now, amount: BigInt(value) };
    this.#facts = { ...this.#facts, uses: [...uses, use] };
  }

  topUp(id: string, size: number, priority: number, expiresAt: number): void {
    const { now } = this;
    const grant = { id, told: now, effectiveAt: now, amount: BigInt(size), priority, expiresAt };
    this.#facts = { ...this.#facts, grants: [...this.#facts.grants, grant] };
    this.tops.push({ id, expiresAt, isVoid: false });
  }

  void(top: Top): void {
    top.isVoid = true;
    const grants = this.#facts.grants.map((one) =>
      one.id === top.id ? { ...one, voidedAt: this.now } : one,
    );
    this.#facts = { ...this.#facts, grants };
  }

  hold(id: string, amount: number, expiresAt: number): void {
    const { now: at } = this;
    this.held.push({ id, at, amount, expiresAt, status: 'open', committed: 0, resolvedAt: 0 });
  }

  resolve(one: Held, value: number, status: 'released' | 'committed'): void {
    Object.assign(one, { status, committed: value, resolvedAt: this.now });
    if (value > one.amount) this.use(value - one.amount);
  }

  /** 0: it lacks the feature. */
  change(size: number): void {
    const plan = this.#bySize.get(size) ?? this.#planOf(size);
    // One plan for a size: a change to the same terms changes nothing.
    this.#bySize.set(size, plan);
    this.#plans = [...this.#plans, { at: this.now, plan }];
  }

  #planOf(size: number): Plan {
    const limit = BigInt(size);
    if (this.#rollover === null || size === 0) return { limit };
    const { max, periods } = this.#rollover;
    return { limit, rollover: { max: BigInt(max), periods } };
  }

  rest(rests: boolean): void {
    if (rests === this.isResting) return;
    if (rests) this.#rests = [...this.#rests, { from: this.now, until: null }];
    else {
      this.#rests = this.#rests.map((one) =>
        one.until === null ? { ...one, until: this.now } : one,
      );
    }
  }

  withdraw(): void {
    this.#endedAt = this.now;
  }

  /** Since when the period of a hold runs: more can be held of the one of now alone. */
  isOfNow({ at }: Held): boolean {
    return at >= this.balance().periodStart;
  }

  /** What may be used now. */
  usable(): number {
    const { balance, left } = this.balance();
    let units = Number(balance);
    if (this.isResting) {
      for (const [id, rest] of left) if (id.startsWith('plan@')) units -= Number(rest);
    }
    return units;
  }
}
