// What becomes of a reservation where a period, a grant or a plan ends or changes under it, without
// a limit, and where usage is sold.
import { describe, expect, test } from 'bun:test';
import { billableSpans } from '../../ledger/metering/spans.ts';
import {
  after,
  at,
  change,
  commit,
  FEB,
  hold,
  LONG,
  MAR,
  numbers,
  periods,
  release,
  ROLLS,
  topUp,
  use,
  useLate,
  voided,
  type Numbers,
  type Step,
} from './reservation-steps.ts';
import { DAY, HOUR, subscribed, T0, World, type GrantFields, type PlanFields } from './world.ts';

const daily = { resetInterval: 'day', rollover: ROLLS } as const;
/** Everything of the plan is used on each day until then. */
const spent =
  (days: number): Step =>
  (world) => {
    for (let day = 1; day < days; day += 1) after(world, [at(T0 + day * DAY), use(10n)]);
  };

describe('a reservation after the period in which it was made', () => {
  // prettier-ignore
  const OVER: [string, PlanFields, Step[], Numbers, (readonly [bigint, bigint])[] | null][] = [
    // what plan steps numbers periods
    ['it takes nothing from the next one',      {},                       [hold('a', 4n), at(FEB)],                                               [10n, 0n, 0n, 10n],  [[0n, 4n], [0n, 0n]]],
    ['what is committed is of its own',         {},                       [hold('a', 4n), at(FEB), commit('a', 3n)],                              [10n, 0n, 0n, 10n],  [[3n, 0n], [0n, 0n]]],
    ['the excess is of now',                    {},                       [hold('a', 4n), at(FEB), commit('a', 6n)],                              [10n, 2n, 0n, 8n],   [[4n, 0n], [2n, 0n]]],
    ['after its time all is of now',            {},                       [hold('a', 4n, 60), at(FEB), commit('a', 6n)],                          [10n, 6n, 0n, 4n],   null],
    ['released, nothing rolls over',            {},                       [hold('a', 4n), at(FEB), release('a')],                                 [10n, 0n, 0n, 10n],  [[0n, 0n], [0n, 0n]]],
    ['released, it rolls over',                 { rollover: ROLLS },      [use(6n), hold('a', 4n), at(FEB), release('a')],                        [14n, 0n, 0n, 14n],  null],
    ['expired, it rolls over',                  { rollover: ROLLS },      [use(6n), hold('a', 4n), at(T0 + LONG * 1000)],                         [14n, 0n, 0n, 14n],  null],
    ['committed in part, the rest rolls over',  { rollover: ROLLS },      [use(6n), hold('a', 4n), at(FEB), commit('a', 1n)],                     [13n, 0n, 0n, 13n],  null],
    ['up to what the cap leaves',               { rollover: ROLLS },      [use(2n), hold('a', 4n), at(FEB), release('a')],                        [16n, 0n, 0n, 16n],  null],
    ['what was used of it leaves no room',      { rollover: ROLLS },      [hold('a', 4n), at(FEB), use(4n), release('a')],                        [16n, 4n, 0n, 12n],  null],
    ['after a checkpoint, too',                 { rollover: ROLLS },      [hold('a', 4n), at(FEB), use(4n), topUp(1n), release('a')],             [17n, 4n, 0n, 13n],  null],
    ['two of one day, one after the other',     { rollover: ROLLS },      [use(5n), hold('a', 2n), hold('b', 3n), at(FEB), release('b'), release('a')], [15n, 0n, 0n, 15n], null],
    ['within the life of what rolls over',      daily,                    [use(6n), hold('a', 4n), spent(2), at(T0 + 2.5 * DAY), release('a')],   [14n, 0n, 0n, 14n],  null],
    ['its life is that of its period',          daily,                    [use(6n), hold('a', 4n), spent(2), at(T0 + 2.5 * DAY), release('a'), use(14n), at(T0 + 3 * DAY)], [10n, 0n, 0n, 10n], null],
    ['what was used since had used it first',   daily,                    [use(6n), hold('a', 4n), spent(3), at(T0 + 3 * DAY), release('a')],     [14n, 0n, 0n, 14n],  null],
    ['and not after it',                        daily,                    [use(6n), hold('a', 4n), at(T0 + 3 * DAY), use(10n), at(T0 + 5 * DAY), release('a')], [16n, 0n, 0n, 16n], null],
    ['a share of a top-up comes back',          {},                       [topUp(5n, { priority: 1 }), hold('a', 7n), at(FEB), release('a')],     [15n, 0n, 0n, 15n],  null],
    ['what is not used of it comes back',       {},                       [topUp(5n, { priority: 1 }), hold('a', 7n), at(FEB), commit('a', 3n)],  [12n, 0n, 0n, 12n],  [[3n, 0n], [0n, 0n]]],
    ['beside what was left of it',              {},                       [topUp(5n, { priority: 1 }), hold('a', 3n), at(FEB), release('a')],     [15n, 0n, 0n, 15n],  null],
    ['from periods ago',                        { resetInterval: 'day' }, [topUp(5n, { priority: 1 }), hold('a', 3n), spent(5), at(T0 + 5 * DAY), release('a')], [10n, 0n, 0n, 10n], null],
    ['a top-up that is over gives nothing',     {},                       [topUp(5n, { priority: 1, expiresAt: FEB }), hold('a', 3n), at(FEB), release('a')], [10n, 0n, 0n, 10n], null],
    ['what has rolled over is paid back to it', { rollover: ROLLS },      [at(FEB), hold('a', 5n), at(MAR), release('a')],                        [16n, 0n, 0n, 16n],  null],
  ];

  test.each(OVER)('%s', (_what, plan, steps, expected, all) => {
    const world = after(subscribed(plan), steps);
    expect(numbers(world)).toEqual(expected);
    if (all !== null) expect(periods(world)).toEqual(all);
    const sum = world.parts.reduce((total: bigint, part) => total + (part ?? 0n), 0n);
    expect(sum).toBe(expected[3]!);
  });

  test('that is released leaves the limit of its period, and no row within it', () => {
    const start = (): World => after(subscribed(), [topUp(5n, { priority: 1 }), hold('a', 3n)]);
    const over = after(start(), [at(FEB), release('a')]);
    expect(over.state.others.map(({ granted }) => granted)).toEqual([10n]);
    const unlimited = after(subscribed(), [hold('a', 8n), change({ limit: null }), at(FEB)]);
    after(unlimited, [release('a')]);
    expect(unlimited.state.others.map(({ granted }) => granted)).toEqual([0n]);
    const within = after(start(), [topUp(1n, { id: 'more' }), release('a')]);
    expect(within.transfers.map(({ kind }) => kind)).toEqual([
      'single',
      'single',
      'pending',
      'single',
      'void',
    ]);
  });

  test('is in a period of top-ups that a new plan ends', () => {
    const begin = (): World =>
      after(new World(), [topUp(10n), hold('a', 4n), at(T0 + HOUR), (world) => world.plan({})]);
    expect(numbers(begin())).toEqual([16n, 0n, 0n, 16n]);
    expect(numbers(after(begin(), [commit('a', 4n)]))).toEqual([16n, 0n, 0n, 16n]);
    expect(numbers(after(begin(), [release('a')]))).toEqual([20n, 0n, 0n, 20n]);
  });

  test('is beside an allowance that is given anew', () => {
    const plans = [{}, { resetInterval: 'week', priority: 200, rollover: ROLLS }] as const;
    const begin = (): World => {
      const world = new World();
      world.plan(...plans);
      return after(world, [use(10n), hold('a', 7n), at(T0 + 7 * DAY)]);
    };
    // 3 of the week have rolled over; 7 are held of the week before.
    expect(numbers(begin())).toEqual([30n, 10n, 7n, 13n]);
    expect(numbers(after(begin(), [commit('a', 7n)]))).toEqual([30n, 17n, 0n, 13n]);
    expect(numbers(after(begin(), [use(1n), release('a')]))).toEqual([26n, 11n, 0n, 15n]);
    expect(numbers(after(begin(), [commit('a', 5n)]))).toEqual([30n, 15n, 0n, 15n]);
  });
});

