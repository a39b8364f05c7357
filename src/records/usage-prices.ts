import { unreachable } from '../../ledger/kernel/assert.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Meter } from '../../ledger/metering/meter.ts';
import type { Tariff, UsagePrice } from '../../ledger/metering/usage-price.ts';
import { type JsonOf, toJson } from '../../ledger/store/json.ts';
import { usagePriceOf } from '../../ledger/store/usage-price-row.ts';
import type { Bounds, Full } from '../platform/bounds.ts';
import type { Executor, Json, Transaction } from '../platform/postgres/postgres.ts';
import { findRoom } from './capacity.ts';
import { findPoolOfMember, lockCreditCosts } from './credit-costs.ts';
import { type JoinedMeter, joinedMeter, meterOf } from './joined-meter.ts';
import { type Page, pageOf } from './page.ts';
import { lockProduct } from './products.ts';
import { conflictOfUsagePrice, paidByPool, type UsageConflict } from './usage-conflicts.ts';
import { isUuid } from './uuid.ts';

/** What a product asks for usage of a feature beyond its allowance. */
export type UsagePriceRecord = UsagePrice & {
  readonly productId: string;
  readonly meter: Meter;
  readonly status: 'active' | 'archived';
  readonly createdAt: Date;
};

export type NewUsagePrice = UsagePrice & Pick<UsagePriceRecord, 'productId' | 'meter'>;

type Row = Pick<UsagePriceRecord, 'id' | 'productId' | 'currency' | 'status' | 'createdAt'> & {
  readonly tariff: JsonOf<Tariff>;
  readonly minimum: bigint | null;
  readonly maximum: bigint | null;
} & JoinedMeter;

/** Of the usage price `usage_prices` and its meter `m`. */
const columns = (sql: Executor) => sql`
  usage_prices.id, usage_prices.product_id as "productId", usage_prices.currency, usage_prices.tariff,
  usage_prices.minimum_amount as minimum, usage_prices.maximum_amount as maximum, usage_prices.status,
  usage_prices.created_at as "createdAt", ${joinedMeter(sql)}`;

const inScope = (sql: Executor, { organisationId, mode }: Tenant) => sql`
  usage_prices.organisation_id = ${organisationId} and usage_prices.mode = ${mode}`;

/** Product and meter are in the scope. */
export async function insertUsagePrice(
  sql: Transaction,
  scope: Tenant,
  options: { readonly price: NewUsagePrice; readonly bounds: Bounds; readonly now: number },
): Promise<UsagePriceRecord | 'meter_deleted' | 'taken' | 'boolean' | UsageConflict | Full> {
  const { price, bounds, now } = options;
  const { id, productId, meter, currency, model, minimum, maximum } = price;
  await lockCreditCosts(sql, scope);
  await lockProduct(sql, productId);
  const others = await sql`
    select 1 from usage_prices where ${isInUse(sql, price)} and meter_id = ${meter.id}`;
  if (others.length > 0) return 'taken';
  const conflict = await conflictOfUsagePrice(sql, { productId, meterId: meter.id });
  if (conflict !== null) return conflict;
  const full = await findNoRoom(sql, bounds, price);
  if (full !== null) return full;
  // Locks the meter, so that it is not deleted meanwhile.
  const kept = await sql`
    select 1 from meters where id = ${meter.id} and deleted_at is null for share`;
  if (kept.length === 0) return 'meter_deleted';
  const pool = await findPoolOfMember(sql, meter.id);
  if (pool !== null) return paidByPool(pool);
  const createdAt = new Date(now);
  const tariff: Json = toJson(tariffOf(price));
  await sql`
    insert into usage_prices (id, organisation_id, mode, product_id, meter_id, currency, model, tariff,
      minimum_amount, maximum_amount, status, created_at)
    values (${id}, ${scope.organisationId}, ${scope.mode}, ${productId}, ${meter.id}, ${currency}, ${model},
      ${sql.json(tariff)}, ${minimum}, ${maximum}, 'active', ${createdAt})`;
  return { ...price, status: 'active', createdAt };
}

