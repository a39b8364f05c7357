import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Aggregation } from '../../ledger/metering/meter.ts';
import { holds, seeded } from './property.ts';
import { DAY, HOUR, T0, World } from './world.ts';

// prettier-ignore
const AGGREGATES: [Aggregation, bigint[], bigint][] = [
  // aggregation  values             consumed
  ['sum',         [3n, 4n],          7n],
  ['sum',         [3n, 0n],          3n],
  ['sum',         [3n, -1n],         2n],     // a correction
  ['sum',         [3n, -5n],         0n],     // consumption never goes below 0
  ['sum',         [-5n, 3n],         0n],     // in any order
  ['sum',         [-5n, 3n, 4n],     2n],
  ['count',       [3n, 4n, 0n],      3n],
  ['count',       [3n, -1n, 9n],     1n],     // takes one event back
  ['count',       [-1n, -1n, 5n],    0n],
  ['max',         [3n, 7n, 5n],      7n],
  ['max',         [0n],              0n],
  ['last',        [3n, 7n, 5n],      5n],
  ['last',        [7n, 0n],          0n],
];

test.each(AGGREGATES)('the aggregation %s of %p is %p', (aggregation, values, consumed) => {
  const world = new World(aggregation);
  for (const value of values) world.use(value);
  expect(world.numbers[1]).toBe(consumed);
});

test('a unique meter counts each member once in a period, and again in the next', () => {
  const world = new World('unique');
  world.grant({ every: 'day' });
  for (const member of [1n, 2n, 1n, 3n, 2n]) world.use(1n, { member });
  expect(world.numbers[1]).toBe(3n);
  world.now += DAY;
  world.use(1n, { member: 1n });
  world.use(1n, { member: 2n, eventAt: T0 });
  expect([world.numbers[1], world.consumedIn(T0)]).toEqual([1n, 3n]);
});

test('meters of count, unique, max and last are in units of their scale', () => {
  const count = new World('count', 6);
  count.use(5_000_000n);
  const unique = new World('unique', 2);
  unique.use(100n, { member: 9n });
  expect([count.numbers[1], unique.numbers[1]]).toEqual([1_000_000n, 100n]);
});

test('a last meter takes the later time, then the greater id, in whatever order they come', () => {
  const world = new World('last');
  world.now = T0 + HOUR;
  world.use(5n, { eventAt: T0 + 10, id: 'b' });
  world.use(6n, { eventAt: T0 + 9, id: 'z' });
  expect(world.numbers[1]).toBe(5n);
  world.use(7n, { eventAt: T0 + 10, id: 'a' });
  expect(world.numbers[1]).toBe(5n);
  world.use(8n, { eventAt: T0 + 10, id: 'c' });
  expect(world.numbers[1]).toBe(8n);
});

test.each(['max', 'last'] as const)(
  'a correction of a %s meter throws: the edge refuses it',
  (aggregation) => {
    expect(() => new World(aggregation).use(-1n)).toThrow('takes no corrections');
  },
);

type Admission = 'record' | 'reject' | 'consume';

// prettier-ignore
const ADMITTED: [Admission, string, bigint, bigint, string, bigint][] = [
  // admission  granted        used  value  outcome                          consumed
  ['record',    'nothing',     0n,   1n,    'recorded ok',                   1n],
  ['record',    '10',          0n,   10n,   'recorded ok',                   10n],
  ['record',    '10',          0n,   11n,   'recorded ok',                   11n],
  ['record',    '10 overage',  0n,   11n,   'recorded overage_allowed',      11n],
  ['record',    'unlimited',   0n,   11n,   'recorded unlimited',            11n],
  ['reject',    'nothing',     0n,   1n,    'refused insufficient_balance',  0n],
  ['reject',    'nothing',     0n,   0n,    'recorded ok',                   0n],
  ['reject',    '10',          0n,   10n,   'recorded ok',                   10n],
  ['reject',    '10',          0n,   11n,   'refused insufficient_balance',  0n],
  ['reject',    '10',          10n,  1n,    'refused insufficient_balance',  10n],
  ['reject',    '10',          15n,  0n,    'recorded ok',                   15n],
  ['reject',    '10',          15n,  -2n,   'recorded ok',                   13n],   // a correction always helps
  ['reject',    '10 overage',  15n,  5n,    'recorded overage_allowed',      20n],
  ['reject',    'unlimited',   15n,  5n,    'recorded unlimited',            20n],
  ['consume',   'nothing',     0n,   1n,    'refused not_entitled',          0n],
  ['consume',   'nothing',     0n,   0n,    'refused not_entitled',          0n],
  ['consume',   'expired',     0n,   1n,    'refused expired',               0n],
  ['consume',   '10',          0n,   10n,   'recorded ok',                   10n],
  ['consume',   '10',          4n,   7n,    'refused insufficient_balance',  4n],
  ['consume',   '10',          10n,  0n,    'recorded ok',                   10n],
  ['consume',   '10',          15n,  0n,    'refused insufficient_balance',  15n],
  ['consume',   '10 overage',  15n,  5n,    'recorded overage_allowed',      20n],
  ['consume',   'unlimited',   15n,  5n,    'recorded unlimited',            20n],
];

