// What products give and sell of features: what subscriptions take at their start and at each
// renewal.
import { must } from '../../ledger/kernel/assert.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Meter } from '../../ledger/metering/meter.ts';
import type { UsagePrice } from '../../ledger/metering/usage-price.ts';
import { type UsagePriceRow, usagePriceOf } from '../../ledger/store/usage-price-row.ts';
import type { Executor } from '../platform/postgres/postgres.ts';
import {
  type Entitlement,
  entitlementColumns,
  entitlementOf,
  type EntitlementRow,
} from './entitlements.ts';
import { type JoinedMeter, meterOf } from './joined-meter.ts';

/** One or both of them. */
export type ProductFeature = {
  readonly meter: Meter;
  readonly entitlement: Entitlement | null;
  /** What usage beyond it costs; null: it is not sold in this currency. */
  readonly usagePrice: UsagePrice | null;
};

/** A product that is paid for in a currency. */
export type SoldProduct = Tenant & { readonly productId: string; readonly currency: string };

type Row = JoinedMeter & {
  /** Which of the products that were asked for, from 1. */
  readonly nth: bigint;
  readonly usagePrice: UsagePriceRow | null;
} & (EntitlementRow | { readonly id: null });

/** Of one product: the entitlements in the order in which they were attached. */
export async function listFeatures(
  sql: Executor,
  product: SoldProduct,
): Promise<readonly ProductFeature[]> {
  const [features = []] = await listFeaturesOfProducts(sql, [product]);
  return features;
}

/** The same of many, in their order, in one statement. The ids are those of products. */
export async function listFeaturesOfProducts(
  sql: Executor,
  products: readonly SoldProduct[],
): Promise<readonly (readonly ProductFeature[])[]> {
  const asked = new Map(products.map((one) => [nameOf(one), one]));
  const of = [...asked.values()];
  const rows = await sql<Row[]>`
    select p.nth, ${entitlementColumns(sql)},
      case when u.id is not null then jsonb_build_object('id', u.id, 'currency', u.currency, 'tariff', u.tariff,
        'minimum_amount', u.minimum_amount::text, 'maximum_amount', u.maximum_amount::text) end as "usagePrice"
    from unnest(${of.map(({ productId }) => productId)}::uuid[], ${of.map(({ currency }) => currency)}::text[],
      ${of.map(({ organisationId }) => organisationId)}::uuid[], ${of.map(({ mode }) => mode)}::text[]::mode[])
      with ordinality as p (id, currency, organisation_id, mode, nth)
    cross join lateral (
      select meter_id from entitlements e
      where e.product_id = p.id and e.organisation_id = p.organisation_id and e.mode = p.mode
      union
      select meter_id from usage_prices u
      where u.product_id = p.id and u.organisation_id = p.organisation_id and u.mode = p.mode
        and u.currency = p.currency and u.status = 'active') f
    left join entitlements e on e.product_id = p.id and e.meter_id = f.meter_id
    left join usage_prices u on u.product_id = p.id and u.meter_id = f.meter_id
      and u.currency = p.currency and u.status = 'active'
    join meters m on m.id = f.meter_id
    order by e.id, u.id`;
  const found = Map.groupBy(rows, ({ nth }) => nameOf(must(of[Number(nth) - 1], 'one of them')));
  return products.map((one) => (found.get(nameOf(one)) ?? []).map(featureOf));
}

function nameOf({ organisationId, mode, productId, currency }: SoldProduct): string {
  return `${organisationId} ${mode} ${productId} ${currency}`;
}

function featureOf(row: Row): ProductFeature {
  return {
    meter: meterOf(row),
    entitlement: row.id === null ? null : entitlementOf(row),
    usagePrice: row.usagePrice === null ? null : usagePriceOf(row.usagePrice),
  };
}
