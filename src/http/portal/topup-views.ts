// The automatic top-ups of a customer as the portal shows them.
import type { CustomerTopUp, Ledger } from '../../../ledger/ledger.ts';
import { statusOf, topUpDue } from '../../../ledger/topups/auto-topup.ts';
import type { TopUpView } from '../../pages/portal/view.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { listMeterLabels } from '../../records/meters.ts';
import { findProducts } from '../../records/products.ts';
import type { PortalPrincipal } from '../edge/auth.ts';

/** By name. */
export async function topUpsOf(
  { sql, ledger }: { readonly sql: Sql; readonly ledger: Ledger },
  { customerId }: PortalPrincipal,
): Promise<TopUpView[]> {
  const all = await ledger.topUps.of(customerId);
  const labels = await listMeterLabels(
    sql,
    all.map(({ meter }) => meter.id),
  );
  const products = await findProducts(sql, [
    ...new Set(all.map(({ topUp }) => topUp.settings.productId)),
  ]);
  return all
    .flatMap((one) => {
      const label = labels.get(one.meter.id);
      const { productId, priceId } = one.topUp.settings;
      const price = products.get(productId)?.prices.find(({ id }) => id === priceId) ?? null;
      return label === undefined ? [] : [{ ...viewOf(one), ...label, price }];
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function viewOf({ meter, topUp }: CustomerTopUp): Omit<TopUpView, 'name' | 'unit' | 'price'> {
  const { enabled, threshold, amount, limit } = topUp.settings;
  const due = topUpDue(topUp);
  return {
    featureKey: meter.slug,
    scale: meter.scale,
    enabled,
    threshold,
    amount,
    limit,
    status: statusOf(topUp),
    reason: topUp.refused ?? (topUp.limitedUntil === null ? null : 'limit'),
    nextAttemptAt: due === Infinity ? null : new Date(due),
  };
}
