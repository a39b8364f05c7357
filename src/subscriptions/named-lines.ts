// The lines of an invoice that is not made, as they would be on it.
import { must } from '../../ledger/kernel/assert.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { InvoiceDraft } from '../../ledger/subscriptions/subscription.ts';
import { draftedLines, usagePricesOf } from '../invoices/drafted-lines.ts';
import type { NewInvoiceLine } from '../invoices/issue.ts';
import type { Executor } from '../platform/postgres/postgres.ts';
import { listProductNames } from '../records/products.ts';
import { listMeterNames } from '../records/usage-prices.ts';

export async function namedLines(
  sql: Executor,
  scope: Tenant,
  draft: Pick<InvoiceDraft, 'productId' | 'lines' | 'currency' | 'periodStart' | 'periodEnd'>,
): Promise<readonly NewInvoiceLine[]> {
  const { productId, lines } = draft;
  const [products, meters] = await Promise.all([
    listProductNames(sql, scope, [productId]),
    listMeterNames(sql, usagePricesOf(lines)),
  ]);
  const product = must(products.get(productId), 'the product of a plan');
  return draftedLines(draft, { product, meters });
}
