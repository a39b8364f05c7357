import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { assert } from '../../ledger/kernel/assert.ts';
import { type Bounds, Full } from '../platform/bounds.ts';
import type { Executor, Sql, Transaction } from '../platform/postgres/postgres.ts';
import { type Page, pageOf } from './page.ts';
import { findRoom, ownerOfScope } from './capacity.ts';
import { conflictOfPrice, type UsageConflict } from './usage-conflicts.ts';
import { prefixed } from './prefixed.ts';
import { isUuid } from './uuid.ts';

export type ProductStatus = 'active' | 'archived' | 'unpublished';
export type PriceInterval = 'day' | 'week' | 'month' | 'year';

export type PriceRecord = {
  readonly id: string;
  readonly productId: string;
  /** In the currency's smallest unit. */
  readonly amount: bigint;
  readonly currency: string;
  readonly type: 'one_time' | 'recurring';
  /** This and the next two are null on a one-time price. */
  readonly interval: PriceInterval | null;
  readonly intervalCount: number | null;
  readonly trialDays: number | null;
  readonly status: 'active' | 'archived';
  readonly createdAt: Date;
};

export type ProductRecord = {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly status: ProductStatus;
  readonly metadata: Readonly<Record<string, string>>;
  /** Active ones first, in the order in which they were made. */
  readonly prices: readonly PriceRecord[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

export type NewPrice = Omit<PriceRecord, 'productId' | 'status' | 'createdAt'>;

export type NewProduct = Omit<ProductRecord, 'prices' | 'createdAt' | 'updatedAt'> & {
  readonly prices: readonly NewPrice[];
};

/** What may change; undefined leaves it as it is. */
export type ProductPatch = {
  readonly [field in 'slug' | 'name' | 'description' | 'status' | 'metadata']?:
    | ProductRecord[field]
    | undefined;
};

type Row = Omit<ProductRecord, 'prices'>;

const columns = (sql: Executor) => sql`
  id, slug, name, description, status, metadata, created_at as "createdAt", updated_at as "updatedAt"`;

const priceColumns = (sql: Executor) => sql`
  id, product_id as "productId", amount, currency, type, interval, interval_count as "intervalCount",
  trial_days as "trialDays", status, created_at as "createdAt"`;

const inScope = (sql: Executor, { organisationId, mode }: Tenant) => sql`
  organisation_id = ${organisationId} and mode = ${mode}`;

/** With its prices. */
export async function insertProduct(
  sql: Transaction,
  scope: Tenant,
  options: { readonly product: NewProduct; readonly bounds: Bounds; readonly now: number },
): Promise<ProductRecord | 'slug_taken' | Full> {
  const { product, bounds, now } = options;
  const { id, slug, name, description, status, metadata, prices } = product;
  const pricesMax = bounds.pricesPerProduct;
  if (prices.length > pricesMax) return new Full('pricesPerProduct', pricesMax);
  const rows = sql`products where ${inScope(sql, scope)}`;
  const asked = { bound: 'products', owner: ownerOfScope(scope), rows } as const;
  const full = await findRoom(sql, bounds, asked);
  if (full !== null) return full;
  const at = new Date(now);
  const [row] = await sql<Row[]>`
    insert into products (id, organisation_id, mode, slug, name, description, status, metadata, created_at, updated_at)
    values (${id}, ${scope.organisationId}, ${scope.mode}, ${slug}, ${name}, ${description}, ${status},
      ${sql.json(metadata)}, ${at}, ${at})
    on conflict (slug) do nothing
    returning ${columns(sql)}`;
  // A product has it, or it was another organisation's (the trigger products_claim_slug).
  if (row === undefined) return 'slug_taken';
  return { ...row, prices: await writePrices(sql, { productId: id, prices, at }) };
}

export async function findProduct(
  sql: Executor,
  scope: Tenant,
  id: string,
): Promise<ProductRecord | null> {
  if (!isUuid(id)) return null;
  const rows = await sql<Row[]>`
    select ${columns(sql)} from products where ${inScope(sql, scope)} and id = ${id}`;
  const [product] = await withPrices(sql, rows);
  return product ?? null;
}

/** Products of any tenants, by id. */
export async function findProducts(
  sql: Executor,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Tenant & ProductRecord>> {
  const rows = await sql<(Row & Tenant)[]>`
    select ${columns(sql)}, organisation_id as "organisationId", mode from products where id = any(${[...ids]}::uuid[])`;
  const prices = await pricesOf(sql, rows);
  return new Map(rows.map((row) => [row.id, { ...row, prices: prices.get(row.id) ?? [] }]));
}

/** The product that has this price, archived or not. */
export async function findProductOfPrice(
  sql: Executor,
  scope: Tenant,
  priceId: string,
): Promise<ProductRecord | null> {
  if (!isUuid(priceId)) return null;
  const rows = await sql<Row[]>`
    select ${columns(sql)} from products
    where ${inScope(sql, scope)} and id = (select product_id from prices where id = ${priceId})`;
  const [product] = await withPrices(sql, rows);
  return product ?? null;
}

/** Newest first; up to one row more than `limit`. */
export async function listProducts(
  sql: Executor,
  scope: Tenant,
  options: Page & {
    readonly status?: ProductStatus | undefined;
    /**
     * Case does not matter. Of those that match, the first `PREFIXED_MAX` in alphabetical order.
     */
    readonly namePrefix?: string | undefined;
  },
): Promise<ProductRecord[]> {
  const { status, namePrefix: prefix } = options;
  const rows = await sql<Row[]>`
    select ${columns(sql)} from products
    where ${prefix === undefined ? inScope(sql, scope) : sql`id = any (array(${prefixed(sql, scope, { table: 'products', column: 'name', prefix })}))`}
      ${status === undefined ? sql`` : sql`and status = ${status}`}
    ${pageOf(sql, 'products', options)}`;
  return withPrices(sql, rows);
}

const SLUG = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/**
 * The product of a buy link, by id, by `prod_` and id, or by slug, in any organisation and mode.
 * Only a product that is for sale. A slug never looks like an id (the wire refuses it), so no
 * product is mistaken for another.
 */
export async function findPublicProduct(
  sql: Executor,
  reference: string,
): Promise<{ readonly scope: Tenant; readonly product: ProductRecord } | null> {
  const id = reference.replace(/^prod_/, '');
  if (!isUuid(id) && !SLUG.test(reference)) return null;
  const named = isUuid(id) ? sql`id = ${id}` : sql`slug = ${reference}`;
  const [row] = await sql<(Row & Tenant)[]>`
    select ${columns(sql)}, organisation_id as "organisationId", mode from products
    where ${named} and status = 'active'`;
  if (row === undefined) return null;
  const { organisationId, mode, ...rest } = row;
  const prices = await listPrices(sql, [rest.id]);
  return { scope: { organisationId, mode }, product: { ...rest, prices } };
}

/** In a transaction of its own: the constraint decides who has a slug, and ends it. */
export async function updateProduct(
  sql: Sql,
  scope: Tenant,
  options: {
    readonly id: string;
    readonly patch: ProductPatch;
    readonly bounds: Bounds;
    readonly now: number;
  },
): Promise<ProductRecord | 'not_found' | 'slug_taken' | Full> {
  const { id, patch, bounds, now } = options;
  if (!isUuid(id)) return 'not_found';
  const { slug, name, description, status, metadata } = patch;
  const changes = {
    ...(slug !== undefined && { slug }),
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(status !== undefined && { status }),
    ...(metadata !== undefined && { metadata: sql.json(metadata) }),
    updated_at: new Date(now),
  };
  try {
    const rows = await sql.begin(async (transaction): Promise<Row[] | Full> => {
      const wanted = { id, slug, bounds };
      const full = slug === undefined ? null : await roomToGiveUp(transaction, scope, wanted);
      if (full !== null) return full;
      return transaction<Row[]>`
        update products set ${sql(changes)} where ${inScope(sql, scope)} and id = ${id}
        returning ${columns(sql)}`;
    });
    if (rows instanceof Full) return rows;
    const [product] = await withPrices(sql, rows);
    return product ?? 'not_found';
  } catch (error) {
    const taken =
      error instanceof Error &&
      'constraint_name' in error &&
      error.constraint_name === 'products_slug_once';
    if (taken) return 'slug_taken';
    throw error;
  }
}

/** For the slug that a product has, where it is to have another. */
async function roomToGiveUp(
  sql: Transaction,
  scope: Tenant,
  wanted: { readonly id: string; readonly slug: string | undefined; readonly bounds: Bounds },
): Promise<Full | null> {
  const { id, slug, bounds } = wanted;
  const [held] = await sql<{ slug: string }[]>`
    select slug from products where ${inScope(sql, scope)} and id = ${id} for no key update`;
  if (held === undefined || held.slug === slug) return null;
  const { organisationId: owner } = scope;
  const rows = sql`product_slugs s where s.organisation_id = ${owner}
    and not exists (select from products p where p.slug = s.slug)`;
  return findRoom(sql, bounds, { bound: 'formerSlugs', owner, rows });
}

/**
 * Until the transaction ends nobody else changes what the product sells and gives: its recurring
 * and usage prices and its entitlements have to agree.
 */
export async function lockProduct(sql: Transaction, id: string): Promise<void> {
  await sql`select 1 from products where id = ${id} for no key update`;
}

/** The product is in the scope: `findProduct` gave it. */
export async function insertPrice(
  sql: Transaction,
  options: {
    readonly productId: string;
    readonly price: NewPrice;
    readonly bounds: Bounds;
    readonly now: number;
  },
): Promise<PriceRecord | UsageConflict | Full> {
  const { productId, price, bounds, now } = options;
  const rows = sql`prices where product_id = ${productId}`;
  const asked = { bound: 'pricesPerProduct', owner: productId, rows } as const;
  const full = await findRoom(sql, bounds, asked);
  if (full !== null) return full;
  await lockProduct(sql, productId);
  const conflict = await conflictOfPrice(sql, productId, price);
  if (conflict !== null) return conflict;
  const [made] = await writePrices(sql, { productId, prices: [price], at: new Date(now) });
  assert(made !== undefined, 'an insert returns its row');
  return made;
}

/**
 * A repeated call changes nothing. null where the product is not in the scope, or the price not of
 * the product.
 */
export async function archivePrice(
  sql: Executor,
  scope: Tenant,
  { productId, priceId }: { readonly productId: string; readonly priceId: string },
): Promise<PriceRecord | null> {
  if (!isUuid(productId) || !isUuid(priceId)) return null;
  const [row] = await sql<PriceRecord[]>`
    update prices set status = 'archived'
    where id = ${priceId} and product_id = (
      select id from products where ${inScope(sql, scope)} and id = ${productId})
    returning ${priceColumns(sql)}`;
  return row ?? null;
}

async function writePrices(
  sql: Transaction,
  options: { productId: string; prices: readonly NewPrice[]; at: Date },
): Promise<PriceRecord[]> {
  const { productId, prices, at } = options;
  if (prices.length === 0) return [];
  const rows = prices.map(({ intervalCount, trialDays, ...price }) => ({
    ...price,
    product_id: productId,
    interval_count: intervalCount,
    trial_days: trialDays,
    status: 'active',
    created_at: at,
  }));
  return sql<PriceRecord[]>`insert into prices ${sql(rows)} returning ${priceColumns(sql)}`;
}

async function withPrices(sql: Executor, rows: readonly Row[]): Promise<ProductRecord[]> {
  const prices = await pricesOf(sql, rows);
  return rows.map((row) => ({ ...row, prices: prices.get(row.id) ?? [] }));
}

async function pricesOf(
  sql: Executor,
  rows: readonly Row[],
): Promise<ReadonlyMap<string, readonly PriceRecord[]>> {
  if (rows.length === 0) return new Map();
  const ids = rows.map((row) => row.id);
  return Map.groupBy(await listPrices(sql, ids), (price) => price.productId);
}

function listPrices(sql: Executor, productIds: string[]): Promise<PriceRecord[]> {
  return sql<PriceRecord[]>`
    select ${priceColumns(sql)} from prices where product_id = any(${productIds}::uuid[])
    order by product_id, status, id`;
}

/** By id, even of an archived or deleted product. */
export async function listProductNames(
  sql: Executor,
  scope: Tenant,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await sql<{ id: string; name: string }[]>`
    select id, name from products where ${inScope(sql, scope)} and id = any(${[...ids]}::uuid[])`;
  return new Map(rows.map(({ id, name }) => [id, name]));
}
