// A change of plan: the new allowance, the usage that counts against it, and the grants that stay.
import { expect, test } from 'bun:test';
import { QUANTITY_BOUND } from '../../ledger/limits.ts';
import { DAY, HOUR, type PlanFields, T0, World, subscribed } from './world.ts';

const FEB = Date.UTC(2026, 1, 28, 12);
const ROLLS = { max: 6n, expiresAfterPeriods: 2 };

const period = (world: World): [number, number | null] => {
  const { start, end } = world.seen.current;
  return [start, end];
};

// prettier-ignore
const REPLACED: [string, PlanFields, bigint, PlanFields[], [bigint | null, bigint, bigint | null]][] = [
  // what                                                old               used   new                                        limit consumed balance
  ['more: what was used counts',                         {},               4n,    [{ limit: 30n }],                          [30n, 4n, 26n]],
  ['less: what was used counts',                         {},               4n,    [{ limit: 5n }],                           [5n, 4n, 1n]],
  ['less than was used: nothing is left',                {},               8n,    [{ limit: 5n }],                           [8n, 8n, 0n]],
  ['what was used beyond the old is paid by the new',    {},               14n,   [{ limit: 30n }],                          [30n, 14n, 16n]],
  ['unlimited instead',                                  {},               4n,    [{ limit: null }],                         [null, 4n, null]],
  ['instead of unlimited: it had used nothing up',       { limit: null },  99n,   [{ limit: 5n }],                           [104n, 99n, 5n]],
  ['by the day instead: a new period, and it counts',    {},               4n,    [{ resetInterval: 'day' }],                [6n, 0n, 6n]],
  ['nothing instead',                                    {},               4n,    [],                                        [0n, 0n, 0n]],
  ['two instead',                                        {},               4n,    [{ limit: 5n }, { limit: 6n }],            [11n, 4n, 7n]],
];

test.each(REPLACED)('a plan change: %s', (_what, old, used, plans, expected) => {
  const world = subscribed(old);
  world.use(used);
  world.now += HOUR;
  const cycle = { anchor: T0, zone: 'UTC' };
  expect(world.replacePlan(...plans.map((plan) => ({ cycle, ...plan })))).toBe('done');
  expect(world.numbers).toEqual(expected);
});

// prettier-ignore
const DETOURS: [string, PlanFields][] = [
  ['less',                     { limit: 1n }],
  ['none at all',              { limit: 0n }],
  ['unlimited',                { limit: null }],
  ['less, by the week',        { limit: 1n, resetInterval: 'week' }],
  ['a feature one has',        { boolean: true }],
];

test.each(DETOURS)(
  'a plan change to %s and back gains nothing until the period ends',
  (_what, other) => {
    const world = subscribed();
    world.use(8n);
    const cycle = { anchor: T0, zone: 'UTC' };
    const balanceAfter = (...plans: PlanFields[]) => {
      for (const plan of plans) {
        world.now += 1;
        world.replacePlan({ cycle, ...plan });
      }
      return world.numbers[2];
    };
    expect(balanceAfter(other, {})).toBe(2n);
    expect(balanceAfter(other, { limit: 5n }, other, { limit: 9n })).toBe(1n);
    world.now = FEB;
    world.tickAt(FEB);
    expect(world.numbers[2]).toBe(9n);
    expect(balanceAfter({ limit: 1n }, {})).toBe(10n);
  },
);

test('a plan change decided where the clock is behind the period counts from its start', () => {
  const world = subscribed({ resetInterval: 'day' });
  world.now += DAY;
  world.tickAt(world.now);
  const [start] = period(world);
  world.use(4n);
  world.now = start - 2000;
  const cycle = { anchor: T0, zone: 'UTC' };
  expect(world.replacePlan({ cycle, limit: 30n })).toBe('done');
  expect(world.numbers).toEqual([30n, 4n, 26n]);
  expect(period(world)[0]).toBe(start);
});

test('plan changes back and forth gain nothing', () => {
  const world = subscribed();
  world.use(10n);
  const cycle = { anchor: T0, zone: 'UTC' };
  for (const resetInterval of ['month', 'day', 'month', 'week', 'never', 'month'] as const) {
    world.now += 1;
    world.replacePlan({ cycle, resetInterval });
    expect(world.check(1n)).toBe('denied insufficient_balance');
  }
  expect(world.events.at(-1)?.data).toMatchObject({ source: 'plan_change' });
});

