import type { Mode } from '../kernel/tenant.ts';
import type { PendingQuery, Sql } from 'postgres';
import type { Cycle } from '../kernel/calendar.ts';
import { type CutUse, type Grant, type Rest, burnOrder } from '../metering/grants.ts';
import { fromJson } from './json.ts';
import {
  type Aggregation,
  type Customer,
  type Meter,
  type MeterState,
  type Period,
  emptyMeterState,
  emptyPeriod,
  nextDueOf,
  untoldBy,
} from '../metering/meter.ts';
import { assert, must } from '../kernel/assert.ts';
import { inSlices } from '../kernel/slices.ts';
import { entitlementId, periodAccountId } from '../kernel/derived-ids.ts';
import type { Ids, Timers } from '../ports.ts';
import type { ExternalKey, History, LoadedCustomer, MeterKey } from '../storage.ts';
import { ENDED_GRANTS_MAX, STRETCH_MARKS_MAX } from '../limits.ts';
import { type Carried, momentOf, type StretchMark } from '../metering/stretch.ts';
import type { MARK_COLUMNS } from './mark-columns.ts';
import { NO_BILLING } from '../subscriptions/subscription.ts';
import type { Bigints } from './bigints.ts';
import type { RowOf } from './columns.ts';
import { NO_ALERTS } from '../metering/alert.ts';
import { loadAlerts } from './load-alerts.ts';
import { type ReservationJson, reservationJson, reservationOf } from './load-reservations.ts';
import { type SpanJson, spanOf } from './load-spans.ts';
import { type UsagePriceRow, usagePriceOf } from './usage-price-row.ts';
import { loadBilling } from './load-subscriptions.ts';
import { type TopUpJson, topUpOf } from './load-auto-topups.ts';
import type { GRANT_COLUMNS, STATE_COLUMNS } from './meter-columns.ts';

/** A period: whose it is, and its totals. */
const periodColumns = (sql: Sql<Bigints>) => sql`
  a.id, a.customer_id, a.meter_id, a.period_start, b.period_end, b.credits_posted as granted, b.debits_posted as consumed,
  b.debits_pending as reserved, b.aggregate, b.latest_at, b.latest_id, b.updated_at,
  (select p.rate from pooled_periods p where p.slot = a.slot and p.account_id = a.id) as rate`;

/** When the first period began that a member of a pool has now, for the customer of a row `p`. */
const membersSince = (sql: Sql<Bigints>) => sql`(
  select min(s.period_start) from customer_meters s
  where s.slot = p.slot and s.customer_id = p.customer_id
    and s.meter_id in (select c.meter_id from credit_costs c))`;

/** A usage price `p`. Amounts as text: a number of JSON is not exact beyond 2^53. */
const priceJson = (sql: Sql<Bigints>) => sql`
  jsonb_build_object('id', p.id, 'currency', p.currency, 'tariff', p.tariff,
    'minimum_amount', p.minimum_amount::text, 'maximum_amount', p.maximum_amount::text)`;

/**
 * Actors as the database has them: customers, their meters, open periods, live grants and
 * subscriptions. Where something is reserved of a period that is over, also what other meters have
 * since then: a pool may pay for what is let go of. Of a pool also the periods since the first of
 * its members' began: they pay for what becomes of it when it is over. Of many rows some are read
 * in each turn of the event loop.
 */
export async function loadCustomers(
  sql: Sql<Bigints>,
  deps: { slotOf: (customerId: string) => number; ids: Ids; timers: Timers },
  ids: readonly string[],
): Promise<LoadedCustomer[]> {
  const slots = ids.map(deps.slotOf);
  const [customers, { states, grants, periods }, billing, alerts] = await Promise.all([
    identifyCustomers(sql, deps.slotOf, ids),
    readMeters(sql, { slots, ids }),
    loadBilling(sql, { slots, ids }),
    loadAlerts(sql, ids),
  ]);
  const loaded = new Map(
    customers.map((customer) => {
      const { id } = customer;
      const [of, alertsOf] = [billing.get(id) ?? NO_BILLING, alerts.get(id) ?? NO_ALERTS];
      return [
        id,
        {
          customer,
          meters: [] as LoadedCustomer['meters'][number][],
          billing: of,
          alerts: alertsOf,
        },
      ];
    }),
  );
  await inSlices(deps.timers, new Set([...states.keys(), ...periods.keys()]), (key) => {
    const rows = {
      state: states.get(key)?.[0],
      grants: grants.get(key) ?? [],
      periods: periods.get(key) ?? [],
    };
    const about = must(rows.state ?? rows.periods[0], 'a meter has a row');
    const of = loaded.get(about.customer_id);
    if (of === undefined) return 1;
    const { customer, meters } = of;
    meters.push({ meter: meterOf(customer, about), state: meterState(rows, about, deps.ids) });
    return METER_ROWS + rows.grants.length + rows.periods.length;
  });
  return [...loaded.values()];
}

