// Subscriptions as readers see them. The customer's actor in the ledger writes them.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { type SubscriptionRow, subscriptionOf } from '../../ledger/store/subscription-row.ts';
import type { Subscription } from '../../ledger/subscriptions/subscription.ts';
import type { Executor } from '../platform/postgres/postgres.ts';
import { type Page, pageOf } from './page.ts';
import { isUuid } from './uuid.ts';

export type SubscriptionRecord = Tenant & {
  readonly subscription: Subscription;
  readonly customerId: string;
  readonly externalCustomerId: string | null;
  readonly customerEmail: string | null;
};

type Row = SubscriptionRow & {
  readonly external_customer_id: string | null;
  readonly email: string | null;
};

const selected = (sql: Executor) => sql`
  select subscriptions.*, o.external_customer_id as sent_external_customer_id,
    d.percent_off as sent_percent_off, d.amount_off as sent_amount_off, c.external_customer_id, c.email
  from subscriptions join customers c on c.id = subscriptions.customer_id
  left join checkouts o on o.id = subscriptions.payment_link_id
  left join discounts d on d.id = o.discount_id`;

const inScope = (sql: Executor, { organisationId, mode }: Tenant) => sql`
  subscriptions.organisation_id = ${organisationId} and subscriptions.mode = ${mode}`;

export async function findSubscription(
  sql: Executor,
  scope: Tenant,
  id: string,
): Promise<SubscriptionRecord | null> {
  if (!isUuid(id)) return null;
  const [row] = await sql<
    Row[]
  >`${selected(sql)} where ${inScope(sql, scope)} and subscriptions.id = ${id}`;
  return row === undefined ? null : recordOf(row);
}

/** Newest first; up to one row more than `limit`. */
export async function listSubscriptions(
  sql: Executor,
  scope: Tenant,
  options: Page & {
    readonly customerId?: string | undefined;
    readonly productId?: string | undefined;
    readonly status?: Subscription['status'] | undefined;
  },
): Promise<SubscriptionRecord[]> {
  const { customerId, productId, status } = options;
  const rows = await sql<Row[]>`
    ${selected(sql)} where ${inScope(sql, scope)}
      ${customerId === undefined ? sql`` : sql`and subscriptions.customer_id = ${customerId}`}
      ${productId === undefined ? sql`` : sql`and subscriptions.product_id = ${productId}`}
      ${status === undefined ? sql`` : sql`and subscriptions.status = ${status}`}
      ${pageOf(sql, 'subscriptions', options)}`;
  return rows.map(recordOf);
}

function recordOf(row: Row): SubscriptionRecord {
  return {
    organisationId: row.organisation_id,
    mode: row.mode,
    subscription: subscriptionOf(row),
    customerId: row.customer_id,
    externalCustomerId: row.external_customer_id,
    customerEmail: row.email,
  };
}
