// A change of plan: the new allowance, the usage that counts against it, and the grants that stay.
import { describe, expect, test } from 'bun:test';
import { QUANTITY_BOUND } from '../../ledger/limits.ts';
import { replacePlan } from '../../ledger/metering/plan-allowance.ts';
import { quantityOf } from '../../ledger/metering/spans.ts';
import { DAY, HOUR, type PlanFields, T0, World, subscribed } from './world.ts';

const PRICE = {
  id: 'price',
  currency: 'USD',
  minimum: null,
  maximum: null,
  model: 'per_unit',
  unitAmount: 10n ** 12n,
} as const;
const FEB = Date.UTC(2026, 1, 28, 12);
const MONTHLY = { cycle: { anchor: T0, zone: 'UTC' } };
const ROLLS = { max: 6n, expiresAfterPeriods: 2 };

const period = (world: World): [number, number | null] => {
  const { start, end } = world.seen.current;
  return [start, end];
};

// prettier-ignore
const REPLACED: [string, PlanFields, bigint, PlanFields[], [bigint | null, bigint, bigint | null]][] = [
  // what old used new limit consumed balance
  ['more: what was used counts',                         {},               4n,    [{ limit: 30n }],                          [30n, 4n, 26n]],
  ['less: what was used counts',                         {},               4n,    [{ limit: 5n }],                           [5n, 4n, 1n]],
  ['less than was used: nothing is left',                {},               8n,    [{ limit: 5n }],                           [8n, 8n, 0n]],
  ['what was used beyond the old is paid by the new',    {},               14n,   [{ limit: 30n }],                          [30n, 14n, 16n]],
  ['unlimited instead',                                  {},               4n,    [{ limit: null }],                         [null, 4n, null]],
  ['instead of unlimited: what was used counts',         { limit: null },  99n,   [{ limit: 5n }],                           [99n, 99n, 0n]],
  ['by the day instead: a new period, and it counts',    {},               4n,    [{ resetInterval: 'day' }],                [6n, 0n, 6n]],
  ['nothing instead',                                    {},               4n,    [],                                        [4n, 4n, 0n]],
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

describe('a plan change to one without the feature', () => {
  const lacking = (fields: PlanFields = {}): World => {
    const world = subscribed(fields);
    world.use(8n);
    world.now += HOUR;
    expect([world.replacePlan(), world.replacePlan()]).toEqual(['done', 'nothing']);
    return world;
  };
  const back = (world: World, fields: PlanFields = {}): void => {
    world.now += 1;
    world.replacePlan({ ...MONTHLY, ...fields });
  };
  const numbersBack = (world: World) => {
    back(world);
    return world.numbers;
  };

  test('and back gives nothing anew', () => {
    const world = lacking();
    back(world);
    expect(world.numbers).toEqual([10n, 8n, 2n]);
    expect(world.use(8n, { admission: 'reject' }).kind).toBe('refused');
    expect(world.use(2n, { admission: 'reject' }).kind).toBe('recorded');
  });

  test('entitles to nothing, shows nothing and tells nothing', () => {
    const world = lacking();
    expect([world.check(0n), world.check(1n)]).toEqual([
      'denied not_entitled',
      'denied not_entitled',
    ]);
    expect([world.numbers, world.parts]).toEqual([[8n, 8n, 0n], []]);
    world.tickAt(FEB);
    expect([world.numbers, world.check(0n)]).toEqual([[0n, 0n, 0n], 'denied not_entitled']);
    world.suspendPlan('paused');
    expect(world.check(1n)).toBe('denied not_entitled');
    world.restartPlan({ anchor: FEB, zone: 'UTC' });
    world.withdrawPlan('expired');
    expect([world.check(1n), world.state.grants]).toEqual(['denied not_entitled', []]);
    expect(world.told).toEqual(['granted']);
  });

  test('ends with its subscription, and says nothing of that', () => {
    const world = lacking();
    world.expirePlanAt(FEB + DAY);
    world.tickAt(FEB + DAY);
    expect([world.check(1n), world.state.grants]).toEqual(['denied not_entitled', []]);
  });

  test('leaves what others give, and why that is not to be used', () => {
    const world = lacking();
    world.grant({ amount: 5n });
    expect([world.numbers, world.check(5n)]).toEqual([[13n, 8n, 5n], 'allowed ok']);
    world.void('id-000003');
    world.plan({ ...MONTHLY, subscriptionId: 'other', grantId: 'other' });
    world.suspendPlan('paused', 'other');
    expect([world.check(0n), world.check(1n)]).toEqual([
      'denied subscription_paused',
      'denied subscription_paused',
    ]);
  });

  // prettier-ignore
  const AWAY: [string, ((world: World) => unknown)[], [bigint, bigint, bigint]][] = [
    ['used meanwhile',                 [(w) => w.use(3n)], [10n, 11n, -1n]],
    ['bought meanwhile, and used',     [(w) => w.grant({ amount: 5n }), (w) => w.use(3n)], [15n, 11n, 4n]],
    ['over the end of the period',     [(w) => w.tickAt(FEB)], [10n, 0n, 10n]],
    ['paused meanwhile, and resumed',  [(w) => w.suspendPlan('paused'), (w) => w.suspendPlan(null)], [10n, 8n, 2n]],
    ['restarted meanwhile',            [(w) => w.restartPlan({ anchor: w.now, zone: 'UTC' })], [10n, 0n, 10n]],
    ['given, and taken again',         [(w) => back(w, { limit: 9n }), (w) => w.replacePlan()], [10n, 8n, 2n]],
    ['unlimited meanwhile',            [(w) => back(w, { limit: null }), (w) => w.use(1n)], [10n, 9n, 1n]],
  ];

  test.each(AWAY)('and back: %s', (_what, meanwhile, expected) => {
    const world = lacking();
    for (const step of meanwhile) step(world);
    expect(numbersBack(world)).toEqual(expected);
  });

  test('takes what was used without a limit', () => {
    expect(numbersBack(lacking({ limit: null }))).toEqual([10n, 8n, 2n]);
  });

  test('has periods of its own interval', () => {
    expect(numbersBack(lacking({ resetInterval: 'day' }))).toEqual([2n, 0n, 2n]);
    expect(numbersBack(lacking({ resetInterval: 'never' }))).toEqual([2n, 0n, 2n]);
  });

  test('sells nothing, and goes on with what was sold', () => {
    const price = PRICE;
    const world = lacking({ price });
    world.use(7n);
    back(world, { price });
    world.use(4n);
    expect(world.numbers).toEqual([10n, 19n, -9n]);
    expect(world.state.spans.map((span) => quantityOf(world.state, span))).toEqual([0n, 4n]);
  });
});

describe('what rolled over, at a plan change,', () => {
  const max = (units: bigint): PlanFields => ({
    ...MONTHLY,
    rollover: { max: units, expiresAfterPeriods: 2 },
  });
  const rolled = (): World => {
    const world = subscribed(max(6n));
    world.tickAt(FEB);
    return world;
  };
  const at = (world: World, ...plans: PlanFields[]): bigint | null => {
    world.now += 1;
    world.replacePlan(...plans);
    return world.numbers[2];
  };

  test('belongs to its plan, and comes back with it', () => {
    const world = rolled();
    world.use(2n);
    expect(at(world, max(3n))).toBe(11n);
    expect(at(world, MONTHLY)).toBe(10n);
    expect(world.parts).toEqual([10n]);
    expect([at(world), world.check(0n)]).toEqual([0n, 'denied not_entitled']);
    expect(at(world, max(9n))).toBe(14n);
    expect(world.parts).toEqual([4n, 10n]);
  });

  test('is less by what was used of it meanwhile', () => {
    const world = rolled();
    expect(at(world, max(4n))).toBe(14n);
    world.use(5n);
    expect(world.parts).toEqual([0n, 9n]);
    expect(at(world, max(6n))).toBe(11n);
    expect(world.parts).toEqual([2n, 9n]);
    expect(at(world, max(2n))).toBe(9n);
  });

  test('stays over the end of a period, and ends at its own', () => {
    const world = rolled();
    expect(at(world)).toBe(0n);
    const march = Date.UTC(2026, 2, 31, 12);
    world.tickAt(march);
    expect(at(world, max(6n))).toBe(16n);
    world.tickAt(Date.UTC(2026, 3, 30, 12));
    expect(world.numbers).toEqual([16n, 0n, 16n]);
    expect(world.parts).toEqual([6n, 10n]);
  });

  test('gets back what is corrected: first what it may not give now', () => {
    const world = rolled();
    world.use(5n);
    expect(at(world, max(3n))).toBe(10n);
    world.use(-1n);
    expect(world.numbers).toEqual([14n, 4n, 10n]);
    world.use(-2n);
    expect([world.numbers, world.parts]).toEqual([
      [13n, 2n, 11n],
      [1n, 10n],
    ]);
    expect(at(world, max(6n))).toBe(14n);
  });

  test('gets back what is released: first what it may not give now', () => {
    const world = rolled();
    world.reserve(5n, 3600, 'hold');
    expect(at(world, max(3n))).toBe(10n);
    world.release('hold');
    expect([world.numbers, world.parts]).toEqual([
      [13n, 0n, 13n],
      [3n, 10n],
    ]);
    expect(at(world, max(6n))).toBe(16n);
  });

  test('of another subscription stays', () => {
    const world = rolled();
    world.plan({ ...max(6n), subscriptionId: 'other', grantId: 'other', priority: 200 });
    expect(at(world)).toBe(10n);
    world.withdrawPlan('voided', 'other');
    expect(at(world, max(6n))).toBe(16n);
  });
});

describe('a plan change to a larger plan and back', () => {
  const plan = (limit: bigint): PlanFields => ({ ...MONTHLY, limit });
  const inDebt = (): World => {
    const world = subscribed();
    world.use(13n);
    world.now += HOUR;
    world.replacePlan(plan(20n));
    expect(world.numbers).toEqual([20n, 13n, 7n]);
    return world;
  };
  const back = (world: World, limit = 10n) => {
    world.now += 1;
    world.replacePlan(plan(limit));
    return world.numbers;
  };

  test('covers no debt', () => {
    const world = inDebt();
    expect(back(world)).toEqual([10n, 13n, -3n]);
    world.grant({ amount: 5n });
    expect([world.numbers, world.parts]).toEqual([
      [15n, 13n, 2n],
      [0n, 2n],
    ]);
    expect(back(world, 20n)).toEqual([25n, 13n, 12n]);
  });

  test('keeps of it what is still given, and what was used since', () => {
    expect(back(inDebt(), 12n)).toEqual([12n, 13n, -1n]);
    const world = inDebt();
    world.use(4n);
    expect(back(world)).toEqual([14n, 17n, -3n]);
    expect(back(world, 20n)).toEqual([20n, 17n, 3n]);
    world.replacePlan();
    expect(world.numbers).toEqual([14n, 17n, -3n]);
  });

  test('covers it by what was bought since', () => {
    const world = inDebt();
    world.grant({ amount: 5n });
    expect(back(world)).toEqual([15n, 13n, 2n]);
    expect(world.parts).toEqual([0n, 2n]);
  });

  test('covers it for good where its period ends', () => {
    const world = inDebt();
    world.tickAt(FEB);
    expect(back(world)).toEqual([10n, 0n, 10n]);
  });

  test('takes corrections off what was used last', () => {
    const world = inDebt();
    world.use(-4n);
    expect(back(world)).toEqual([10n, 9n, 1n]);
    const released = inDebt();
    released.reserve(4n, 3600, 'hold');
    released.grant({ amount: 1n });
    released.release('hold');
    expect(back(released)).toEqual([11n, 13n, -2n]);
  });

  test('is told of its reservations', () => {
    const world = subscribed({ overageAllowed: true });
    world.use(8n);
    world.reserve(5n, 3600, 'hold');
    expect(back(world, 20n)).toEqual([20n, 8n, 7n]);
    expect(back(world)).toEqual([10n, 8n, -3n]);
    world.release('hold');
    expect(world.numbers).toEqual([10n, 8n, 2n]);
  });

  test('of a second subscription, with units that rolled over, covers none', () => {
    const world = subscribed({ rollover: ROLLS });
    world.tickAt(FEB);
    world.replacePlan(MONTHLY);
    world.use(13n);
    world.replacePlan({ ...MONTHLY, rollover: ROLLS });
    expect(world.numbers).toEqual([16n, 13n, 3n]);
    expect(back(world)).toEqual([10n, 13n, -3n]);
    world.plan({ ...plan(20n), subscriptionId: 'other', priority: 200 });
    expect(world.numbers).toEqual([30n, 13n, 17n]);
    const since = world.now;
    const [less] = [world.planned({ ...plan(1n), subscriptionId: 'other', priority: 200 })];
    const change = { subscriptionId: 'other', since };
    world.do((context, state) => replacePlan(context, state, change, [less]));
    expect(world.numbers).toEqual([11n, 13n, -2n]);
  });
});

test('what a larger plan had used counts, and a correction comes off it first', () => {
  const world = subscribed({ limit: 100n });
  world.use(90n);
  world.replacePlan({ ...MONTHLY, limit: 10n });
  world.use(-30n);
  expect(world.numbers).toEqual([60n, 60n, 0n]);
  world.replacePlan({ ...MONTHLY, limit: 100n });
  expect(world.numbers).toEqual([100n, 60n, 40n]);
});

test('a plan that is unlimited and renews within the period of another keeps to its own', () => {
  const world = new World();
  world.plan({ ...MONTHLY, subscriptionId: 'other', priority: 1, limit: 0n });
  world.plan({ ...MONTHLY, limit: null, resetInterval: 'day' });
  world.use(8n);
  world.reserve(3n, 7 * 24 * 3600, 'hold');
  world.tickAt(T0 + DAY);
  world.use(4n);
  world.replacePlan({ ...MONTHLY, resetInterval: 'day' });
  expect(world.numbers).toEqual([21n, 12n, 6n]);
  world.release('hold');
  expect(world.numbers).toEqual([18n, 12n, 6n]);
});

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
  world.replacePlan({ limit: 20n, ...MONTHLY, rollover: ROLLS });
  expect([period(world), world.check(1n)]).toEqual([before, 'denied subscription_paused']);
  expect(world.parts).toEqual([20n, 6n]);
  world.now = FEB + 9 * DAY;
  expect(world.check(1n)).toBe('denied expired');
});

const TWO: PlanFields[] = [{ limit: 5n }, { limit: 6n }];
const ROLLING: PlanFields = { rollover: ROLLS };

// prettier-ignore
const REFRESHED: [string, PlanFields[], PlanFields[], string][] = [
  // what given gives now changes
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