/** Those that one subscription of the product takes. */
const isInUse = (
  sql: Executor,
  { productId, currency }: Pick<NewUsagePrice, 'productId' | 'currency'>,
) => sql`
  product_id = ${productId} and status = 'active' and currency = ${currency}`;

/** The first bound that it would pass, or null. */
async function findNoRoom(
  sql: Transaction,
  bounds: Bounds,
  price: NewUsagePrice,
): Promise<Full | null> {
  const owner = price.productId;
  const rows = sql`usage_prices where product_id = ${owner}`;
  const inUse = sql`usage_prices where ${isInUse(sql, price)}`;
  const tiers = sql`(select jsonb_array_elements(tariff->'tiers') from ${inUse}) tiers`;
  const adding = 'tiers' in price ? price.tiers.length : 0;
  return (
    (await findRoom(sql, bounds, { bound: 'usagePricesPerProduct', owner, rows })) ??
    (await findRoom(sql, bounds, { bound: 'usagePricesInUse', owner, rows: inUse })) ??
    (await findRoom(sql, bounds, { bound: 'usageTiersInUse', owner, rows: tiers, adding }))
  );
}

/** Of a product, newest first; up to one row more than `limit`. */
export async function listUsagePrices(
  sql: Executor,
  scope: Tenant,
  options: Page & { readonly productId: string },
): Promise<UsagePriceRecord[]> {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from usage_prices join meters m on m.id = usage_prices.meter_id
    where ${inScope(sql, scope)} and usage_prices.product_id = ${options.productId}
    ${pageOf(sql, 'usagePrices', options)}`;
  return rows.map(recordOf);
}

/** Whether a subscription of the product pays for usage. */
export async function sellsUsage(
  sql: Executor,
  scope: Tenant,
  { productId, currency }: { readonly productId: string; readonly currency: string },
): Promise<boolean> {
  const rows = await sql`
    select 1 from usage_prices where ${inScope(sql, scope)} and ${isInUse(sql, { productId, currency })} limit 1`;
  return rows.length > 0;
}

/**
 * A repeated call changes nothing. null where the product is not in the scope, or the usage price
 * not of the product. Subscriptions keep it until they renew.
 */
export async function archiveUsagePrice(
  sql: Executor,
  scope: Tenant,
  { productId, id }: { readonly productId: string; readonly id: string },
): Promise<UsagePriceRecord | null> {
  if (!isUuid(productId) || !isUuid(id)) return null;
  const [row] = await sql<Row[]>`
    update usage_prices set status = 'archived' from meters m
    where usage_prices.id = ${id} and usage_prices.product_id = ${productId} and ${inScope(sql, scope)}
      and m.id = usage_prices.meter_id
    returning ${columns(sql)}`;
  return row === undefined ? null : recordOf(row);
}

/** By the ids of usage prices: how the merchant calls what they price, also what was deleted. */
export async function listMeterNames(
  sql: Executor,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await sql<{ id: string; name: string }[]>`
    select usage_prices.id, m.name from usage_prices join meters m on m.id = usage_prices.meter_id
    where usage_prices.id = any(${[...ids]}::uuid[])`;
  return new Map(rows.map(({ id, name }) => [id, name]));
}

function tariffOf(price: NewUsagePrice): Tariff {
  switch (price.model) {
    case 'per_unit':
      return { model: price.model, unitAmount: price.unitAmount };
    case 'graduated':
    case 'volume':
      return { model: price.model, tiers: price.tiers };
    case 'package':
      return {
        model: price.model,
        packageSize: price.packageSize,
        packageAmount: price.packageAmount,
      };
    default:
      return unreachable(price);
  }
}

function recordOf(row: Row): UsagePriceRecord {
  const { id, currency, tariff } = row;
  const price = usagePriceOf({
    id,
    currency,
    tariff,
    minimum_amount: row.minimum === null ? null : String(row.minimum),
    maximum_amount: row.maximum === null ? null : String(row.maximum),
  });
  return {
    ...price,
    productId: row.productId,
    meter: meterOf(row),
    status: row.status,
    createdAt: row.createdAt,
  };
}
