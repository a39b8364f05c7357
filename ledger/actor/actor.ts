import { assert } from '../assert.ts';
import type { MeterEffects } from '../draft.ts';
import type { Customer, Meter, MeterState, Period } from '../meter.ts';
import type { Seen } from '../usage.ts';

/** Members of unique meters that one actor remembers at most; more are asked of the store again. */
const MEMBERS_MAX = 50_000;

/**
 * One customer in memory: two versions of each meter's state. `tentative` is what the next decision sees; `durable` is what the
 * database has. They differ while a flush is on its way; both are immutable values, so that neither costs a copy.
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
  readonly #meters = new Map<string, Meter>();
  #tentative = new Map<string, MeterState>();
  readonly #durable = new Map<string, MeterState>();
  /** By account: which members were counted (true), and which are known not to be (false). */
  readonly #members = new Map<string, Map<bigint, boolean>>();
  #memberCount = 0;

  constructor(
    customer: Customer,
    meters: readonly { readonly meter: Meter; readonly state: MeterState }[],
  ) {
    this.customer = customer;
    for (const { meter, state } of meters) {
      this.#meters.set(meter.id, meter);
      this.#tentative.set(meter.id, state);
      this.#durable.set(meter.id, state);
    }
  }

  get meters(): ReadonlyMap<string, Meter> {
    return this.#meters;
  }

  tentative(meterId: string): MeterState | undefined {
    return this.#tentative.get(meterId);
  }

  durable(meterId: string): MeterState | undefined {
    return this.#durable.get(meterId);
  }

  /** Takes a decision over into memory; returns the state that it replaced. */
  apply(effects: MeterEffects): MeterState | undefined {
    assert(!this.dropped, 'a dropped actor decides nothing');
    const { meter, state } = effects;
    assert(effects.customer.id === this.customer.id, 'effects go to their own actor');
    const before = this.#tentative.get(meter.id);
    this.#meters.set(meter.id, meter);
    this.#tentative.set(meter.id, state);
    this.#count(effects, true);
    this.pending += 1;
    return before;
  }

  /** Takes back the last `apply`: the decision is part of a whole that was refused. */
  unapply(effects: MeterEffects, before: MeterState | undefined): void {
    if (before === undefined) this.#tentative.delete(effects.meter.id);
    else this.#tentative.set(effects.meter.id, before);
    this.#count(effects, false);
    this.#settle();
  }

  commit(effects: MeterEffects): void {
    this.#durable.set(effects.meter.id, effects.state);
    this.#settle();
  }

  /** Back to what is durable. Called for each decision that was in flight; the first call does it for all. */
  rollback(effects: MeterEffects): void {
    this.#tentative = new Map(this.#durable);
    this.#count(effects, false);
    this.#settle();
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
    for (const states of [this.#tentative, this.#durable]) {
      const state = states.get(meterId);
      if (state === undefined) continue;
      const known = new Set([state.current, ...state.others].map((period) => period.accountId));
      const others = [...state.others, ...periods.filter((period) => !known.has(period.accountId))];
      others.sort((a, b) => a.start - b.start);
      states.set(meterId, { ...state, others, historyLoaded: true });
    }
  }
}
