// Random histories of one meter on which everything is mixed, most of it late; and a world that
// forgets what a restart forgets.
import fc from 'fast-check';
import type { Interval } from '../../ledger/kernel/calendar.ts';
import { PERIODS_KEPT_MS } from '../../ledger/limits.ts';
import type { Suspension } from '../../ledger/metering/grants.ts';
import type { MeterContext } from '../../ledger/metering/meter-draft.ts';
import type { Period } from '../../ledger/metering/meter.ts';
import { missingForHolds } from '../../ledger/metering/reservation-decisions.ts';
import { missing } from '../../ledger/metering/usage.ts';
import type { StretchMark } from '../../ledger/metering/stretch.ts';
import { DAY, HOUR, type PlanFields, T0, World } from './world.ts';

export type Step =
  | { readonly kind: 'use'; readonly value: bigint; readonly ago: number }
  | { readonly kind: 'again'; readonly which: number; readonly value: bigint }
  | { readonly kind: 'ask'; readonly how: 'reject' | 'consume'; readonly value: bigint }
  | {
      readonly kind: 'top up';
      readonly amount: bigint | null;
      readonly startsIn: number;
      readonly lasts: number | null;
      readonly priority: number;
    }
  | {
      readonly kind: 'allow';
      readonly amount: bigint;
      readonly every: Interval;
      readonly from: number;
      readonly priority: number;
      readonly max: bigint | null;
    }
  | { readonly kind: 'void'; readonly which: number }
  | { readonly kind: 'plan' | 'change'; readonly of: string; readonly terms: PlanFields | null }
  | { readonly kind: 'suspend'; readonly of: string; readonly why: Suspension | null }
  | { readonly kind: 'end'; readonly of: string; readonly how: 'expired' | 'voided' }
  | { readonly kind: 'reserve'; readonly amount: bigint; readonly seconds: number }
  | { readonly kind: 'commit'; readonly which: number; readonly value: bigint }
  | { readonly kind: 'release'; readonly which: number }
  | { readonly kind: 'extend'; readonly which: number; readonly more: bigint }
  | { readonly kind: 'wait'; readonly ms: number; readonly rings: boolean }
  | { readonly kind: 'forget' };

const just = <const T>(value: T) => fc.constant(value);
const units = (min: number, max: number) => fc.bigInt({ min: BigInt(min), max: BigInt(max) });
const waits = fc.oneof(
  fc.constantFrom(1, 1, 60_000, HOUR, DAY, 7 * DAY),
  fc.integer({ min: 1, max: 3 * HOUR }),
  fc.integer({ min: 1, max: 3 * DAY }),
);
const agos = fc.oneof(
  just(0),
  waits,
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 35 * DAY }) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 3 * HOUR }) },
);
const of = fc.constantFrom('plan', 'plan', 'add-on');
const priorities = fc.integer({ min: 0, max: 2 });
const resets = fc.constantFrom('hour', 'day', 'day', 'week', 'month', 'never');
const which = fc.nat(9);
const terms = fc.option(
  fc.record({
    limit: fc.option(units(0, 30), { freq: 6 }),
    resetInterval: resets,
    priority: priorities,
    overageAllowed: fc.boolean(),
    rollover: fc.option(
      fc.record({ max: units(1, 20), expiresAfterPeriods: fc.integer({ min: 1, max: 3 }) }),
    ),
    cycle: fc.record({
      anchor: fc.constantFrom(T0, T0, T0 - 20 * 60_000, T0 - 10 * DAY),
      zone: fc.constantFrom('UTC', 'Europe/Berlin'),
    }),
  }),
  { freq: 5 },
);

const STEPS = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: just('use'), value: units(-12, 20), ago: agos }),
  },
  { weight: 3, arbitrary: fc.record({ kind: just('again'), which, value: units(-20, 9) }) },
  fc.record({ kind: just('ask'), how: fc.constantFrom('reject', 'consume'), value: units(0, 9) }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: just('top up'),
      amount: fc.option(units(1, 30), { freq: 9 }),
      startsIn: fc.oneof({ weight: 3, arbitrary: just(0) }, waits),
      lasts: fc.option(waits),
      priority: priorities,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: just('allow'),
      amount: units(1, 30),
      every: resets.filter((every) => every !== 'never'),
      from: fc.constantFrom(0, 0, -HOUR / 2, -DAY, HOUR),
      priority: priorities,
      max: fc.option(units(1, 20), { freq: 1 }),
    }),
  },
  fc.record({ kind: just('void'), which }),
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('plan', 'change', 'change'), of, terms }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: just('suspend'),
      of,
      why: fc.constantFrom('paused', 'blocked', null, null),
    }),
  },
  fc.record({ kind: just('end'), of, how: fc.constantFrom('expired', 'voided') }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: just('reserve'),
      amount: units(1, 15),
      seconds: fc.constantFrom(60, 3600, 7200, 90_000, 86_400 * 20),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: just('commit'), which, value: units(0, 15) }) },
  fc.record({ kind: just('release'), which }),
  fc.record({ kind: just('extend'), which, more: units(1, 9) }),
  {
    weight: 6,
    arbitrary: fc.record({ kind: just('wait'), ms: waits, rings: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ kind: just('forget') }) },
) as fc.Arbitrary<Step>;

export const histories = fc.array(STEPS, { maxLength: 25, size: '+1' });

/** `work`: over how many moments a decision may settle what is late. */
export class LateWorld extends World {
  readonly #work: number;
  readonly #times: number[] = [];

