// One customer's meter without a database: decisions are applied at once, and their rows are kept
// as the store would keep them.
//
// Holds: every account here is the fold of the rows that the ledger's own RowBuilder made, and
// refuses what the store refuses: an account that is opened twice, and totals that are not what the
// decision believed. What is in memory was written.
import { isDeepStrictEqual } from 'node:util';
import type { Cycle, Interval } from '../../ledger/kernel/calendar.ts';
import { decideGrant, decideVoid } from '../../ledger/metering/grant-decisions.ts';
import { advanced, decideTick } from '../../ledger/metering/advance.ts';
import { checkCapped } from '../../ledger/metering/capped.ts';
import { RowBuilder } from '../../ledger/actor/rows.ts';
import type { Alerts } from '../../ledger/metering/alerts.ts';
import type { Affords, MeterContext, MeterEffects } from '../../ledger/metering/meter-draft.ts';
import type { LedgerEvent } from '../../ledger/event.ts';
import type { Grant, Suspension } from '../../ledger/metering/grants.ts';
import {
  type Aggregation,
  type Meter,
  type MeterState,
  type Period,
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
import {
  NO_TOTALS,
  type Totals,
  type Transfer,
  applyTransfer,
} from '../../ledger/kernel/transfers.ts';
import {
  decideReserve,
  decideResolution,
  type ReserveOutcome,
  type ResolveOutcome,
} from '../../ledger/metering/reservation-decisions.ts';
import type { Reservation, Resolution } from '../../ledger/metering/reservation.ts';
import type { Span } from '../../ledger/metering/span.ts';
import type { Began } from '../../ledger/metering/signup.ts';
import {
  decideTopUp,
  type TopUpCommand,
  type TopUpOutcome,
} from '../../ledger/metering/auto-topup-decisions.ts';
import type { TopUpOrder } from '../../ledger/topups/order.ts';
import { type Usage, type UsageOutcome, decideUsage } from '../../ledger/metering/usage.ts';

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

/** A plan's allowance: by default of the subscription `plan`, 10 a month, counted from now. */
export type PlanFields = Partial<Parameters<typeof planGrant>[0]>;

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
  readonly transfers: Transfer[] = [];
  /** Charges that its automatic top-up ordered. */
  readonly orders: TopUpOrder[] = [];
  readonly events: LedgerEvent[] = [];
  /** As last written, with the ended ones. */
  readonly grants = new Map<string, Grant>();
  readonly accounts = new Map<string, Totals>();
  /** As last written, with the resolved ones. */
  readonly reservations = new Map<string, Reservation>();
  /** Apart from `ids`, so that sent usage has the same ids whatever happened in between. */
  readonly #names = readableIds();
  readonly #rows = new RowBuilder();
  readonly #members = new Set<string>();
  /** As last written, by account. */
  readonly #periods = new Map<string, Period>();
  readonly #spans = new Map<string, Span>();

  constructor(aggregation: Aggregation = 'sum', scale = 0) {
    this.meter = {
      id: 'meter',
      organisationId: 'organisation',
      mode: 'test',
      slug: 'feature',
      aggregation,
      scale,
    };
    const key = { customerId: this.customer.id, meterId: this.meter.id, start: 0 };
    const first = emptyPeriod(periodAccountId(this.ids, key), 0, null);
    this.state = emptyMeterState(this.meter.id, 'entitlement', first);
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
      books: { usage: 'usage', grants: 'grants' },
      affords,
      alerts,
    };
  }

  grant(fields: GrantFields = {}) {
    const { every, rollover, ...rest } = fields;
    const grant: Grant = {
      id: this.#names.next(),
      source: every === undefined ? 'top_up' : 'manual',
      amount: 10n,
      used: 0n,
      spent: 0n,
      effectiveAt: this.now,
      expiresAt: null,
      priority: 100,
      createdAt: this.now,
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
          : { cycle: cycleFrom(rest.effectiveAt ?? this.now, every), rollover: rollover ?? null },
    };
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
    return planGrant({
      grantId: this.#names.next(),
      subscriptionId: 'plan',
      productId: 'product',
      priority: 100,
      limit: 10n,
      resetInterval: 'month',
      cycle: { anchor: this.now, zone: 'UTC' },
      resetCount: 1,
      overageAllowed: false,
      price: null,
      charges: true,
      rollover: null,
      boolean: false,
      createdAt: this.now,
      ...fields,
    });
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
    const seen = (accountId: string, member: bigint) => this.#members.has(`${accountId} ${member}`);
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

  /** Recomputes every account from every transfer, without the code that folded them before. */
  refold(): Map<string, Totals> {
    const totals = new Map<string, Totals>();
    for (const transfer of this.transfers) {
      if (transfer.kind === 'refused') continue;
      for (const side of ['debit', 'credit'] as const) {
        const before = totals.get(transfer[side]) ?? NO_TOTALS;
        totals.set(transfer[side], applyTransfer(before, transfer, side));
      }
    }
    return totals;
  }

  /** The outcome, and whether it changed anything. */
  #decided({ outcome, effects }: ReturnType<typeof startPlan>): string {
    this.#take(effects);
    return effects === null && outcome.kind === 'done' ? 'nothing' : outcome.kind;
  }

  #take(effects: MeterEffects | null): void {
    if (effects === null) return;
    const rows = this.#rows.build([effects]);
    for (const { id, delta, kind } of rows.opened) {
      if (this.accounts.has(id)) throw new Error(`${kind} account ${id} is opened twice`);
      const isBook = id === this.context.books.usage || id === this.context.books.grants;
      if ((kind === 'meter') === isBook) throw new Error(`account ${id} is no ${kind} account`);
      this.accounts.set(id, sumOf(NO_TOTALS, delta));
    }
    for (const { id, delta, expected } of rows.touched) {
      const before = this.accounts.get(id);
      if (before === undefined) throw new Error(`account ${id} does not exist`);
      const believed = expected ?? before;
      if (
        believed.debitsPosted !== before.debitsPosted ||
        believed.creditsPosted !== before.creditsPosted
      ) {
        throw new Error(`account ${id} is not what the decision believed`);
      }
      this.accounts.set(id, sumOf(before, delta));
    }
    this.#rows.committed(rows);
    for (const { grant } of rows.grants) this.grants.set(grant.id, grant);
    for (const { reservation } of rows.reservations) this.#keep(reservation);
    for (const { accountId, member } of rows.members) {
      if (this.#members.has(`${accountId} ${member}`)) throw new Error(`${member} counts twice`);
      this.#members.add(`${accountId} ${member}`);
    }
    this.transfers.push(...effects.transfers);
    this.orders.push(...effects.topUpOrders);
    if (effects.state.topUp !== this.state.topUp && rows.topUps.length === 0) {
      throw new Error('the top-up is not written');
    }
    this.events.push(...effects.events);
    this.#expectWritten(effects);
    this.state = effects.state;
  }

  #keep(reservation: Reservation): void {
    const before = this.reservations.get(reservation.id)?.status ?? 'open';
    const isLate = before === 'expired' && reservation.late;
    if (before !== 'open' && !isLate) throw new Error(`${reservation.id} is resolved twice`);
    this.reservations.set(reservation.id, reservation);
  }

  /** A crash now leaves what is in memory. */
  #expectWritten({ state, periods, spans, stateChanged }: MeterEffects): void {
    for (const grant of state.grants) {
      if (this.grants.get(grant.id) !== grant) throw new Error(`grant ${grant.id} is not written`);
    }
    for (const { after } of periods) this.#periods.set(after.accountId, after);
    for (const period of [state.current, ...state.others]) {
      const written = this.#periods.get(period.accountId);
      const isAsWritten =
        written?.granted === period.granted &&
        written.consumed === period.consumed &&
        written.reserved === period.reserved;
      if (period.opened && !isAsWritten) {
        throw new Error(`period ${period.accountId} is not written`);
      }
    }
    const open = this.reservations.values().filter(({ status }) => status === 'open');
    if (!isDeepStrictEqual(new Set(open), new Set(state.reservations))) {
      throw new Error('a reservation is not written');
    }
    for (const { span, isLive } of spans) {
      if (isLive) this.#spans.set(span.id, span);
      else this.#spans.delete(span.id);
    }
    const isWritten = (span: Span): boolean => this.#spans.get(span.id) === span;
    if (state.spans.length !== this.#spans.size || !state.spans.every(isWritten)) {
      throw new Error('a span is not written');
    }
    // What of periods, spans and reservations has changed is in rows of their own.
    const { current, others, spans: before, reservations } = this.state;
    const own = { ...state, current, others, spans: before, reservations };
    if (!stateChanged && !isDeepStrictEqual(own, this.state)) {
      throw new Error('the state is not written');
    }
  }
}

function sumOf(a: Totals, b: Totals): Totals {
  return {
    debitsPosted: a.debitsPosted + b.debitsPosted,
    debitsPending: a.debitsPending + b.debitsPending,
    creditsPosted: a.creditsPosted + b.creditsPosted,
    creditsPending: a.creditsPending + b.creditsPending,
  };
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
