import { expect, test } from 'bun:test';
import type { Aggregation } from '../../ledger/metering/meter.ts';
import type { Usage } from '../../ledger/metering/usage.ts';
import { type Recorded, usageEvent } from '../../ledger/metering/usage-event.ts';
import { HOUR, T0, World } from './world.ts';

const REQUEST = { idempotencyKey: null, externalId: null, metadata: null };

/** Records it, as one usage of a call. */
function use(
  world: World,
  value: bigint,
  fields: Partial<Usage & Recorded['request']> = {},
): Recorded {
  const outcome = world.use(value, fields);
  if (outcome.kind !== 'recorded') throw new Error(outcome.kind);
  return { request: { ...REQUEST, ...fields }, record: outcome.record };
}

const tell = (world: World, recorded: readonly Recorded[]) =>
  usageEvent(world.context, world.state, recorded);

const dataOf = (world: World, recorded: readonly Recorded[]) =>
  tell(world, recorded).events[0]?.data;

test('usage.recorded of one usage has what was asked, and the balance after it', () => {
  const world = new World('sum', 2);
  world.grant({ amount: 1000n });
  const metadata = { region: 'eu' };
  const usage = { id: 'usage', eventAt: T0 - HOUR, metadata, idempotencyKey: 'k', externalId: 'x' };
  const [event, ...rest] = tell(world, [use(world, 250n, usage)]).events;
  expect(rest).toEqual([]);
  expect(event).toMatchObject({
    type: 'usage.recorded',
    objectType: 'USAGE',
    objectId: 'usage',
    accountId: 'customer',
    sequence: 1n,
    timestamp: world.now,
  });
  expect(event?.data).toEqual({
    customerId: 'customer',
    externalCustomerId: null,
    featureKey: 'feature',
    meterId: 'meter',
    count: 1,
    value: 2.5,
    consumed: 2.5,
    balance: 7.5,
    usageEventId: 'usage',
    idempotencyKey: 'k',
    externalId: 'x',
    metadata,
    occurredAt: new Date(T0 - HOUR).toISOString(),
  });
});

test('usage.recorded adds no row but the event', () => {
  const world = new World();
  const effects = tell(world, [use(world, 1n)]);
  expect({ ...effects, events: [] }).toEqual({
    kind: 'meter',
    customer: world.customer,
    meter: world.meter,
    state: world.state,
    transfers: [],
    spans: [],
    marks: [],
    reservations: [],
    pooled: [],
    beside: [],
    periods: [],
    grants: [],
    events: [],
    members: [],
    topUpChanged: false,
    topUpOrders: [],
    stateChanged: false,
  });
});

// prettier-ignore
const TOGETHER: [Aggregation, bigint[], number, number][] = [
  // aggregation  values               value  consumed
  ['sum',         [3n, 4n, -2n],       5,     5],
  ['count',       [3n, 4n],            7,     2],
  ['unique',      [1n, 1n],            2,     1],
  ['max',         [3n, 7n, 5n],        7,     7],
  ['last',        [3n, 7n, 5n],        5,     5],
];

test.each(TOGETHER)(
  'usage.recorded of %s of %p together is %p, consumed %p',
  (aggregation, values, value, consumed) => {
    const world = new World(aggregation);
    const recorded = values.map((one) => use(world, one, { member: 9n }));
    expect(dataOf(world, recorded)).toMatchObject({ count: values.length, value, consumed });
  },
);

test('usage.recorded of a last meter goes by the time of the usage, not by its place in the call', () => {
  const world = new World('last');
  const recorded = [use(world, 7n, { eventAt: T0 }), use(world, 3n, { eventAt: T0 - 1 })];
  expect(dataOf(world, recorded)).toMatchObject({ value: 7, consumed: 7 });
});

test('usage.recorded of several usages has the fields of the last of them', () => {
  const world = new World();
  const first = use(world, 1n, { id: 'first', idempotencyKey: 'a', metadata: { n: '1' } });
  const last = use(world, 2n, { id: 'last', eventAt: T0 - HOUR, externalId: 'b' });
  expect(tell(world, [first, last]).events[0]).toMatchObject({
    objectId: 'last',
    sequence: 1n,
    data: {
      usageEventId: 'last',
      idempotencyKey: null,
      externalId: 'b',
      metadata: null,
      occurredAt: new Date(T0 - HOUR).toISOString(),
      consumed: 3,
    },
  });
});

test('usage.recorded has no balance where unlimited, and a negative one beyond the limit', () => {
  const unlimited = new World();
  unlimited.grant({ amount: null });
  expect(dataOf(unlimited, [use(unlimited, 5n)])).toMatchObject({ balance: null, consumed: 5 });
  const over = new World();
  over.grant({ amount: 3n });
  expect(dataOf(over, [use(over, 5n)])).toMatchObject({ balance: -2, consumed: 5 });
});

test('usage.recorded has no sum of values that are too great together', () => {
  const world = new World('count');
  const most = 10n ** 15n - 1n;
  const recorded = [use(world, most), use(world, most)];
  expect(dataOf(world, recorded)).toMatchObject({ count: 2, value: null, consumed: 2 });
  expect(dataOf(world, recorded.slice(1))).toMatchObject({ value: Number(most) });
});
