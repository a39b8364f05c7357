// Followups of subscriptions. A flush writes them; the transaction that does the task deletes them.
import { fromJson, type JsonOf } from '../../ledger/store/json.ts';
import type { Command } from '../../ledger/subscriptions/commands.ts';
import type { SubscriptionFollowup } from '../../ledger/subscriptions/subscription.ts';
import type { Ids } from '../../ledger/ports.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';
import { isAlive, isDue, type Owing } from './followups.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';

/**
 * The outcome of a record that a subscription waits for. It is written with that record, and told
 * afterwards.
 */
export type News =
  | Extract<Command, { readonly kind: 'close_invoice' | 'method_changed' }>
  /** A change waits for this charge. */
  | { readonly kind: 'pending'; readonly invoiceId: string; readonly paymentId: string }
  /** There was nothing to charge: that charge never begins. */
  | { readonly kind: 'no_method'; readonly paymentId: string };
type Telling = {
  readonly id: string;
  readonly at: number;
  readonly kind: 'tell';
  readonly news: News;
};

export type OwedBySubscription = {
  readonly scope: Tenant;
  readonly followup: SubscriptionFollowup | Telling;
  readonly subscriptionId: string;
  readonly customer: {
    readonly id: string;
    readonly name: string | null;
    readonly email: string | null;
    readonly externalCustomerId: string | null;
  };
  readonly productId: string;
  /** Of what it bills: of another product, where that is a change. */
  readonly productName: string;
  readonly clientReferenceId: string | null;
  /** As sent with the checkout that began the subscription; without one, the customer's own. */
  readonly externalCustomerId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
};

type Row = Tenant &
  Pick<
    OwedBySubscription,
    | 'subscriptionId'
    | 'customer'
    | 'productId'
    | 'productName'
    | 'clientReferenceId'
    | 'externalCustomerId'
    | 'metadata'
  > & { readonly id: string; readonly kind: string; readonly at: Date; readonly data: object };

export async function lockSubscriptionFollowups(
  sql: Transaction,
  subscriptionIds: readonly string[],
): Promise<OwedBySubscription[]> {
  // Every transaction that locks several does it in this order.
  const sorted = subscriptionIds.toSorted();
  await sql`select pg_advisory_xact_lock(hashtextextended(id, 0)) from unnest(${sorted}::text[]) as id`;
  const rows = await sql<Row[]>`
    select f.id, f.kind, f.at, f.data, s.id as "subscriptionId", s.organisation_id as "organisationId", s.mode,
      jsonb_build_object('id', c.id, 'name', c.name, 'email', c.email, 'externalCustomerId', c.external_customer_id)
        as customer,
      p.id as "productId", coalesce(i.name, p.name) as "productName", s.client_reference_id as "clientReferenceId", s.metadata,
      case when o.id is null then c.external_customer_id else o.external_customer_id end as "externalCustomerId"
    from followups f
    join subscriptions s on s.id = f.subscription_id
    join customers c on c.id = s.customer_id
    join products p on p.id = s.product_id
    left join products i on i.id = (f.data -> 'invoice' ->> 'productId')::uuid
    left join checkouts o on o.id = s.payment_link_id
    where f.subscription_id = any(${sorted}::uuid[]) and ${isAlive(sql)}
    order by f.at, (f.data -> 'payment' ->> 'attempt')::int desc nulls last, f.kind = 'overdue', f.kind, f.id`;
  const marked = await markMethodChanges(sql, rows);
  return rows.map(({ id, kind, at, data: found, organisationId, mode, ...row }) => {
    const data = marked.get(id) ?? found;
    return {
      ...row,
      scope: { organisationId, mode },
      followup: fromJson<OwedBySubscription['followup']>({
        id,
        kind,
        at: at.getTime(),
        ...data,
      } as JsonOf<OwedBySubscription['followup']>),
    };
  });
}

/**
 * What is told of a changed payment method: the last try of each unpaid invoice, as of the first
 * time. Whoever comes later tells the same, so no invoice is retried twice for one change. A charge
 * that is ordered and has not begun takes the new method anyway: its invoice is left out.
 */