describe('a reservation whose grant ends is covered when committed, and not kept when released', () => {
  const HOUR_LATER = T0 + HOUR;
  const alone = (fields: GrantFields = {}): World => after(new World(), [topUp(10n, fields)]);
  const withdraw: Step = (world) => world.withdrawPlan('voided');
  const held = (...steps: Step[]): Step[] => [use(3n), hold('a', 4n), at(HOUR_LATER), ...steps];
  const expiring = { expiresAt: HOUR_LATER };

  // prettier-ignore
  const ENDED: [string, () => World, Step[], Numbers][] = [
    // what world steps numbers
    ['a top-up expires',                () => alone(expiring),       held(),                                                  [7n, 3n, 4n, 0n]],
    ['committed',                       () => alone(expiring),       held(commit('a', 4n)),                                   [7n, 7n, 0n, 0n]],
    ['committed in part',               () => alone(expiring),       held(commit('a', 1n)),                                   [4n, 4n, 0n, 0n]],
    ['committed above',                 () => alone(expiring),       held(commit('a', 6n)),                                   [7n, 9n, 0n, -2n]],
    ['released',                        () => alone(expiring),       held(release('a')),                                      [3n, 3n, 0n, 0n]],
    ['extended past its end: denied',   () => alone(expiring),       held((w) => expect(w.extend('a', 5n).kind).toBe('denied')), [7n, 3n, 4n, 0n]],
    ['and another one is granted',      () => alone(expiring),       held(topUp(5n, { id: 'more' }), release('a')),           [8n, 3n, 0n, 5n]],
    ['a correction keeps it',           () => alone(expiring),       held(use(-3n), release('a')),                            [0n, 0n, 0n, 0n]],
    ['a top-up is voided',              () => alone(),               held(voided('top-up'), commit('a', 2n)),                 [5n, 5n, 0n, 0n]],
    ['an unlimited one expires',        () => alone({ ...expiring, amount: null }), held(),                                   [7n, 3n, 4n, 0n]],
    ['unlimited, committed above',      () => alone({ ...expiring, amount: null }), held(commit('a', 6n)),                    [7n, 9n, 0n, -2n]],
    ['unlimited, released',             () => alone({ ...expiring, amount: null }), held(release('a')),                       [3n, 3n, 0n, 0n]],
    ['a plan is withdrawn',             () => subscribed(),          held(withdraw),                                          [0n, 0n, 0n, 0n]],
    ['a plan, committed',               () => subscribed(),          held(withdraw, commit('a', 4n)),                         [0n, 0n, 0n, 0n]],
    ['a plan, committed above',         () => subscribed(),          held(withdraw, commit('a', 6n)),                         [0n, 2n, 0n, -2n]],
    ['a plan, released',                () => subscribed({ rollover: ROLLS }), held(withdraw, release('a')),                  [0n, 0n, 0n, 0n]],
    ['a plan, released beside a top-up', () => subscribed(),         held(topUp(5n), withdraw, release('a')),                 [5n, 0n, 0n, 5n]],
    ['its end with the period',         () => subscribed({ rollover: ROLLS }), held((w) => w.expirePlanAt(FEB), at(FEB), release('a')), [0n, 0n, 0n, 0n]],
    ['it begins again: what was held is lost', () => subscribed(),   held((w) => w.restartPlan({ anchor: w.now, zone: 'UTC' }), release('a')), [10n, 0n, 0n, 10n]],
  ];

  test.each(ENDED)('%s', (_what, start, steps, expected) => {
    expect(numbers(after(start(), steps))).toEqual(expected);
  });
});