test.each(ADMITTED)(
  'usage admitted by %s, granted %s, used %p, value %p: %s',
  (admission, held, used, value, outcome, consumed) => {
    const world = new World();
    const [amount, option] = held.split(' ');
    if (amount === 'expired') world.grant({ expiresAt: T0 + 1 });
    else if (amount === 'unlimited') world.grant({ amount: null });
    else if (amount !== 'nothing') world.grant({ overageAllowed: option === 'overage' });
    world.now += 1;
    world.use(used);
    const before = world.transfers.length;
    const answer = world.use(value, { admission });
    const said =
      answer.kind === 'out_of_range' ? answer.kind : `${answer.kind} ${answer.record.reason}`;
    expect([said, world.numbers[1]]).toEqual([outcome, consumed]);
    // Without a key a refusal leaves no trace.
    expect(world.transfers.length - before).toBe(answer.kind === 'recorded' ? 1 : 0);
  },
);

// prettier-ignore
const GUARDED: [Admission, Parameters<World['grant']>[0], bigint, boolean][] = [
  // admission  granted                      value  whether the database must hold it to the limit
  ['reject',    {},                          5n,    true],
  ['consume',   {},                          5n,    true],
  ['record',    {},                          5n,    false],
  ['reject',    {},                          -5n,   false],
  ['reject',    { overageAllowed: true },    15n,   false],
  ['consume',   { amount: null },            15n,   false],
];

test.each(GUARDED)(
  'usage admitted by %s, granted %p, value %p: guarded %p',
  (admission, fields, value, guarded) => {
    const world = new World();
    world.grant(fields);
    world.use(value, { admission });
    expect(world.transfers.at(-1)?.usage?.guarded).toBe(guarded);
  },
);

test('usage refused under a key is a record that moves nothing', () => {
  const world = new World();
  const { length } = world.transfers;
  world.use(1n, { admission: 'reject', fingerprint: 9n, id: 'key' });
  expect(world.transfers.slice(length)).toMatchObject([{ id: 'key', kind: 'refused', amount: 0n }]);
  expect(world.refold()).toEqual(new Map());
});

// prettier-ignore
const RANGES: [string, Aggregation, bigint[], string][] = [
  ['a total at the bound',             'sum',    [10n ** 15n - 1n, 1n],         'out_of_range'],
  ['a total at the bound, downwards',  'sum',    [1n - 10n ** 15n, -1n],        'out_of_range'],
  ['one less',                         'sum',    [10n ** 15n - 2n, 1n],         'recorded'],
];

test.each(RANGES)(
  'the range of usage, %s: %s of %p is %s',
  (_what, aggregation, values, outcome) => {
    const world = new World(aggregation);
    const outcomes = values.map((value) => world.use(value).kind);
    expect(outcomes.at(-1)).toBe(outcome as 'recorded');
    expect(world.transfers).toHaveLength(outcome === 'recorded' ? 2 : 1);
  },
);

// The same events in any order, in any batches, some of them sent again: the same consumption of
// every period.

type Event = {
  readonly id: string;
  readonly value: bigint;
  readonly at: number;
  readonly member: bigint;
};

const PERIODS = 3;
const START = T0;
const NOW = T0 + PERIODS * DAY;

const eventsOf = (aggregation: Aggregation) =>
  fc.uniqueArray(
    fc.record({
      id: fc.integer({ min: 0, max: 1_000_000 }).map((n) => `event-${n}`),
      value: fc.bigInt({
        min: aggregation === 'sum' || aggregation === 'count' ? -50n : 0n,
        max: 50n,
      }),
      // Before the first grant, in each period, now.
      at: fc.oneof(
        fc.integer({ min: START - DAY, max: NOW }),
        fc.constantFrom(START - 1, START, START + DAY - 1, START + DAY, START + 2 * DAY, NOW),
      ),
      member: fc.bigInt({ min: 0n, max: 6n }),
    }),
    { selector: ({ id }) => id, maxLength: 30 },
  );

type Batch = { readonly events: readonly Event[] };

/**
 * Sends each event once, as the store's key constraint would have it; alarms may fire between the
 * batches.
 */
function consumptionOf(aggregation: Aggregation, batches: readonly Batch[], alarms: boolean) {
  const world = new World(aggregation);
  world.now = START;
  world.grant({ every: 'day' });
  world.now = NOW;
  const known = new Set<string>();
  for (const { events } of batches) {
    if (alarms) world.tickAt(NOW);
    for (const { id, value, at, member } of events) {
      if (known.has(id)) continue;
      known.add(id);
      world.use(value, { id, eventAt: at, member: aggregation === 'unique' ? member : null });
    }
  }
  return [0, ...Array.from({ length: PERIODS + 1 }, (_, n) => START + n * DAY)].map((start) =>
    world.consumedIn(start),
  );
}

test.each(['sum', 'count', 'max', 'last', 'unique'] as const)(
  `%s: any order, batching and duplication of the same events gives the same consumption (${seeded('property')})`,
  (aggregation) => {
    const runs = eventsOf(aggregation).chain((events) =>
      fc.tuple(
        fc.constant(events),
        fc.shuffledSubarray([...events, ...events.slice(0, 10)], {
          minLength: events.length + Math.min(10, events.length),
        }),
        fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1 }),
        fc.boolean(),
      ),
    );
    holds(
      fc.property(runs, ([events, shuffled, sizes, alarms]) => {
        const batches: Batch[] = [];
        for (let from = 0, n = 0; from < shuffled.length; n += 1) {
          const size = sizes[n % sizes.length] ?? 1;
          batches.push({ events: shuffled.slice(from, from + size) });
          from += size;
        }
        const once = consumptionOf(aggregation, [{ events }], false);
        expect(consumptionOf(aggregation, batches, alarms)).toEqual(once);
      }),
      300,
    );
  },
);
