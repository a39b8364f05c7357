// The events behind lines of usage on an invoice, in pages.
//
// How it works: a line's spans say which stretches of which periods it bills. The events of sold
// usage are found by their period and time (`transfers_sold`), in the table and in the archive. The
// place after a page is the last event's time and id, which never change.
//
// Holds: each event is in one place of the order, so a page that follows another neither repeats
// nor misses what was there before, wherever retention has moved it meanwhile. A page costs what it
// has, and a bounded number of spans without any.
// What it does not do: find what retention has dropped.
import { EVENT_EARLY_MS_MAX } from '../../ledger/limits.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { UsageLine } from './invoices.ts';
import type { Executor } from '../platform/postgres/postgres.ts';

const MS = '1 millisecond';

/** A stretch of time whose usage a line bills. */
export type BilledSpan = {
  readonly usageId: string;
  readonly accountId: string;
  readonly start: Date;
  readonly end: Date;
  /** Of its period. */
  readonly periodStart: Date;
  readonly scale: number;
};

export type RawEvent = {
  readonly id: string;
  readonly eventAt: Date;
  readonly recordedAt: Date;
  /** Scaled. */
  readonly value: bigint;
  /** As JSON. */
  readonly metadata: string | null;
};

/** The event after which a page begins. */
export type RawPlace = Pick<RawEvent, 'id' | 'eventAt'>;

/**
 * Of the lines, in order of time; those of a line together. Of a period that several invoices bill,
 * each line has what is of its own time. Of spans that begin in one millisecond, the first has its
 * events.
 */
export async function listBilledSpans(
  sql: Executor,
  { organisationId, mode }: Tenant,
  lines: readonly Pick<UsageLine, 'usageId' | 'period'>[],
): Promise<BilledSpan[]> {
  if (lines.length === 0) return [];
  const column = <T>(of: (line: (typeof lines)[number]) => T): T[] => lines.map(of);
  return sql<BilledSpan[]>`
    select s.billed_as as "usageId", s.account_id as "accountId", s.started_at + ${MS}::interval * least(s.place, 1) as start,
      greatest(s.ended_at, s.started_at + ${MS}::interval) as end,
      a.period_start as "periodStart", m.scale
    from unnest(${column(({ usageId }) => usageId)}::uuid[], ${column(({ period }) => period.start.toISOString())}::timestamptz[],
      ${column(({ period }) => period.end.toISOString())}::timestamptz[]) with ordinality l (usage_id, start, "end", place)
    join usage_spans s on s.billed_as = l.usage_id and s.started_at >= l.start and s.ended_at <= l.end
    join meters m on m.id = s.meter_id
    join accounts a on a.slot = s.slot and a.id = s.account_id
    where s.organisation_id = ${organisationId} and s.mode = ${mode}
    order by l.place, s.started_at, s.place`;
}

/**
 * Events of one span, the oldest first. An event with a time after a change of plan that was
 * recorded before it counts before it, as it was billed.
 */
export async function listRawEvents(
  sql: Executor,
  { accountId, start, end, periodStart }: BilledSpan,
  { after, limit }: { readonly after: RawPlace | null; readonly limit: number },
): Promise<RawEvent[]> {
  const at = sql`coalesce(event_at, at)`;
  const of = (table: 'transfers' | 'transfers_archive') => sql`
    select id, ${at} as "eventAt", at as "recordedAt", value, metadata
    from ${sql(table)}
    where sold and debit = ${accountId} and value is not null and kind <> 'refused'
      and ${at} >= ${start} and ${at} < ${new Date(end.getTime() + EVENT_EARLY_MS_MAX)}
      and (${at} < ${end} or at < ${end}) and (${start.getTime() <= periodStart.getTime()} or at >= ${start})
      ${after === null ? sql`` : sql`and (${at}, id) > (${after.eventAt}, ${after.id})`}
    order by ${at}, id limit ${limit}`;
  // Each in its order, so that no more is read than a page has.
  return sql<RawEvent[]>`
    select id, "eventAt", "recordedAt", value, metadata::text as metadata
    from ((${of('transfers')}) union all (${of('transfers_archive')})) events
    order by "eventAt", id limit ${limit}`;
}
