import { announceExhaustion, announceLate } from './announcements.ts';
import { advance, advanced } from './advance.ts';
import { assert, unreachable } from '../kernel/assert.ts';
import { withReserved } from './capped.ts';
import { carryOn, isLater } from './carry.ts';
import { checkCovered, overLimit } from './cover.ts';
import { paidBy, paidByNone } from './credits.ts';
import { type MeterContext, MeterDraft } from './meter-draft.ts';
import type { MeterEffects } from './meter-effects.ts';
import { type CheckAnswer, type MeterState, type Period, balance, snapshotOf } from './meter.ts';
import { countLate } from './span-changes.ts';
import type { Mark } from './span.ts';
import { isSold } from './spans.ts';
import { periodFor } from './period-for.ts';
import { inRange, one } from '../kernel/quantity.ts';
import type { PaidBy } from './paid-by.ts';
import { lastOf } from './stretch.ts';
import { anew } from './settlement/anew.ts';
import { followsOn, isBelow, mayFollow } from './settlement/follows.ts';
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
  /** Of this meter, or of the pool that pays. */
  | { readonly kind: 'history'; readonly meterId: string }
  | { readonly kind: 'member'; readonly accountId: string; readonly member: bigint };

/** What must be loaded before `decideUsage` may be called, or null. */
export function missing(
  context: MeterContext,
  state: MeterState,
  usage: Usage,
  seen: Seen,
): Missing | null {
  const { eventAt, member, value } = usage;
  // Where the clock stepped back, now may be in the past of the pool.
  const isOfNow = eventAt === null && context.now >= state.current.start;
  if (isOfNow && member === null && value >= 0n && !isBelow(state)) return null;
  const now = advanced(context, state);
  const at = timeOf(context, now, eventAt);
  if (!now.historyLoaded && mayFollow(now, { at, value })) {
    return { kind: 'history', meterId: now.meterId };
  }
  const paying = context.credits?.payer?.now();
  const mayHold = now.reservations.length > 0;
  if (paying?.historyLoaded === false && (mayHold || mayFollow(paying, { at, value }))) {
    return { kind: 'history', meterId: paying.meterId };
  }
  if (member === null) return null;
  const { accountId } = periodFor(context, now, at);
  return seen(accountId, member) === undefined ? { kind: 'member', accountId, member } : null;
}

/**
 * When usage was: as it says, or now. Where the clock of a node is behind, now is not before the
 * current period, which admits it.
 */
function timeOf({ now }: MeterContext, { current }: MeterState, eventAt: number | null): number {
  return eventAt ?? Math.max(now, current.start);
}

/** Records usage, or refuses it. Pure: the same state, usage and clock give the same decision. */
export function decideUsage(
  context: MeterContext,
  state: MeterState,
  usage: Usage,
  seen: Seen,
): { readonly outcome: UsageOutcome; readonly effects: MeterEffects | null } {
  const draft = new MeterDraft(context, state);
  if (context.now >= state.nextDue || context.credits !== null) advance(draft);
  const eventAt = timeOf(context, draft.state, usage.eventAt);
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
  if (reason !== null) return refuse(draft, usage, { period, reason, eventAt });

  // From here it must succeed.
  if (isGuarded(usage)) draft.guarded = period.accountId;
  const before = draft.state;
  const { aggregate, latest } = next;
  const [used, after] = [aggregate - period.aggregate, lastOf(eventAt)];
  const settle = followsOn(draft.state, { period, after, used })
    ? anew(draft, { period, after, value: used, key: id })
    : null;
  const count = (mark: Mark): Mark => aggregated(context, mark, { id, value, eventAt, isNew });
  countLate(draft, { period, eventAt }, count);
  draft.changePeriod(period, { consumed, aggregate, latest });
  settle?.();
  const isCarried =
    context.meter.carry && latest !== period.latest && carryOn(draft, period, next, count);
  if (!draft.mayDraw()) return { outcome: { kind: 'out_of_range' }, effects: null };
  if (isNew && usage.member !== null) {
    draft.countMember(period.accountId, usage.member);
  }
  const isCurrent = draft.state.current.accountId === period.accountId;
  const counted = draft.again(period);
  const snapshot = snapshotOf(draft.state, counted);
  const rest = balance(snapshot);
  const answer: UsageAnswer = {
    id,
    value,
    eventAt,
    reason: reasonAfter(draft.state, snapshot, rest),
    snapshot,
    paidBy: paidBy(draft, counted, change),
    externalId: context.customer.externalId,
  };
  const sold = isSold(draft.state, period);
  draft.transfers.push(transferOf(context, period, answer, usage, { change, sold }));
  if (isCurrent && change > 0n && crossed(draft.state, rest)) {
    announceExhaustion(draft, context.now);
  }
  if (!isCurrent && (settle !== null || isCarried)) announceLate(draft, before);
  return { outcome: { kind: 'recorded', record: answer }, effects: draft.effects() };
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
      const own = { at: event.eventAt, id: event.id };
      if (!isLater(own, latest)) return { aggregate: period.aggregate, latest };
      return { aggregate: event.value, latest: own };
    }
    case 'unique':
      return { aggregate: period.aggregate + (event.isNew ? step : 0n), latest: null };
    default:
      return unreachable(aggregation);
  }
}

