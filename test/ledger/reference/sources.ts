// What may be used, and when: grants, the allowances of plans (`pot`: one for each period) and what
// rolls over of them.
import type { Facts, Grant, Plan, Subscription } from './facts.ts';

export type Source = {
  readonly id: string;
  readonly kind: 'grant' | 'pot' | 'rollover';
  readonly subscription: Subscription | null;
  readonly from: number;
  /** It covers nothing from then on. */
  readonly until: number;
  readonly priority: number;
  /** For the order; what renews has none. */
  readonly expiry: number;
  readonly created: number;
  /** What it may give in all at that time; null: unlimited. */
  readonly size: (at: number) => bigint | null;
  used: bigint;
};

/** What gives afresh, in periods from `origin` on, and so may lead the periods of the meter. */
export type Recurring = {
  readonly id: string;
  readonly origin: number;
  readonly every: number;
  readonly from: number;
  readonly until: number;
  readonly priority: number;
  readonly subscription: Subscription | null;
};

const PRIORITY = 100;

export function planAt({ plans, end }: Subscription, at: number): Plan | null {
  if (end !== undefined && at >= end) return null;
  return plans.findLast((one) => one.at <= at)?.plan ?? null;
}

export function isPaused({ paused = [] }: Subscription, at: number): boolean {
  return paused.some(({ from, until }) => from <= at && (until === null || at < until));
}

const endOf = ({ expiresAt = Infinity, voidedAt = Infinity }: Grant): number =>
  Math.min(expiresAt, voidedAt);

export function recurringOf({ grants, subscriptions }: Facts): Recurring[] {
  const byHand = grants.flatMap((grant): Recurring[] => {
    const { id, told, effectiveAt, every, priority = PRIORITY } = grant;
    if (every === undefined) return [];
    const from = Math.max(told, effectiveAt);
    return [
      { id, origin: effectiveAt, every, from, until: endOf(grant), priority, subscription: null },
    ];
  });
  const ofPlans = subscriptions.flatMap((subscription): Recurring[] => {
    const { id, plans, every, end = Infinity, priority = PRIORITY } = subscription;
    // A plan without the feature later on leaves the period as it is.
    const first = plans.find(({ plan }) => plan.limit !== 0n || plan.price !== undefined);
    if (first === undefined) return [];
    const origin = plans[0]?.at ?? first.at;
    return [{ id, origin, every, from: first.at, until: end, priority, subscription }];
  });
  return [...byHand, ...ofPlans];
}

/** Its edges in that time, both included. */
export function edgesOf({ origin, every }: Recurring, from: number, to: number): number[] {
  const edges: number[] = [];
  const first = Math.max(0, Math.floor((from - origin) / every));
  for (let edge = origin + first * every; edge <= to; edge += every) {
    if (edge >= from) edges.push(edge);
  }
  return edges;
}

export const isEdge = ({ origin, every }: Recurring, at: number): boolean =>
  (at - origin) % every === 0;

/** Grants that are given once. */
export function onceOf({ grants }: Facts): Source[] {
  return grants
    .filter(({ every }) => every === undefined)
    .map((grant) => ({
      id: grant.id,
      kind: 'grant',
      subscription: null,
      from: Math.max(grant.told, grant.effectiveAt),
      until: endOf(grant),
      priority: grant.priority ?? PRIORITY,
      expiry: grant.expiresAt ?? Infinity,
      created: grant.told,
      size: () => grant.amount,
      used: 0n,
    }));
}

/** What a recurring one gives in its period that has this edge as its start or before `from`. */
export function potOf(recurring: Recurring, { grants }: Facts, at: number): Source {
  const { id, origin, every, until, priority, subscription, from } = recurring;
  const start = origin + Math.floor((at - origin) / every) * every;
  const amount = grants.find((grant) => grant.id === id)?.amount ?? null;
  return {
    id: `${id}@${start}`,
    kind: 'pot',
    subscription,
    from: at,
    until: Math.min(start + every, until),
    priority,
    expiry: Infinity,
    created: from,
    size: (now) =>
      subscription === null ? amount : (planAt(subscription, now) ?? { limit: 0n }).limit,
    used: 0n,
  };
}

/** What rolls over of a pot at the end of its period: by the plan in force until then. */
export function rolloverOf(pot: Source, living: readonly Source[]): Source | null {
  const { subscription, until: edge } = pot;
  const plan = subscription === null ? null : planAt(subscription, edge - 1);
  if (subscription === null || plan === null || isPaused(subscription, edge - 1)) return null;
  const { limit, rollover } = plan;
  if (limit === null || rollover === undefined) return null;
  const until = edge + rollover.periods * subscription.every;
  const others = living.reduce((sum, one) => sum + (room(one, edge) ?? 0n), 0n);
  return {
    ...pot,
    id: `${pot.id}+`,
    kind: 'rollover',
    from: edge,
    until,
    expiry: until,
    size: (now) => {
      const { limit: given, rollover: its } = planAt(subscription, now) ?? { limit: 0n };
      if (given === 0n || its === undefined) return 0n;
      return least(rollover.max - others, limit - pot.used, its.max);
    },
    used: 0n,
  };
}

export function room({ size, used }: Source, at: number): bigint | null {
  const whole = size(at);
  if (whole === null) return null;
  return whole > used ? whole - used : 0n;
}

/** Lowest priority, soonest expiry, rollover before fresh, oldest. */
export function burnOrder(a: Source, b: Source): number {
  return (
    a.priority - b.priority ||
    order(a.expiry, b.expiry) ||
    Number(b.kind === 'rollover') - Number(a.kind === 'rollover') ||
    a.created - b.created ||
    (a.id < b.id ? -1 : 1)
  );
}

const order = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);

const least = (first: bigint, ...others: readonly bigint[]): bigint =>
  others.reduce((a, b) => (b < a ? b : a), first);
