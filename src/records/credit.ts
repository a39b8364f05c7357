// What invoices and subscriptions say of a customer's credit.
import type { BillingReason, InvoiceStatus } from './invoices.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';

/** What a customer has in a currency. */
export type KeptCredit = {
  readonly currency: string;
  readonly balance: bigint;
  /** When its first subscription in the currency began. */
  readonly since: Date;
};

/** An invoice with a line of credit, also one that a followup will make. */
export type CreditInvoice = {
  readonly id: string;
  readonly currency: string;
  readonly reason: BillingReason;
  readonly status: InvoiceStatus;
  /** The line's: negative where credit was used. */
  readonly amount: bigint;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** When it was known that what it took is given back, as its change was taken back. */
  readonly forgoneAt: Date | null;
  /** Whether its subscription waits for it, or for the charge of a change that was taken back. */
  readonly waits: 'unpaid' | 'forgone' | null;
  /** When a followup was written that makes it void, or refunds it as a change taken back. */
  readonly undoneAt: Date | null;
};

/** In the order of currencies. What a trial of a release before has as credit is its discount. */
export async function listKeptCredit(sql: Executor, customerId: string): Promise<KeptCredit[]> {
  return sql`
    with own as (select * from subscriptions where customer_id = ${customerId})
    select currency, sum(credit)::bigint as balance, min(created_at) as since from (
      select currency, case when period_index < 0 and discount is null then 0 else credit end as credit, created_at from own
      union all
      select c.key, (c.value ->> '$')::bigint, null from billing_accounts a cross join lateral jsonb_each(a.credit) c
      where a.customer_id = ${customerId} and a.slot = (select slot from own limit 1)
    ) kept group by currency order by currency`;
}

/** Rows that are read at once: others have turns between them. */
const ROWS_AT_ONCE = 500;

export async function eachCreditInvoices(
  sql: Transaction,
  customerId: string,
  take: (some: readonly CreditInvoice[]) => Promise<void> | void,
): Promise<void> {
  const invoices = sql<CreditInvoice[]>`
    with own as (select id, open from subscriptions where customer_id = ${customerId}),
    owed as (
      select f.kind, f.at, f.data, f.subscription_id from followups f join own on own.id = f.subscription_id
      where f.kind in ('bill', 'void', 'give_back')
    ),
    made as (
      select i.id, i.currency, i.billing_reason as reason, i.status, (l ->> 'amount')::bigint as amount, i.forgone_at,
        i.created_at, i.updated_at, i.subscription_id
      from invoices i cross join lateral jsonb_array_elements(i.lines) l
      where i.customer_id = ${customerId} and i.subscription_id is not null and l ->> 'type' = 'credit'
      union all
      select (b ->> 'id')::uuid, b ->> 'currency', b ->> 'reason', 'open', (l -> 'unitAmount' ->> '$')::bigint, null,
        f.at, f.at, f.subscription_id
      from owed f cross join lateral (select f.data -> 'invoice' as b) b cross join lateral jsonb_array_elements(b -> 'lines') l
      where f.kind = 'bill' and l ->> 'type' = 'credit'
        and not exists (select from invoices i where i.id = (b ->> 'id')::uuid)
    )
    select m.id, m.currency, m.reason, m.status, m.amount, m.forgone_at as "forgoneAt", m.created_at as "createdAt",
      m.updated_at as "updatedAt",
      (select case when o ? 'isForgone' then 'forgone' else 'unpaid' end
        from own s cross join lateral jsonb_array_elements(s.open) o
        where s.id = m.subscription_id and (o ->> 'invoiceId')::uuid = m.id limit 1) as waits,
      (select min(f.at) from owed f where f.kind <> 'bill' and (f.data ->> 'invoiceId')::uuid = m.id) as "undoneAt"
    from made m`;
  for await (const some of invoices.cursor(ROWS_AT_ONCE)) await take(some);
}