test('a plan change keeps the end, the pause and the units that rolled over', () => {
  const world = subscribed({ rollover: ROLLS });
  world.now = FEB;
  world.suspendPlan('paused');
  world.expirePlanAt(FEB + 9 * DAY);
  const before = period(world);
  world.replacePlan({ limit: 20n, cycle: { anchor: T0, zone: 'UTC' } });
  expect([period(world), world.check(1n)]).toEqual([before, 'denied subscription_paused']);
  expect(world.parts).toEqual([20n, 6n]);
  world.now = FEB + 9 * DAY;
  expect(world.check(1n)).toBe('denied expired');
});

const MONTHLY = { cycle: { anchor: T0, zone: 'UTC' } };
const TWO: PlanFields[] = [{ limit: 5n }, { limit: 6n }];
const ROLLING: PlanFields = { rollover: ROLLS };

// prettier-ignore
const REFRESHED: [string, PlanFields[], PlanFields[], string][] = [
  // what                            given                        gives now                                            changes
  ['the same',                       [{}],                        [{}],                                                'nothing'],
  ['the same, given once',           [{ resetInterval: 'never' }], [{ resetInterval: 'never' }],                       'nothing'],
  ['the same, and it rolls over',    [ROLLING],                   [ROLLING],                                           'nothing'],
  ['the same two',                   TWO,                         TWO,                                                 'nothing'],
  ['the same two, turned round',     TWO,                         TWO.toReversed(),                                    'nothing'],
  ['more',                           [{}],                        [{ limit: 11n }],                                    'done'],
  ['a feature',                      [{ limit: null }],           [{ limit: null, boolean: true }],                    'done'],
  ['another priority',               [{}],                        [{ priority: 101 }],                                 'done'],
  ['overage',                        [{}],                        [{ overageAllowed: true }],                          'done'],
  ['by the week',                    [{}],                        [{ resetInterval: 'week' }],                         'done'],
  ['once',                           [{}],                        [{ resetInterval: 'never' }],                        'done'],
  ['by the month, not once',         [{ resetInterval: 'never' }], [{}],                                               'done'],
  ['it rolls over',                  [{}],                        [ROLLING],                                           'done'],
  ['it rolls over no more',          [ROLLING],                   [{}],                                                'done'],
  ['more of it rolls over',          [ROLLING],                   [{ rollover: { ...ROLLS, max: 7n } }],               'done'],
  ['it rolls over for longer',       [ROLLING],                   [{ rollover: { ...ROLLS, expiresAfterPeriods: 3 } }], 'done'],
  ['one of two is another',          TWO,                         [{ limit: 5n }, { limit: 7n }],                      'done'],
  ['one more',                       [{ limit: 5n }],             TWO,                                                 'done'],
  ['one less',                       TWO,                         [{ limit: 5n }],                                     'done'],
];

test.each(REFRESHED)(
  'a plan change gives what the product has by then: %s',
  (_what, given, now, changes) => {
    const world = new World();
    const terms = (plans: PlanFields[]): PlanFields[] =>
      plans.map((plan) => ({ ...MONTHLY, ...plan }));
    world.plan(...terms(given));
    world.now += HOUR;
    expect(world.refreshPlan(...terms(now))).toBe(changes);
    const same = new World();
    same.plan(...terms(now));
    expect(world.numbers).toEqual(same.numbers);
  },
);

test('a plan change to the plan that is given changes nothing', () => {
  const world = subscribed();
  const terms = { ...MONTHLY, grantId: 'other', limit: 20n };
  expect([world.replacePlan(terms), world.replacePlan(terms)]).toEqual(['done', 'nothing']);
  expect(world.numbers).toEqual([20n, 0n, 20n]);
});

test('a plan change to a plan out of range is refused, and the old one stays', () => {
  const world = subscribed();
  world.grant({ amount: QUANTITY_BOUND - 11n });
  const before = world.state;
  expect(world.replacePlan({ ...MONTHLY, limit: 12n })).toBe('out_of_range');
  expect(world.state).toBe(before);
});

test('a plan change that restarts has nothing used', () => {
  const world = subscribed();
  world.use(8n);
  world.now += DAY;
  const cycle = { anchor: world.now, zone: 'UTC' };
  world.restartPlan(cycle);
  expect(world.replacePlan({ cycle, limit: 20n })).toBe('done');
  expect(world.numbers).toEqual([20n, 0n, 20n]);
});
