import { advance, advanced, newPeriod } from './advance.ts';
import { assert, unreachable } from '../kernel/assert.ts';
import { checkCapped, withReserved } from './capped.ts';
import { type MeterContext, MeterDraft, type MeterEffects } from './meter-draft.ts';
import {
  type CheckAnswer,
  type MeterState,
  type Period,
  available,
  balance,
  calendarPeriod,
  shortage,
  snapshotOf,
  within,
} from './meter.ts';
import { leaderOf } from './grants.ts';
import { countLate } from './span-changes.ts';
import type { Mark } from './span.ts';
import { isSold } from './spans.ts';
import { PERIODS_KEPT_MS } from '../limits.ts';
import { inRange, one } from '../kernel/quantity.ts';
import { crossed, reasonAfter, type UsageAnswer } from './usage-answer.ts';
import type {
  AnswerRest,
  Reason,
  Transfer,
  UsageMetadata,
  UsageRecord,
} from '../kernel/transfers.ts';

export type Usage = {
  /** Derived from the caller's key, or new: the transfer's id. */
  readonly id: string;
  readonly value: bigint;
  /** Milliseconds; null is now. */
  readonly eventAt: number | null;
  /** Hash of the unique property's value, on `unique` meters. */
  readonly member: bigint | null;
  /**
   * `record`: usage is a fact and is counted in full, past the limit too. `reject`: not past the
   * limit. `consume`: only where a check of the same value would allow it.
   */
  readonly admission: 'record' | 'reject' | 'consume';
  readonly fingerprint: bigint | null;
  readonly metadata: UsageMetadata | null;
  /** Whether a retry must get the first answer to the byte. */
  readonly exactReplay: boolean;
};

export type UsageOutcome =
  | { readonly kind: 'recorded'; readonly record: UsageAnswer }
  | { readonly kind: 'refused'; readonly record: UsageAnswer }
  /** The total would leave the range that a JSON number holds exactly. Leaves no trace. */
  | { readonly kind: 'out_of_range' };

/**
 * Whether a member was counted in the account of this period before; undefined where memory does
 * not know.
 */
export type Seen = (accountId: string, member: bigint) => boolean | undefined;

/** What must be loaded before this usage can be decided. */
export type Missing =
  | { readonly kind: 'history' }
  | { readonly kind: 'member'; readonly accountId: string; readonly member: bigint };

/** What must be loaded before `decideUsage` may be called, or null. */
export function missing(
  context: MeterContext,
  state: MeterState,
  usage: Usage,
  seen: Seen,
): Missing | null {
  const { eventAt, member } = usage;
  // Where the clock stepped back, now may be in the past.
  if (eventAt === null && member === null && context.now >= state.current.start) return null;
  const now = advanced(context, state);
  const at = eventAt ?? context.now;
  if (at < now.current.start && !now.historyLoaded) return { kind: 'history' };
  if (member === null) return null;
  const { accountId } = periodFor(context, now, at);
  return seen(accountId, member) === undefined ? { kind: 'member', accountId, member } : null;
}

