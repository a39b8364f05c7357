import type { Mode } from '../kernel/tenant.ts';
import { type Cycle, boundary, periodIndex } from '../kernel/calendar.ts';
import {
  type Grant,
  type Suspension,
  burnShown,
  cutDue,
  entitles,
  isUnlimited,
  left,
} from './grants.ts';
import type { Reason } from '../kernel/transfers.ts';
import type { Untold } from './untold.ts';
import type { PaidBy } from './paid-by.ts';
import type { Reservation } from './reservation.ts';
import { type AutoTopUp, topUpDue } from '../topups/auto-topup.ts';
import { countUntil } from './in-order.ts';
import { soldIn } from './sold.ts';
import type { StretchMark } from './stretch.ts';
import type { Mark, Span } from './span.ts';

/**
 * The balance of one customer on one meter: immutable data, replaced as a whole by each decision.
 *
 *     scheduled grant ──effective──▶ live ──expires | void | period ends used up──▶ ended
 *     period ──ends──▶ the next one: the allowance afresh, rollover, and what top-ups had left
 *
 * One period is one account, and a new period is a new account, never a reset in place. What the
 * account was credited is the period's `limit`, what it was debited is `consumed` (decisions 5).
 * Customers with top-ups alone have one endless period.
 *
 * Here are the shape and the questions that change nothing; `advance.ts` moves it through time,
 * `usage.ts` records usage, `grant-decisions.ts` adds and voids grants. None of them reads a clock,
 * draws an id or touches a store.
 */
export type Aggregation = 'sum' | 'count' | 'max' | 'last' | 'unique';

export type Meter = {
  readonly id: string;
  readonly organisationId: string;
  readonly mode: Mode;
  readonly slug: string;
  readonly aggregation: Aggregation;
  readonly scale: number;
  /** Of a `last` meter: whether each period begins with the level of the one before (`carry.ts`). */
  readonly carry: boolean;
};

export type Customer = {
  readonly id: string;
  readonly slot: number;
  readonly organisationId: string;
  readonly mode: Mode;
  readonly externalId: string | null;
  readonly email: string | null;
};

export type Period = Mark & {
  readonly accountId: string;
  /** 0 for the endless period that a customer starts with. */
  readonly start: number;
  readonly end: number | null;
  /** Whether the account's row exists, here or in a flush under way. */
  readonly opened: boolean;
  readonly granted: bigint;
  readonly consumed: bigint;
  readonly reserved: bigint;
  /**
   * Of a member of a pool (`credits.ts`): what a scaled unit beyond the limit costs, in scaled credits.
   * null until a pool pays for any.
   */
  readonly rate: bigint | null;
  /** When a decision last changed it, milliseconds. */
  readonly updatedAt: number;
};

/** An alert that has fired, and was not taken back since. */
export type FiredAlert = {
  readonly id: string;
  /** The event that told of it; null where no endpoint would have heard it. */
  readonly eventId: string | null;
};

export type MeterState = {
  readonly meterId: string;
  /** Whether it counts a level, of which nothing is used up. */
  readonly isLevel: boolean;
  /** The object that this meter's events are about. */
  readonly entitlementId: string;
  readonly current: Period;
  /**
   * Other periods that a late or early event may fall into, ascending. All of the last 35 days once
   * `historyLoaded`.
   */
  readonly others: readonly Period[];
  readonly historyLoaded: boolean;
  /**
   * What periods had counted before their boundaries, ascending: all of the last 35 days once
   * `historyLoaded`.
   */
  readonly marks: readonly StretchMark[];
  /** Live and scheduled, in burn order. */
  readonly grants: readonly Grant[];
  /** Those that have ended in the last 35 days; all of them once `historyLoaded`. */
  readonly ended: readonly Grant[];
  /** Since the last boundary of the current period: when that was, and what the period had counted before. */
  readonly stretch: Pick<StretchMark, 'start' | 'aggregate'>;
  /**
   * What is used and held of the current period, as far as it is settled on the grants' `used`. What was
   * billed is not among it.
   */
  readonly allocated: bigint;
  /**
   * In which usage is sold, ascending: the one that runs, and closed ones until they are billed and
   * no event of theirs can come any more.
   */
  readonly spans: readonly Span[];
  /** The open ones, by when they expire. */
  readonly reservations: readonly Reservation[];
  /** null: it is not topped up by itself, and never was. */
  readonly topUp: AutoTopUp | null;
  readonly firstGrantAt: number | null;
  /** Whether a grant expired before it was used up. Separates `expired` from `not_entitled`. */
  readonly everExpired: boolean;
  /** Whether this crossing was announced; armed again by a grant or a new period. */
  readonly exhausted: boolean;
  /** Alerts that have fired and were not taken back; ids of deleted ones, too, for a while. */
  readonly fired: readonly FiredAlert[];
  /** Alerts that usage has reached, of which its unit did not tell: a later one does. */
  readonly untold: Untold | null;
  readonly sequence: bigint;
  readonly eventAt: number;
  /** When time alone next changes something; Infinity for never. */
  readonly nextDue: number;
};