/** A keyed refusal is remembered, so that its retry is refused too, whatever was granted in between. */
function refuse(
  draft: MeterDraft,
  usage: Usage,
  { period, reason, eventAt }: { period: Period; reason: Reason; eventAt: number },
): { readonly outcome: UsageOutcome; readonly effects: MeterEffects | null } {
  const { context, state } = draft;
  const { id, value } = usage;
  const answer: UsageAnswer = {
    id,
    value,
    eventAt,
    reason,
    snapshot: snapshotOf(state, period),
    paidBy: paidByNone(context),
    externalId: context.customer.externalId,
  };
  const outcome: UsageOutcome = { kind: 'refused', record: answer };
  if (usage.fingerprint === null) return { outcome, effects: null };
  draft.transfers.push(
    transferOf(context, period, answer, usage, { change: 'refused', sold: false }),
  );
  return { outcome, effects: draft.effects() };
}

type Wanted = { readonly period: Period; readonly consumed: bigint; readonly aggregate: bigint };

/** Why the usage is refused, or null. Rejections in precedence order. */
function admit({ context, state }: MeterDraft, usage: Usage, wanted: Wanted): Reason | null {
  const { period, consumed, aggregate } = wanted;
  const change = consumed - period.consumed;
  const reason =
    usage.admission === 'consume'
      ? // The same question as a check of this value; it never admits more than that.
        refusalOfCheck(checkCovered(context, state, change > usage.value ? change : usage.value))
      : overLimit(context, state, period, change);
  // Only what is of now is refused: it is in the current period.
  if (reason !== null || context.affords === null || period !== state.current) return reason;
  const after = { ...state, current: { ...period, consumed, aggregate } };
  return context.affords(state, withReserved(after)) ? null : 'spend_cap';
}

function refusalOfCheck({ allowed, reason }: CheckAnswer): Reason | null {
  return allowed ? null : reason;
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
    events: answer.value < 0n ? -1n : null,
    eventAt: answer.eventAt,
    fingerprint: usage.fingerprint,
    reason: answer.reason,
    consumedAfter: answer.snapshot.consumed,
    limitAfter: answer.snapshot.limit,
    metadata: usage.metadata,
    guarded: isGuarded(usage) && isWithinGrants(answer) && moved > 0n,
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

/** Whether it is recorded only where it fits. */
function isGuarded({ admission }: Usage): boolean {
  return admission !== 'record';
}

/** Not where a pool paid: then its transfer is guarded. Nor beside what money has paid of the period. */
function isWithinGrants({ reason, snapshot, paidBy: paid }: UsageAnswer): boolean {
  if (reason !== 'ok' || snapshot.pooled || snapshot.billed > 0n) return false;
  return paid === null || paid.credits === 0n;
}

/** A retry must get the same balance, whatever has become of what was reserved and billed. */
function isHeldBeside({ snapshot }: UsageAnswer, { fingerprint }: Usage): boolean {
  return fingerprint !== null && (snapshot.reserved > 0n || snapshot.billed > 0n);
}

function restOf({ snapshot, paidBy: paid, externalId }: UsageAnswer): AnswerRest {
  const { periodStart, periodEnd, overageAllowed, billed, reserved, pooled } = snapshot;
  const held = reserved > 0n && { reserved: String(reserved) };
  const sold = billed > 0n && { billed: String(billed) };
  const payers = paid !== null && {
    paidBy: { own: String(paid.own), credits: String(paid.credits), pool: poolOf(paid), pooled },
  };
  return { periodStart, periodEnd, overageAllowed, externalId, ...held, ...sold, ...payers };
}

function poolOf({ pool: { slug, scale } }: PaidBy): PaidBy['pool'] {
  return { slug, scale };
}