/** Records usage, or refuses it. Pure: the same state, usage and clock give the same decision. */
export function decideUsage(
  context: MeterContext,
  state: MeterState,
  usage: Usage,
  seen: Seen,
): { readonly outcome: UsageOutcome; readonly effects: MeterEffects | null } {
  const draft = new MeterDraft(context, state);
  if (context.now >= state.nextDue) advance(draft);
  const eventAt = usage.eventAt ?? context.now;
  const period = periodFor(context, draft.state, eventAt);
  const isNew = usage.member !== null && seen(period.accountId, usage.member) === false;
  const { id, value } = usage;
  const next = aggregated(context, period, { id, value, eventAt, isNew });
  const consumed = next.aggregate > 0n ? next.aggregate : 0n;
  const change = consumed - period.consumed;
  if (!inRange(next.aggregate)) return { outcome: { kind: 'out_of_range' }, effects: null };

  const reason =
    usage.admission === 'record'
      ? null
      : admit(draft, usage, { period, consumed, aggregate: next.aggregate });
  if (reason !== null) {
    const { externalId } = context.customer;
    const snapshot = snapshotOf(draft.state, period);
    const answer = { id, value, eventAt, reason, snapshot, externalId };
    const outcome: UsageOutcome = { kind: 'refused', record: answer };
    if (usage.fingerprint === null) return { outcome, effects: null };
    // A keyed refusal is remembered, so that its retry is refused too, whatever was granted in
    // between.
    draft.transfers.push(
      transferOf(context, period, answer, usage, { change: 'refused', sold: false }),
    );
    return { outcome, effects: draft.effects() };
  }

  // From here it must succeed.
  const { aggregate, latest } = next;
  countLate(draft, { accountId: period.accountId, eventAt }, (mark) =>
    aggregated(context, mark, { id, value, eventAt, isNew }),
  );
  const written = draft.changePeriod(period, { consumed, aggregate, latest });
  if (isNew && usage.member !== null) {
    draft.countMember(period.accountId, usage.member);
  }
  const isCurrent = draft.state.current.accountId === period.accountId;
  if (isCurrent && consumed < draft.state.allocated) settleCorrection(draft, id);
  const snapshot = snapshotOf(draft.state, isCurrent ? draft.state.current : written);
  const rest = balance(snapshot);
  const answer: UsageAnswer = {
    id,
    value,
    eventAt,
    reason: reasonAfter(draft.state, snapshot, rest),
    snapshot,
    externalId: context.customer.externalId,
  };
  const sold = isSold(draft.state, period);
  draft.transfers.push(transferOf(context, period, answer, usage, { change, sold }));
  if (isCurrent && change > 0n && crossed(draft.state, rest)) {
    draft.announceExhaustion(context.now);
  }
  return { outcome: { kind: 'recorded', record: answer }, effects: draft.effects() };
}

/**
 * A correction gives units back to the grants that paid. If such a grant has ended since, its units
 * have ended too: they leave the limit and cannot be used again.
 */
function settleCorrection(draft: MeterDraft, usageId: string): void {
  draft.checkpoint();
  const { current, allocated } = draft.state;
  const lapsed = allocated - current.consumed;
  if (lapsed <= 0n) return;
  const { ids, now } = draft.context;
  draft.credit(ids.derive('lapsed', usageId), -lapsed, now);
  draft.change({ allocated: current.consumed });
}

/** The period that an event belongs to: by its own time, not by when it arrived (decisions 5). */
function periodFor(context: MeterContext, state: MeterState, eventAt: number): Period {
  if (within(state.current, eventAt)) return state.current;
  const known = state.others.find((period) => within(period, eventAt));
  if (known !== undefined) return known;
  // No account exists for its period. Before the first grant there was one endless period.
  let [start, end]: [number, number | null] = [0, null];
  for (const period of [...state.others, state.current]) {
    if (period.end !== null && period.end <= eventAt) start = Math.max(start, period.end);
    if (period.start > eventAt) end = Math.min(end ?? Infinity, period.start);
  }
  if (state.firstGrantAt === null || eventAt < state.firstGrantAt) {
    return newPeriod(context, start, end);
  }
  // A period that ended before the earliest time of an event is not in memory: it has accounts of
  // its own.
  start = Math.max(start, context.now - PERIODS_KEPT_MS);
  const leader = leaderOf(state.grants);
  if (leader === null || leader.recurs === null) return newPeriod(context, start, end);
  const period = calendarPeriod(leader.recurs.cycle, eventAt);
  return newPeriod(
    context,
    Math.max(start, period.start),
    end === null ? period.end : Math.min(end, period.end),
  );
}

/**
 * The aggregate after one more event. Each of the five gives the same result in any order of the
 * same events.
 */
