// The next invoice of a subscription as it stands: what the ledger would bill, in the names and
// numbers of an invoice.
import type { Ledger } from '../../ledger/ledger.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { NewInvoiceLine } from '../invoices/issue.ts';
import type { Executor } from '../platform/postgres/postgres.ts';
import type { SubscriptionRecord } from '../records/subscriptions.ts';
import { namedLines } from './named-lines.ts';

export type UpcomingRecord = {
  readonly currency: string;
  readonly lines: readonly NewInvoiceLine[];
  readonly discountTotal: bigint;
  readonly total: bigint;
  /** When it is made. */
  readonly periodEnd: Date;
  readonly asOf: Date;
};

/** null after the end. */
export async function findUpcoming(
  { sql, ledger }: { readonly sql: Executor; readonly ledger: Ledger },
  scope: Tenant,
  { customerId, subscription }: Pick<SubscriptionRecord, 'customerId' | 'subscription'>,
): Promise<UpcomingRecord | null> {
  const { id, plan } = subscription;
  const { productId } = plan;
  const upcoming = await ledger.subscriptions.upcoming(customerId, id);
  if (upcoming === null) return null;
  const { currency, lines, discount, total, covers } = upcoming;
  const draft = { productId, currency, lines, periodStart: covers.start, periodEnd: covers.end };
  return {
    currency,
    lines: await namedLines(sql, scope, draft),
    discountTotal: discount,
    total,
    periodEnd: new Date(upcoming.periodEnd),
    asOf: new Date(upcoming.asOf),
  };
}