describe('a reservation over a plan change', () => {
  test.each([
    [10n, 20n],
    [9n, 18n],
    [8n, 16n],
    [1n, 2n],
  ])('to %p a period rolls over, once it is let go, what that plan gave of it', (limit, left) => {
    const rollover = { max: 20n, expiresAfterPeriods: 2 };
    const world = after(subscribed({ rollover }), [
      hold('a', 10n),
      change({ limit, rollover }),
      at(FEB),
    ]);
    expect(numbers(world)).toEqual([limit, 0n, 0n, limit]);
    expect(numbers(after(world, [release('a')]))).toEqual([left, 0n, 0n, left]);
  });

  const unlimited = change({ limit: null });
  const back = change({});
  const rolling = { rollover: ROLLS };

  // prettier-ignore
  const CHANGED: [string, PlanFields, Step[], Numbers][] = [
    // what old steps numbers
    ['more',                                      {},        [hold('a', 8n), change({ limit: 30n })],                           [30n, 0n, 8n, 22n]],
    ['more, released',                            {},        [hold('a', 8n), change({ limit: 30n }), release('a')],             [30n, 0n, 0n, 30n]],
    ['more, committed in part',                   {},        [hold('a', 8n), change({ limit: 30n }), commit('a', 3n)],          [30n, 3n, 0n, 27n]],
    ['less',                                      {},        [hold('a', 8n), change({ limit: 5n })],                            [8n, 0n, 8n, 0n]],
    ['less, released',                            {},        [hold('a', 8n), change({ limit: 5n }), release('a')],              [5n, 0n, 0n, 5n]],
    ['less, committed',                           {},        [hold('a', 8n), change({ limit: 5n }), commit('a', 8n)],           [8n, 8n, 0n, 0n]],
    ['less, committed in part',                   {},        [hold('a', 8n), change({ limit: 5n }), commit('a', 3n)],           [5n, 3n, 0n, 2n]],
    ['less, a correction, released',              {},        [use(2n), hold('a', 6n), change({ limit: 5n }), use(-2n), release('a')], [5n, 0n, 0n, 5n]],
    ['less and back',                             {},        [hold('a', 8n), change({ limit: 5n }), back],                      [10n, 0n, 8n, 2n]],
    ['less and back, released',                   {},        [hold('a', 8n), change({ limit: 5n }), back, release('a')],        [10n, 0n, 0n, 10n]],
    ['less, released, and back',                  {},        [hold('a', 8n), change({ limit: 5n }), release('a'), back],        [10n, 0n, 0n, 10n]],
    ['less, two, of which one is released',       {},        [hold('a', 4n), hold('b', 4n), change({ limit: 5n }), release('a')], [5n, 0n, 4n, 1n]],
    ['unlimited',                                 {},        [hold('a', 8n), unlimited],                                        [null, 0n, 8n, null]],
    ['unlimited and back',                        {},        [hold('a', 8n), unlimited, back],                                  [10n, 0n, 8n, 2n]],
    ['unlimited, released, and back',             {},        [hold('a', 8n), unlimited, release('a'), back],                    [10n, 0n, 0n, 10n]],
    ['unlimited and back, released',              {},        [hold('a', 8n), unlimited, back, release('a')],                    [10n, 0n, 0n, 10n]],
    ['unlimited and back, committed in part',     {},        [hold('a', 8n), unlimited, back, commit('a', 3n)],                 [10n, 3n, 0n, 7n]],
    ['unlimited, twice, and back, released',      {},        [hold('a', 8n), unlimited, change({ limit: null, boolean: true }), back, release('a')], [10n, 0n, 0n, 10n]],
    ['unlimited, suspended, and back, released',  {},        [hold('a', 8n), unlimited, (w) => w.suspendPlan('paused'), back, release('a')], [10n, 0n, 0n, 10n]],
    ['held while unlimited, and back',            {},        [use(8n), unlimited, hold('a', 5n), back],                         [13n, 8n, 5n, 0n]],
    ['held while unlimited, back, released',      {},        [use(8n), unlimited, hold('a', 5n), back, release('a')],           [10n, 8n, 0n, 2n]],
    ['held and released while unlimited',         {},        [use(8n), unlimited, hold('a', 5n), topUp(5n), release('a'), back], [15n, 8n, 0n, 7n]],
    ['by the day instead',                        {},        [hold('a', 8n), change({ limit: 5n, resetInterval: 'day' })],      [0n, 0n, 0n, 0n]],
    ['by the day instead, released',              {},        [hold('a', 8n), change({ limit: 5n, resetInterval: 'day' }), release('a')], [5n, 0n, 0n, 5n]],
    ['by the day and back, released',             {},        [hold('a', 8n), change({ limit: 5n, resetInterval: 'day' }), back, release('a')], [10n, 0n, 0n, 10n]],
    ['none, and its hold released',               {},        [hold('a', 8n), change(), release('a')],                           [0n, 0n, 0n, 0n]],
    ['none and back',                             {},        [hold('a', 8n), change(), back],                                   [10n, 0n, 8n, 2n]],
    ['none, released, and back',                  {},        [hold('a', 8n), change(), release('a'), back],                     [10n, 0n, 0n, 10n]],
    ['none and back, released',                   {},        [hold('a', 8n), change(), back, release('a')],                     [10n, 0n, 0n, 10n]],
    ['none and back, committed in part',          {},        [hold('a', 8n), change(), back, commit('a', 3n)],                  [10n, 3n, 0n, 7n]],
    ['less: of the old no more rolls over',       rolling,   [hold('a', 8n), change({ limit: 5n, ...rolling }), at(FEB), release('a')], [10n, 0n, 0n, 10n]],
    ['less: of two, too',                         rolling,   [hold('a', 4n), hold('b', 4n), change({ limit: 5n, ...rolling }), at(FEB), release('a'), release('b')], [10n, 0n, 0n, 10n]],
    ['unlimited: nothing rolls over',             rolling,   [hold('a', 8n), unlimited, at(FEB), release('a'), change(rolling)], [10n, 0n, 0n, 10n]],
  ];

  test.each(CHANGED)('%s', (_what, old, steps, expected) => {
    expect(numbers(after(subscribed(old), steps))).toEqual(expected);
  });
});