function aggregated(
  context: MeterContext,
  period: Mark,
  event: { id: string; value: bigint; eventAt: number; isNew: boolean },
): Mark {
  const { aggregation, scale } = context.meter;
  const step = one(scale);
  switch (aggregation) {
    case 'sum':
      return { aggregate: period.aggregate + event.value, latest: null };
    case 'count':
      return { aggregate: period.aggregate + (event.value < 0n ? -step : step), latest: null };
    case 'max':
      assert(event.value >= 0n, 'a maximum takes no corrections');
      return {
        aggregate: event.value > period.aggregate ? event.value : period.aggregate,
        latest: null,
      };
    case 'last': {
      assert(event.value >= 0n, 'a last value takes no corrections');
      const { latest } = period;
      const later =
        latest === null ||
        event.eventAt > latest.at ||
        (event.eventAt === latest.at && event.id > latest.id);
      if (!later) return { aggregate: period.aggregate, latest };
      return { aggregate: event.value, latest: { at: event.eventAt, id: event.id } };
    }
    case 'unique':
      return { aggregate: period.aggregate + (event.isNew ? step : 0n), latest: null };
    default:
      return unreachable(aggregation);
  }
}

type Wanted = { readonly period: Period; readonly consumed: bigint; readonly aggregate: bigint };

/** Why the usage is refused, or null. Rejections in precedence order. */
function admit({ context, state }: MeterDraft, usage: Usage, wanted: Wanted): Reason | null {
  const { period, consumed, aggregate } = wanted;
  const change = consumed - period.consumed;
  const reason =
    usage.admission === 'consume'
      ? // The same question as a check of this value; it never admits more than that.
        refusalOfCheck(checkCapped(context, state, change > usage.value ? change : usage.value))
      : overLimit(state, period, change);
  // Only what is of now is refused: it is in the current period.
  if (reason !== null || context.affords === null || period !== state.current) return reason;
  const after = { ...state, current: { ...period, consumed, aggregate } };
  return context.affords(state, withReserved(after)) ? null : 'spend_cap';
}

function refusalOfCheck({ allowed, reason }: CheckAnswer): Reason | null {
  return allowed ? null : reason;
}

function overLimit(state: MeterState, period: Period, change: bigint): Reason | null {
  const before = snapshotOf(state, period);
  // Grants are suspended in the current period only. What they gave in an earlier one is used or
  // gone.
  const usable = period === state.current ? available(state, before) : balance(before);
  const fits = usable === null || usable >= change || before.overageAllowed;
  return fits || change <= 0n ? null : shortage(state, before, change);
}

function transferOf(
  context: MeterContext,
  period: Period,
  answer: UsageAnswer,
  usage: Usage,
  { change, sold }: { readonly change: bigint | 'refused'; readonly sold: boolean },
): Transfer {
  const moved = change === 'refused' ? 0n : change;
  const record: UsageRecord = {
    value: answer.value,
    events: null,
    eventAt: answer.eventAt,
    fingerprint: usage.fingerprint,
    reason: answer.reason,
    consumedAfter: answer.snapshot.consumed,
    limitAfter: answer.snapshot.limit,
    metadata: usage.metadata,
    guarded: usage.admission !== 'record' && answer.reason === 'ok' && moved > 0n,
    sold,
    answer: usage.exactReplay || isHeldBeside(answer, usage) ? restOf(answer) : null,
  };
  return {
    id: usage.id,
    kind: change === 'refused' ? 'refused' : moved < 0n ? 'reverse' : 'single',
    slot: context.customer.slot,
    debit: period.accountId,
    credit: context.books.usage,
    amount: moved < 0n ? -moved : moved,
    hold: null,
    at: context.now,
    usage: record,
  };
}

/** A retry must get the same balance, whatever has become of what was reserved. */
function isHeldBeside({ snapshot }: UsageAnswer, { fingerprint }: Usage): boolean {
  return fingerprint !== null && snapshot.reserved > 0n;
}

function restOf({ snapshot, externalId }: UsageAnswer): AnswerRest {
  const { periodStart, periodEnd, overageAllowed, reserved } = snapshot;
  const held = reserved > 0n && { reserved: String(reserved) };
  return { periodStart, periodEnd, overageAllowed, externalId, ...held };
}