/** What is true of the current period, in scaled integers. `limit` null is unlimited. */
export type Snapshot = {
  readonly limit: bigint | null;
  readonly consumed: bigint;
  /** What money has paid of `consumed`: usage that was sold and billed within the period. */
  readonly billed: bigint;
  readonly reserved: bigint;
  /** Whether a pool pays for what is beyond the limit: then it is no debt. */
  readonly pooled: boolean;
  readonly overageAllowed: boolean;
  readonly periodStart: number | null;
  readonly periodEnd: number | null;
};

export type CheckAnswer = {
  readonly units: bigint;
  readonly allowed: boolean;
  readonly reason: Reason;
  readonly snapshot: Snapshot;
  /** null where the meter is no member of a pool. */
  readonly paidBy: PaidBy | null;
  /** As it is given: `render` makes it once. */
  rendered: RenderedCheck | null;
};

/** The answer to a check, and its text for the caller. */
export type RenderedCheck = { readonly allowed: boolean; readonly text: string };

export function emptyPeriod(accountId: string, start: number, end: number | null): Period {
  return {
    accountId,
    start,
    end,
    opened: false,
    granted: 0n,
    consumed: 0n,
    reserved: 0n,
    aggregate: 0n,
    latest: null,
    rate: null,
    updatedAt: 0,
  };
}

/** Whether a meter counts a level, of which nothing is used up. */
export function isLevel(meter: Pick<Meter, 'aggregation'> | undefined): boolean {
  return meter !== undefined && meter.aggregation !== 'sum' && meter.aggregation !== 'count';
}

export function emptyMeterState(
  { id: meterId, aggregation }: Pick<Meter, 'id' | 'aggregation'>,
  entitlementId: string,
  period: Period,
): MeterState {
  return {
    meterId,
    isLevel: isLevel({ aggregation }),
    entitlementId,
    current: period,
    others: [],
    historyLoaded: false,
    marks: [],
    grants: [],
    ended: [],
    stretch: { start: period.start, aggregate: 0n },
    allocated: 0n,
    spans: [],
    reservations: [],
    topUp: null,
    firstGrantAt: null,
    everExpired: false,
    exhausted: false,
    fired: [],
    untold: null,
    sequence: 0n,
    eventAt: 0,
    nextDue: Infinity,
  };
}

/** Whether `at` lies in the period. */
export function within(period: Period, at: number): boolean {
  return at >= period.start && (period.end === null || at < period.end);
}

/** Start and end of the period that the calendar gives for `at`, inside the cycle. */
export function calendarPeriod(cycle: Cycle, at: number): { start: number; end: number } {
  const n = periodIndex(cycle, at);
  return { start: boundary(cycle, n), end: boundary(cycle, n + 1) };
}

/** What was granted and billed less consumed less reserved; null is unlimited. What a pool pays for is no debt. */
export function balance({ limit, billed, consumed, reserved, pooled }: Snapshot): bigint | null {
  if (limit === null) return null;
  const rest = limit + billed - consumed - reserved;
  return pooled && rest < 0n ? 0n : rest;
}

export function isEntitled(state: MeterState): boolean {
  return state.grants.some(entitles);
}

function isOverageAllowed(state: MeterState): boolean {
  return state.grants.some(
    (grant) => grant.started && allowsOverage(grant) && grant.suspended === null,
  );
}

/** Usage beyond the limit that is sold may be used where it is charged: not in a trial. */
function allowsOverage({ price, charges, overageAllowed }: Grant): boolean {
  return price === null ? overageAllowed : charges;
}

