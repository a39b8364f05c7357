// Usage over time: what was used in each bin of a range.
//
// How it works: usage is kept by quarter of an hour (`usage_bins` of a customer's accounts,
// `usage_totals` of a meter), and what is not added there yet in `usage_deltas` and
// `usage_corrections`. A quarter that the range cuts, and groups by metadata, are read from the
// events themselves. All in one snapshot, so that each event counts once.
// Holds: what is read has a bound. The quarters tell beforehand how many events there are, and a
// reading ends behind the bound. Where retention has dropped events, the others do not come to what
// the quarters say, and nothing is answered.
import type { Ids } from '../../ledger/ports.ts';
import { EVENTS_OF } from '../../ledger/store/events-of.ts';
import { one } from '../../ledger/kernel/quantity.ts';
import type { Executor, Sql } from '../platform/postgres/postgres.ts';
import { ANSWER_BYTES_MAX, GROUPED_ROW_BYTES } from '../platform/answer-bounds.ts';
import {
  accountsOf,
  dateOf,
  eventAt,
  type Fragment,
  isAmong,
  isIncomplete,
  isUsage,
  QUARTER_MS,
  type Range,
  recordedNear,
  sideAccounts,
  type UsageSource,
} from './usage-sources.ts';

/** Events that are read for one answer. */
const EVENTS_MAX = 250_000;
/** Groups by name. */
const GROUPS_MAX = 250;

export type UsageSeries = {
  readonly source: UsageSource;
  /** Of the bins, in milliseconds: they ascend, and are one more than bins. */
  readonly edges: readonly number[];
  /** The name in the metadata; null: no groups. */
  readonly groupBy: string | null;
};

/** What was used in a bin, or in it by one group. */
export type BinnedUsage = {
  /** From 0. */
  readonly bin: number;
  /** A JSON scalar as text; null for the rest, and where there are no groups. */
  readonly group: string | null;
  /** Scaled. */
  readonly value: bigint;
  readonly events: number;
};

/**
 * Why there is none: what was recorded before there were bins is still being added; it takes events
 * that retention has dropped; or it has more events, or more groups in bins, than an answer may.
 */
export type NoSeries = 'incomplete' | 'dropped' | 'too_many_events' | 'too_many_groups';

/**
 * In order of time, the groups of a bin by what they used in the whole range, the rest last. Bins
 * without usage may be left out.
 */
export function readUsageSeries(
  sql: Sql,
  ids: Ids,
  series: UsageSeries,
): Promise<readonly BinnedUsage[] | NoSeries> {
  return sql.begin('isolation level repeatable read read only', async (snapshot) => {
    if (await isIncomplete(snapshot)) return 'incomplete';
    const { source } = series;
    const found = await (series.groupBy === null
      ? readBins(snapshot, ids, series)
      : readGroups(snapshot, ids, series));
    return typeof found === 'string' ? found : found.map((row) => measured(source, row));
  });
}

/** As the database sums: values as reported, events less corrections, and all events. */
type Sums = { readonly sum: bigint; readonly net: number; readonly events: number };
type Summed = Pick<BinnedUsage, 'bin' | 'group'> & Sums;

const NOTHING: Sums = { sum: 0n, net: 0, events: 0 };

/** A meter that counts takes one off for a correction. */
function measured({ meter }: UsageSource, { bin, group, sum, net, events }: Summed): BinnedUsage {
  const isCount = meter.aggregation === 'count';
  return { bin, group, value: isCount ? BigInt(net) * one(meter.scale) : sum, events };
}

async function readBins(
  sql: Executor,
  ids: Ids,
  { source, edges }: UsageSeries,
): Promise<readonly Summed[] | NoSeries> {
  const range = rangeOf(edges);
  const bins = new Map<number, Summed>();
  const add = (bin: number, sums: Sums): void => {
    bins.set(bin, { bin, group: null, ...plus(bins.get(bin) ?? NOTHING, sums) });
  };
  for (const stretch of await readQuarters(sql, source, edges)) {
    const { start, end } = stretch;
    const bin = Math.max(
      0,
      edges.findLastIndex((edge) => edge <= start),
    );
    if (start >= range.start && end <= range.end) add(bin, stretch);
    else {
      const reading = { source, quarters: { start, end }, edges: [range.start, range.end] };
      const cut = await readEvents(sql, ids, { ...reading, groupBy: null, expected: stretch });
      if (typeof cut === 'string') return cut;
      for (const sums of cut) add(bin, sums);
    }
  }
  return [...bins.values()];
}

