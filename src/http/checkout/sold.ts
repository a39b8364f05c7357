// What usage costs in the subscription that a checkout is for, in the buyer's currency.
import type { SoldUsage } from '../../pages/sold-usage.ts';
import type { Quote } from '../../payments/quote.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { listMeterLabels } from '../../records/meters.ts';
import { listFeatures } from '../../records/product-features.ts';
import { allowancesOf } from '../../subscriptions/plans.ts';
import type { Session } from './session.ts';

/** As the subscription takes them at its start. */
export async function soldUsageOf(
  sql: Sql,
  { checkout: { organisationId, mode }, product }: Session,
  { price, currency }: Quote,
): Promise<SoldUsage[]> {
  const { interval, intervalCount } = price;
  if (interval === null || intervalCount === null) return [];
  const asked = { organisationId, mode, productId: product.id, currency };
  const features = await listFeatures(sql, asked);
  const allowances = allowancesOf(features, { quantity: 1, interval, intervalCount });
  const labels = await listMeterLabels(
    sql,
    allowances.flatMap(({ meter, price: sold }) => (sold === null ? [] : [meter.id])),
  );
  return allowances.flatMap((allowance) => {
    const { meter, limit, resetInterval, resetCount: count, price: sold } = allowance;
    const label = labels.get(meter.id);
    if (sold === null || label === undefined || limit === null || resetInterval === 'never') {
      return [];
    }
    return [{ ...label, scale: meter.scale, limit, interval: resetInterval, count, price: sold }];
  });
}
