import type { Sql } from 'postgres';
import type { Subscription } from '../subscriptions/subscription.ts';
import { type SubscriptionRow, subscriptionOf } from './subscription-row.ts';
import type { Bigints } from './bigints.ts';

/** The subscriptions of these customers that can still change. */
export async function loadSubscriptions(
  sql: Sql<Bigints>,
  keys: { readonly slots: readonly number[]; readonly ids: readonly string[] },
): Promise<ReadonlyMap<string, readonly Subscription[]>> {
  const rows = await sql<SubscriptionRow[]>`
    select s.*, o.external_customer_id as sent_external_customer_id
    from unnest(${[...keys.slots]}::smallint[], ${[...keys.ids]}::uuid[]) k (slot, id)
    join subscriptions s on s.slot = k.slot and s.customer_id = k.id and s.live
    left join checkouts o on o.id = s.payment_link_id`;
  const of = Map.groupBy(rows, (row) => row.customer_id);
  return new Map([...of].map(([id, own]) => [id, own.map(subscriptionOf)]));
}