describe('a reservation of a paused plan', () => {
  const pause: Step = (world) => world.suspendPlan('paused');
  const resume: Step = (world) => world.suspendPlan(null);

  // prettier-ignore
  const RESTING: [string, PlanFields, Step[], Numbers, string][] = [
    // what plan steps numbers check
    ['it is held',                     {},                [hold('a', 4n), pause],                                  [10n, 0n, 4n, 6n],     'denied subscription_paused'],
    ['it is committed',                {},                [hold('a', 4n), pause, commit('a', 3n)],                 [10n, 3n, 0n, 7n],     'denied subscription_paused'],
    ['it is released',                 {},                [hold('a', 4n), pause, release('a')],                    [10n, 0n, 0n, 10n],    'denied subscription_paused'],
    ['released, and it goes on',       {},                [hold('a', 4n), pause, release('a'), resume],            [10n, 0n, 0n, 10n],    'allowed ok'],
    ['beside a top-up',                {},                [hold('a', 4n), topUp(5n), pause, release('a')],         [15n, 0n, 0n, 15n],    'allowed ok'],
    ['unlimited: it is held',          { limit: null },   [use(3n), hold('a', 4n), pause],                         [7n, 3n, 4n, 0n],      'denied subscription_paused'],
    ['unlimited: committed',           { limit: null },   [use(3n), hold('a', 4n), pause, commit('a', 4n)],        [7n, 7n, 0n, 0n],      'denied subscription_paused'],
    ['unlimited: released',            { limit: null },   [use(3n), hold('a', 4n), pause, release('a')],           [3n, 3n, 0n, 0n],      'denied subscription_paused'],
    ['unlimited: released, goes on',   { limit: null },   [use(3n), hold('a', 4n), pause, release('a'), resume],   [null, 3n, 0n, null],  'allowed unlimited'],
    ['at the end of its period nothing rolls over', { rollover: ROLLS }, [hold('a', 4n), pause, at(FEB), release('a')], [10n, 0n, 0n, 10n], 'denied subscription_paused'],
  ];

  test.each(RESTING)('%s', (_what, plan, steps, expected, answer) => {
    const world = after(subscribed(plan), steps);
    expect([numbers(world), world.check(1n)]).toEqual([expected, answer]);
  });
});