async function markMethodChanges(
  sql: Transaction,
  rows: readonly Pick<Row, 'id' | 'kind' | 'data'>[],
): Promise<ReadonlyMap<string, object>> {
  const ids = rows.filter(isUnmarked).map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const marked = await sql<Pick<Row, 'id' | 'data'>[]>`
    update followups f set data = jsonb_set(f.data, '{news,attempts}', (
      select coalesce(jsonb_object_agg(o ->> 'invoiceId', o -> 'attempt'), '{}')
      from jsonb_array_elements(s.open) o
      where not exists (
        select from followups ordered where ordered.subscription_id = s.id and ordered.kind in ('bill', 'collect')
          and ordered.data -> 'payment' ->> 'invoiceId' = o ->> 'invoiceId')))
    from subscriptions s where f.id = any(${ids}::uuid[]) and s.slot = f.slot and s.id = f.subscription_id
    returning f.id, f.data`;
  return new Map(marked.map(({ id, data }) => [id, data]));
}

function isUnmarked({ kind, data }: Pick<Row, 'kind' | 'data'>): boolean {
  if (kind !== 'tell' || !('news' in data)) return false;
  const news = data.news as News;
  return news.kind === 'method_changed' && news.attempts === undefined;
}

/**
 * Tells one subscription of a customer, or all; returns their ids. One that is over hears of an
 * invoice that it left unpaid.
 */
export async function tellSubscriptions(
  sql: Transaction,
  of: { readonly customerId: string; readonly subscriptionId: string | null },
  { news, ids, now }: { readonly news: News; readonly ids: Ids; readonly now: number },
): Promise<string[]> {
  const left = news.kind === 'close_invoice' ? news.invoiceId : null;
  const live = await sql<{ slot: number; subscription_id: string; customer_id: string }[]>`
    select slot, id as subscription_id, customer_id from subscriptions
    where customer_id = ${of.customerId} and id = coalesce(${of.subscriptionId}, id)
      and (live or exists (
        select from jsonb_array_elements(open) o where o ->> 'invoiceId' = ${left}))`;
  const at = new Date(now).toISOString();
  const rows = live.map((one) => ({ ...one, id: ids.next(), kind: 'tell', data: { news }, at }));
  await sql`
    insert into followups (slot, id, kind, subscription_id, customer_id, data, at)
    select slot, id, kind, subscription_id, customer_id, data, at
    from jsonb_populate_recordset(null::followups, ${sql.json(rows)})`;
  return live.map((one) => one.subscription_id);
}

/**
 * There is nothing to charge for what these order. Whoever comes later tells the same, even where a
 * method has been stored since.
 */
export async function giveChargesUp(sql: Transaction, ids: readonly string[]): Promise<void> {
  await sql`
    update followups set kind = 'tell', data = data || jsonb_build_object('news',
      jsonb_build_object('kind', 'no_method', 'paymentId', data -> 'payment' -> 'id'))
    where id = any(${ids}::uuid[])`;
}

export async function deleteFollowups(sql: Executor, ids: readonly string[]): Promise<void> {
  await sql`delete from followups where id = any(${ids}::uuid[])`;
}

/** Subscriptions with followups. */
export async function listSubscriptionsOwing(
  sql: Executor,
  { olderThanMs, atMost, scope }: Owing,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select distinct s.id from followups f join subscriptions s on s.id = f.subscription_id
    where f.written_at < now() - ${olderThanMs} * interval '1 ms' and ${isDue(sql)}
      ${scope === null ? sql`` : sql`and s.organisation_id = ${scope.organisationId} and s.mode = ${scope.mode}`}
    limit ${atMost}`;
  return rows.map((row) => row.id);
}

/**
 * Of a charge that a follow-up is about: null where there is none. Whoever asks about it carries
 * on; where it has died, nobody asks after half a minute.
 */
export async function standingOf(
  sql: Executor,
  { followupId, paymentId }: { readonly followupId: string; readonly paymentId: string },
): Promise<'asked' | 'waiting' | 'decided' | null> {
  const [row] = await sql<{ status: string; isAsked: boolean }[]>`
    select p.status, p.asks = 0 and p.processor_reference is null and coalesce(f.written_at > now() - interval '30 s', false) as "isAsked"
    from payments p left join followups f on f.subscription_id = p.subscription_id and f.id = ${followupId}
    where p.id = ${paymentId}`;
  if (row === undefined) return null;
  if (row.status === 'requires_action') return 'waiting';
  if (row.status !== 'processing') return 'decided';
  return row.isAsked ? 'asked' : 'waiting';
}
