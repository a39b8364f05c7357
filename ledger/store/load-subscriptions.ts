import type { Sql } from 'postgres';
import type { BackOfInvoice } from '../subscriptions/given-back.ts';
import {
  type Billing,
  type BillingAccount,
  type Chargeable,
  NO_ACCOUNT,
  type Subscription,
} from '../subscriptions/subscription.ts';
import { type SubscriptionRow, subscriptionOf } from './subscription-row.ts';
import type { Bigints } from './bigints.ts';
import { fromJson, type JsonOf } from './json.ts';

/** What these customers are billed: subscriptions that can still change, and what they share. */
export async function loadBilling(
  sql: Sql<Bigints>,
  keys: { readonly slots: readonly number[]; readonly ids: readonly string[] },
): Promise<ReadonlyMap<string, Billing>> {
  const [rows, accounts] = await Promise.all([
    sql<SubscriptionRow[]>`
      select s.*, o.external_customer_id as sent_external_customer_id, d.percent_off as sent_percent_off,
        d.amount_off as sent_amount_off
      from unnest(${[...keys.slots]}::smallint[], ${[...keys.ids]}::uuid[]) k (slot, id)
      join subscriptions s on s.slot = k.slot and s.customer_id = k.id and s.live
      left join checkouts o on o.id = s.payment_link_id
      left join discounts d on d.id = o.discount_id`,
    sql<AccountRow[]>`
      select a.customer_id, a.credit, a.spend_cap
      from unnest(${[...keys.slots]}::smallint[], ${[...keys.ids]}::uuid[]) k (slot, id)
      join billing_accounts a on a.slot = k.slot and a.customer_id = k.id`,
  ]);
  const own = Map.groupBy(rows, (row) => row.customer_id);
  const accountOf = new Map(accounts.map((row) => [row.customer_id, row]));
  return new Map(
    [...new Set([...own.keys(), ...accountOf.keys()])].map((id) => [
      id,
      {
        subscriptions: new Map((own.get(id) ?? []).map((row) => [row.id, subscriptionOf(row)])),
        account: readAccount(accountOf.get(id)),
      },
    ]),
  );
}

export async function findSubscription(
  sql: Sql<Bigints>,
  id: string,
): Promise<Subscription | null> {
  const [row] = await sql<SubscriptionRow[]>`
    select s.*, o.external_customer_id as sent_external_customer_id
    from subscriptions s left join checkouts o on o.id = s.payment_link_id where s.id = ${id}`;
  return row === undefined ? null : subscriptionOf(row);
}

/**
 * See `Storage.findChargeable`. The statuses of an invoice are those that may be chased
 * (`src/invoices/transitions.ts`), and the payments those that have not failed.
 */
export async function findChargeable(
  sql: Sql<Bigints>,
  { subscriptionId, invoiceId }: { readonly subscriptionId: string; readonly invoiceId: string },
): Promise<Chargeable | null> {
  const [row] = await sql<(SubscriptionRow & { amount_due: bigint; attempts: number })[]>`
    select s.*, o.external_customer_id as sent_external_customer_id, i.total - i.amount_paid as amount_due, p.attempts
    from invoices i join subscriptions s on s.id = i.subscription_id
    left join checkouts o on o.id = s.payment_link_id
    cross join lateral (
      select coalesce(max(attempt), 0) as attempts, count(*) filter (where status not in ('failed', 'errored', 'canceled')) as live
      from payments where invoice_id = i.id
    ) p
    where i.id = ${invoiceId} and s.id = ${subscriptionId} and i.status in ('open', 'uncollectible') and p.live = 0
      and not exists (
        select from followups f where f.subscription_id = s.id and ${invoiceId} in (f.data -> 'invoice' ->> 'id',
          f.data -> 'news' ->> 'invoiceId', f.data ->> 'invoiceId', f.data -> 'payment' ->> 'invoiceId')
      )`;
  if (row === undefined) return null;
  const { amount_due: amount, attempts } = row;
  return { invoiceId, amount, attempts, subscription: subscriptionOf(row) };
}

/**
 * See `Storage.findBack`. What is being refunded and what is disputed counts
 * (`src/records/given-back.ts`).
 */
export async function findBack(
  sql: Sql<Bigints>,
  paymentId: string,
): Promise<BackOfInvoice | null> {
  const rows = await sql<(Omit<BackOfInvoice, 'usage'> & { usageId: string; usage: bigint })[]>`
    select i.id as "invoiceId", b.debits_posted + b.debits_pending as amount, t.time - i.discount_total as time,
      (l ->> 'usageId')::text as "usageId", (l ->> 'amount')::bigint as usage
    from payments p
    join balances b on b.slot = p.slot and b.id = p.id
    join invoices i on i.id = p.invoice_id and (i.payment_id = p.id or i.payment_id is null and i.status = 'open')
    cross join lateral (
      select coalesce(sum((l ->> 'amount')::bigint), 0)::bigint as time
      from jsonb_array_elements(i.lines) l where l ->> 'type' in ('recurring', 'proration')
    ) t
    cross join lateral jsonb_array_elements(i.lines) with ordinality lines (l, place)
    where p.id = ${paymentId} and l ? 'usageId' order by place`;
  const [first] = rows;
  if (first === undefined) return null;
  const { invoiceId, amount, time } = first;
  return {
    invoiceId,
    amount,
    time,
    usage: rows.map((row) => ({ usageId: row.usageId, amount: row.usage })),
  };
}

type AccountRow = {
  readonly customer_id: string;
  readonly credit: JsonOf<BillingAccount['credit']>;
  readonly spend_cap: JsonOf<BillingAccount['spendCap']>;
};

function readAccount(row: AccountRow | undefined): BillingAccount {
  if (row === undefined) return NO_ACCOUNT;
  return {
    credit: fromJson<BillingAccount['credit']>(row.credit),
    spendCap: fromJson<BillingAccount['spendCap']>(row.spend_cap),
  };
}