/** By customer and meter. */
async function readMeters(
  sql: Sql<Bigints>,
  { slots, ids }: { readonly slots: readonly number[]; readonly ids: readonly string[] },
): Promise<Rows> {
  const [states, grants, periods] = await Promise.all([
    byMeter(sql<StateRow[]>`
      select c.*, m.slug, m.aggregation as meter_aggregation, m.scale, m.carry, (
        select jsonb_agg(to_jsonb(u) || jsonb_build_object('price', ${priceJson(sql)}) order by u.started_at, u.place)
        from usage_spans u join usage_prices p on p.id = u.usage_price_id
        where u.slot = c.slot and u.customer_id = c.customer_id and u.meter_id = c.meter_id and u.live) as spans, (
        select jsonb_agg(${reservationJson(sql)} order by v.expires_at, v.id) from reservations v
        where v.customer_id = c.customer_id and v.meter_id = c.meter_id and v.status = 'open') as reservations, (
        select to_jsonb(t) from auto_topups t
        where t.slot = c.slot and t.customer_id = c.customer_id and t.meter_id = c.meter_id) as top_up,
        (select l.due_at from alarms l
          where l.slot = c.slot and l.actor_id = c.customer_id and l.subject_id = c.meter_id
        ) as alarm_at
      from unnest(${[...slots]}::smallint[], ${[...ids]}::uuid[]) k (slot, id)
      join customer_meters c on c.slot = k.slot and c.customer_id = k.id
      join meters m on m.id = c.meter_id`),
    byMeter(sql<GrantRow[]>`
      select g.*, case when p.id is not null then ${priceJson(sql)} end as price
      from unnest(${[...slots]}::smallint[], ${[...ids]}::uuid[]) k (slot, id)
      join grants g on g.slot = k.slot and g.customer_id = k.id and g.ended_at is null
      left join usage_prices p on p.id = g.usage_price_id`),
    byMeter(sql<PeriodRow[]>`
      select * from (
        select ${periodColumns(sql)}, a.slot, m.slug, m.aggregation as meter_aggregation, m.scale, m.carry,
          a.period_start < coalesce(c.period_start, 'epoch') as is_over,
          min(a.period_start) filter (where b.debits_pending > 0 and a.period_start < c.period_start)
            over (partition by a.customer_id) as held_since
        from unnest(${[...slots]}::smallint[], ${[...ids]}::uuid[]) k (slot, id)
        join accounts a on a.slot = k.slot and a.customer_id = k.id
        join balances b on b.slot = a.slot and b.id = a.id
        join meters m on m.id = a.meter_id
        left join customer_meters c on c.slot = a.slot and c.customer_id = a.customer_id and c.meter_id = a.meter_id
      ) p
      where not is_over or period_end > held_since
        or (meter_id in (select l.pool_id from credit_cost_lists l) and period_end > ${membersSince(sql)})
      order by period_start`),
  ]);
  return { states, grants, periods };
}

type Rows = {
  readonly states: ByMeter<StateRow>;
  readonly grants: ByMeter<GrantRow>;
  readonly periods: ByMeter<PeriodRow>;
};

type ByMeter<R> = ReadonlyMap<string, readonly R[]>;

/** What a meter takes beside its rows: ids are derived of it. */
const METER_ROWS = 10;

/** What a customer has of one meter. */
type MeterRows = {
  /** undefined: it has usage alone, and never had a grant. */
  readonly state: StateRow | undefined;
  readonly grants: readonly GrantRow[];
  readonly periods: readonly PeriodRow[];
};

/** Rows that one turn of the event loop reads: some 4 ms. */
const ROWS_AT_ONCE = 1000;

/** The server is asked for the next rows when the last are read. */
async function byMeter<R extends { readonly customer_id: string; readonly meter_id: string }>(
  query: PendingQuery<R[]>,
): Promise<ByMeter<R>> {
  const meters = new Map<string, R[]>();
  await query.cursor(ROWS_AT_ONCE, (rows) => {
    for (const row of rows) {
      const key = row.customer_id + row.meter_id;
      const known = meters.get(key);
      if (known === undefined) meters.set(key, [row]);
      else known.push(row);
    }
  });
  return meters;
}

/** See `Storage.identifyCustomers`. */
export async function identifyCustomers(
  sql: Sql<Bigints>,
  slotOf: (customerId: string) => number,
  ids: readonly string[],
): Promise<Customer[]> {
  const rows = await sql<CustomerRow[]>`
    select id, organisation_id, mode, external_customer_id, email from customers where id = any(${[...ids]}::uuid[])`;
  return rows.map((row) => ({
    id: row.id,
    slot: slotOf(row.id),
    organisationId: row.organisation_id,
    mode: row.mode,
    externalId: row.external_customer_id,
    email: row.email,
  }));
}

