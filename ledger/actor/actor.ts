import { assert } from '../assert.ts';
import type { MeterEffects } from '../draft.ts';
import { type Billing, NO_BILLING, type SubscriptionEffects } from '../subscription.ts';
import type { Subscription } from '../subscription.ts';
import type { CheckAnswer, Customer, Meter, MeterState, Period } from '../meter.ts';
import type { Seen } from '../usage.ts';

/** Members of unique meters that one actor remembers at most; more are asked of the store again. */
const MEMBERS_MAX = 50_000;

/**
 * What a customer has of one meter, in two versions. `tentative` is what the next decision sees; `durable` is what the database
 * has. They differ while a flush is on its way; both are immutable values, so that neither costs a copy.
 */
export type Holding = {
  meter: Meter;
  tentative: MeterState | undefined;
  durable: MeterState | undefined;
  /** The last answer to a check of the tentative state, and until when that state says the same. */
  kept: { readonly answer: CheckAnswer; readonly state: MeterState; readonly until: number } | null;
};

/** What one customer's actor decides: on a meter, or on its subscriptions. */
export type CustomerEffects = MeterEffects | SubscriptionEffects;

/**
 * One customer in memory, with what it has of each meter.
 *
 * Commands run to completion, one after the other, without an await: that is the only lock.
 */
export class Actor {
  customer: Customer;
  /** Since the last sweep of the directory. */
  touched = true;
  /** Decisions that are not yet durable. An actor with any may not be dropped. */
  pending = 0;
  /** Whether its customer's row was changed by somebody else while it was in use. */
  outdated = false;
  /** Whether the directory has let it go: another actor may be its customer's now. */
  dropped = false;
  /** What the next decision sees, and what the database has. */
  billing: { tentative: Billing; durable: Billing };
  readonly #holdings = new Map<string, Holding>();
  /** The one that was asked for last: most customers are asked about one meter, and a Map is slow to reach in cold memory. */
  #last: Holding | undefined;
  /** By account: which members were counted (true), and which are known not to be (false). */
  readonly #members = new Map<string, Map<bigint, boolean>>();
  #memberCount = 0;

  constructor(
    customer: Customer,
    meters: readonly { readonly meter: Meter; readonly state: MeterState }[],
    subscriptions: readonly Subscription[],
  ) {
    this.customer = customer;
    const billing =
      subscriptions.length === 0
        ? NO_BILLING
        : { subscriptions: new Map(subscriptions.map((one) => [one.id, one])) };
    this.billing = { tentative: billing, durable: billing };
    for (const { meter, state } of meters) {
      this.#holdings.set(meter.id, { meter, tentative: state, durable: state, kept: null });
    }
  }

  get id(): string {
    return this.customer.id;
  }

  get organisationId(): string {
    return this.customer.organisationId;
  }

  get slot(): number {
    return this.customer.slot;
  }

  get holdings(): ReadonlyMap<string, Holding> {
    return this.#holdings;
  }

  /** undefined: the customer never touched the meter. */
  holding(meter: Meter): Holding | undefined {
    if (this.#last?.meter === meter) return this.#last;
    const holding = this.#holdings.get(meter.id);
    if (holding === undefined) return undefined;
    // One object for all customers: the next look is a comparison of pointers.
    holding.meter = meter;
    this.#last = holding;
    return holding;
  }

  /** Takes a decision over into memory; returns the state that it replaced. */
  apply(effects: CustomerEffects): MeterState | Billing | undefined {
    assert(!this.dropped, 'a dropped actor decides nothing');
    assert(effects.customer.id === this.customer.id, 'effects go to their own actor');
    this.pending += 1;
    if (effects.kind === 'subscription') {
      assert(effects.before === this.billing.tentative, 'a decision follows from the last one');
      this.billing.tentative = effects.state;
      return effects.before;
    }
    const holding = this.#hold(effects.meter);
    const before = holding.tentative;
    holding.tentative = effects.state;
    this.#count(effects, true);
    return before;
  }

  /** Takes back the last `apply`: the decision is part of a whole that was refused. */
  unapply(effects: CustomerEffects, before: MeterState | Billing | undefined): void {
    if (effects.kind === 'subscription') {
      this.billing.tentative = effects.before;
    } else {
      this.#hold(effects.meter).tentative = before as MeterState | undefined;
      this.#count(effects, false);
    }
    this.#settle();
  }

  commit(effects: CustomerEffects): void {
    if (effects.kind === 'subscription') this.billing.durable = effects.state;
    else this.#hold(effects.meter).durable = effects.state;
    this.#settle();
  }

  /** Back to what is durable. Called for each decision that was in flight; the first call does it for all. */
  rollback(effects: CustomerEffects): void {
    for (const holding of this.#holdings.values()) holding.tentative = holding.durable;
    this.billing.tentative = this.billing.durable;
    if (effects.kind === 'meter') this.#count(effects, false);
    this.#settle();
  }

  #hold(meter: Meter): Holding {
    const known = this.holding(meter);
    if (known !== undefined) return known;
    const holding = { meter, tentative: undefined, durable: undefined, kept: null };
    this.#holdings.set(meter.id, holding);
    return holding;
  }

  #settle(): void {
    this.pending -= 1;
    assert(this.pending >= 0, 'a decision was settled twice');
  }

  #count(effects: MeterEffects, counted: boolean): void {
    for (const { accountId, member } of effects.members) {
      this.#members.get(accountId)?.set(member, counted);
    }
  }

  readonly seen: Seen = (accountId, member) => this.#members.get(accountId)?.get(member);

  /** Takes over what the store knows of these members. */
  learnMembers(accountId: string, asked: readonly bigint[], counted: readonly bigint[]): void {
    if (this.#memberCount > MEMBERS_MAX && this.pending === 0) {
      this.#members.clear();
      this.#memberCount = 0;
    }
    const known = this.#members.get(accountId) ?? new Map<bigint, boolean>();
    this.#members.set(accountId, known);
    // What memory counted while the question was under way stays counted.
    for (const member of asked) if (!known.has(member)) known.set(member, false);
    for (const member of counted) known.set(member, true);
    this.#memberCount += asked.length;
  }

  /** Adds past periods. Those that memory knows are newer there: nobody else writes them. */
  learnHistory(meterId: string, periods: readonly Period[]): void {
    const holding = this.#holdings.get(meterId);
    if (holding === undefined) return;
    const { tentative, durable } = holding;
    holding.tentative = tentative && withHistory(tentative, periods);
    holding.durable = durable && withHistory(durable, periods);
  }
}

function withHistory(state: MeterState, periods: readonly Period[]): MeterState {
  const known = new Set([state.current, ...state.others].map((period) => period.accountId));
  const others = [...state.others, ...periods.filter((period) => !known.has(period.accountId))];
  others.sort((a, b) => a.start - b.start);
  return { ...state, others, historyLoaded: true };
}
