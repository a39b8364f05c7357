// The property: order, batches, repeats and lateness of events do not change the sum of money over
// the invoices. The same story is told to three customers: each event at its own time, with delays,
// and after one jump of the clock; what they are billed is reckoned here once more.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import fc from 'fast-check';
import { ids } from '../../../src/platform/ids.ts';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { holdsLater, seeded } from '../../ledger/property.ts';
import type { Reply } from '../../support/server.ts';
import { type Json, type Plan } from '../subscriptions/subscribing.ts';
import { Market } from './setting.ts';

// Each run is the life of three customers.
setDefaultTimeout(6 * PATIENCE_MS);

let market: Market;
beforeAll(async () => {
  market = await Market.open();
});
afterAll(() => market.close());

const HOUR_MS = 3_600_000;
const RUNS = 3;
const WEEK = 7 * 24;
const END = 3 * WEEK;

const WORLDS = ['on time', 'delayed', 'one jump'] as const;
type World = (typeof WORLDS)[number];

type Event = {
  /** In hours after the start. */
  readonly hour: number;
  readonly value: number;
  /** How many hours later it comes, in the world of delays. */
  readonly delay: number;
  /** Whether it comes twice. */
  readonly twice: boolean;
};

type Story = {
  readonly events: readonly Event[];
  readonly tiers: readonly {
    readonly upTo: number | null;
    readonly unit: number;
    readonly flat: number;
  }[];
  readonly model: 'graduated' | 'volume';
  readonly minimum: number;
  readonly reset: 'day' | 'week';
  readonly limit: number;
  /** A change of plan: when, in hours, and the limit of the other plan; null for none. */
  readonly change: { readonly hour: number; readonly limit: number } | null;
  /** Whether it is canceled after the last week, or renews. */
  readonly cancels: boolean;
};

/** In millionths of a cent, for what is rounded once. */
const UNIT = 1_000_000;

/** No event is at an edge, nor at a change. */
const timeOf = (hour: number): number => hour + 0.5;
const changeOf = ({ change }: Story): number | null =>
  change === null ? null : change.hour + 0.75;

const STORIES: fc.Arbitrary<Story> = fc.record({
  events: fc.array(
    fc.record({
      hour: fc.integer({ min: 0, max: END - 1 }),
      value: fc.integer({ min: -6, max: 25 }),
      delay: fc.integer({ min: 0, max: 10 * 24 }),
      twice: fc.boolean(),
    }),
    { minLength: 4, maxLength: 9 },
  ),
  tiers: fc
    .tuple(
      fc.integer({ min: 1, max: 12 }),
      fc.array(fc.integer({ min: 1, max: 99_999_999 }), { minLength: 2, maxLength: 2 }),
      fc.integer({ min: 0, max: 300 }),
    )
    .map(([upTo, [first = 1, second = 1], flat]) => [
      { upTo, unit: first, flat: 0 },
      { upTo: null, unit: second, flat },
    ]),
  model: fc.constantFrom('graduated', 'volume'),
  minimum: fc.constantFrom(0, 0, 125),
  reset: fc.constantFrom('day', 'week'),
  limit: fc.integer({ min: 0, max: 30 }),
  change: fc.option(
    fc.record({
      hour: fc.integer({ min: 1, max: END - 2 }),
      limit: fc.integer({ min: 0, max: 40 }),
    }),
  ),
  cancels: fc.boolean(),
});

test(seeded('billed usage follows from the events, in whatever order they come'), () =>
  holdsLater(
    fc.asyncProperty(fc.noShrink(STORIES), async (story) => {
      const expected = reckoned(story);
      for (const world of WORLDS) {
        expect({ world, cents: await told(story, world) }).toEqual({ world, cents: expected });
      }
    }),
    RUNS,
  ),
);

/** Tells it to a customer; what all invoices have of usage, in cents. */
async function told(story: Story, world: World): Promise<bigint> {
  const plan = await planOf(story, '30.00', story.limit);
  const other = await planOf(story, '40.00', story.change?.limit ?? 0, plan.feature);
  const subscription = await market.buyer(plan);
  const start = Date.parse(subscription.current_period_start);
  const arrivals = story.events.map((event, index) => {
    const late = { 'on time': 0, delayed: event.delay, 'one jump': END }[world];
    return {
      ...event,
      key: `${index}-${ids.next()}`,
      comes: timeOf(Math.min(event.hour + late, END)),
    };
  });
  const changesAt = changeOf(story);
  const stops = new Set(arrivals.map(({ comes }) => comes));
  if (changesAt !== null) stops.add(changesAt);
  for (const stop of [...stops].toSorted((a, b) => a - b)) {
    await market.advanceTo(start + stop * HOUR_MS);
    const due = arrivals.filter(({ comes }) => comes === stop);
    await send(world, { subscription, feature: plan.feature }, due);
    if (stop === changesAt)
      await market.act(subscription.id, 'change', { price_id: other.priceId });
  }
  await market.advanceTo(start + (END + 1) * HOUR_MS);
  if (story.cancels) await market.stop(subscription);
  else await market.toEnd(subscription);
  const cents = await market.money(subscription);
  if (!story.cancels) await market.stop(subscription);
  return cents;
}

