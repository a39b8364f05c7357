// The grants of a customer as they were at an instant, and the subscriptions that gave them.
import type { GrantSource, Suspension } from '../../ledger/metering/grants.ts';
import { slotOf } from '../../ledger/kernel/slot.ts';
import type { Executor } from '../platform/postgres/postgres.ts';

/** Of grants that were over, or still to come: the nearest ones. */
const BESIDE_MAX = 5;
const GRANTS_MAX = 100;
/** Grants that have ended since that are looked through. */
const ENDED_SINCE_MAX = 1000;

export type GrantThen = {
  readonly id: string;
  readonly source: GrantSource;
  /** Scaled; of an allowance what it gives each period. null: unlimited. */
  readonly amount: bigint | null;
  readonly effectiveAt: Date;
  readonly expiresAt: Date | null;
  readonly endedAt: Date | null;
  readonly endedHow: 'expired' | 'voided' | 'used_up' | null;
  readonly priority: number;
  readonly overageAllowed: boolean;
  readonly isSold: boolean;
  readonly resetInterval: string | null;
  readonly productId: string | null;
  readonly subscriptionId: string | null;
  readonly reason: string | null;
  readonly createdAt: Date;
  /** At that instant. */
  readonly state: 'in_force' | 'over' | 'to_come';
};

/** In no order. Those in force are complete, up to 100. */
export async function listGrantsThen(
  sql: Executor,
  {
    customerId,
    meterId,
    at,
  }: { readonly customerId: string; readonly meterId: string; readonly at: Date },
): Promise<GrantThen[]> {
  const of = (which: 'live' | 'over' | 'ended_since') => sql`
    (select g.*, least(ended_at, expires_at) as over_at from grants g
    where slot = ${slotOf(customerId)} and customer_id = ${customerId} and meter_id = ${meterId}
      and (source <> 'subscription' or product_id is not null)
      and ${
        {
          live: sql`ended_at is null`,
          over: sql`ended_at <= ${at} order by ended_at desc limit ${BESIDE_MAX}`,
          ended_since: sql`ended_at > ${at} order by ended_at limit ${ENDED_SINCE_MAX}`,
        }[which]
      })`;
  return sql<GrantThen[]>`
    with of_meter as (${of('live')} union all ${of('over')} union all ${of('ended_since')})
    select id, source, amount, effective_at as "effectiveAt", expires_at as "expiresAt", ended_at as "endedAt",
      ended_how as "endedHow", priority, overage_allowed as "overageAllowed", usage_price_id is not null as "isSold",
      reset_interval as "resetInterval", product_id as "productId", subscription_id as "subscriptionId", reason,
      created_at as "createdAt", state
    from (
      (select *, 'in_force' as state from of_meter where effective_at <= ${at} and (over_at is null or over_at > ${at})
        order by priority, over_at, id limit ${GRANTS_MAX})
      union all
      (select *, 'over' as state from of_meter where over_at <= ${at} order by over_at desc limit ${BESIDE_MAX})
      union all
      (select *, 'to_come' as state from of_meter where effective_at > ${at} order by effective_at limit ${BESIDE_MAX})
    ) listed`;
}

export type SubscriptionThen = {
  readonly id: string;
  /** As its events say it was then. null: it began later. */
  readonly status: string | null;
  readonly isBlocked: boolean;
  /** Of the event that says so. */
  readonly since: Date | null;
  /** As they are now. */
  readonly statusNow: string;
  readonly planNow: string;
};

/** The newest event of a subscription until an instant: of `type`s, whose data has `field`. */
export async function listSubscriptionsThen(
  sql: Executor,
  subscriptionIds: readonly string[],
  at: Date,
): Promise<SubscriptionThen[]> {
  if (subscriptionIds.length === 0) return [];
  const last = (field: string) => sql`
    select e.data ->> ${field} as said, e.at from events e
    where e.object_id = s.id and e.mode = s.mode and e.at <= ${at} and e.data ? ${field} and e.endpoint_id is null
    order by e.sequence desc limit 1`;
  return sql<SubscriptionThen[]>`
    select s.id, status.said as status, coalesce(block.said = 'blocked', false) as "isBlocked",
      greatest(status.at, case block.said when 'blocked' then block.at end) as since,
      s.status as "statusNow", s.plan_name as "planNow"
    from subscriptions s
    left join lateral (${last('status')}) status on true
    left join lateral (${last('stateName')}) block on true
    where s.id = any(${[...subscriptionIds]}::uuid[])`;
}

/** What a subscription then says of what it grants. */
export function suspensionThen(then: SubscriptionThen | undefined): Suspension | null {
  if (then?.isBlocked === true) return 'blocked';
  return then?.status === 'paused' ? 'paused' : null;
}