  constructor({ work = Infinity }: { readonly work?: number } = {}) {
    super('sum');
    this.#work = work;
    this.state = { ...this.state, historyLoaded: true };
  }

  override get context(): MeterContext {
    return { ...super.context, late: { left: this.#work } };
  }

  /** What memory has is what a restart would read. */
  forget(): void {
    const { state } = this;
    const kept = ({ start, end, reserved }: Period): boolean =>
      start !== state.current.start && (end === null || end > this.now || reserved > 0n);
    const others = this.written.periods.filter(kept);
    this.state = { ...state, others, marks: [], ended: [], historyLoaded: false };
    // What is held may be let go of at any time.
    if (state.reservations.length > 0) this.#load();
  }

  /** What a late event needs is read first (`missing`). */
  recall(value: bigint, eventAt: number | null): void {
    const usage = { value, eventAt, id: '', member: null, admission: 'record' } as const;
    const all = { ...usage, exactReplay: false, fingerprint: null, metadata: null };
    if (missing(this.context, this.state, all, () => false)?.kind === 'history') this.#load();
  }

  #load(): void {
    const since = this.now - PERIODS_KEPT_MS;
    const { state } = this;
    const known = new Set([state.current, ...state.others].map(({ accountId }) => accountId));
    const periods = this.written.periods.filter(
      ({ accountId, end }) => !known.has(accountId) && (end === null || end > since),
    );
    const marks = [...this.written.marks.values()].filter(({ start }) => start > since);
    const isKnown = new Set([...state.ended, ...state.grants].map(({ id }) => id));
    const ended = [...this.grants.values()]
      .filter((grant) => (grant.ended?.at ?? 0) > since && !isKnown.has(grant.id))
      .toSorted((a, b) => (a.ended?.at ?? 0) - (b.ended?.at ?? 0));
    this.state = {
      ...state,
      others: [...state.others, ...periods].sort((a, b) => a.start - b.start),
      marks: marks.toSorted((a, b) => a.start - b.start),
      ended: [...ended, ...state.ended],
      historyLoaded: true,
    };
  }

  get marks(): StretchMark[] {
    return [...this.written.marks.values()].toSorted((a, b) => a.start - b.start);
  }

  obey(step: Step, isForgetful = false): void {
    switch (step.kind) {
      case 'use':
        return this.#use(step.value, this.now - step.ago);
      case 'again': {
        const at = this.#times[step.which];
        return at === undefined ? undefined : this.#use(step.value, at);
      }
      case 'ask':
        this.recall(step.value, null);
        this.use(step.value, { admission: step.how });
        return;
      case 'wait':
        this.now += step.ms;
        if (step.rings) this.tickAt(this.now);
        return;
      case 'forget':
        if (isForgetful) this.forget();
        return;
      case 'plan':
      case 'change':
      case 'suspend':
      case 'end':
        return this.#plan(step);
      case 'top up':
      case 'allow':
      case 'void':
        return this.#grant(step);
      case 'reserve':
      case 'commit':
      case 'release':
      case 'extend':
        return this.#hold(step);
      default:
        step satisfies never;
    }
  }

  #use(value: bigint, at: number): void {
    if (at < this.now - 35 * DAY) return;
    this.#times.push(at);
    const eventAt = at === this.now ? null : at;
    this.recall(value, eventAt);
    this.use(value, { eventAt });
  }

  #plan(step: Extract<Step, { kind: 'plan' | 'change' | 'suspend' | 'end' }>): void {
    switch (step.kind) {
      case 'plan':
        if (this.state.grants.some(({ subscriptionId }) => subscriptionId === step.of)) return;
        if (step.terms !== null) this.plan({ ...step.terms, subscriptionId: step.of });
        return;
      case 'change':
        if (step.terms === null) this.replacePlan();
        else this.replacePlan({ ...step.terms, subscriptionId: 'plan' });
        return;
      case 'suspend':
        this.suspendPlan(step.why, step.of);
        return;
      case 'end':
        this.withdrawPlan(step.how, step.of);
        return;
      default:
        step satisfies never;
    }
  }

  #grant(step: Extract<Step, { kind: 'top up' | 'allow' | 'void' }>): void {
    if (step.kind === 'void') {
      const id = [...this.grants.keys()][step.which];
      if (id !== undefined) this.void(id);
      return;
    }
    const { amount, priority } = step;
    if (step.kind === 'top up') {
      const effectiveAt = this.now + step.startsIn;
      const expiresAt = step.lasts === null ? null : effectiveAt + step.lasts;
      this.grant({ amount, priority, effectiveAt, expiresAt });
      return;
    }
    const rollover = step.max === null ? undefined : { max: step.max, expiresAfterPeriods: 2 };
    this.grant({
      amount,
      priority,
      effectiveAt: this.now + step.from,
      every: step.every,
      ...(rollover !== undefined && { rollover }),
    });
  }

  #hold(step: Extract<Step, { kind: 'reserve' | 'commit' | 'release' | 'extend' }>): void {
    if (missingForHolds(this.context, this.state) !== null) this.#load();
    if (step.kind === 'reserve') {
      this.reserve(step.amount, step.seconds);
      return;
    }
    const one = [...this.reservations.values()][step.which];
    if (one === undefined) return;
    const { id } = one;
    if (step.kind === 'commit') {
      this.commit(id, step.value);
    } else if (step.kind === 'release') this.release(id);
    else this.extend(id, one.amount + step.more, 4000);
  }
}
