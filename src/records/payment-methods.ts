// The instruments that customers left with a processor, to be charged when they are not there. The newest one is what is charged.
import type { Executor } from '../platform/postgres.ts';
import type { Scope } from './scope.ts';

export type PaymentMethodRecord = {
  readonly id: string;
  readonly customerId: string;
  readonly processor: string;
  /** The processor's own name of it. */
  readonly saved: string;
  readonly type: 'card' | 'bank_debit';
  readonly brand: string | null;
  readonly last4: string;
  /** The last month in which a card is good. */
  readonly expiry: { readonly month: number; readonly year: number } | null;
  readonly createdAt: Date;
};

export type NewPaymentMethod = Omit<PaymentMethodRecord, 'createdAt'>;

/** Whether it was not there before: then it is the customer's default. One that comes again changes nothing. `id` is new. */
export async function putPaymentMethod(
  sql: Executor,
  { organisationId, mode }: Scope,
  { method, now }: { readonly method: NewPaymentMethod; readonly now: number },
): Promise<boolean> {
  const { id, customerId, processor, saved, type, brand, last4, expiry } = method;
  const rows = await sql`
    insert into payment_methods (id, organisation_id, mode, customer_id, processor, saved, type, brand, last4,
      exp_month, exp_year, created_at)
    values (${id}, ${organisationId}, ${mode}, ${customerId}, ${processor}, ${saved}, ${type}, ${brand}, ${last4},
      ${expiry?.month ?? null}, ${expiry?.year ?? null}, ${new Date(now)})
    on conflict (customer_id, processor, saved) do nothing
    returning id`;
  return rows.length > 0;
}

/** What the customer's periods are charged to. null: it has left nothing. */
export async function findDefaultPaymentMethod(
  sql: Executor,
  { organisationId, mode }: Scope,
  customerId: string,
): Promise<PaymentMethodRecord | null> {
  const [row] = await sql<PaymentMethodRecord[]>`
    select id, customer_id as "customerId", processor, saved, type, brand, last4,
      case when exp_month is not null then jsonb_build_object('month', exp_month, 'year', exp_year) end as expiry,
      created_at as "createdAt"
    from payment_methods
    where organisation_id = ${organisationId} and mode = ${mode} and customer_id = ${customerId}
      and detached_at is null
    order by created_at desc, id desc limit 1`;
  return row ?? null;
}

/** Which of these customers have left something. */
export async function listChargeable(
  sql: Executor,
  customerIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ id: string }[]>`
    select distinct customer_id as id from payment_methods
    where customer_id = any(${customerIds}::uuid[]) and detached_at is null`;
  return new Set(rows.map((row) => row.id));
}
