// One customer's meter without a database: decisions are applied at once, and their rows are kept
// as the store would keep them (`written.ts`).
import type { Cycle, Interval } from '../../ledger/kernel/calendar.ts';
import { decideGrant, decideVoid } from '../../ledger/metering/grant-decisions.ts';
import { advanced, decideTick } from '../../ledger/metering/advance.ts';
import { checkCapped } from '../../ledger/metering/capped.ts';
import type { Alerts } from '../../ledger/metering/alerts.ts';
import type { Affords, MeterContext } from '../../ledger/metering/meter-draft.ts';
import type { MeterEffects } from '../../ledger/metering/meter-effects.ts';
import type { Grant, Suspension } from '../../ledger/metering/grants.ts';
import {
  type Aggregation,
  type Meter,
  type MeterState,
  balance,
  breakdown,
  emptyMeterState,
  emptyPeriod,
  snapshotOf,
} from '../../ledger/metering/meter.ts';
import {
  expirePlanAt,
  planGrant,
  refreshPlan,
  replacePlan,
  restartPlan,
  startPlan,
  suspendPlan,
  withdrawPlan,
} from '../../ledger/metering/plan-allowance.ts';
import { periodAccountId } from '../../ledger/kernel/derived-ids.ts';
import type { Ids } from '../../ledger/ports.ts';
import type { Totals } from '../../ledger/kernel/transfers.ts';
import {
  decideReserve,
  decideResolution,
  type ReserveOutcome,
  type ResolveOutcome,
} from '../../ledger/metering/reservation-decisions.ts';
import type { Reservation, Resolution } from '../../ledger/metering/reservation.ts';
import type { Began } from '../../ledger/metering/signup.ts';
import {
  decideTopUp,
  type TopUpCommand,
  type TopUpOutcome,
} from '../../ledger/metering/auto-topup-decisions.ts';
import type { TopUpOrder } from '../../ledger/topups/order.ts';
import { type Usage, type UsageOutcome, decideUsage } from '../../ledger/metering/usage.ts';
import { Written } from './written.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
/** Noon, so that it is the same day in every zone. */
export const T0 = Date.UTC(2026, 0, 31, 12);

export type GrantFields = Partial<Omit<Grant, 'recurs'>> & {
  readonly every?: Interval;
  readonly rollover?: { readonly max: bigint; readonly expiresAfterPeriods: number };
};

const cycleFrom = (anchor: number, interval: Interval): Cycle => ({
  anchor,
  interval,
  count: 1,
  zone: 'UTC',
});

const BOOKS = { usage: 'usage', grants: 'grants' };

/** A plan's allowance: by default of the subscription `plan`, 10 a month, counted from now. */
export type PlanFields = Partial<Parameters<typeof planGrant>[0]>;

type Made = { readonly id: string; readonly now: number };

/** Of 10 units, by default a top-up. */
export function grantOf({ id, now }: Made, { every, rollover, ...rest }: GrantFields): Grant {
  return {
    id,
    source: every === undefined ? 'top_up' : 'manual',
    amount: 10n,
    used: 0n,
    spent: 0n,
    grown: 0n,
    cut: [],
    rests: [],
    startedAt: null,
    endedIn: 0,
    cap: null,
    effectiveAt: now,
    expiresAt: null,
    priority: 100,
    createdAt: now,
    overageAllowed: false,
    price: null,
    charges: false,
    renewsAt: null,
    started: false,
    suspended: null,
    boolean: false,
    productId: null,
    subscriptionId: null,
    reason: null,
    ended: null,
    ...rest,
    recurs:
      every === undefined
        ? null
        : { cycle: cycleFrom(rest.effectiveAt ?? now, every), rollover: rollover ?? null },
  };
}

export function plannedBy({ id, now }: Made, fields: PlanFields): Grant {
  return planGrant({
    grantId: id,
    subscriptionId: 'plan',
    productId: 'product',
    priority: 100,
    limit: 10n,
    resetInterval: 'month',
    cycle: { anchor: now, zone: 'UTC' },
    resetCount: 1,
    overageAllowed: false,
    price: null,
    charges: true,
    rollover: null,
    boolean: false,
    createdAt: now,
    ...fields,
  });
}

/** Readable and repeatable ids: the same parts give the same id. */
export function readableIds(): Ids {
  let count = 0;
  return {
    next: () => `id-${String((count += 1)).padStart(6, '0')}`,
    derive: (...parts) => parts.join('/'),
    fingerprint: (text) => BigInt(text.length),
  };
}

