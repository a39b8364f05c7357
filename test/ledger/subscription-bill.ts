// An invoice of the second model of a subscription, what a charge of it is answered, and what
// begins.
import type { Discount } from '../../ledger/payments/pricing.ts';
import type { OverdueState } from '../../ledger/subscriptions/dunning.ts';
import { amountOf, type Plan } from '../../ledger/subscriptions/subscription.ts';
import { POLICY } from './subscription-world.ts';
import { DAY } from './world.ts';

export const later = (days: number, from: number): number => from + days * DAY;

export type Bill = {
  readonly number: number;
  readonly amount: bigint;
  /** The amount that comes back when it is made void. */
  credit: bigint;
  /** The order of the open ones. */
  opened: number;
  state: 'draft' | 'open' | 'waiting' | 'closed';
  attempt: number;
  isUnderWay: boolean;
  /** The customer has replaced the card since. */
  again: boolean;
  retryAt: number | null;
  failedAt: number | null;
  /** First charged after the end: what is declined leaves it as it was. */
  isLeft: boolean;
  /** Made void while its charge was under way: what is declined closes it. */
  isVoid?: boolean;
  /** Of a change that was taken back: what is paid of it is given back. */
  isForgone?: boolean;
};

export type Answer = {
  readonly how: 'paid' | 'failed' | 'errored' | 'hard' | 'mandate_lost' | 'no_method';
  readonly at: number;
};

export type Beginning = {
  readonly since: number;
  readonly bill: Bill | null;
  readonly credit: bigint;
  isTold?: boolean;
} & (
  | { readonly kind: 'resume' }
  | { readonly kind: 'change'; readonly plan: Plan; readonly back: bigint }
);

export type Span = readonly [number, number];

export type Start = {
  readonly at: number;
  readonly plan: Plan;
  readonly zone: string;
  readonly trialEnd: number | null;
  /** What earlier subscriptions have left. */
  readonly credit: bigint;
  readonly discount: Discount | null;
  /** The price of the signup; null where it is invoiced. */
  readonly paid: bigint | null;
};

/** Half up, by the remainder. */
export function share(price: bigint, part: number, whole: number): bigint {
  const [exact, by] = [price * BigInt(part), BigInt(whole)];
  return exact / by + ((exact % by) * 2n >= by ? 1n : 0n);
}

/** What a discount takes off a whole period. */
export function offOf(discount: Discount | null, plan: Plan): bigint {
  const { percentOff, amountOff } = discount ?? { percentOff: null, amountOff: 0n };
  const price = amountOf(plan);
  // Tenths of a percent.
  if (percentOff !== null) return (price * BigInt(Number(percentOff) * 10) + 500n) / 1000n;
  const off = amountOff ?? 0n;
  return off < price ? off : price;
}

/** When period number `n` begins, by the calendar of the zone. */
export function boundaryOf(
  n: number,
  { anchor, plan, zone }: { anchor: number; plan: Plan; zone: string },
): number {
  const units = { day: 'days', week: 'weeks', month: 'months', year: 'years' } as const;
  return Temporal.Instant.fromEpochMilliseconds(anchor)
    .toZonedDateTimeISO(zone)
    .add({ [units[plan.interval]]: n * plan.intervalCount }).epochMilliseconds;
}

/** When something may happen to an open one by itself. */
export function dunningOf({ retryAt, failedAt }: Bill, overdue: OverdueState): (number | null)[] {
  if (failedAt === null) return [retryAt];
  const blocks = overdue === 'blocked' ? null : later(POLICY.blockAfterDays, failedAt);
  return [retryAt, later(POLICY.expireAfterDays, failedAt), blocks];
}