async function readGroups(
  sql: Executor,
  ids: Ids,
  { source, edges, groupBy }: UsageSeries,
): Promise<readonly Summed[] | NoSeries> {
  const quarters = quartersOf(rangeOf(edges));
  const counted = await readQuarters(sql, source, [quarters.start, quarters.end]);
  const expected = counted.reduce(plus, NOTHING);
  return readEvents(sql, ids, { source, quarters, edges, groupBy, expected });
}

const plus = (a: Sums, b: Sums): Sums => ({
  sum: a.sum + b.sum,
  net: a.net + b.net,
  events: a.events + b.events,
});

type Stretch = Range & Sums;

/**
 * What the quarters of a range come to, between each two edges. Stretches without usage are left
 * out. The quarters that an end of the range cuts are stretches of their own.
 */
async function readQuarters(
  sql: Executor,
  source: UsageSource,
  edges: readonly number[],
): Promise<Stretch[]> {
  const range = rangeOf(edges);
  const { start, end } = quartersOf(range);
  const within = [...edges.slice(1, -1), range.start + QUARTER_MS - 1, range.end].map(floor);
  const cuts = [...new Set([start, ...within, end])].sort((a, b) => a - b);
  const accounts = await accountsOf(sql, source, { start, end });
  const entries = entriesOf(sql, { ...source, accounts }, { start, end });
  const found = await sql<({ stretch: number } & Record<'sum' | 'net' | 'events', string>)[]>`
    select width_bucket(quarter, ${timesOf(sql, cuts)}) as stretch, sum(value)::text as sum,
      sum(events)::text as net, sum(events + 2 * corrections)::text as events
    from (${entries}) entries group by 1 order by 1`;
  return found.map(({ stretch, sum, net, events }) => ({
    start: cuts[stretch - 1] ?? start,
    end: cuts[stretch] ?? end,
    sum: BigInt(sum),
    net: Number(net),
    events: Number(events),
  }));
}

/**
 * The entries of a range of quarters: those in bins, and those that are not added yet. `events` has
 * corrections taken off.
 */
function entriesOf(
  sql: Executor,
  { meter, customer, accounts }: UsageSource & { readonly accounts: readonly string[] },
  { start, end }: Range,
): Fragment {
  const within = sql`quarter >= ${dateOf(start)} and quarter < ${dateOf(end)}`;
  const waiting = sql`usage_deltas, unnest(slots, accounts, quarters, sums, usage_deltas.events) as
    entry (slot, account_id, quarter, value, events)`;
  if (customer === null) {
    return sql`
      select quarter, value, events, corrections from usage_totals where meter_id = ${meter.id} and ${within}
      union all
      select quarter, entry.value, entry.events, 0 from ${waiting}
      join accounts a on a.slot = entry.slot and a.id = entry.account_id
      where a.meter_id = ${meter.id} and ${within}
      union all
      select quarter, 0, 0, c.corrections from usage_corrections c
      join accounts a on a.slot = c.slot and a.id = c.account_id
      where a.meter_id = ${meter.id} and ${within}`;
  }
  return sql`
    select quarter, value, events, corrections from unnest(${[...accounts]}::uuid[]) a (id)
    join usage_bins b on b.slot = ${customer.slot} and b.account_id = a.id where ${within}
    union all
    select quarter, entry.value, entry.events, 0 from ${waiting}
    where entry.slot = ${customer.slot} and entry.account_id = any(${[...accounts]}::uuid[]) and ${within}
    union all
    select quarter, 0, 0, corrections from usage_corrections
    where slot = ${customer.slot} and account_id = any(${[...accounts]}::uuid[]) and ${within}`;
}

type Reading = UsageSeries & {
  /** All events of these are read, and come to what is `expected`. */
  readonly quarters: Range;
  readonly expected: Sums;
};

