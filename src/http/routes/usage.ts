import type { Static } from '@sinclair/typebox';
import type { Ids, OrgClock } from '../../../ledger/ports.ts';
import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import { slotOf } from '../../../ledger/kernel/slot.ts';
import { iso } from '../../../ledger/kernel/iso.ts';
import type { Executor, Sql } from '../../platform/postgres/postgres.ts';
import { ANSWER_BYTES_MAX } from '../../platform/answer-bounds.ts';
import { findMeterBySlug } from '../../records/meters.ts';
import {
  listUsageEvents,
  type UsageEventQuery as UsageEventsWanted,
  type UsagePlace,
} from '../../records/usage-events.ts';
import type { CustomerRecord } from '../../records/customers.ts';
import { type NoSeries, readUsageSeries } from '../../records/usage-series.ts';
import type { UsageSource } from '../../records/usage-sources.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { type Issue, refuse, refuseInvalid, Unavailable } from '../edge/errors.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { jsonText } from '../json-text.ts';
import { findNamedCustomer, type NamedCustomer } from '../named-customer.ts';
import { PageText } from '../page-text.ts';
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
  method: 'GET',
  path: '/usage',
  client: 'usage.retrieve',
  summary: 'Usage of a feature over time',
  description:
    'In bins of a calendar: hours, days or months of a time zone, at most 1,000. `from` and `to` ' +
    'may be any time: a bin has the start and end of the calendar, and the usage within the ' +
    'range. An event is in the bin of its own time, also when it comes late; a bin without ' +
    'events is 0. What /track, /events/ingest and the other calls have acknowledged is counted ' +
    'at once. With `group_by` each bin has a row for each of its groups and one with `group: ' +
    'null` for the rest; more than 1 MiB, some 10,000 rows, is 400, also as CSV. Groups are read ' +
    'from the events, at most 250,000 of them, and so is a quarter of an hour that `from` or ' +
    '`to` cuts: if retention has dropped those events it is 400. `format=csv` answers ' +
    '`start,end,value,events` and, with groups, `group`. Only `sum` and `count` meters have bins.',
  tag: 'Usage',
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query: UsageQuery,
  answers: { 200: UsageSeries },
  alsoCsv: true,
  refusals: ['not_found'],
} as const;

