// What `GET /usage` takes and answers (docs/spec/usage.md#usage-over-time).
import { type Static, Type } from '@sinclair/typebox';
import { iso } from '../../../ledger/kernel/iso.ts';
import { decimal } from '../../../ledger/kernel/decimal.ts';
import { inRange, quantityNumber } from '../../../ledger/kernel/quantity.ts';
import {
  type Bin,
  BINS,
  BINS_MAX,
  binsBefore,
  type Calendar,
  edgesOf,
  endOfBin,
  startOfBin,
} from '../../metering/calendar-bins.ts';
import type { BinnedUsage, UsageSeries as Series } from '../../records/usage-series.ts';
import { csvRow, csvText } from '../csv.ts';
import type { Issue } from '../edge/errors.ts';
import { NO_ZONE, Timezone, zoneOf } from './timezone.ts';
import { timeOf } from './usage.ts';
import { Body, ExternalCustomerId, namedOneOf, Nullable, Timestamp, Uuid } from './values.ts';

const GROUP = 'metadata.';

export const UsageQuery = Body({
  feature_key: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'The slug of a `sum` or `count` meter.',
  }),
  customer_id: Type.Optional({
    ...Uuid,
    description: 'Without a customer: all customers together.',
  }),
  external_customer_id: Type.Optional(ExternalCustomerId),
  from: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'The start of the range. Default: the last 24 hours, 30 days or 12 months.',
    }),
  ),
  to: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'The end of the range (exclusive). Default: the end of the current bin.',
    }),
  ),
  bin: Type.Optional({ ...namedOneOf(BINS), default: 'day' }),
  timezone: Type.Optional({ ...Timezone, default: 'UTC' }),
  group_by: Type.Optional(
    Type.String({
      minLength: GROUP.length + 1,
      maxLength: 100,
      pattern: '^metadata\\.',
      error: 'must be metadata. and a name of metadata',
      description: 'A row for each value of a name in the metadata, such as `metadata.region`.',
    }),
  ),
  format: Type.Optional({ ...namedOneOf(['json', 'csv']), default: 'json' }),
});

type Query = Static<typeof UsageQuery>;

const Group = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()], {
  description:
    'With `group_by`: the value as it was sent, so 1 and "1" differ. null: events without the ' +
    'name, and those of all but the 250 largest groups.',
});

export const UsageBin = Type.Object({
  start: {
    ...Timestamp,
    description:
      'The start on the calendar, also if `from` is later: usage before `from` is not ' +
      'included.',
  },
  end: {
    ...Timestamp,
    description:
      'Exclusive. The end on the calendar, also if `to` is earlier: usage from `to` on is not ' +
      'included.',
  },
  value: Nullable(
    Type.Number({
      description:
        'The sum; for a `count` meter the number of events less corrections. null if it has ' +
        'more than 15 digits: the CSV has those.',
    }),
  ),
  events: Type.Integer({
    description:
      'The number of events, corrections included. A commit on a `count` meter counts as many ' +
      'as its units.',
  }),
  group: Type.Optional(Group),
});

export const UsageSeries = Type.Object({
  data: Type.Array(UsageBin, { description: 'In order of time, the largest groups first.' }),
  exact_through: {
    ...Timestamp,
    description:
      "A time of the organization's clock: every event that was acknowledged until then is " +
      'counted.',
  },
});

/** Times of the API have a year of four digits. */
const LAST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** How many bins there are without `from`. */
const COUNT: Record<Bin, number> = { hour: 24, day: 30, month: 12 };

export type Asked = Pick<Series, 'edges' | 'groupBy'> & {
  /** The edges as the calendar has them: those of the range may lie within a bin. */
  readonly shown: readonly number[];
};

/** The bins of a query, or what is wrong with it. `now` is the organisation's, in milliseconds. */
export function usageAsked(query: Query, now: number): Asked | Issue[] {
  const issues: Issue[] = [];
  const read = (name: 'from' | 'to'): number | null => {
    const text = query[name];
    const at = text === undefined ? null : timeOf(text);
    if (text !== undefined && at === null) {
      issues.push({ path: [name], message: 'must be an ISO 8601 time with a zone' });
    }
    return at;
  };
  const [first, last] = [read('from'), read('to')];
  const zone = zoneOf(query.timezone ?? 'UTC');
  if (zone === null) issues.push(NO_ZONE);
  if (zone === null || issues.length > 0) return issues;
  const calendar: Calendar = { bin: query.bin ?? 'day', zone };
  const to = last ?? endOfBin(calendar, now);
  const from = first ?? Math.max(0, startOf(calendar, to));
  if (from >= to) return [{ path: ['from'], message: 'must be before to' }];
  const edges = edgesOf(calendar, { from, to });
  if (edges === 'too_many') {
    return [{ path: ['bin'], message: `would be more than ${BINS_MAX} bins in this range` }];
  }
  const end = Math.min(endOfBin(calendar, to - 1), LAST_INSTANT);
  const shown = [startOfBin(calendar, from), ...edges.slice(1, -1), end];
  return { edges, shown, groupBy: query.group_by?.slice(GROUP.length) ?? null };
}

function startOf(calendar: Calendar, to: number): number {
  return binsBefore(calendar, endOfBin(calendar, to - 1), COUNT[calendar.bin]);
}

/** All bins: one without usage has a 0. */
export function fromBinned(
  { shown, groupBy }: Asked,
  found: readonly BinnedUsage[],
  scale: number,
): Static<typeof UsageBin>[] {
  return inBins(shown, found).map(({ bin, group, value, events }) => ({
    start: iso(shown[bin] ?? 0),
    end: iso(shown[bin + 1] ?? 0),
    value: inRange(value) ? quantityNumber(value, scale) : null,
    events,
    ...(groupBy !== null && { group: group === null ? null : scalarOf(group) }),
  }));
}

/** The same as CSV; values are exact. */
export function csvOfBinned(
  { shown, groupBy }: Asked,
  found: readonly BinnedUsage[],
  scale: number,
): string {
  const groups = groupBy === null ? [] : ['group'];
  const rows = inBins(shown, found).map(({ bin, group, value, events }) =>
    csvRow([
      iso(shown[bin] ?? 0),
      iso(shown[bin + 1] ?? 0),
      decimal(value, scale),
      String(events),
      ...groups.map(() => (group === null ? '' : textOf(scalarOf(group)))),
    ]),
  );
  return csvRow(['start', 'end', 'value', 'events', ...groups]) + rows.join('');
}

const scalarOf = (json: string) => JSON.parse(json) as string | number | boolean;

const textOf = (scalar: string | number | boolean): string =>
  typeof scalar === 'string' ? csvText(scalar) : String(scalar);

/** What was found, and an empty one for each bin without. */
function inBins(edges: readonly number[], found: readonly BinnedUsage[]): BinnedUsage[] {
  const all: BinnedUsage[] = [];
  let next = 0;
  for (let bin = 0; bin < edges.length - 1; bin += 1) {
    const from = next;
    while (found[next]?.bin === bin) next += 1;
    if (next > from) all.push(...found.slice(from, next));
    else all.push({ bin, group: null, value: 0n, events: 0 });
  }
  return all;
}
