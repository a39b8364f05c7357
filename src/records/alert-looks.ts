// What is still to be done about alerts: customers that may be past a new one, and actors that have
// not been told.
import { slotOf } from '../../ledger/kernel/slot.ts';
import { PERCENT_SCALE, type AlertType } from '../../ledger/metering/alert.ts';
import type { Meter } from '../../ledger/metering/meter.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';

/** An alert whose customers are to be looked at. */
export type OwedLook = {
  readonly id: string;
  readonly type: AlertType;
  readonly threshold: bigint;
  readonly customerId: string | null;
  readonly lookedThrough: string | null;
  readonly meter: Meter;
};

/** Customers of one step. */
const CUSTOMERS_MAX = 500;

/**
 * The one that has waited longest, locked until the transaction ends. Others that look for work
 * pass it by.
 */
export async function takeOwedLook(sql: Transaction): Promise<OwedLook | null> {
  const [row] = await sql<OwedLook[]>`
    select a.id, a.type, a.threshold, a.customer_id as "customerId", a.looked_through as "lookedThrough",
      jsonb_build_object('id', m.id, 'organisationId', m.organisation_id, 'mode', m.mode, 'slug', m.slug,
        'aggregation', m.aggregation, 'scale', m.scale, 'carry', m.carry) as meter
    from alerts a join meters m on m.id = a.meter_id
    where a.look_at <= now() order by a.look_at limit 1 for update of a skip locked`;
  return row ?? null;
}

/**
 * The next customers of the organisation, and which of them are past the alert by what is written.
 * What is not written yet is by usage after the alert: it fires by itself.
 */
export async function nextCustomers(
  sql: Executor,
  { type, threshold, lookedThrough, meter }: OwedLook,
): Promise<{ readonly past: readonly string[]; readonly last: string | null }> {
  const { organisationId, mode } = meter;
  const customers = await sql<{ id: string }[]>`
    select id from customers
    where organisation_id = ${organisationId} and mode = ${mode}
      ${lookedThrough === null ? sql`` : sql`and id > ${lookedThrough}`}
    order by id limit ${CUSTOMERS_MAX}`;
  const ids = customers.map(({ id }) => id);
  const whole = 100n * 10n ** BigInt(PERCENT_SCALE);
  const rest = sql`greatest(0, b.credits_posted - b.debits_posted - b.debits_pending)`;
  const percentage = (of: typeof rest) => sql`b.credits_posted > 0 and ${of}::numeric * ${whole}`;
  const limit = sql`b.credits_posted::numeric * ${threshold}`;
  const isPast = {
    usage: sql`b.debits_posted >= ${threshold}`,
    usage_percentage: sql`${percentage(sql`b.debits_posted`)} >= ${limit}`,
    remaining: sql`c.first_grant_at is not null and ${rest} <= ${threshold}`,
    remaining_percentage: sql`${percentage(rest)} <= ${limit}`,
  }[type];
  // The current period, and one that an early event has opened.
  const past = await sql<{ id: string }[]>`
    select distinct k.id from unnest(${ids.map(slotOf)}::smallint[], ${ids}::uuid[]) k (slot, id)
    join accounts a on a.slot = k.slot and a.customer_id = k.id and a.meter_id = ${meter.id}
    join balances b on b.slot = a.slot and b.id = a.id
    left join customer_meters c on c.slot = k.slot and c.customer_id = k.id and c.meter_id = a.meter_id
    where a.period_start >= coalesce(c.period_start, 'epoch') and ${isPast}`;
  const last = ids.length < CUSTOMERS_MAX ? null : (ids.at(-1) ?? null);
  return { past: past.map(({ id }) => id), last };
}

/** It was looked at so far; null: it is done. */
export async function noteLook(
  sql: Executor,
  id: string,
  lookedThrough: string | null,
): Promise<void> {
  await sql`
    update alerts set looked_through = ${lookedThrough}, look_at = ${lookedThrough === null ? null : sql`clock_timestamp()`}
    where id = ${id}`;
}

/** It could not be looked at now: others come first. */
export async function postponeLook(sql: Executor, id: string): Promise<void> {
  await sql`update alerts set look_at = clock_timestamp() + interval '1 second' where id = ${id}`;
}