function planOf(
  { tiers, model, minimum, reset }: Story,
  amount: string,
  limit: number,
  feature?: string,
): Promise<Plan> {
  const price = (cents: number) =>
    `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
  return market.sale({
    ...(feature !== undefined && { feature }),
    price: { amount, interval: 'week' },
    gives: { limit, reset_interval: reset },
    sells: {
      model,
      tiers: tiers.map(({ upTo, unit, flat }) => ({
        up_to: upTo,
        unit_amount: (unit / (100 * UNIT)).toFixed(8),
        flat_amount: price(flat),
      })),
      ...(minimum > 0 && { minimum_amount: price(minimum) }),
    },
  });
}

/** On time by `/track/batch`; later one by one, or all in one call, last first. With repeats. */
async function send(
  world: World,
  { subscription, feature }: { readonly subscription: Json; readonly feature: string },
  events: readonly (Event & { readonly key: string })[],
): Promise<void> {
  const start = Date.parse(subscription.current_period_start);
  const { customer_id } = subscription;
  const sent = events.toReversed().flatMap((event) => (event.twice ? [event, event] : [event]));
  if (world === 'on time') {
    const tracks = sent.map(({ value, key }) => ({
      feature_key: feature,
      customer_id,
      value,
      idempotency_key: key,
    }));
    return taken(await market.post('/track/batch', { tracks }));
  }
  const bodies = sent.map(({ hour, value, key }) => {
    const timestamp = new Date(start + timeOf(hour) * HOUR_MS).toISOString();
    return { name: feature, customer_id, value, timestamp, external_id: key };
  });
  const calls = world === 'delayed' ? bodies.map((body) => [body]) : [bodies];
  for (const call of calls) taken(await market.post('/events/ingest', { events: call }));
}

function taken({ status, text }: Reply): void {
  expect([status, text]).toEqual([200, text]);
  expect(text).not.toContain('"error"');
}

/** By docs/spec/balance.md#what-usage-costs, in whole millionths of a cent. */
function reckoned(story: Story): bigint {
  const { events, reset, change } = story;
  const step = reset === 'day' ? 24 : WEEK;
  const changeAt = changeOf(story);
  let cents = 0n;
  let line = 0n;
  for (let from = 0; from < END; from += step) {
    const until = from + step;
    const consumed = (before: number): number => {
      const counted = events.filter(({ hour }) => hour >= from && timeOf(hour) < before);
      return Math.max(
        0,
        counted.reduce((sum, { value }) => sum + value, 0),
      );
    };
    const cut = changeAt !== null && changeAt > from && changeAt < until;
    const isAfter = changeAt !== null && changeAt <= from;
    const limit = isAfter ? (change?.limit ?? 0) : story.limit;
    const beyond = Math.max(0, consumed(cut ? changeAt : until) - limit);
    line += rated(story, beyond, cut ? changeAt - from : step);
    if (cut) {
      // The change bills what came before it.
      cents += round(line);
      const other = change?.limit ?? 0;
      const [opening, closing] = [consumed(changeAt), consumed(until)].map((units) =>
        Math.max(0, units - other),
      );
      line = rated(story, Math.max(0, (closing ?? 0) - (opening ?? 0)), until - changeAt);
    }
    if (until % WEEK === 0) {
      cents += round(line);
      line = 0n;
    }
  }
  // After them there is no usage: an hour, or a week.
  const rest = story.cancels ? rated(story, 0, 1) : BigInt(WEEK / step) * rated(story, 0, step);
  return cents + round(rest);
}

/** `hours`: how long the price was in force in the period. A minimum is for that share of it. */
function rated({ tiers, model, minimum, reset }: Story, units: number, hours: number): bigint {
  let exact = 0n;
  let below = 0;
  for (const { upTo, unit, flat } of tiers) {
    const [low, high] = [below, upTo ?? Infinity];
    below = high;
    const isIn = units > low && units <= high;
    if (units <= low || (model === 'volume' && !isIn)) continue;
    const counted = model === 'volume' ? units : Math.min(units, high) - low;
    exact += BigInt(counted) * BigInt(unit) + BigInt(flat) * BigInt(UNIT);
  }
  const share = hours / (reset === 'day' ? 24 : WEEK);
  const least = BigInt(Math.round(minimum * share)) * BigInt(UNIT);
  return exact < least ? least : exact;
}

const round = (exact: bigint): bigint => (exact * 2n + BigInt(UNIT)) / (2n * BigInt(UNIT));
