import { HOUR_MS } from '../kernel/durations.ts';
import { type Captured, capturesAt, type Limit, windowAt, withCapture } from './windows.ts';

/**
 * An automatic top-up: what a customer's meter is topped up with, once its level is below a
 * threshold.
 *
 *     armed ──below──▶ charging ──captured──▶ armed, with the grant
 *       ▲                 ├──declined, may pass──▶ charging: again after 1 h, 6 h, 24 h
 *       │                 └──declined for good, four times, no method──▶ suspended
 *       ├──another payment method────────────────────────────────────────────┘
 *       └──the next day, week or month──▶ suspended by its limit ◀──below── armed
 *
 * How it works: it is part of the state of its meter, so the customer's actor is its single writer.
 * Each decision on the meter looks at the level when it is done (`MeterDraft.effects`). What
 * follows is in the same flush: the order to charge, or with a capture the grant.
 * What holds: one charge at a time. A charge has an id that is derived from the customer, the meter
 * and its number, so it is made once. An answer counts only if it is of the charge under way. A
 * declined charge is not tried again before its time, whatever happens to the level.
 * What it does not do: read a clock or a balance, or charge. Times are milliseconds, units scaled.
 */
export type AutoTopUp = {
  /** null: it was removed. What is under way is still decided, and captures still count. */
  readonly settings: TopUpSettings | null;
  /** Of the organisation, whose days a limit counts. */
  readonly zone: string;
  /** Charges that were ordered, ever, and those of them that were captured. */
  readonly ordered: number;
  readonly captures: number;
  /** The one that is under way. */
  readonly charge: TopUpCharge | null;
  /** Declines in a row that may pass, and when it is tried again. */
  readonly declines: number;
  readonly retryAt: number | null;
  /** Whether another method was stored since the charge began: if it fails, it is tried again. */
  readonly again: boolean;
  /** Why it is suspended until another method is stored. */
  readonly refused: TopUpRefusal | null;
  /** Until when its limit is used up, while the level is below the threshold. */
  readonly limitedUntil: number | null;
  /** The newest payment method that it was told of. */
  readonly methodId: string | null;
  /** The last payment that was decided. */
  readonly lastPaymentId: string | null;
  readonly captured: Captured | null;
  readonly updatedAt: number;
};

export type TopUpSettings = {
  readonly enabled: boolean;
  readonly threshold: bigint;
  readonly amount: bigint;
  readonly priceId: string;
  readonly productId: string;
  readonly limit: Limit | null;
};

/** What it gives when it is captured, and what that costs, as it was ordered. */
export type TopUpCharge = Pick<TopUpSettings, 'amount' | 'priceId' | 'productId'> & {
  readonly paymentId: string;
};

export type TopUpRefusal = 'declined' | 'authentication_required' | 'no_payment_method';

/** What became of a charge. `passes`: the same method may be charged later. */
export type TopUpAnswer = { readonly paymentId: string } & (
  | { readonly kind: 'captured'; readonly at: number }
  | { readonly kind: 'refused'; readonly why: TopUpRefusal; readonly passes: boolean }
);

export type TopUpStatus = 'armed' | 'charging' | 'suspended';

/** After each decline in a row that may pass. */
const RETRY_AFTER_MS = [HOUR_MS, 6 * HOUR_MS, 24 * HOUR_MS];

export function statusOf(topUp: AutoTopUp): TopUpStatus {
  const { charge, refused, limitedUntil, retryAt, settings } = topUp;
  if (charge !== null) return 'charging';
  if (refused !== null || limitedUntil !== null) return 'suspended';
  return retryAt !== null && settings?.enabled === true ? 'charging' : 'armed';
}

/** When time alone next changes something; Infinity for never. */
export function topUpDue({ settings, charge, refused, retryAt, limitedUntil }: AutoTopUp): number {
  if (settings === null || !settings.enabled || charge !== null || refused !== null)
    return Infinity;
  return Math.min(retryAt ?? Infinity, limitedUntil ?? Infinity);
}

const NEW: Omit<AutoTopUp, 'settings' | 'zone' | 'updatedAt'> = {
  ordered: 0,
  captures: 0,
  charge: null,
  declines: 0,
  retryAt: null,
  again: false,
  refused: null,
  limitedUntil: null,
  methodId: null,
  lastPaymentId: null,
  captured: null,
};

/** With these settings. The same again changes nothing, so it arms nothing either. */
export function put(
  before: AutoTopUp | null,
  { settings, zone, now }: { settings: TopUpSettings; zone: string; now: number },
): AutoTopUp {
  if (before === null) return { ...NEW, settings, zone, updatedAt: now };
  if (zone === before.zone && isSame(before.settings, settings)) return before;
  return { ...before, settings, zone, limitedUntil: null };
}

