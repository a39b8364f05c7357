// Followups: tasks that the ledger's commits leave for others. A flush writes them; the transaction
// that does the task deletes them.
//
//     owed ──done──▶ gone
//       └──failed──▶ put off, 4 s to 5 min ──failed for an hour──▶ dead ──an operator──▶ owed
//
// Holds: the followups of a payment or a subscription are done in their order. While one of them is
// dead, the others of the same one wait. Only what went back of an invoice's usage is told beside
// them: what is told of it is how much it is by then, so its order does not matter.
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';

export type Followup = Tenant & {
  readonly id: string;
  readonly kind: 'payment_settled' | 'refund_settled' | 'dispute_settled';
  readonly paymentId: string;
  /** The meter that the payment tops up by itself. */
  readonly meterId: string | null;
  /** Of a captured payment. */
  readonly invoiceId: string | null;
  /** Of a charge for a subscription. */
  readonly subscriptionId: string | null;
  /** Of an attempt to pay a checkout. */
  readonly checkoutId: string | null;
  readonly paidAt: Date | null;
  readonly data: {
    readonly refundId?: string;
    readonly disputeId?: string;
    readonly delta?: string;
  };
};

/** Whether it is of a customer, and of none of its payments or subscriptions. */
export const isOfCustomer = (sql: Executor, name: 'f' | 'dead') =>
  sql`${sql(name)}.payment_id is null and ${sql(name)}.subscription_id is null`;

/** No followup of the same payment, subscription or customer is dead. */
export const isAlive = (sql: Executor) => sql`
  not exists (select from followups dead where dead.dead_at is not null
    and (dead.payment_id = f.payment_id or dead.subscription_id = f.subscription_id
      or dead.customer_id = f.customer_id and ${isOfCustomer(sql, 'dead')} and ${isOfCustomer(sql, 'f')}))`;

/** It is alive, and not put off. */
export const isDue = (sql: Executor) => sql`
  (f.next_at is null or f.next_at <= now()) and ${isAlive(sql)}`;

/**
 * The followups of some payments, locked for this transaction: of each first its settlement, then
 * refunds and disputes in the order of time.
 */
export async function takeFollowups(
  sql: Transaction,
  paymentIds: readonly string[],
): Promise<Followup[]> {
  // Every transaction that locks several does it in this order.
  const sorted = paymentIds.toSorted();
  await sql`select pg_advisory_xact_lock(hashtextextended(id, 0)) from unnest(${sorted}::text[]) as id`;
  return sql<Followup[]>`
    with taken as (
      delete from followups f where payment_id = any(${sorted}::uuid[]) and kind <> 'usage_given_back' and ${isAlive(sql)} returning *
    )
    select t.id, t.kind, t.payment_id as "paymentId", p.meter_id as "meterId", t.data, p.organisation_id as "organisationId", p.mode,
      p.invoice_id as "invoiceId", p.subscription_id as "subscriptionId", p.checkout_id as "checkoutId", p.paid_at as "paidAt"
    from taken t join payments p on p.id = t.payment_id
    order by t.kind <> 'payment_settled', t.at, t.id`;
}

/** Whether a customer's actor is still to be told of the charge, or of what went back of it. */
export async function owesTelling(sql: Executor, paymentId: string): Promise<boolean> {
  const rows = await sql`
    select 1 from followups where payment_id = ${paymentId} and kind in ('payment_settled', 'usage_given_back')`;
  return rows.length > 0;
}