export class World {
  now = T0;
  state: MeterState;
  /** Those of the customer that have not ended. */
  readonly subscriptions = new Map<string, Began>();
  affords: Affords | null = null;
  alerts: Alerts | null = null;
  readonly ids = readableIds();
  readonly meter: Meter;
  readonly customer = {
    id: 'customer',
    slot: 7,
    organisationId: 'organisation',
    mode: 'test',
    externalId: null,
    email: null,
  } as const;
  /** Charges that its automatic top-up ordered. */
  readonly orders: TopUpOrder[] = [];
  /** Apart from `ids`, so that sent usage has the same ids whatever happened in between. */
  readonly #names = readableIds();
  protected readonly written = new Written([BOOKS], () => this.state);
  readonly transfers = this.written.transfers;
  readonly events = this.written.events;
  readonly grants = this.written.grants;
  readonly accounts = this.written.accounts;
  readonly reservations = this.written.reservations;

  constructor(aggregation: Aggregation = 'sum', scale = 0, carry = false) {
    this.meter = {
      id: 'meter',
      organisationId: 'organisation',
      mode: 'test',
      slug: 'feature',
      aggregation,
      scale,
      carry,
    };
    const key = { customerId: this.customer.id, meterId: this.meter.id, start: 0 };
    const first = emptyPeriod(periodAccountId(this.ids, key), 0, null);
    this.state = emptyMeterState(this.meter, 'entitlement', first);
  }

  get context(): MeterContext {
    const { customer, meter, now, ids, affords, alerts } = this;
    return {
      customer,
      meter,
      now,
      ids,
      grantsMax: 1000,
      subscriptions: this.subscriptions,
      books: BOOKS,
      affords,
      alerts,
      credits: null,
      late: { left: Infinity },
    };
  }