describe('a reservation without a limit', () => {
  const overage = { overageAllowed: true };

  // prettier-ignore
  const FREE: [string, PlanFields, Step[], string, Numbers][] = [
    // what plan steps why numbers
    ['unlimited',                          { limit: null },    [],                                          'unlimited',       [null, 0n, 99n, null]],
    ['unlimited, committed',               { limit: null },    [commit('a', 7n)],                           'unlimited',       [null, 7n, 0n, null]],
    ['unlimited, over the end',            { limit: null },    [at(FEB), commit('a', 120n)],                'unlimited',       [null, 21n, 0n, null]],
    ['unlimited, then ended in the next',  { limit: null },    [at(FEB), use(2n), (w) => w.withdrawPlan('voided'), release('a')], 'unlimited', [2n, 2n, 0n, 0n]],
    ['a feature one has',                  { boolean: true },  [commit('a', 1n)],                           'boolean',         [null, 1n, 0n, null]],
    ['overage',                            overage,            [],                                          'overage_allowed', [10n, 0n, 99n, -89n]],
    ['overage, committed',                 overage,            [commit('a', 99n)],                          'overage_allowed', [10n, 99n, 0n, -89n]],
    ['overage, and more is granted',       overage,            [topUp(95n), release('a')],                  'overage_allowed', [105n, 0n, 0n, 105n]],
    ['overage, over the end',              overage,            [at(FEB), commit('a', 120n)],                'overage_allowed', [10n, 21n, 0n, -11n]],
  ];

  test.each(FREE)('%s', (_what, plan, steps, reason, expected) => {
    const world = subscribed(plan);
    expect(world.reserve(99n, LONG, 'a')).toMatchObject({ kind: 'reserved', reason });
    expect(numbers(after(world, steps))).toEqual(expected);
  });

  test("is an unlimited top-up's beside a plan, over the end of a period and its own", () => {
    const world = after(subscribed(), [topUp(0n, { amount: null, priority: 1 }), hold('a', 20n)]);
    after(world, [at(FEB), use(3n), voided('top-up')]);
    expect(numbers(world)).toEqual([13n, 3n, 0n, 10n]);
    expect(numbers(after(world, [release('a')]))).toEqual([13n, 3n, 0n, 10n]);
  });
});

