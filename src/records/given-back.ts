// What of an invoice's money went back, or may: the account of its payment says so (I4).
import type { Executor } from '../platform/postgres/postgres.ts';

/** Of one invoice. Amounts are in the smallest coin. */
export type BackOfInvoice = {
  readonly amount: bigint;
  /** What its lines of time cost, after its discount, and those of usage. */
  readonly time: bigint;
  readonly usage: bigint;
};

export type PaidBack = BackOfInvoice & {
  readonly invoiceId: string;
  readonly start: Date;
  readonly end: Date;
};

/**
 * Of invoices of a subscription for a time that ends after `now`; those of which nothing did are
 * left out, and those whose change was taken back, by whatever their money went back.
 */
export async function listGivenBack(
  sql: Executor,
  subscriptionId: string,
  now: Date,
): Promise<PaidBack[]> {
  return sql`
    select i.id as "invoiceId", b.debits_posted + b.debits_pending as amount, l.time - i.discount_total as time, l.usage,
      i.period_start as start, i.period_end as end
    from invoices i
    join payments p on p.invoice_id = i.id
    join balances b on b.slot = p.slot and b.id = p.id
    cross join lateral (
      select coalesce(sum((l ->> 'amount')::bigint) filter (where l ->> 'type' in ('recurring', 'proration')), 0)::bigint as time,
        coalesce(sum((l ->> 'amount')::bigint) filter (where l ->> 'type' in ('usage', 'usage_adjustment')), 0)::bigint as usage
      from jsonb_array_elements(i.lines) l
    ) l
    where i.subscription_id = ${subscriptionId} and i.period_end > ${now} and i.billing_reason <> 'usage' and i.forgone_at is null
      and b.debits_posted + b.debits_pending > 0
      and (i.payment_id = p.id or i.payment_id is null and i.status = 'open')
      and not exists (
        select from subscriptions s cross join lateral jsonb_array_elements(s.open) o
        where s.id = i.subscription_id and o ->> 'invoiceId' = i.id::text and o ? 'isForgone')
      and not exists (
        select from followups f
        where f.subscription_id = i.subscription_id and f.kind = 'give_back' and f.data ->> 'paymentId' = p.id::text)
    order by i.created_at, i.id`;
}