/** The followups of a payment of which money went back that its subscription has not heard of. */
export async function listReturns(sql: Executor, paymentId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from followups where payment_id = ${paymentId} and kind = 'usage_given_back'`;
  return rows.map(({ id }) => id);
}

/** The payments of each subscription of which that is so, in the order given. */
export async function listReturnsOf(
  sql: Executor,
  subscriptionIds: readonly string[],
): Promise<(readonly string[])[]> {
  const rows = await sql<{ paymentIds: string[] }[]>`
    select coalesce(array_agg(distinct p.id) filter (where f.id is not null), '{}') as "paymentIds"
    from unnest(${[...subscriptionIds]}::uuid[]) with ordinality s (id, place)
    left join payments p on p.subscription_id = s.id
    left join followups f on f.payment_id = p.id and f.kind = 'usage_given_back'
    group by s.id, s.place order by s.place`;
  return rows.map(({ paymentIds }) => paymentIds);
}

export type OwingPayment = Tenant & {
  readonly id: string;
  readonly subscriptionId: string | null;
  readonly meterId: string | null;
};

/** Which followups are asked for. */
export type Owing = {
  /** Since they were written. */
  readonly olderThanMs: number;
  readonly atMost: number;
  /** null: of all scopes. */
  readonly scope: Tenant | null;
};

/** Payments with followups. */
export async function listPaymentsOwing(
  sql: Executor,
  { olderThanMs, atMost, scope }: Owing,
): Promise<OwingPayment[]> {
  return sql<OwingPayment[]>`
    select distinct p.id, p.subscription_id as "subscriptionId", p.meter_id as "meterId", p.organisation_id as "organisationId", p.mode
    from followups f join payments p on p.id = f.payment_id
    where f.written_at < now() - ${olderThanMs} * interval '1 ms' and ${isDue(sql)}
      ${scope === null ? sql`` : sql`and p.organisation_id = ${scope.organisationId} and p.mode = ${scope.mode}`}
    limit ${atMost}`;
}

type Subject =
  | { readonly paymentId: string }
  | { readonly subscriptionId: string }
  | { readonly customerId: string };

const isOf = (sql: Executor, subject: Subject) => {
  if ('paymentId' in subject) return sql`f.payment_id = ${subject.paymentId}`;
  if ('subscriptionId' in subject) return sql`f.subscription_id = ${subject.subscriptionId}`;
  return sql`f.customer_id = ${subject.customerId} and ${isOfCustomer(sql, 'f')}`;
};

/**
 * Its followup failed once more: it is tried later. After an hour of that, an operator must retry
 * it.
 */
export async function postpone(
  sql: Executor,
  subject: Subject,
  why: string,
): Promise<'later' | 'dead' | 'gone'> {
  const rows = await sql<{ dead: boolean }[]>`
    update followups f set tries = tries + 1, failing_since = coalesce(failing_since, now()), error = ${why},
      next_at = now() + least(interval '4 s' * 2 ^ least(tries, 10), interval '5 min'),
      dead_at = case when failing_since < now() - interval '1 hour' then now() end
    where ${isOf(sql, subject)} and dead_at is null returning dead_at is not null as dead`;
  if (rows.length === 0) return 'gone';
  return rows.some(({ dead }) => dead) ? 'dead' : 'later';
}

export type FailingFollowup = Tenant & {
  readonly id: string;
  readonly kind: string;
  readonly paymentId: string | null;
  readonly subscriptionId: string | null;
  readonly tries: number;
  readonly failingSince: Date;
  readonly nextAt: Date;
  readonly deadAt: Date | null;
  readonly error: string;
};

/** Followups that are put off or dead, the oldest first. */
export function listFailing(sql: Executor, atMost: number): Promise<FailingFollowup[]> {
  return sql<FailingFollowup[]>`
    select f.id, f.kind, f.payment_id as "paymentId", f.subscription_id as "subscriptionId", f.tries,
      f.failing_since as "failingSince", f.next_at as "nextAt", f.dead_at as "deadAt", f.error,
      coalesce(p.organisation_id, s.organisation_id, c.organisation_id) as "organisationId", coalesce(p.mode, s.mode, c.mode) as mode
    from followups f left join payments p on p.id = f.payment_id left join subscriptions s on s.id = f.subscription_id
      left join customers c on c.id = f.customer_id
    where f.failing_since is not null order by f.failing_since, f.at, f.id limit ${atMost}`;
}

/**
 * Makes them due again, as if nothing had failed; all of them where `id` is null. Returns their
 * number.
 */
export async function retryFailing(sql: Executor, id: string | null): Promise<number> {
  const { count } = await sql`
    update followups f set tries = 0, failing_since = null, next_at = null, dead_at = null, error = null
    from followups named
    where named.failing_since is not null and (${id}::uuid is null or named.id = ${id})
      and (f.id = named.id or f.payment_id = named.payment_id or f.subscription_id = named.subscription_id
        or f.customer_id = named.customer_id and ${isOfCustomer(sql, 'f')}
          and named.payment_id is null and named.subscription_id is null)
      and f.failing_since is not null`;
  return count;
}
