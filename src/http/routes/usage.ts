import { Elysia } from 'elysia';
import type { Static } from '@sinclair/typebox';
import type { Ids, OrgClock } from '../../../ledger/ports.ts';
import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import { slotOf } from '../../../ledger/kernel/slot.ts';
import { iso } from '../../../ledger/kernel/iso.ts';
import type { Executor } from '../../platform/postgres/postgres.ts';
import { findMeterBySlug } from '../../records/meters.ts';
import {
  listUsageEvents,
  type UsageEventPage,
  type UsageEventQuery as UsageEventsWanted,
} from '../../records/usage-events.ts';
import type { CustomerRecord } from '../../records/customers.ts';
import { type NoSeries, readUsageSeries } from '../../records/usage-series.ts';
import type { UsageSource } from '../../records/usage-sources.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { type Issue, refuse, refuseInvalid, Unavailable } from '../edge/errors.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { findNamedCustomer, type NamedCustomer } from '../named-customer.ts';
import {
  cursorOf,
  fromUsageEvent,
  UsageEventQuery,
  UsageEvents,
  usageEventsAsked,
} from '../wire/usage-events.ts';
import {
  csvOfBinned,
  fromBinned,
  usageAsked,
  UsageQuery,
  UsageSeries,
} from '../wire/usage-series.ts';

export type UsageRoutesDeps = {
  readonly edge: Edge;
  readonly lists: FairSql;
  readonly ids: Ids;
  readonly orgClock: OrgClock;
};

const SERIES = {
  operationId: 'getUsage',
  summary: 'Usage of a feature over time',
  description:
    'In bins of a calendar: hours, days or months of a time zone, at most 1000. `from` and `to` are any instants, and the first and last bin are cut there. ' +
    'Each event is in the bin of its own time, late ones too; a bin without any has a 0. What /track, /events/ingest and the others have acknowledged ' +
    'is counted at once. With `group_by` each bin has a row for each group that it has, and one with `group: null` for the rest. Groups are read from ' +
    'the events, at most 250,000 of them, and so is a quarter of an hour that `from` or `to` cuts: where retention has dropped those events this is ' +
    '400. `format=csv` answers `start,end,value,events` and with groups `group`, as text. Only `sum` and `count` meters have bins.',
  tag: 'Usage',
  query: UsageQuery,
  answers: { 200: UsageSeries },
  alsoCsv: true,
  refusals: ['not_found'],
} as const;

const EVENTS = {
  operationId: 'listUsageEvents',
  summary: 'List events of usage, newest first',
  description:
    'Each as it was reported, in the order of its own time: a late one is where it belongs. With `next_cursor` the list goes on, without a gap or a repeat ' +
    'while others arrive. Without a filter, of all meters that there are. An event is kept as long as retention says (`RETENTION_USAGE_MONTHS`).',
  tag: 'Usage',
  query: UsageEventQuery,
  answers: { 200: UsageEvents },
} as const;

export function usageRoutes(deps: UsageRoutesDeps) {
  return new Elysia().get('/usage', ...readSeries(deps)).get('/usage/events', ...readEvents(deps));
}

function readSeries({ edge, lists, ids, orgClock }: UsageRoutesDeps): Route {
  return edge.organisation(SERIES, ({ principal, query }) => {
    const asked = usageAsked(query, orgClock.now(principal));
    if ('length' in asked) return refuseInvalid(asked);
    return lists.run(principal, async (sql) => {
      const source = await sourceOf(sql, principal, query);
      if (source instanceof Response) return source;
      // Before the reading begins: it sees all that was acknowledged until then.
      const exactThrough = orgClock.now(principal);
      const found = await readUsageSeries(sql, ids, { source, ...asked });
      if (found === 'incomplete') throw new Unavailable(INCOMPLETE);
      if (typeof found === 'string') return refuseInvalid([issueOf(found, asked.groupBy !== null)]);
      const { scale } = source.meter;
      if (query.format === 'csv') {
        return new Response(csvOfBinned(asked, found, scale), {
          headers: {
            'content-type': 'text/csv; charset=utf-8',
            'content-disposition': `attachment; filename="usage-${source.meter.slug}.csv"`,
            'cache-control': 'no-store',
            'x-content-type-options': 'nosniff',
          },
        });
      }
      const data = fromBinned(asked, found, scale);
      return Response.json({ data, exact_through: iso(exactThrough) });
    });
  });
}