function isSame(one: TopUpSettings | null, { limit, ...other }: TopUpSettings): boolean {
  return (
    one !== null &&
    one.enabled === other.enabled &&
    one.threshold === other.threshold &&
    one.amount === other.amount &&
    one.priceId === other.priceId &&
    one.limit?.count === limit?.count &&
    one.limit?.interval === limit?.interval
  );
}

/** Without settings. A charge under way goes on; what was declined is forgotten. */
export function remove(before: AutoTopUp): AutoTopUp {
  const nothing = { declines: 0, retryAt: null, again: false, refused: null, limitedUntil: null };
  return before.settings === null ? before : { ...before, ...nothing, settings: null };
}

/** Another payment method. */
export type StoredMethod = {
  readonly methodId: string;
  /** How many charges had begun before it was stored; absent: all that were ordered. */
  readonly begun?: number;
};

/**
 * Another payment method was stored: what the one before it was declined for is over. A charge that
 * was ordered and had not begun takes the new one anyway, which is tried once.
 */
export function arm(
  before: AutoTopUp,
  { methodId, begun = before.ordered }: StoredMethod,
): AutoTopUp {
  if (before.settings === null || before.methodId === methodId) return before;
  const isUnderWay = before.charge !== null;
  if (before.ordered > begun) {
    // Declines are counted anew from the first charge on.
    const isFirst = isUnderWay && before.ordered === begun + 1;
    return { ...before, methodId, declines: isFirst ? 0 : before.declines };
  }
  if (isUnderWay) return { ...before, methodId, again: true };
  return { ...before, methodId, declines: 0, retryAt: null, refused: null };
}

/** With the answer to the charge under way; null where it is of no charge, or of an earlier one. */
export function settle(before: AutoTopUp, answer: TopUpAnswer, now: number): AutoTopUp | null {
  const { paymentId } = answer;
  if (before.charge?.paymentId !== paymentId) return null;
  const decided = { ...before, charge: null, again: false, declines: 0, retryAt: null };
  if (answer.kind === 'captured') {
    const captured = withCapture(before.captured, { at: answer.at, zone: before.zone });
    return { ...decided, captured, captures: before.captures + 1, lastPaymentId: paymentId };
  }
  // Without a method there was no payment.
  const isMade = answer.why !== 'no_payment_method';
  const failed = isMade ? { ...decided, lastPaymentId: paymentId } : decided;
  if (before.again || before.settings === null) return failed;
  const after = answer.passes ? RETRY_AFTER_MS[before.declines] : undefined;
  if (after === undefined) return { ...failed, refused: answer.why };
  return { ...failed, declines: before.declines + 1, retryAt: now + after };
}

/** What a decision on the meter has left. */
export type Level = {
  /** The balance with holds taken off; null is unlimited. */
  readonly level: bigint | null;
  readonly now: number;
  /** Whether the meter can hold what would be granted. */
  readonly mayTake: (amount: bigint) => boolean;
  /** The id of the charge with this number. */
  readonly paymentId: (number: number) => string;
};

/** Looks at the level: orders a charge where it is due, else says why not. */
export function look(topUp: AutoTopUp, { level, now, mayTake, paymentId }: Level): AutoTopUp {
  const { settings, charge, refused, retryAt, limitedUntil } = topUp;
  if (settings === null || !settings.enabled || charge !== null || refused !== null) return topUp;
  if (retryAt !== null && now < retryAt) return topUp;
  const isBelow = level !== null && level < settings.threshold;
  if (!isBelow) return recovered(topUp);
  if (limitedUntil !== null && now < limitedUntil) return topUp;
  const next = retryAt === null ? topUp : { ...topUp, retryAt: null };
  const until = limitReachedUntil(next, settings.limit, now);
  if (until !== null) return { ...next, limitedUntil: until };
  const { amount, priceId, productId } = settings;
  if (!mayTake(amount)) return limitedUntil === null ? next : { ...next, limitedUntil: null };
  const ordered = next.ordered + 1;
  const begun = { paymentId: paymentId(ordered), amount, priceId, productId };
  return { ...next, ordered, limitedUntil: null, charge: begun };
}

/** It needs nothing any more. */
function recovered(topUp: AutoTopUp): AutoTopUp {
  const isWaiting = topUp.retryAt !== null || topUp.limitedUntil !== null;
  return isWaiting ? { ...topUp, declines: 0, retryAt: null, limitedUntil: null } : topUp;
}

/** When the window ends whose limit is used up; null where there is room. */
function limitReachedUntil(
  { captured, zone }: AutoTopUp,
  limit: Limit | null,
  now: number,
): number | null {
  if (limit === null) return null;
  const { count, interval } = limit;
  if (capturesAt(captured, interval, { at: now, zone }) < count) return null;
  return windowAt(interval, zone, Math.max(now, captured?.at ?? now)).end;
}
