import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { METERS_PER_EVENT_MAX } from '../../ledger/limits.ts';
import type { Aggregation, Meter } from '../../ledger/metering/meter.ts';
import type { Bounds, Full } from '../platform/bounds.ts';
import { notifyChange } from '../platform/postgres/changes.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';
import { deleteAlertsOfMeter } from './alerts.ts';
import {
  type CreditCost,
  creditCostsColumn,
  findPoolOfMember,
  lockCreditCosts,
} from './credit-costs.ts';
import { type Page, pageOf } from './page.ts';
import { findRoom, ownerOfScope } from './capacity.ts';
import { isUuid } from './uuid.ts';

const METER_IDS_MAX = 1000;

export type MeterStatus = 'active' | 'archived';

/** What the hot path needs to know of a meter. */
export type UsageMeter = Meter & {
  readonly eventName: string;
  readonly valueProperty: string | null;
  readonly uniqueProperty: string | null;
  /** Of a pool: the list in force. */
  readonly creditCosts: readonly CreditCost[];
};

export type MeterRecord = UsageMeter & {
  readonly name: string;
  readonly description: string | null;
  readonly unit: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly status: MeterStatus;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

export type NewMeter = {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string | null;
  readonly eventName: string;
  readonly aggregation: Aggregation;
  readonly valueProperty: string | null;
  readonly uniqueProperty: string | null;
  readonly unit: string | null;
  readonly scale: number;
  readonly carry: boolean;
  readonly metadata: Readonly<Record<string, string>>;
};

/** What may change; undefined leaves it as it is. */
export type MeterPatch = {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly unit?: string | null | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly status?: MeterStatus | undefined;
};

const columns = (sql: Executor) => sql`
  id, organisation_id as "organisationId", mode, slug, name, description, event_name as "eventName",
  aggregation, value_property as "valueProperty", unique_property as "uniqueProperty", unit, scale, carry,
  metadata, status, ${creditCostsColumn(sql)} as "creditCosts", created_at as "createdAt", updated_at as "updatedAt"`;

const inScope = (sql: Executor, { organisationId, mode }: Tenant) => sql`
  organisation_id = ${organisationId} and mode = ${mode} and deleted_at is null`;

export async function insertMeter(
  sql: Transaction,
  scope: Tenant,
  options: { readonly meter: NewMeter; readonly bounds: Bounds; readonly now: number },
): Promise<MeterRecord | 'slug_taken' | Full> {
  const { meter, bounds, now } = options;
  const at = new Date(now);
  const owner = ownerOfScope(scope);
  const rows = sql`meters where ${inScope(sql, scope)}`;
  const fed = sql`${rows} and event_name = ${meter.eventName}`;
  const full =
    (await findRoom(sql, bounds, { bound: 'meters', owner, rows })) ??
    (await findRoom(sql, bounds, {
      bound: 'metersPerEventName',
      owner: `${owner} ${meter.eventName}`,
      rows: fed,
    }));
  if (full !== null) return full;
  const [row] = await sql<MeterRecord[]>`
    insert into meters (id, organisation_id, mode, slug, name, description, event_name, aggregation,
      value_property, unique_property, unit, scale, carry, metadata, status, created_at, updated_at)
    values (${meter.id}, ${scope.organisationId}, ${scope.mode}, ${meter.slug}, ${meter.name},
      ${meter.description}, ${meter.eventName}, ${meter.aggregation}, ${meter.valueProperty},
      ${meter.uniqueProperty}, ${meter.unit}, ${meter.scale}, ${meter.carry}, ${sql.json(meter.metadata)},
      'active', ${at}, ${at})
    on conflict (organisation_id, mode, slug) where deleted_at is null do nothing
    returning ${columns(sql)}`;
  if (row === undefined) return 'slug_taken';
  await notifyChange(sql, 'meter', scope.organisationId);
  return row;
}

/** By id or slug. Where one meter's slug is another's id, the id wins. */
export async function findMeter(
  sql: Executor,
  scope: Tenant,
  reference: string,
): Promise<MeterRecord | null> {
  if (isUuid(reference)) {
    const [byId] = await sql<MeterRecord[]>`
      select ${columns(sql)} from meters where ${inScope(sql, scope)} and id = ${reference}`;
    if (byId !== undefined) return byId;
  }
  return findMeterBySlug(sql, scope, reference);
}

/** By slug, archived ones too. */
export async function findMeterBySlug(
  sql: Executor,
  scope: Tenant,
  slug: string,
): Promise<MeterRecord | null> {
  const [row] = await sql<MeterRecord[]>`
    select ${columns(sql)} from meters where ${inScope(sql, scope)} and slug = ${slug}`;
  return row ?? null;
}

/** By slug, locked until the transaction ends. */
export async function lockMeter(
  sql: Transaction,
  scope: Tenant,
  slug: string,
): Promise<MeterRecord | null> {
  const [row] = await sql<MeterRecord[]>`
    select ${columns(sql)} from meters where ${inScope(sql, scope)} and slug = ${slug} for update`;
  return row ?? null;
}

/** Newest first; up to one row more than `limit`. */
export async function listMeters(sql: Executor, scope: Tenant, page: Page): Promise<MeterRecord[]> {
  return sql<MeterRecord[]>`
    select ${columns(sql)} from meters where ${inScope(sql, scope)}
    ${pageOf(sql, 'meters', page)}`;
}

export async function findActiveMeter(
  sql: Executor,
  scope: Tenant,
  slug: string,
): Promise<MeterRecord | null> {
  const [row] = await sql<MeterRecord[]>`
    select ${columns(sql)} from meters
    where ${inScope(sql, scope)} and slug = ${slug} and status = 'active'`;
  return row ?? null;
}

/** Active meters that an event name feeds. */
export async function listMetersOfEvent(
  sql: Executor,
  scope: Tenant,
  eventName: string,
): Promise<MeterRecord[]> {
  return sql<MeterRecord[]>`
    select ${columns(sql)} from meters
    where ${inScope(sql, scope)} and event_name = ${eventName} and status = 'active'
    order by id limit ${METERS_PER_EVENT_MAX}`;
}

export async function updateMeter(
  sql: Transaction,
  scope: Tenant,
  { id, patch, now }: { readonly id: string; readonly patch: MeterPatch; readonly now: number },
): Promise<MeterRecord | null> {
  const changes = {
    ...(patch.name !== undefined && { name: patch.name }),
    ...(patch.description !== undefined && { description: patch.description }),
    ...(patch.unit !== undefined && { unit: patch.unit }),
    ...(patch.metadata !== undefined && { metadata: sql.json(patch.metadata) }),
    ...(patch.status !== undefined && { status: patch.status }),
    updated_at: new Date(now),
  };
  const [row] = await sql<MeterRecord[]>`
    update meters set ${sql(changes)} where ${inScope(sql, scope)} and id = ${id}
    returning ${columns(sql)}`;
  if (row === undefined) return null;
  await notifyChange(sql, 'meter', scope.organisationId);
  return row;
}

/**
 * Keeps the history and frees the slug, and the members of a pool. Refused while a product gives or
 * sells it, or a customer has an allowance of it or is topped up with it, or a pool pays for it.
 * Usage is only sold beyond an allowance, so none is being sold then.
 */
export async function deleteMeter(
  sql: Transaction,
  scope: Tenant,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<'deleted' | 'not_found' | 'in_use' | 'is_member' | 'has_paid'> {
  await lockCreditCosts(sql, scope);
  const locked = await sql`
    select 1 from meters where ${inScope(sql, scope)} and id = ${id} for update`;
  if (locked.length === 0) return 'not_found';
  const [uses] = await sql<{ isUsed: boolean }[]>`
    select exists (select from entitlements where meter_id = ${id})
      or exists (select from usage_prices where meter_id = ${id} and status = 'active')
      or exists (select from grants where meter_id = ${id} and ended_at is null)
      or exists (select from auto_topups where meter_id = ${id}
        and (jsonb_typeof(settings) = 'object' or jsonb_typeof(charge) = 'object')) as "isUsed"`;
  if (uses?.isUsed === true) return 'in_use';
  if ((await findPoolOfMember(sql, id)) !== null) return 'is_member';
  if (await wasGrantedPool(sql, id)) return 'has_paid';
  await deleteAlertsOfMeter(sql, scope, { meterId: id, at: new Date(now) });
  await sql`update meters set deleted_at = ${new Date(now)}, updated_at = ${new Date(now)} where id = ${id}`;
  await notifyChange(sql, 'meter', scope.organisationId);
  return 'deleted';
}

/**
 * Whether it is a pool that may have paid: what it paid for goes on for as long as its members'
 * periods.
 */
async function wasGrantedPool(sql: Transaction, id: string): Promise<boolean> {
  const rows = await sql`
    select 1 from credit_cost_lists where pool_id = ${id}
      and exists (select from grants where meter_id = ${id}) limit 1`;
  return rows.length > 0;
}

/** Which of these meters are not deleted. */
export async function listExistingMeters(
  sql: Executor,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await sql<{ id: string }[]>`
    select id from meters where id = any(${[...ids]}::uuid[]) and deleted_at is null`;
  return new Set(rows.map((row) => row.id));
}

/**
 * Which of these meters are not deleted, once the calls that delete one of them now have ended.
 * None is deleted until the transaction ends.
 */
export async function keepMeters(
  sql: Executor,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await sql<{ id: string }[]>`
    select id from meters where id = any(${[...ids]}::uuid[]) and deleted_at is null order by id for key share`;
  return new Set(rows.map((row) => row.id));
}

/** Newest first, at most 1000: what an event may have fed. */
export async function listMeterIds(sql: Executor, scope: Tenant): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from meters where ${inScope(sql, scope)} order by id desc limit ${METER_IDS_MAX}`;
  return rows.map(({ id }) => id);
}

/** The names of these meters, without deleted ones. */
export async function listMeterLabels(
  sql: Executor,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Pick<MeterRecord, 'name' | 'unit'>>> {
  if (ids.length === 0) return new Map();
  const rows = await sql<Pick<MeterRecord, 'id' | 'name' | 'unit'>[]>`
    select id, name, unit from meters where id = any(${[...ids]}::uuid[]) and deleted_at is null`;
  return new Map(rows.map(({ id, name, unit }) => [id, { name, unit }]));
}
