// Payment methods that customers saved at a processor, to be charged when they are absent.
//
// Holds: a subscription is charged to the method that it was bought with, or to a later one that
// the customer saved in the portal for all subscriptions. A subscription without a method of its
// own, and one that a merchant started by hand, is charged to the customer's newest method.
import type { Executor } from '../platform/postgres/postgres.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';

export type PaymentMethodRecord = {
  readonly id: string;
  readonly customerId: string;
  /** The subscription that was bought with it; null: for all of the customer's. */
  readonly subscriptionId: string | null;
  readonly processor: string;
  /** The processor's name for it. */
  readonly saved: string;
  readonly type: 'card' | 'bank_debit';
  readonly brand: string | null;
  readonly last4: string;
  /** The last month in which a card is valid. */
  readonly expiry: { readonly month: number; readonly year: number } | null;
  readonly createdAt: Date;
};

export type NewPaymentMethod = Omit<PaymentMethodRecord, 'createdAt'>;

/** Whether it is new. A repeated one changes nothing. `id` is new. */
export async function putPaymentMethod(
  sql: Executor,
  { organisationId, mode }: Tenant,
  { method, now }: { readonly method: NewPaymentMethod; readonly now: number },
): Promise<boolean> {
  const { id, customerId, subscriptionId, processor, saved, type, brand, last4, expiry } = method;
  const rows = await sql`
    insert into payment_methods (id, organisation_id, mode, customer_id, subscription_id, processor, saved, type, brand,
      last4, exp_month, exp_year, created_at)
    values (${id}, ${organisationId}, ${mode}, ${customerId}, ${subscriptionId}, ${processor}, ${saved}, ${type}, ${brand},
      ${last4}, ${expiry?.month ?? null}, ${expiry?.year ?? null}, ${new Date(now)})
    on conflict (customer_id, processor, saved, subscription_id) do nothing
    returning id`;
  return rows.length > 0;
}

/** Whether the customer has saved one for all subscriptions since then. */
export async function hasSavedSince(
  sql: Executor,
  { organisationId, mode }: Tenant,
  { customerId, since }: { readonly customerId: string; readonly since: Date },
): Promise<boolean> {
  const rows = await sql`
    select from payment_methods
    where organisation_id = ${organisationId} and mode = ${mode} and customer_id = ${customerId}
      and subscription_id is null and created_at > ${since} limit 1`;
  return rows.length > 0;
}

/** What is to be charged: a subscription of a customer, or something else of the customer. */
export type Payer = { readonly customerId: string; readonly subscriptionId: string | null };

type Fragment = ReturnType<Executor>;

/** Whether `m` may be charged for it. */
const isFor = (sql: Executor, payer: { customer: Fragment; subscription: Fragment }) => sql`
  m.customer_id = ${payer.customer} and m.detached_at is null and (m.subscription_id is null
    or m.subscription_id = ${payer.subscription} or not exists (select from payment_methods own
      where own.customer_id = ${payer.customer} and own.subscription_id = ${payer.subscription}))`;

/** The method to charge; null where there is none. */
export async function findPaymentMethod(
  sql: Executor,
  scope: Tenant,
  payer: Payer,
): Promise<PaymentMethodRecord | null> {
  const [found] = await findPaymentMethods(sql, [{ ...scope, ...payer }]);
  return found ?? null;
}

/** The same for each of many, in their order. `processor`: of those that are saved there. */
export async function findPaymentMethods(
  sql: Executor,
  payers: readonly (Tenant & Payer & { readonly processor?: string })[],
): Promise<readonly (PaymentMethodRecord | null)[]> {
  const rows = await sql<(PaymentMethodRecord & { readonly nth: bigint })[]>`
    select p.nth, m.id, m.customer_id as "customerId", m.subscription_id as "subscriptionId", m.processor, m.saved, m.type,
      m.brand, m.last4, m.created_at as "createdAt",
      case when m.exp_month is not null then jsonb_build_object('month', m.exp_month, 'year', m.exp_year) end as expiry
    from unnest(${payers.map(({ organisationId }) => organisationId)}::uuid[], ${payers.map(({ mode }) => mode)}::text[]::mode[],
      ${payers.map(({ customerId }) => customerId)}::uuid[], ${payers.map(({ subscriptionId }) => subscriptionId)}::uuid[],
      ${payers.map(({ processor }) => processor ?? null)}::text[])
      with ordinality as p (organisation_id, mode, customer_id, subscription_id, processor, nth)
    cross join lateral (
      select * from payment_methods m where m.organisation_id = p.organisation_id and m.mode = p.mode
        and ${isFor(sql, { customer: sql`p.customer_id`, subscription: sql`p.subscription_id` })}
        and (p.processor is null or m.processor = p.processor)
      order by m.created_at desc, m.id desc limit 1) as m`;
  const found = new Map(rows.map(({ nth, ...method }) => [Number(nth), method]));
  return payers.map((_, index) => found.get(index + 1) ?? null);
}

/** Which of these subscriptions have a method to charge, and at which processor. */
export async function listChargeable(
  sql: Executor,
  payers: readonly { readonly customerId: string; readonly subscriptionId: string }[],
): Promise<ReadonlyMap<string, string>> {
  const customerIds = payers.map(({ customerId }) => customerId);
  const subscriptionIds = payers.map(({ subscriptionId }) => subscriptionId);
  const rows = await sql<{ id: string; processor: string }[]>`
    select distinct p.subscription_id as id, m.processor
    from unnest(${customerIds}::uuid[], ${subscriptionIds}::uuid[]) as p (customer_id, subscription_id)
    cross join lateral (select m.processor from payment_methods m
      where ${isFor(sql, { customer: sql`p.customer_id`, subscription: sql`p.subscription_id` })}
      order by m.created_at desc, m.id desc limit 1) as m`;
  return new Map(rows.map(({ id, processor }) => [id, processor]));
}
