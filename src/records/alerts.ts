// Alerts: thresholds of a meter that a merchant wants to hear of, of one customer or of each.
//
// Holds: a definition never changes, and the same one is there once. A deleted one keeps its row,
// as its events name it. `look_at` says that customers are still to be looked at, or an actor is to
// be told: what a crash left undone is found there (src/metering/alert-looks.ts).
import { type Alert, alertOrder } from '../../ledger/metering/alert.ts';
import type { Meter } from '../../ledger/metering/meter.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { Bounds, Full } from '../platform/bounds.ts';
import { notifyChange } from '../platform/postgres/changes.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';
import { findRoom, ownerOfScope } from './capacity.ts';
import { type Page, pageOf } from './page.ts';
import { isUuid } from './uuid.ts';

export type AlertRecord = Alert & {
  readonly meter: Meter;
  /** null: for each customer. */
  readonly customerId: string | null;
  readonly externalCustomerId: string | null;
  readonly createdAt: Date;
};

/** One for each customer. */
export type AlertForAll = Alert & { readonly organisationId: string; readonly meterId: string };

export type NewAlert = Omit<AlertRecord, 'createdAt'>;

type Row = Alert & {
  readonly customerId: string | null;
  readonly externalCustomerId: string | null;
  readonly createdAt: Date;
  readonly meterId: string;
  readonly slug: string;
  readonly aggregation: Meter['aggregation'];
  readonly carry: boolean;
  readonly scale: number;
} & Tenant;

/** By then every node knows it (src/platform/postgres/changes.ts), or it was told itself. */
const KNOWN_AFTER_MS = 2000;
/** The call that made it looks at its customer itself, unless it is cut off. */
const LEFT_BEHIND_MS = 5000;

const selected = (sql: Executor) => sql`
  select alerts.id, alerts.organisation_id as "organisationId", alerts.mode, alerts.type, alerts.threshold,
    alerts.customer_id as "customerId", c.external_customer_id as "externalCustomerId",
    alerts.created_at as "createdAt", m.id as "meterId", m.slug, m.aggregation, m.scale, m.carry
  from alerts join meters m on m.id = alerts.meter_id left join customers c on c.id = alerts.customer_id`;

const inScope = (sql: Executor, { organisationId, mode }: Tenant) => sql`
  alerts.organisation_id = ${organisationId} and alerts.mode = ${mode} and alerts.deleted_at is null`;

export async function insertAlert(
  sql: Transaction,
  scope: Tenant,
  options: { readonly alert: NewAlert; readonly bounds: Bounds; readonly now: number },
): Promise<AlertRecord | 'meter_deleted' | 'boolean' | 'taken' | Full> {
  const { alert, bounds, now } = options;
  const { id, type, threshold, meter, customerId } = alert;
  // Locks the meter, so that it is not deleted meanwhile.
  const kept = await sql`
    select 1 from meters where id = ${meter.id} and deleted_at is null for share`;
  if (kept.length === 0) return 'meter_deleted';
  if (await isBoolean(sql, meter.id)) return 'boolean';
  const isForAll = customerId === null;
  // The same one is a conflict, even where there is no room.
  const whose = isForAll ? sql`customer_id is null` : sql`customer_id = ${customerId}`;
  const others = sql`alerts where deleted_at is null and ${whose}
    and (meter_id, type, threshold) <> (${meter.id}, ${type}, ${threshold})`;
  const full =
    (await findRoom(sql, bounds, {
      bound: isForAll ? 'alertsPerMeter' : 'alertsPerCustomerMeter',
      owner: `${meter.id} ${customerId ?? ''}`,
      rows: sql`${others} and meter_id = ${meter.id}`,
    })) ??
    (await findRoom(sql, bounds, {
      bound: isForAll ? 'alertsForAll' : 'alertsPerCustomer',
      owner: customerId ?? ownerOfScope(scope),
      rows: sql`${others} and ${inScope(sql, scope)}`,
    }));
  if (full !== null) return full;
  const createdAt = new Date(now);
  const lookAfter = isForAll ? KNOWN_AFTER_MS : LEFT_BEHIND_MS;
  const made = await sql`
    insert into alerts (id, organisation_id, mode, meter_id, customer_id, type, threshold, created_at, look_at)
    values (${id}, ${scope.organisationId}, ${scope.mode}, ${meter.id}, ${customerId}, ${type}, ${threshold}, ${createdAt},
      now() + ${lookAfter} * interval '1 millisecond')
    on conflict do nothing returning id`;
  if (made.length === 0) return 'taken';
  if (isForAll) await notifyChange(sql, 'alert', scope.organisationId);
  return { ...alert, createdAt };
}