/** The limit of a period: unlimited only where an unlimited grant is live in the current one. */
export function limitOf(state: MeterState, period: Period): bigint | null {
  return period === state.current && state.grants.some(isUnlimited) ? null : period.granted;
}

/** What money has paid of a period: what its closed spans have sold (`sold.ts`). */
export function billedOf(state: MeterState, period: Period = state.current): bigint {
  const last = state.spans.at(-1);
  if (last === undefined || state.isLevel) return 0n;
  const { accountId } = period;
  if (period === state.current) {
    if (last.accountId !== accountId) return 0n;
    // Most periods have one span, which runs.
    if (last.end === null && state.spans.at(-2)?.accountId !== accountId) return 0n;
  }
  const its = spansIn(state, period);
  const sold = soldIn(its.map((span) => stretchOf(state, span)));
  const units = sold.reduce((sum, one, index) => (its[index]?.end === null ? sum : sum + one), 0n);
  // A correction after the last one takes back what was billed, too.
  return units > period.consumed ? period.consumed : units;
}

/** What is used and held of the current period, without what money has paid: what grants are to cover. */
export function spentOf(state: MeterState): bigint {
  const { aggregate, reserved } = state.current;
  const units = aggregate + reserved;
  return (units > 0n ? units : 0n) - billedOf(state);
}

/** What grants have covered of it, as of the last checkpoint. */
export function settledOf({ allocated, reservations, current }: MeterState): bigint {
  let units = allocated;
  if (current.reserved === 0n) return units;
  for (const one of reservations) if (one.accountId === current.accountId) units += one.settled;
  return units;
}

/** The spans of one period. They follow each other, from about its start: there may be hundreds of others. */
export function spansIn(
  { spans }: MeterState,
  { accountId, start }: Pick<Period, 'accountId' | 'start'>,
): readonly Span[] {
  let from = countUntil(spans, start - 1);
  while (spans[from - 1]?.accountId === accountId) from -= 1;
  while (from < spans.length && spans[from]?.accountId !== accountId) from += 1;
  let until = from;
  while (spans[until]?.accountId === accountId) until += 1;
  return from === until ? NO_SPANS : spans.slice(from, until);
}

const NO_SPANS: readonly never[] = [];

/** A span with where it has come to by now, where it runs. */
export function stretchOf(
  state: MeterState,
  { opening, closing, limit }: Pick<Span, 'opening' | 'closing' | 'limit'>,
): { readonly opening: Mark; readonly closing: Mark; readonly limit: bigint | null } {
  if (closing !== null) return { opening, closing, limit };
  return { opening, closing: state.current, limit: limitOf(state, state.current) };
}

export function snapshotOf(state: MeterState, period: Period = state.current): Snapshot {
  return {
    limit: limitOf(state, period),
    consumed: period.consumed,
    billed: billedOf(state, period),
    reserved: period.reserved,
    pooled: period.rate !== null,
    overageAllowed: isOverageAllowed(state),
    periodStart: period.start > 0 ? period.start : state.firstGrantAt,
    periodEnd: period.end,
  };
}

/** Whether `units` more may be used now. Expects a state that was advanced to now. */
export function check(state: MeterState, units: bigint): CheckAnswer {
  const snapshot = snapshotOf(state);
  const reason = reasonFor(state, snapshot, units);
  const allowed =
    reason === 'ok' ||
    reason === 'unlimited' ||
    reason === 'overage_allowed' ||
    reason === 'boolean';
  return { units, allowed, reason, snapshot, paidBy: null, rendered: null };
}

/** Whether the first of two answers leaves less. */
export function isLower(a: CheckAnswer, b: CheckAnswer): boolean {
  // Of what a spend cap leaves the balance says nothing, and nor of what a pool does.
  if (a.reason === 'spend_cap' || b.reason === 'spend_cap') return !a.allowed;
  if (a.paidBy !== null && a.allowed !== b.allowed) return !a.allowed;
  const [one, other] = [balance(a.snapshot), balance(b.snapshot)];
  if (one === null) return false;
  if (other === null) return true;
  // At the same balance the one that denies.
  return one < other || (one === other && !a.allowed);
}

