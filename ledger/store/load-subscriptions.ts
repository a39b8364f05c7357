import type { Sql } from 'postgres';
import { type Billing, type BillingAccount, NO_ACCOUNT } from '../subscriptions/subscription.ts';
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
      select s.*, o.external_customer_id as sent_external_customer_id
      from unnest(${[...keys.slots]}::smallint[], ${[...keys.ids]}::uuid[]) k (slot, id)
      join subscriptions s on s.slot = k.slot and s.customer_id = k.id and s.live
      left join checkouts o on o.id = s.payment_link_id`,
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