async function readEvents(
  sql: Executor,
  ids: Ids,
  reading: Reading,
): Promise<readonly Summed[] | NoSeries> {
  const { source, quarters, edges, groupBy, expected } = reading;
  const { meter, customer } = source;
  // One commit on a meter that counts may stand for any number of them.
  if (expected.events > EVENTS_MAX && meter.aggregation !== 'count') return 'too_many_events';
  const whose =
    customer === null
      ? isAmong(sql, 'credit', (await sideAccounts(sql, ids))(meter.id))
      : isAmong(sql, 'debit', await accountsOf(sql, source, quarters));
  const inBins = sql`bin between 1 and ${edges.length - 1}`;
  const size = meter.aggregation === 'count' ? sql`net` : sql`sum`;
  const rows = await sql<
    (Omit<Summed, keyof Sums> &
      Record<keyof Sums | 'seen', string> & { readonly isLong: boolean })[]
  >`
    with binned as (
      select width_bucket(at, ${timesOf(sql, edges)}) as bin,
        ${groupBy === null ? sql`null::jsonb` : sql`metadata -> ${groupBy}::text`} as label,
        sum(value) as sum, sum(events) as net, sum(abs(events)) as events, count(*) as seen
      from (${eventsOf(sql, whose, quarters)}) raw group by 1, 2),
    sized as (
      select *, sum(${size}) filter (where ${inBins}) over (partition by label) as total from binned),
    ranked as (
      select *, dense_rank() over (order by label is null or total is null, total desc, label) as place from sized),
    named as (
      select *, case when label is not null and total is not null and place <= ${GROUPS_MAX} then place end as rank
      from ranked),
    rows as (
      select bin, rank, min(label::text) filter (where rank is not null) as group, sum(sum)::text as sum,
        sum(net)::text as net, sum(events)::text as events, sum(seen) as seen
      from named group by bin, rank),
    measured as (
      select *, row_number() over (order by bin, rank) as nth, (sum(seen) over ())::text as all_seen,
        ${GROUPED_ROW_BYTES} * count(*) filter (where ${inBins}) over ()
          + coalesce(sum(octet_length("group")) filter (where ${inBins}) over (), 0) > ${ANSWER_BYTES_MAX} as is_long
      from rows)
    select bin - 1 as bin, "group", sum, net, events, all_seen as seen, is_long as "isLong"
    from measured where nth = 1 or not is_long order by nth`;
  const [first] = rows;
  if (Number(first?.seen ?? 0) > EVENTS_MAX) return 'too_many_events';
  // Of those there is one row.
  if (first?.isLong === true) return 'too_many_groups';
  const found = rows.map(({ bin, group, sum, net, events }) => {
    return { bin, group, sum: BigInt(sum), net: Number(net), events: Number(events) };
  });
  const all = found.reduce(plus, NOTHING);
  // Bins may have too few corrections: those that an upgrade has not counted yet, or never will.
  const isWhole =
    all.sum === expected.sum && all.net === expected.net && all.events >= expected.events;
  if (!isWhole) return 'dropped';
  return found.filter(({ bin }) => bin >= 0 && bin < edges.length - 1);
}

/** The events of a range, and more than `EVENTS_MAX` of them where there are more. */
function eventsOf(sql: Executor, whose: Fragment, range: Range): Fragment {
  const at = eventAt(sql);
  const events = sql.unsafe(EVENTS_OF);
  const { start, end } = range;
  const wanted = sql`
    ${whose} and ${isUsage(sql)} and ${at} >= ${dateOf(start)} and ${at} < ${dateOf(end)}`;
  return sql`
    (select ${at} as at, value, ${events} as events, metadata from transfers where ${wanted} limit ${EVENTS_MAX + 1})
    union all
    (select ${at}, value, ${events}, metadata from transfers_archive where ${wanted}
      and ${recordedNear(sql, range)} limit ${EVENTS_MAX + 1})`;
}

const floor = (at: number): number => Math.floor(at / QUARTER_MS) * QUARTER_MS;

/** The range with the whole of each quarter that it cuts. */
function quartersOf({ start, end }: Range): Range {
  return { start: floor(start), end: floor(end + QUARTER_MS - 1) };
}

function rangeOf(edges: readonly number[]): Range {
  const [start = 0] = edges;
  return { start, end: edges.at(-1) ?? start };
}

/** Read once, not for each row. */
const timesOf = (sql: Executor, times: readonly number[]): Fragment =>
  sql`(select ${times.map((at) => dateOf(at).toISOString())}::text[]::timestamptz[])`;
