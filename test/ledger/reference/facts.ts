// The facts that a balance is a function of, as the reference reads them. Shares no code with the
// ledger. Times are milliseconds, amounts of a meter whole units, money whole cents.

/** Usage. `told`: when it became known. A correction is below 0. */
export type Use = { readonly at: number; readonly told: number; readonly amount: bigint };

/** A reservation. Its end: what was committed of it, 0 where it was released or has expired. */
export type Hold = {
  readonly at: number;
  readonly amount: bigint;
  readonly end: { readonly told: number; readonly used: bigint } | null;
};

/** What is granted by hand: once, or each `every` milliseconds from `effectiveAt` on. */
export type Grant = {
  readonly id: string;
  readonly told: number;
  readonly effectiveAt: number;
  /** Null: unlimited. */
  readonly amount: bigint | null;
  readonly every?: number;
  readonly expiresAt?: number;
  readonly voidedAt?: number;
  readonly priority?: number;
};

export type Price = {
  readonly id: string;
  readonly minimum?: bigint;
  readonly maximum?: bigint;
} & (
  | { readonly model: 'per_unit'; readonly amount: bigint }
  | { readonly model: 'graduated' | 'volume'; readonly tiers: readonly Tier[] }
  | { readonly model: 'package'; readonly size: bigint; readonly amount: bigint }
);

/** The last one has no end. */
export type Tier = {
  readonly upTo: bigint | null;
  readonly amount: bigint;
  readonly flat?: bigint;
};

/** What a plan says of the meter, times its quantity. */
export type Plan = {
  /** 0: the plan lacks the feature. Null: unlimited. */
  readonly limit: bigint | null;
  readonly rollover?: { readonly max: bigint; readonly periods: number };
  readonly price?: Price;
};

/** One subscription: its plans over time, of which the first starts it. */
export type Subscription = {
  readonly id: string;
  readonly plans: readonly { readonly at: number; readonly plan: Plan }[];
  /** How long a period of the meter is, and one of the subscription: a multiple of it. */
  readonly every: number;
  readonly billedEvery: number;
  readonly end?: number;
  readonly paused?: readonly { readonly from: number; readonly until: number | null }[];
  readonly priority?: number;
};

export type Facts = {
  readonly uses: readonly Use[];
  readonly holds: readonly Hold[];
  readonly grants: readonly Grant[];
  readonly subscriptions: readonly Subscription[];
};

export const NOTHING: Facts = { uses: [], holds: [], grants: [], subscriptions: [] };

/** What is known at a time. */
export function knownAt(facts: Facts, now: number): Facts {
  const isKnown = ({ told }: { readonly told: number }): boolean => told <= now;
  return {
    uses: facts.uses.filter(isKnown),
    holds: facts.holds
      .filter(({ at }) => at <= now)
      .map((hold) => (hold.end !== null && hold.end.told > now ? { ...hold, end: null } : hold)),
    grants: facts.grants
      .filter(isKnown)
      .map(({ voidedAt, ...grant }) =>
        voidedAt !== undefined && voidedAt <= now ? { ...grant, voidedAt } : grant,
      ),
    subscriptions: facts.subscriptions
      .map(({ end, ...subscription }) => ({
        ...subscription,
        plans: subscription.plans.filter(({ at }) => at <= now),
        ...(end !== undefined && end <= now && { end }),
      }))
      .filter(({ plans }) => plans.length > 0),
  };
}