function reasonFor(state: MeterState, snapshot: Snapshot, units: bigint): Reason {
  if (!isEntitled(state)) return state.everExpired ? 'expired' : 'not_entitled';
  const usable = available(state, snapshot);
  if (usable === null) return withoutLimit(state);
  if (usable >= units && !isAllSuspended(state)) return 'ok';
  return snapshot.overageAllowed ? 'overage_allowed' : shortage(state, snapshot, units);
}

/** Which kind of unlimited it is. */
export function withoutLimit(state: MeterState): 'unlimited' | 'boolean' {
  const isMetered = state.grants.some((grant) => isUnlimited(grant) && !grant.boolean);
  return isMetered ? 'unlimited' : 'boolean';
}

/** The balance less what is left of suspended grants; null is unlimited. */
export function available(state: MeterState, snapshot: Snapshot): bigint | null {
  let rest = balance(snapshot);
  // They stand last.
  if (rest === null || !isSuspended(state.grants.at(-1))) return rest;
  for (const { grant, remaining } of breakdown(state)) {
    if (isSuspended(grant)) rest -= remaining ?? 0n;
  }
  return rest;
}

function isSuspended(grant: Grant | undefined): boolean {
  return grant !== undefined && grant.suspended !== null;
}

function isAllSuspended({ grants }: MeterState): boolean {
  return (
    isSuspended(grants.at(-1)) && grants.every((grant) => !entitles(grant) || isSuspended(grant))
  );
}

/** Why `units` are too many: for want of them, or because what has them is suspended. */
export function shortage(
  state: MeterState,
  snapshot: Snapshot,
  units: bigint,
): 'insufficient_balance' | 'subscription_paused' | 'blocked' {
  let why: Suspension | null = null;
  let isCovered = (balance(snapshot) ?? units) >= units;
  for (const grant of state.grants) {
    const { suspended, amount } = grant;
    if (suspended === null || !entitles(grant)) continue;
    why = why === 'blocked' ? why : suspended;
    isCovered ||= amount === null || allowsOverage(grant);
  }
  if (why === null || !isCovered) return 'insufficient_balance';
  return why === 'blocked' ? 'blocked' : 'subscription_paused';
}

/** What entitles, with what is left of each now; the parts add up to max(0, balance). */
export function breakdown(
  state: MeterState,
): readonly { readonly grant: Grant; readonly remaining: bigint | null }[] {
  const { consumed, reserved } = state.current;
  // What is held may fill what was corrected below nothing: it is off the balance all the same.
  const due = consumed + reserved - billedOf(state) - settledOf(state);
  return burnShown(state.grants, due)
    .grants.filter(entitles)
    .map((grant) => ({
      grant,
      // Of a suspended unlimited one there is nothing to use.
      remaining: isSuspended(grant) ? (left(grant) ?? 0n) : left(grant),
    }));
}

/** When time alone next changes something of the meter; Infinity for never. */
/** What is untold of a state on disk: its alarm rings before anything is due. */
export function untoldBy(alarmAt: number | null, nextDue: number): Untold | null {
  return alarmAt !== null && alarmAt < nextDue ? { at: alarmAt, before: null } : null;
}

/** When an alarm is to ring; null for never. */
export function alarmOf({ nextDue, untold }: MeterState): number | null {
  const at = untold === null ? nextDue : Math.min(nextDue, untold.at);
  return at === Infinity ? null : at;
}

export function nextDueOf(
  state: Pick<MeterState, 'grants' | 'current' | 'reservations' | 'topUp'>,
): number {
  const due = dueOf(state);
  return state.topUp === null ? due : Math.min(due, topUpDue(state.topUp));
}

/**
 * The earliest time at which a reservation expires, a grant starts, is given anew or expires, or the
 * period ends by itself.
 */
export function dueOf({
  grants,
  current,
  reservations,
}: Pick<MeterState, 'grants' | 'current' | 'reservations'>): number {
  let due = reservations[0]?.expiresAt ?? Infinity;
  let leads = false;
  for (const grant of grants) {
    const { started, expiresAt, renewsAt, effectiveAt, recurs } = grant;
    const ends = Math.min(expiresAt ?? Infinity, cutDue(grant));
    const next = started ? Math.min(ends, renewsAt ?? Infinity) : effectiveAt;
    if (next < due) due = next;
    leads ||= started && recurs !== null;
  }
  // Without an allowance of its own, its periods are those of its pool, which ends them.
  return leads && current.end !== null && current.end < due ? current.end : due;
}