/** Whether products give it only as a feature that one has or has not. */
async function isBoolean(sql: Executor, meterId: string): Promise<boolean> {
  const [row] = await sql<{ isBoolean: boolean | null }[]>`
    select bool_and(type = 'boolean') as "isBoolean" from entitlements where meter_id = ${meterId}`;
  return row?.isBoolean === true;
}

export async function findAlert(
  sql: Executor,
  scope: Tenant,
  id: string,
): Promise<AlertRecord | null> {
  if (!isUuid(id)) return null;
  const [row] = await sql<Row[]>`
    ${selected(sql)} where ${inScope(sql, scope)} and alerts.id = ${id}`;
  return row === undefined ? null : recordOf(row);
}

/** Newest first; up to one row more than `limit`. */
export async function listAlerts(
  sql: Executor,
  scope: Tenant,
  options: Page & {
    readonly slug?: string | undefined;
    readonly customerId?: string | undefined;
  },
): Promise<AlertRecord[]> {
  const { slug, customerId } = options;
  const rows = await sql<Row[]>`
    ${selected(sql)} where ${inScope(sql, scope)}
      ${slug === undefined ? sql`` : sql`and m.slug = ${slug}`}
      ${customerId === undefined ? sql`` : sql`and alerts.customer_id = ${customerId}`}
    ${pageOf(sql, 'alerts', options)}`;
  return rows.map(recordOf);
}

/**
 * The customer's own, and those for each customer on these meters; by feature, then in their order.
 */
export async function listAlertsOf(
  sql: Executor,
  scope: Tenant,
  options: {
    readonly customerId: string;
    readonly meterIds: readonly string[];
    readonly slug?: string | undefined;
  },
): Promise<AlertRecord[]> {
  const { customerId, meterIds, slug } = options;
  const rows = await sql<Row[]>`
    ${selected(sql)} where ${inScope(sql, scope)}
      and (alerts.customer_id = ${customerId}
        or (alerts.customer_id is null and alerts.meter_id = any(${[...meterIds]}::uuid[])))
      ${slug === undefined ? sql`` : sql`and m.slug = ${slug}`}`;
  return rows
    .map(recordOf)
    .sort((a, b) =>
      a.meter.slug === b.meter.slug ? alertOrder(a, b) : a.meter.slug < b.meter.slug ? -1 : 1,
    );
}

/** null where there is none. */
export async function deleteAlert(
  sql: Transaction,
  scope: Tenant,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<AlertRecord | null> {
  const alert = await findAlert(sql, scope, id);
  if (alert === null) return null;
  const lookAt =
    alert.customerId === null
      ? sql`null`
      : sql`now() + ${LEFT_BEHIND_MS} * interval '1 millisecond'`;
  const gone = await sql`
    update alerts set deleted_at = ${new Date(now)}, look_at = ${lookAt}
    where id = ${alert.id} and deleted_at is null returning id`;
  if (gone.length === 0) return null;
  if (alert.customerId === null) await notifyChange(sql, 'alert', scope.organisationId);
  return alert;
}

/** With a meter its alerts go. */
export async function deleteAlertsOfMeter(
  sql: Transaction,
  { organisationId }: Tenant,
  { meterId, at }: { readonly meterId: string; readonly at: Date },
): Promise<void> {
  const gone = await sql`
    update alerts set deleted_at = ${at}, look_at = null where meter_id = ${meterId} and deleted_at is null
    returning id`;
  if (gone.length > 0) await notifyChange(sql, 'alert', organisationId);
}

/** The alerts for each customer, of one organisation or of all: by meter, in their order. */
export async function listAlertsForAll(
  sql: Executor,
  organisationId: string | null,
): Promise<readonly AlertForAll[]> {
  const of = organisationId === null ? sql`` : sql`and organisation_id = ${organisationId}`;
  const rows = await sql<AlertForAll[]>`
    select id, organisation_id as "organisationId", meter_id as "meterId", type, threshold from alerts
    where customer_id is null and deleted_at is null ${of}`;
  return rows.toSorted(alertOrder);
}

function recordOf(row: Row): AlertRecord {
  const { id, type, threshold, customerId, externalCustomerId, createdAt } = row;
  const { organisationId, mode, meterId, slug, aggregation, scale, carry } = row;
  const meter = { id: meterId, organisationId, mode, slug, aggregation, scale, carry };
  return { id, type, threshold, customerId, externalCustomerId, createdAt, meter };
}
