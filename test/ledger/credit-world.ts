// The meters of one customer, of which some pay for others, without a database: decisions are
// applied at once, with what they do to other meters, and all their rows are kept (`written.ts`).
// What a decision knows comes from the ledger's own `Contexts` and `Actor`. Quantities are numbers.
import { Actor } from '../../ledger/actor/actor.ts';
import { Contexts } from '../../ledger/actor/contexts.ts';
import { tickStep } from '../../ledger/actor/tick.ts';
import { one, parseQuantity, quantityNumber } from '../../ledger/kernel/quantity.ts';
import { advanced, decideExpiries, decideTick } from '../../ledger/metering/advance.ts';
import type { Alert } from '../../ledger/metering/alert.ts';
import { checkCovered } from '../../ledger/metering/cover.ts';
import { quiet } from '../../ledger/metering/credits.ts';
import { decideGrant, decideVoid } from '../../ledger/metering/grant-decisions.ts';
import type { Grant, Suspension } from '../../ledger/metering/grants.ts';
import {
  type Aggregation,
  type Meter,
  type MeterState,
  type Period,
  balance,
  dueOf,
  snapshotOf,
} from '../../ledger/metering/meter.ts';
import type { Affords, MeterContext } from '../../ledger/metering/meter-draft.ts';
import type { MeterEffects } from '../../ledger/metering/meter-effects.ts';
import {
  replacePlan,
  startPlan,
  suspendPlan,
  withdrawPlan,
} from '../../ledger/metering/plan-allowance.ts';
import type { PaidBy } from '../../ledger/metering/paid-by.ts';
import type { Pool } from '../../ledger/metering/pool.ts';
import {
  decideReserve,
  decideResolution,
  type ResolveOutcome,
} from '../../ledger/metering/reservation-decisions.ts';
import type { Resolution } from '../../ledger/metering/reservation.ts';
import { type Usage, decideUsage } from '../../ledger/metering/usage.ts';
import { NO_ACCOUNT, NO_BILLING } from '../../ledger/subscriptions/subscription.ts';
import { type GrantFields, grantOf, type PlanFields, plannedBy, readableIds, T0 } from './world.ts';
import { Written } from './written.ts';

/** Two pools, and what they may pay for. */
const METERS = {
  credits: { aggregation: 'sum', scale: 9 },
  chat: { aggregation: 'sum', scale: 0 },
  images: { aggregation: 'count', scale: 0 },
  tokens: { aggregation: 'sum', scale: 3 },
  minutes: { aggregation: 'sum', scale: 9 },
  calls: { aggregation: 'sum', scale: 0 },
} as const satisfies Record<string, { aggregation: Aggregation; scale: number }>;

export type Slug = keyof typeof METERS;
export type PoolSlug = 'credits' | 'minutes';
export type Costs = Readonly<Partial<Record<Slug, string>>>;
export type Numbers = readonly [
  limit: number | null,
  consumed: number,
  reserved: number,
  balance: number | null,
];

export const SLUGS = Object.keys(METERS) as readonly Slug[];
const COSTS: Costs = { chat: '2', images: '5', tokens: '0.5' };

const TENANT = { organisationId: 'organisation', mode: 'test' } as const;
const CUSTOMER = { id: 'customer', slot: 7, ...TENANT, externalId: null, email: null };

/** Contexts with a spend cap that a test makes up. */
class CappedContexts extends Contexts {
  readonly caps = new Map<string, Affords>();

  override affordsOf(_actor: Actor, { slug }: Meter): Affords | null {
    return this.caps.get(slug) ?? null;
  }
}

export class CreditWorld {
  now = T0;
  readonly alerts = new Map<Slug, readonly Alert[]>();
  /** Whether its decisions fire alerts. */
  mayFire = true;
  readonly ids = readableIds();
  readonly actor: Actor;
  readonly written: Written;
  readonly #contexts: CappedContexts;
  readonly #pools = new Map<PoolSlug, Pool>();
  readonly #names = readableIds();