const EVENTS = {
  operationId: 'listUsageEvents',
  method: 'GET',
  path: '/usage/events',
  client: 'usage.events',
  summary: 'List usage events, newest first',
  description:
    'Each as it was reported, ordered by its own time. `next_cursor` continues the list without ' +
    'a gap or a repetition while others arrive. Without a filter it lists events of all meters. ' +
    'Events are kept for as long as the operator has set (`RETENTION_USAGE_MONTHS`).',
  tag: 'Usage',
  roles: ['owner', 'admin', 'support', 'read_only'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query: UsageEventQuery,
  answers: { 200: UsageEvents },
  refusals: ['not_found'],
} as const;

export function usageRoutes(deps: UsageRoutesDeps): Route[] {
  return [readSeries(deps), readEvents(deps)];
}

function readSeries({ edge, lists, ids, orgClock }: UsageRoutesDeps): Route {
  return edge.organisation(SERIES, ({ principal, query }) => {
    const asked = usageAsked(query, orgClock.now(principal));
    if ('length' in asked) return refuseInvalid(asked);
    if (namesTwo(query)) return refuseInvalid([ONE_NAME]);
    // Groups are read from the events themselves, which takes seconds where they are many.
    const run = asked.groupBy === null ? lists.run.bind(lists) : lists.runSlow.bind(lists);
    return run(principal, async (sql) => {
      const source = await sourceOf(sql, principal, query);
      if (source instanceof Response) return source;
      // Before the reading begins: it sees all that was acknowledged until then.
      const exactThrough = orgClock.now(principal);
      const found = await readUsageSeries(sql, ids, { source, ...asked });
      if (found === 'incomplete') throw new Unavailable(INCOMPLETE);
      if (typeof found === 'string') return refuseInvalid([issueOf(found, asked.groupBy !== null)]);
      const { scale } = source.meter;
      if (query.format === 'csv') {
        const csv = csvOfBinned(asked, found, scale);
        if (Buffer.byteLength(csv) > ANSWER_BYTES_MAX) return refuseInvalid([TOO_MANY_GROUPS]);
        return new Response(csv, {
          headers: {
            'content-type': 'text/csv; charset=utf-8',
            'content-disposition': `attachment; filename="usage-${source.meter.slug}.csv"`,
            'cache-control': 'no-store',
            'x-content-type-options': 'nosniff',
          },
        });
      }
      const data = fromBinned(asked, found, scale);
      const json = JSON.stringify({ data, exact_through: iso(exactThrough) });
      if (Buffer.byteLength(json) > ANSWER_BYTES_MAX) return refuseInvalid([TOO_MANY_GROUPS]);
      return jsonText(json);
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
  if (customer === 'unknown') return noCustomer();
  const owner = customer === null ? null : { id: customer.id, slot: slotOf(customer.id) };
  return { meter, customer: owner };
}

function readEvents({ edge, lists, ids }: UsageRoutesDeps): Route {
  return edge.organisation(EVENTS, ({ principal, query }) => {
    const asked = usageEventsAsked(query);
    if ('length' in asked) return refuseInvalid(asked);
    if (namesTwo(query)) return refuseInvalid([ONE_NAME]);
    return lists.run(principal, async (sql) => {
      const whose = await filtersOf(sql, principal, query);
      if (whose === 'unknown') return noCustomer();
      if (whose === null) return new PageText().answer({ next_cursor: null });
      return answerEvents(sql, ids, {
        tenant: principal,
        ...whose,
        ...asked,
        limit: query.limit ?? 50,
      });
    });
  });
}

/** Events that are read at once: each may have 25 KiB. */
const PORTION_EVENTS = 50;

async function answerEvents(sql: Sql, ids: Ids, wanted: UsageEventsWanted): Promise<Response> {
  const text = new PageText();
  let { after } = wanted;
  for (;;) {
    const limit = Math.min(wanted.limit - text.rows, text.rowsLeft(), PORTION_EVENTS);
    const page = await listUsageEvents(sql, ids, { ...wanted, after, limit });
    if (page === 'incomplete') throw new Unavailable(INCOMPLETE);
    for (const event of page.events) {
      if (!text.add(fromUsageEvent(event))) return text.answer({ next_cursor: writePlace(after) });
      after = { at: event.eventAt.getTime(), id: event.id };
    }
    after = page.next;
    const isOver = after === null || page.events.length < limit || text.rows >= wanted.limit;
    if (isOver) return text.answer({ next_cursor: writePlace(after) });
  }
}

const writePlace = (place: UsagePlace | null) => (place === null ? null : cursorOf(place));

const INCOMPLETE = 'usage of before is still being counted';

type Filters = Pick<
  Static<typeof UsageEventQuery>,
  'customer_id' | 'external_customer_id' | 'feature_key'
>;

/** As in all lists, nothing matches a meter that there is not: null. */
async function filtersOf(
  sql: Executor,
  scope: Tenant,
  { feature_key: slug, ...named }: Filters,
): Promise<Pick<UsageEventsWanted, 'customerId' | 'meterId'> | null | 'unknown'> {
  const meter = slug === undefined ? undefined : await findMeterBySlug(sql, scope, slug);
  const customer = await customerOf(sql, scope, named);
  if (customer === 'unknown') return customer;
  if (meter === null) return null;
  return { customerId: customer?.id ?? null, meterId: meter?.id ?? null };
}

const noCustomer = (): Response => refuse('not_found', 'no such customer');

const ONE_NAME: Issue = {
  path: ['customer_id'],
  message: 'does not go with external_customer_id: one of the two',
};

const namesTwo = ({ customer_id: id, external_customer_id: externalId }: NamedCustomer): boolean =>
  id !== undefined && externalId !== undefined;

/** Null where none is named. */
async function customerOf(
  sql: Executor,
  scope: Tenant,
  named: NamedCustomer,
): Promise<CustomerRecord | null | 'unknown'> {
  const { customer_id: id, external_customer_id: externalId } = named;
  if (id === undefined && externalId === undefined) return null;
  return (await findNamedCustomer(sql, scope, named)) ?? 'unknown';
}

const QUARTERS = 'let from and to be at a quarter of an hour';

/** Without groups an answer is small. */
const TOO_MANY_GROUPS: Issue = {
  path: ['group_by'],
  message: 'has more groups in more bins than 1 MiB holds: narrow the range, or take a larger bin',
};

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
      return TOO_MANY_GROUPS;
    default:
      return why satisfies never;
  }
}