function meterState(
  { state: row, ...rows }: MeterRows,
  about: StateRow | PeriodRow,
  ids: Ids,
): MeterState {
  const key = { customerId: about.customer_id, meterId: about.meter_id };
  const meter = { id: about.meter_id, aggregation: about.meter_aggregation };
  const entitlement = entitlementId(ids, key);
  const account = (start: number): string => periodAccountId(ids, { ...key, start });
  const periods = rows.periods.map(periodOf);
  if (row === undefined) {
    const first = periods[0] ?? emptyPeriod(account(0), 0, null);
    return emptyMeterState(meter, entitlement, first);
  }
  const start = row.period_start.getTime();
  const end = row.period_end?.getTime() ?? null;
  assert(end === null || end > start, 'a period has a length');
  const opened = periods.find((period) => period.start === start);
  // Its account may still have the calendar's end of the period.
  const current =
    opened === undefined ? emptyPeriod(account(start), start, end) : { ...opened, end };
  const reservations = (row.reservations ?? []).map(reservationOf);
  const grants = rows.grants.map(grantOf).sort(burnOrder);
  const topUp = row.top_up === null ? null : topUpOf(row.top_up);
  const nextDue = nextDueOf({ grants, current, reservations, topUp });
  return {
    ...emptyMeterState(meter, entitlement, current),
    others: periods.filter((period) => period.start !== start),
    grants,
    allocated: row.allocated,
    stretch: stretchOf(row, start),
    spans: (row.spans ?? []).map(spanOf),
    topUp,
    firstGrantAt: row.first_grant_at?.getTime() ?? null,
    everExpired: row.ever_expired,
    exhausted: row.exhausted,
    fired: row.fired,
    sequence: row.sequence,
    eventAt: row.event_at.getTime(),
    reservations,
    untold: untoldBy(row.alarm_at?.getTime() ?? null, nextDue),
    nextDue,
  };
}

/**
 * A node of the release before moves a meter on without its stretch: that is of a period before.
 */
function stretchOf(row: StateRow, periodStart: number): MeterState['stretch'] {
  const { stretch_start: at, stretch_place: place, stretch_aggregate: aggregate } = row;
  if (at === null || at.getTime() < periodStart) return { start: periodStart, aggregate: 0n };
  return { start: momentOf(at.getTime(), place ?? 0), aggregate: aggregate ?? 0n };
}

function meterOf(customer: Customer, row: MeterColumns): Meter {
  return {
    id: row.meter_id,
    organisationId: customer.organisationId,
    mode: customer.mode,
    slug: row.slug,
    aggregation: row.meter_aggregation,
    scale: row.scale,
    carry: row.carry,
  };
}

/** See `Storage.resolveCustomers`. */
export async function resolveCustomers(
  sql: Sql<Bigints>,
  keys: readonly ExternalKey[],
): Promise<(ExternalKey & { id: string })[]> {
  const rows = await sql<CustomerRow[]>`
    select c.id, c.organisation_id, c.mode, c.external_customer_id
    from unnest(${keys.map((key) => key.organisationId)}::uuid[], ${keys.map((key) => key.mode)}::text[]::mode[],
      ${keys.map((key) => key.externalId)}::text[]) k (organisation_id, mode, external_id)
    join customers c on c.organisation_id = k.organisation_id and c.mode = k.mode
      and c.external_customer_id = k.external_id`;
  return rows.map((row) => ({
    organisationId: row.organisation_id,
    mode: row.mode,
    externalId: row.external_customer_id ?? '',
    id: row.id,
  }));
}

/** See `Storage.loadHistory`. */
export async function loadHistory(
  sql: Sql<Bigints>,
  key: MeterKey,
  since: number,
): Promise<History> {
  const { slot, customerId, meterId } = key;
  const from = new Date(since);
  const [periods, marks, ended] = await Promise.all([
    sql<PeriodRow[]>`
      select ${periodColumns(sql)} from accounts a join balances b on b.slot = a.slot and b.id = a.id
      where a.slot = ${slot} and a.customer_id = ${customerId} and a.meter_id = ${meterId}
        and (b.period_end is null or b.period_end > ${from} or b.debits_pending > 0)
      order by a.period_start`,
    sql<MarkColumns[]>`
      select started_at, place, account_id, aggregate, carried from stretch_marks
      where slot = ${slot} and customer_id = ${customerId} and meter_id = ${meterId} and started_at > ${from}
      order by started_at desc, place desc limit ${STRETCH_MARKS_MAX}`,
    sql<GrantRow[]>`
      select g.*, case when p.id is not null then ${priceJson(sql)} end as price
      from grants g left join usage_prices p on p.id = g.usage_price_id
      where g.slot = ${slot} and g.customer_id = ${customerId} and g.meter_id = ${meterId} and g.ended_at > ${from}
      order by g.ended_at desc limit ${ENDED_GRANTS_MAX}`,
  ]);
  return {
    periods: periods.map(periodOf),
    marks: marks.map(markOf).reverse(),
    ended: ended.map(grantOf).reverse(),
  };
}