type Wanted = NamedCustomer & { readonly feature_key: string };

/** Whose usage of what a query asks for, or the refusal. */
async function sourceOf(
  sql: Executor,
  scope: Tenant,
  wanted: Wanted,
): Promise<UsageSource | Response> {
  const meter = await findMeterBySlug(sql, scope, wanted.feature_key);
  if (meter === null) return refuse('not_found', 'no meter has this feature_key');
  const { aggregation } = meter;
  if (aggregation !== 'sum' && aggregation !== 'count') {
    const message = `is a meter of ${aggregation}, which has no bins`;
    return refuseInvalid([{ path: ['feature_key'], message }]);
  }
  const customer = await customerOf(sql, scope, wanted);
  if (customer === 'unknown') return refuse('not_found', 'no such customer');
  const owner = customer === null ? null : { id: customer.id, slot: slotOf(customer.id) };
  return { meter, customer: owner };
}

function readEvents({ edge, lists, ids }: UsageRoutesDeps): Route {
  return edge.organisation(EVENTS, ({ principal, query }) => {
    const asked = usageEventsAsked(query);
    if ('length' in asked) return refuseInvalid(asked);
    return lists.run(principal, async (sql) => {
      const whose = await filtersOf(sql, principal, query);
      const page =
        whose === null
          ? NO_EVENTS
          : await listUsageEvents(sql, ids, {
              tenant: principal,
              ...whose,
              ...asked,
              limit: query.limit ?? 50,
            });
      if (page === 'incomplete') throw new Unavailable(INCOMPLETE);
      const { events, next } = page;
      return Response.json({
        data: events.map(fromUsageEvent),
        next_cursor: next === null ? null : cursorOf(next),
      });
    });
  });
}

const INCOMPLETE = 'usage of before is still being counted';

const NO_EVENTS: UsageEventPage = { events: [], next: null };

type Filters = Pick<
  Static<typeof UsageEventQuery>,
  'customer_id' | 'external_customer_id' | 'feature_key'
>;

/** As in all lists, nothing matches what there is not: null. */
async function filtersOf(
  sql: Executor,
  scope: Tenant,
  { feature_key: slug, ...named }: Filters,
): Promise<Pick<UsageEventsWanted, 'customerId' | 'meterId'> | null> {
  const meter = slug === undefined ? undefined : await findMeterBySlug(sql, scope, slug);
  const customer = await customerOf(sql, scope, named);
  if (meter === null || customer === 'unknown') return null;
  return { customerId: customer?.id ?? null, meterId: meter?.id ?? null };
}

/** Null where none is named. Two ids name the same customer, or none. */
async function customerOf(
  sql: Executor,
  scope: Tenant,
  named: NamedCustomer,
): Promise<CustomerRecord | null | 'unknown'> {
  const { customer_id: id, external_customer_id: externalId } = named;
  if (id === undefined && externalId === undefined) return null;
  const customer = await findNamedCustomer(sql, scope, named);
  if (customer === null) return 'unknown';
  const isSame = externalId === undefined || externalId === customer.externalCustomerId;
  return isSame ? customer : 'unknown';
}

const QUARTERS = 'let from and to be at a quarter of an hour';

function issueOf(why: Exclude<NoSeries, 'incomplete'>, isGrouped: boolean): Issue {
  const path = [isGrouped ? 'group_by' : 'from'];
  switch (why) {
    case 'dropped':
      return isGrouped
        ? {
            path,
            message: 'takes the events of this range, and retention has dropped some of them',
          }
        : {
            path,
            message: `or to cuts a quarter of an hour whose events retention has dropped: ${QUARTERS}`,
          };
    case 'too_many_events':
      return isGrouped
        ? { path, message: 'would read more than 250000 events: narrow the range' }
        : {
            path,
            message: `or to cuts a quarter of an hour with more than 250000 events: ${QUARTERS}`,
          };
    case 'too_many_groups':
      return {
        path,
        message: 'has too many groups in too many bins: narrow the range, or take a larger bin',
      };
    default:
      return why satisfies never;
  }
}