describe('a reservation of usage that is sold', () => {
  const price = {
    id: 'price',
    currency: 'USD',
    minimum: null,
    maximum: null,
    model: 'per_unit',
    unitAmount: 10n ** 10n,
  } as const;
  /** Of each span, what is past the allowance. */
  const sold = (world: World): bigint[] =>
    billableSpans(world.meter, world.seen).map(({ quantity }) => quantity);

  // prettier-ignore
  const SOLD: [string, Step[], bigint[]][] = [
    // what steps quantities
    ['what is held is not sold yet',                 [hold('a', 14n)],                                           [0n]],
    ['what is committed is',                         [hold('a', 14n), commit('a', 13n)],                         [3n]],
    ['and the excess',                               [hold('a', 14n), commit('a', 17n)],                         [7n]],
    ['in a span that has closed since',              [hold('a', 14n), at(FEB), commit('a', 13n)],                [3n, 0n]],
    ['the excess in the one that runs',              [hold('a', 14n), at(FEB), use(9n), commit('a', 17n)],       [4n, 2n]],
    ['within the allowance of the closed one',       [hold('a', 8n), at(FEB), commit('a', 8n)],                  [0n, 0n]],
    ['what is let go leaves the allowance as it was', [hold('a', 8n), at(FEB), release('a'), useLate(9n)],      [0n, 0n]],
    ['after its time in the one that runs',          [hold('a', 14n, 60), at(FEB), commit('a', 13n)],            [0n, 3n]],
    ['after a change it counts in the new span',     [hold('a', 14n), change({ limit: 10n, price: { ...price, id: 'dearer' } }), commit('a', 13n)], [0n, 3n]],
  ];

  test.each(SOLD)('%s', (_what, steps, expected) => {
    expect(sold(after(subscribed({ price }), steps))).toEqual(expected);
  });
});

test('a feature is exhausted by a commit, once; a hold or one of another period tells nothing', () => {
  const world = after(subscribed(), [hold('a', 10n)]);
  expect(world.told).toEqual(['granted']);
  after(world, [commit('a', 12n)]);
  expect(world.told).toEqual(['granted', 'exhausted']);
  expect(world.events.at(-1)?.data).toMatchObject({ consumed: 10, balance: 0, remaining: 0 });
  const other = after(subscribed(), [hold('a', 10n), at(FEB), commit('a', 10n)]);
  expect(other.told).toEqual(['granted', 'granted']);
});

test('the grants that pay for a reservation stay until it is resolved', () => {
  const world = after(subscribed(), [topUp(5n, { priority: 1 }), hold('a', 5n), at(FEB)]);
  world.tickAt(FEB);
  expect(world.grants.get('top-up')?.ended).toBeNull();
  after(world, [commit('a', 5n), at(MAR)]);
  world.tickAt(MAR);
  expect(world.grants.get('top-up')?.ended).toMatchObject({ how: 'used_up' });
});