function markOf(row: MarkColumns): StretchMark {
  return {
    accountId: row.account_id,
    start: momentOf(row.started_at.getTime(), row.place),
    aggregate: row.aggregate,
    carried: row.carried === null ? [] : fromJson<readonly Carried[]>(row.carried),
  };
}

function periodOf(row: PeriodRow): Period {
  return {
    accountId: row.id,
    start: row.period_start.getTime(),
    end: row.period_end?.getTime() ?? null,
    opened: true,
    granted: row.granted,
    consumed: row.consumed,
    reserved: row.reserved,
    aggregate: row.aggregate,
    latest:
      row.latest_at === null || row.latest_id === null
        ? null
        : { at: row.latest_at.getTime(), id: row.latest_id },
    rate: row.rate,
    updatedAt: row.updated_at?.getTime() ?? 0,
  };
}

function grantOf(row: GrantRow): Grant {
  const cycle = cycleOf(row);
  const rollover =
    row.rollover_max === null || row.rollover_periods === null
      ? null
      : { max: row.rollover_max, expiresAfterPeriods: row.rollover_periods };
  return {
    id: row.id,
    source: row.source,
    amount: row.amount,
    used: row.used,
    // Nodes of the release before keep what has grown as `spent` below 0.
    spent: row.spent > 0n ? row.spent : 0n,
    grown: row.spent < 0n ? -row.spent : row.grown,
    cut: row.cut === null ? [] : fromJson<readonly CutUse[]>(row.cut),
    rests: restsOf(row),
    cap: row.source === 'rollover' ? row.rollover_max : null,
    startedAt: row.started_at && momentOf(row.started_at.getTime(), row.started_in ?? 0),
    endedIn: row.ended_in ?? 0,
    effectiveAt: row.effective_at.getTime(),
    expiresAt: row.expires_at?.getTime() ?? null,
    priority: row.priority,
    createdAt: row.created_at.getTime(),
    overageAllowed: row.overage_allowed,
    price: row.price === null ? null : usagePriceOf(row.price),
    charges: row.charges,
    recurs: cycle === null ? null : { cycle, rollover },
    renewsAt: row.renews_at?.getTime() ?? null,
    started: row.started,
    suspended: row.suspended,
    boolean: row.is_boolean,
    productId: row.product_id,
    subscriptionId: row.subscription_id,
    reason: row.reason,
    ended:
      row.ended_at === null || row.ended_how === null
        ? null
        : { at: row.ended_at.getTime(), how: row.ended_how },
  };
}

/** A node of the release before suspends without saying since when. */
function restsOf({ rests, suspended }: GrantRow): readonly Rest[] {
  if (rests !== null) return fromJson<readonly Rest[]>(rests);
  return suspended === null ? [] : [{ from: 0, until: null }];
}

function cycleOf(row: GrantRow): Cycle | null {
  const {
    cycle_anchor: anchor,
    reset_interval: interval,
    reset_count: count,
    cycle_zone: zone,
  } = row;
  if (anchor === null || interval === null || count === null || zone === null) return null;
  return { anchor: anchor.getTime(), interval, count, zone };
}

type CustomerRow = {
  id: string;
  organisation_id: string;
  mode: Mode;
  external_customer_id: string | null;
  email: string | null;
};

type MeterColumns = {
  meter_id: string;
  slug: string;
  meter_aggregation: Aggregation;
  scale: number;
  carry: boolean;
};

type PeriodRow = MeterColumns & {
  id: string;
  customer_id: string;
  period_start: Date;
  period_end: Date | null;
  granted: bigint;
  consumed: bigint;
  reserved: bigint;
  aggregate: bigint;
  latest_at: Date | null;
  latest_id: string | null;
  rate: bigint | null;
  updated_at: Date | null;
};

type StateRow = MeterColumns &
  RowOf<typeof STATE_COLUMNS> & {
    readonly spans: readonly SpanJson[] | null;
    readonly reservations: readonly ReservationJson[] | null;
    readonly top_up: TopUpJson | null;
    readonly alarm_at: Date | null;
  };

type MarkColumns = RowOf<typeof MARK_COLUMNS>;

type GrantRow = RowOf<typeof GRANT_COLUMNS> & { readonly price: UsagePriceRow | null };