  grant(fields: GrantFields = {}) {
    const grant = grantOf({ id: this.#names.next(), now: this.now }, fields);
    const { outcome, effects } = decideGrant(this.context, this.state, grant);
    this.#take(effects);
    return outcome;
  }

  void(grantId: string) {
    const { outcome, effects } = decideVoid(this.context, this.state, grantId);
    this.#take(effects);
    return outcome.kind;
  }

  /** One allowance of a plan, as at the start of a subscription. */
  planned(fields: PlanFields = {}): Grant {
    return plannedBy({ id: this.#names.next(), now: this.now }, fields);
  }

  plan(...fields: readonly PlanFields[]): string {
    const grants = fields.map((terms) => this.planned(terms));
    return this.#decided(startPlan(this.context, this.state, grants));
  }

  replacePlan(...fields: readonly PlanFields[]): string {
    const grants = fields.map((terms) => this.planned(terms));
    return this.#decided(replacePlan(this.context, this.state, this.#replacing, grants));
  }

  refreshPlan(...fields: readonly PlanFields[]): string {
    const grants = fields.map((terms) => this.planned(terms));
    return this.#decided(refreshPlan(this.context, this.state, this.#replacing, grants));
  }

  /** A change that counts from `since`, and was paid now. */
  replacePlanSince(since: number, ...fields: readonly PlanFields[]): string {
    const grants = fields.map((terms) => this.planned(terms));
    return this.do((context, state) =>
      replacePlan(context, state, { subscriptionId: 'plan', since }, grants),
    );
  }

  /** A renewal at `since` that is decided now. */
  refreshPlanSince(since: number, ...fields: readonly PlanFields[]): string {
    const grants = fields.map((terms) => this.planned(terms));
    return this.do((context, state) =>
      refreshPlan(context, state, { subscriptionId: 'plan', since }, grants),
    );
  }

  get #replacing() {
    return { subscriptionId: 'plan', since: this.now };
  }

  withdrawPlan(how: 'expired' | 'voided', id = 'plan'): string {
    return this.#decided(withdrawPlan(this.context, this.state, id, { how, at: this.now }));
  }

  expirePlanAt(at: number | null, id = 'plan'): string {
    return this.#decided(expirePlanAt(this.context, this.state, id, at));
  }

  suspendPlan(why: Suspension | null, id = 'plan'): string {
    return this.#decided(suspendPlan(this.context, this.state, id, why));
  }

  restartPlan(cycle: Pick<Cycle, 'anchor' | 'zone'>, id = 'plan'): string {
    return this.#decided(restartPlan(this.context, this.state, id, cycle));
  }

  /** Any other decision. */
  do(decide: (context: MeterContext, state: MeterState) => ReturnType<typeof startPlan>): string {
    return this.#decided(decide(this.context, this.state));
  }

  use(value: bigint, fields: Partial<Usage> = {}): UsageOutcome {
    const usage: Usage = {
      id: this.#names.next(),
      value,
      eventAt: null,
      member: null,
      admission: 'record',
      exactReplay: false,
      fingerprint: null,
      metadata: null,
      ...fields,
    };
    const seen = (accountId: string, member: bigint) =>
      this.written.members.has(`${accountId} ${member}`);
    const { outcome, effects } = decideUsage(this.context, this.state, usage, seen);
    this.#take(effects);
    return outcome;
  }

  /** `seconds`: how long it is open for. */
  reserve(amount: bigint, seconds = 300, id = this.#names.next()): ReserveOutcome {
    const request = { id, amount, fingerprint: null, expiresInMs: seconds * 1000 };
    const { outcome, effects } = decideReserve(this.context, this.state, request);
    this.#take(effects);
    return outcome;
  }

  commit(id: string, value: bigint): ResolveOutcome {
    return this.#resolve(id, { kind: 'commit', value });
  }

  release(id: string): ResolveOutcome {
    return this.#resolve(id, { kind: 'release' });
  }

  extend(id: string, amount: bigint | null, seconds: number | null = null): ResolveOutcome {
    const expiresInMs = seconds === null ? null : seconds * 1000;
    return this.#resolve(id, { kind: 'extend', amount, expiresInMs });
  }

  /** As the actor does it: what memory does not have is looked for in the store. */
  #resolve(id: string, act: Resolution): ResolveOutcome {
    const decide = (stored: Reservation | null) =>
      decideResolution(this.context, this.state, { id, act, stored });
    const first = decide(null);
    const stored = this.reservations.get(id) ?? null;
    const { outcome, effects } = first.outcome.kind === 'unknown' ? decide(stored) : first;
    this.#take(effects);
    return outcome;
  }

  topUp(command: TopUpCommand): TopUpOutcome {
    const { outcome, effects } = decideTopUp(this.context, this.state, command);
    this.#take(effects);
    return outcome;
  }

  /** The effect of an alarm at `at`. */
  tickAt(at: number): void {
    this.now = at;
    this.#take(decideTick(this.context, this.state));
  }

  /** What a read at this moment sees. */
  get seen(): MeterState {
    return advanced(this.context, this.state);
  }

  check(units: bigint) {
    const { allowed, reason } = checkCapped(this.context, this.seen, units);
    return `${allowed ? 'allowed' : 'denied'} ${reason}`;
  }

  /** limit, consumed, balance: `null` is unlimited. */
  get numbers(): [bigint | null, bigint, bigint | null] {
    const snapshot = snapshotOf(this.seen);
    return [snapshot.limit, snapshot.consumed, balance(snapshot)];
  }

  /** What is left of each live grant, in burn order. */
  get parts(): (bigint | null)[] {
    return breakdown(this.seen).map(({ remaining }) => remaining);
  }

  /** The types of the events so far, without the shared prefix. */
  get told(): string[] {
    return this.events.map(({ type }) => type.replace('entitlement.', ''));
  }

  consumedIn(start: number): bigint {
    const { current, others } = this.state;
    return [current, ...others].find((period) => period.start === start)?.consumed ?? 0n;
  }

  refold(): Map<string, Totals> {
    return this.written.refold();
  }

  /** The outcome, and whether it changed anything. */
  #decided({ outcome, effects }: ReturnType<typeof startPlan>): string {
    this.#take(effects);
    return effects === null && outcome.kind === 'done' ? 'nothing' : outcome.kind;
  }

  #take(effects: MeterEffects | null): void {
    if (effects === null) return;
    this.written.take(effects);
    this.orders.push(...effects.topUpOrders);
    if (effects.state.topUp !== this.state.topUp && !effects.topUpChanged) {
      throw new Error('the top-up is not written');
    }
    this.state = effects.state;
  }
}

/** The id of a grant that must have been given. */
export function granted(outcome: ReturnType<World['grant']>): string {
  if (outcome.kind !== 'granted') throw new Error(`not granted: ${outcome.kind}`);
  return outcome.grant.id;
}

/** The id of a reservation that must have been made. */
export function reserved(outcome: ReserveOutcome): string {
  if (outcome.kind !== 'reserved') throw new Error(`not reserved: ${outcome.kind}`);
  return outcome.reservation.id;
}

/** A plan of 10 a month from 31 January. */
export function subscribed(fields: PlanFields = {}): World {
  const world = new World();
  world.plan(fields);
  return world;
}