  constructor(costs: Readonly<Partial<Record<PoolSlug, Costs>>> = { credits: COSTS }) {
    const time = (): number => this.now;
    this.#contexts = new CappedContexts({
      ids: this.ids,
      orgClock: {
        now: time,
        wall: time,
        observe: () => undefined,
        stopped: new Set(),
        catchUp: () => Promise.resolve(),
      },
      bounds: { meters: 100, grantsPerMeter: 1000, grants: Infinity, subscriptions: 10 },
      wants: () => true,
      alertsOf: ({ slug }) => this.alerts.get(slug as Slug) ?? [],
      poolOf: (meter) =>
        this.#pools.values().find((pool) => pool.meter.id === meter.id || hasEver(pool, meter)) ??
        null,
      node: 0,
    });
    this.actor = new Actor(CUSTOMER, [], NO_BILLING);
    const books = SLUGS.map((slug) => this.#contexts.ofMeter(this.actor, this.meter(slug)).books);
    this.written = new Written(books, (meter) => this.#contexts.emptyState(this.actor, meter));
    for (const [slug, list] of Object.entries(costs)) this.#cost(slug as PoolSlug, list, 0);
  }

  meter(slug: Slug): Meter {
    return this.#contexts.meter({ id: slug, ...TENANT, slug, carry: false, ...METERS[slug] });
  }

  /** The list of costs is another one from now on. */
  patch(slug: PoolSlug, costs: Costs): void {
    this.#cost(slug, costs, this.now);
  }

  /** The customer has a spend cap that leaves so much room on the meter. */
  cap(slug: Slug, affords: Affords): void {
    const spendCap = { amount: 0n, currency: 'USD', announced: [] };
    const billing = { ...NO_BILLING, account: { ...NO_ACCOUNT, spendCap } };
    this.actor.billing = { tentative: billing, durable: billing };
    this.#contexts.caps.set(slug, affords);
  }

  /** A top-up, or an allowance. Returns its id. */
  grant(slug: Slug, amount: number | null, fields: GrantFields = {}): string {
    const units = amount === null ? null : this.units(slug, amount);
    const made = { id: this.#names.next(), now: this.now };
    const grant = grantOf(made, { amount: units, ...fields });
    const outcome = this.#decide(slug, (context, state) => decideGrant(context, state, grant));
    if (outcome.kind !== 'granted') throw new Error(`not granted: ${outcome.kind}`);
    return grant.id;
  }

  void(slug: Slug, id: string): string {
    return this.#decide(slug, (context, state) => decideVoid(context, state, id)).kind;
  }

  plan(slug: Slug, limit: number | null, fields: PlanFields = {}): string {
    const grants = [this.#planned(slug, limit, fields)];
    return this.#decide(slug, (context, state) => startPlan(context, state, grants)).kind;
  }

  /** Without a limit: by a plan without the feature. */
  replacePlan(slug: Slug, limit?: number | null, fields: PlanFields = {}): string {
    const grants = limit === undefined ? [] : [this.#planned(slug, limit, fields)];
    const of = { subscriptionId: 'plan', since: this.now };
    return this.#decide(slug, (context, state) => replacePlan(context, state, of, grants)).kind;
  }

  suspendPlan(slug: Slug, why: Suspension | null): string {
    return this.#decide(slug, (context, state) => suspendPlan(context, state, 'plan', why)).kind;
  }

  withdrawPlan(slug: Slug, how: 'expired' | 'voided' = 'voided'): string {
    const to = { how, at: this.now };
    return this.#decide(slug, (context, state) => withdrawPlan(context, state, 'plan', to)).kind;
  }

  usage(slug: Slug, value: number, fields: Partial<Usage> = {}) {
    const usage: Usage = {
      id: this.#names.next(),
      value: this.units(slug, value),
      eventAt: null,
      member: null,
      admission: 'record',
      exactReplay: false,
      fingerprint: null,
      metadata: null,
      ...fields,
    };
    return this.#decide(slug, (context, state) =>
      decideUsage(context, state, usage, this.actor.seen),
    );
  }

  /** Whether it is recorded, why, and what paid for it. */
  use(slug: Slug, value: number, fields: Partial<Usage> = {}): string {
    const outcome = this.usage(slug, value, fields);
    if (outcome.kind === 'out_of_range') return outcome.kind;
    const { reason, paidBy } = outcome.record;
    return said(outcome.kind, reason, this.paid(slug, paidBy));
  }

  check(slug: Slug, value: number): string {
    const answer = checkCovered(this.context(slug), this.seen(slug), this.units(slug, value));
    const { allowed, reason, paidBy } = answer;
    return said(allowed ? 'allowed' : 'denied', reason, this.paid(slug, paidBy));
  }

  reserve(slug: Slug, amount: number, id: string, seconds = 300): string {
    const units = this.units(slug, amount);
    const request = { id, amount: units, fingerprint: null, expiresInMs: seconds * 1000 };
    const outcome = this.#decide(slug, (context, state) => decideReserve(context, state, request));
    if (outcome.kind === 'reserved') {
      return said('reserved', outcome.reason, this.paid(slug, outcome.reservation.paidBy));
    }
    if (outcome.kind !== 'denied') return outcome.kind;
    const { reason, paidBy } = outcome.answer;
    return said('denied', reason, this.paid(slug, paidBy));
  }

  commit(slug: Slug, id: string, value: number): string {
    return this.#resolve(slug, id, { kind: 'commit', value: this.units(slug, value) });
  }

  release(slug: Slug, id: string): string {
    return this.#resolve(slug, id, { kind: 'release' });
  }

  extend(slug: Slug, id: string, amount: number | null, seconds: number | null = null): string {
    const expiresInMs = seconds === null ? null : seconds * 1000;
    const units = amount === null ? null : this.units(slug, amount);
    return this.#resolve(slug, id, { kind: 'extend', amount: units, expiresInMs });
  }

  /**
   * Each alarm until then rings at its time. `isApart`: holds are let go of by themselves before
   * it.
   */
  ringUntil(at: number, isApart = false): void {
    for (;;) {
      if (isApart) this.letGo(at);
      const due = [...this.actor.customerMeters.values()]
        .map(({ meter, tentative }) => ({ meter, at: tentative?.nextDue ?? Infinity }))
        .sort((a, b) => a.at - b.at)
        .at(0);
      if (due === undefined || due.at > at) break;
      this.now = Math.max(this.now, due.at);
      this.tick(due.meter.slug as Slug);
    }
    this.now = at;
  }

  /** What an alarm of the meter does now. */
  tick(slug: Slug): void {
    this.#decide(slug, (context, state) => ({
      outcome: null,
      effects: decideTick(context, state),
    }));
  }

  /** The holds that expire first, before anything else that is due at that moment. */
  letGo(until: number): void {
    const meters = [...this.actor.customerMeters.values()];
    const states = meters.flatMap(({ tentative }) => tentative ?? []);
    const at = Math.min(...states.map(dueOf));
    if (at > until) return;
    for (const { meter, tentative: state } of meters) {
      if ((state?.reservations[0]?.expiresAt ?? Infinity) > at || state === undefined) continue;
      const context = this.#contexts.apart(this.#contexts.knownAt(this.actor, at), meter);
      this.#take(decideExpiries(context, state));
    }
  }

  /** One of the decisions of a tick that comes now. Returns whether it was the last. */
  step(slug: Slug): { readonly isLast: boolean; readonly effects: MeterEffects } {
    const of = { context: this.context(slug), state: this.state(slug), meter: this.meter(slug) };
    const { outcome: isLast, effects } = tickStep(this.#contexts, this.actor, of);
    this.#take(effects);
    return { isLast, effects };
  }

  /** What comes before a decision on the meter. */
  asleepBefore(slug: Slug) {
    return this.#contexts.asleepBefore(this.actor, this.context(slug), this.state(slug));
  }

  /** What comes before its spend cap is set or asked. */
  sleeperAmongSold() {
    return this.#contexts.sleeperAmongSold(this.actor);
  }

  context(slug: Slug): MeterContext {
    const context = this.#contexts.ofMeter(this.actor, this.meter(slug));
    return this.mayFire ? context : quiet(context);
  }

  /** As it was last decided. */
  state(slug: Slug): MeterState {
    return this.#contexts.stateOf(this.actor, this.meter(slug));
  }

  /** What a read at this moment sees. */
  seen(slug: Slug): MeterState {
    return advanced(this.context(slug), this.state(slug));
  }

  numbers(slug: Slug): Numbers {
    const snapshot = snapshotOf(this.seen(slug));
    const { limit, consumed, reserved } = snapshot;
    const rest = balance(snapshot);
    const number = (units: bigint): number => this.number(slug, units);
    return [
      limit === null ? null : number(limit),
      number(consumed),
      number(reserved),
      rest === null ? null : number(rest),
    ];
  }

  /** Of all periods in memory that have an account, by their start: granted, consumed, reserved. */
  periods(slug: Slug): (readonly [number, number, number])[] {
    const { current, others } = this.seen(slug);
    return [...others, current]
      .filter(({ opened }) => opened)
      .map(({ granted, consumed, reserved }) => [
        this.number(slug, granted),
        this.number(slug, consumed),
        this.number(slug, reserved),
      ]);
  }

  period(slug: Slug, start: number): Period | undefined {
    const { current, others } = this.seen(slug);
    return [current, ...others].find((period) => period.start === start);
  }

  /** The types of the meter's events so far, without the shared prefix. */
  told(slug: Slug): string[] {
    return this.written.events
      .filter(({ data }) => data['featureKey'] === slug)
      .map(({ type }) => type.replace('entitlement.', ''));
  }

  units(slug: Slug, quantity: number): bigint {
    const units = parseQuantity(quantity, METERS[slug].scale);
    if (typeof units === 'string') throw new Error(`${quantity} ${slug}: ${units}`);
    return units;
  }

  number(slug: Slug, units: bigint): number {
    return quantityNumber(units, METERS[slug].scale);
  }

  paid(slug: Slug, paidBy: PaidBy | null): string {
    if (paidBy === null) return 'nobody';
    const { own, credits, pool } = paidBy;
    const parts: string[] = [];
    if (own !== 0n) parts.push(`${this.number(slug, own)} ${slug}`);
    if (credits !== 0n) parts.push(`${this.number(pool.slug as Slug, credits)} ${pool.slug}`);
    return parts.join(' and ');
  }

  /** As the actor does it: what memory does not have is looked for in the store. */
  #resolve(slug: Slug, id: string, act: Resolution): string {
    const outcome = this.#decide(slug, (context, state) => {
      const first = decideResolution(context, state, { id, act, stored: null });
      if (first.outcome.kind !== 'unknown') return first;
      const stored = this.written.reservations.get(id);
      const its = stored?.memberAccountId === null ? stored : null;
      return decideResolution(context, state, { id, act, stored: its });
    });
    return this.#resolved(slug, outcome);
  }

  #resolved(slug: Slug, outcome: ResolveOutcome): string {
    if (outcome.kind === 'denied') return `denied ${outcome.reason}`;
    if (outcome.kind !== 'done') return outcome.kind;
    const { status, late, committed } = outcome.reservation;
    return `${status}${late ? ' late' : ''} ${this.number(slug, committed)}`;
  }

  #planned(slug: Slug, limit: number | null, fields: PlanFields): Grant {
    const units = limit === null ? null : this.units(slug, limit);
    return plannedBy({ id: this.#names.next(), now: this.now }, { limit: units, ...fields });
  }

  #cost(slug: PoolSlug, costs: Costs, since: number): void {
    const members = new Map(
      Object.entries(costs).map(([name, cost]) => {
        const meter = this.meter(name as Slug);
        return [meter.id, { meter, rate: rateOf(this.meter(slug), meter, cost) }];
      }),
    );
    const before = this.#pools.get(slug)?.costs ?? [];
    this.#pools.set(slug, { meter: this.meter(slug), costs: [...before, { since, members }] });
  }

  #decide<T>(
    slug: Slug,
    decide: (
      context: MeterContext,
      state: MeterState,
    ) => { readonly outcome: T; readonly effects: MeterEffects | null },
  ): T {
    const { outcome, effects } = decide(this.context(slug), this.state(slug));
    if (effects !== null) this.#take(effects);
    return outcome;
  }

  #take(effects: MeterEffects): void {
    this.written.take(effects);
    this.actor.apply(effects);
    this.actor.commit(effects);
  }
}

/** In scaled credits for a scaled unit. */
function rateOf(pool: Meter, member: Meter, cost: string): bigint {
  const credits = parseQuantity(cost, pool.scale);
  if (typeof credits === 'string') throw new Error(`${cost}: ${credits}`);
  return credits / one(member.scale);
}

function hasEver({ costs }: Pool, { id }: Meter): boolean {
  return costs.some(({ members }) => members.has(id));
}

function said(what: string, reason: string, paid: string): string {
  return `${what} ${reason}${paid === '' ? '' : ` by ${paid}`}`;
}
