// What `GET /reports/overview` answers: a day of the organisation, beside the same weekday a week
// before.
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { iso } from '../../../ledger/kernel/iso.ts';
import { formatMoney } from '../../../ledger/kernel/money.ts';
import { inRange, one as unit, quantityNumber } from '../../../ledger/kernel/quantity.ts';
import { binsBefore, edgesOf, endOfBin } from '../../metering/calendar-bins.ts';
import type {
  ByHour,
  CountedMeter,
  Days,
  Failed,
  FeatureUsage,
  Hours,
  Revenue,
  SubscriptionCounts,
} from '../../records/overview.ts';
import type { EndpointCounts } from '../../records/webhook-health.ts';
import { Currency } from './money.ts';
import { Nullable, Timestamp } from './values.ts';

const Count = Type.Integer({ minimum: 0 });
const Signed = Type.String({
  pattern: '^-?\\d+(\\.\\d+)?$',
  description:
    'A decimal with exactly the decimals of its currency. Negative if more was refunded.',
  examples: ['12.50'],
});
const Quantity = Nullable(Type.Number({ description: 'null if it has more than 15 digits.' }));

const dayOf = <T extends TSchema>(of: T) =>
  Type.Object({
    total: of,
    hours: Type.Array(of, { description: 'One for each hour of that day.' }),
  });

export const AmountByHour = dayOf(Signed);
export const QuantityByHour = dayOf(Quantity);
export const CountByHour = dayOf(Count);

export const DayOfHours = Type.Object({
  start: Timestamp,
  end: Timestamp,
  hours: Type.Array(Timestamp, { description: 'When each begins. Most days have 24.' }),
});

export const RevenueByHour = Type.Object({
  currency: Currency,
  today: AmountByHour,
  last_week: AmountByHour,
});

export const FeatureByHour = Type.Object({
  feature_key: Type.String(),
  today: QuantityByHour,
  last_week: QuantityByHour,
});

export const DenialsByHour = Type.Object({ today: CountByHour, last_week: CountByHour });

export const CountOfDay = Type.Object({ today: Count, last_week: Count });

export const SubscriptionsByState = Type.Object(
  { active: Count, trialing: Count, past_due: Count, paused: Count, blocked: Count },
  { description: 'Each subscription that has not ended is counted in one of these.' },
);

export const WebhooksOfDay = Type.Object(
  {
    endpoints: Count,
    disabled: Count,
    delivered: Count,
    waiting: Count,
    failed: { ...Count, description: 'Failed after all retries.' },
  },
  { description: 'Deliveries that were created today: for each endpoint the newest 1,000.' },
);

export const Overview = Type.Object({
  at: { ...Timestamp, description: "The organization's clock." },
  timezone: Type.String({ description: 'The time zone whose midnight begins a day.' }),
  today: DayOfHours,
  last_week: { ...DayOfHours, description: 'The same weekday, a week before.' },
  revenue: Type.Array(RevenueByHour, {
    description: 'Captures less refunds, by the hour in which they were made.',
  }),
  subscriptions: SubscriptionsByState,
  usage: Nullable(
    Type.Array(FeatureByHour, {
      description:
        'For `sum` and `count` meters, at most the 50 oldest, without those that have no ' +
        'usage. null while usage from before there were bins is being added.',
    }),
  ),
  denials: DenialsByHour,
  failed_payments: CountOfDay,
  webhooks: WebhooksOfDay,
});

/** Today and the same weekday a week before, by hour in the zone. `now` is in milliseconds. */
export function daysOf(now: number, zone: string): Days {
  const calendar = { bin: 'day', zone } as const;
  const end = endOfBin(calendar, now);
  return {
    today: hoursOf(binsBefore(calendar, end, 1), end, zone),
    before: hoursOf(binsBefore(calendar, end, 8), binsBefore(calendar, end, 7), zone),
  };
}

function hoursOf(from: number, to: number, zone: string): Hours {
  const edges = edgesOf({ bin: 'hour', zone }, { from, to });
  return edges === 'too_many' ? [from, to] : edges;
}

export type Numbers = {
  readonly now: number;
  readonly zone: string;
  readonly days: Days;
  readonly revenue: ByHour<Revenue>;
  readonly subscriptions: SubscriptionCounts;
  readonly meters: readonly CountedMeter[];
  readonly usage: ByHour<FeatureUsage> | null;
  readonly denials: ByHour<{ readonly count: bigint }>;
  readonly failed: Failed;
  readonly webhooks: EndpointCounts;
};

export function fromNumbers(numbers: Numbers): Static<typeof Overview> {
  const { days, subscriptions, usage, meters, failed, webhooks } = numbers;
  return {
    at: iso(numbers.now),
    timezone: numbers.zone,
    today: fromHours(days.today),
    last_week: fromHours(days.before),
    revenue: revenueOf(numbers),
    subscriptions: {
      active: Number(subscriptions.active),
      trialing: Number(subscriptions.trialing),
      past_due: Number(subscriptions.pastDue),
      paused: Number(subscriptions.paused),
      blocked: Number(subscriptions.blocked),
    },
    usage: usage === null ? null : usageOf(days, meters, usage),
    denials: inHours(
      days,
      numbers.denials.map((entry) => ({ ...entry, units: entry.count })),
      Number,
    ),
    failed_payments: { today: Number(failed.today), last_week: Number(failed.before) },
    webhooks: {
      endpoints: Number(webhooks.endpoints),
      disabled: Number(webhooks.disabled),
      delivered: Number(webhooks.delivered),
      waiting: Number(webhooks.waiting),
      failed: Number(webhooks.exhausted),
    },
  };
}

const fromHours = (hours: Hours): Static<typeof DayOfHours> => ({
  start: iso(hours[0] ?? 0),
  end: iso(hours.at(-1) ?? 0),
  hours: hours.slice(0, -1).map((at) => iso(at)),
});

/** Both days with each of their hours, and their sums. */
function inHours<T>(
  { today, before }: Days,
  entries: ByHour<{ readonly units: bigint }>,
  show: (units: bigint) => T,
): { today: { total: T; hours: T[] }; last_week: { total: T; hours: T[] } } {
  const oneDay = (hours: Hours, isToday: boolean) => {
    const units = hours.slice(0, -1).map(() => 0n);
    for (const entry of entries) {
      if (entry.isToday === isToday) units[entry.hour] = (units[entry.hour] ?? 0n) + entry.units;
    }
    return { total: show(units.reduce((sum, one) => sum + one, 0n)), hours: units.map(show) };
  };
  return { today: oneDay(today, true), last_week: oneDay(before, false) };
}

function revenueOf({ days, revenue }: Numbers) {
  return [...new Set(revenue.map(({ currency }) => currency))].map((currency) => {
    const own = revenue
      .filter((entry) => entry.currency === currency)
      .map((entry) => ({ ...entry, units: entry.amount }));
    return { currency, ...inHours(days, own, (units) => formatMoney(units, currency)) };
  });
}

function usageOf(days: Days, meters: readonly CountedMeter[], usage: ByHour<FeatureUsage>) {
  return meters.flatMap(({ id, slug, aggregation, scale }) => {
    const isCount = aggregation === 'count';
    const own = usage
      .filter(({ meterId }) => meterId === id)
      .map((entry) => ({ ...entry, units: isCount ? entry.events * unit(scale) : entry.value }));
    if (own.length === 0) return [];
    const show = (units: bigint) => (inRange(units) ? quantityNumber(units, scale) : null);
    return [{ feature_key: slug, ...inHours(days, own, show) }];
  });
}
