// What a subscription does to a meter: its allowances begin, change, rest and end, beside others.
import { expect, test } from 'bun:test';
import { GRANTS_KEPT_MAX, GRANTS_LIVE_MAX, QUANTITY_BOUND } from '../../ledger/limits.ts';
import { replacePlan } from '../../ledger/metering/plan-allowance.ts';
import { breakdown, check, snapshotOf } from '../../ledger/metering/meter.ts';
import { DAY, HOUR, type PlanFields, T0, World, granted, subscribed } from './world.ts';

const FEB = Date.UTC(2026, 1, 28, 12);
const MAR = Date.UTC(2026, 2, 31, 12);

const period = (world: World): [number, number | null] => {
  const { start, end } = world.seen.current;
  return [start, end];
};

type Step = (world: World) => void;
const at =
  (moment: number): Step =>
  (world) => {
    world.now = moment;
  };
const use =
  (value: bigint): Step =>
  (world) => {
    world.use(value);
  };
const topUp =
  (amount: bigint): Step =>
  (world) => {
    granted(world.grant({ amount }));
  };
const addOn =
  (fields: PlanFields = {}): Step =>
  (world) => {
    world.plan({ subscriptionId: 'add-on', ...fields });
  };
const ROLLS = { max: 6n, expiresAfterPeriods: 2 };

// prettier-ignore
const STORIES: [string, PlanFields, Step[], [bigint | null, bigint, bigint | null]][] = [
  // what plan then limit consumed balance
  ['it is given at the start',                               {},                           [],                                                             [10n, 0n, 10n]],
  ['it is given anew with its period',                       {},                           [use(4n), at(FEB)],                                             [10n, 0n, 10n]],
  ['a period that began before the plan ends in its time',   { cycle: { anchor: T0 - 10 * DAY, zone: 'UTC' } }, [use(4n), at(T0 + 20 * DAY)],             [10n, 4n, 6n]],
  ['and the next one is there',                              { cycle: { anchor: T0 - 10 * DAY, zone: 'UTC' } }, [use(4n), at(T0 + 21 * DAY)],             [10n, 0n, 10n]],
  ['a trial is the period before the anchor',                { cycle: { anchor: T0 + 14 * DAY, zone: 'UTC' } }, [use(4n), at(T0 + 14 * DAY)],             [10n, 0n, 10n]],
  ['never: it is given once',                                { resetInterval: 'never' },   [use(4n), at(MAR)],                                             [10n, 4n, 6n]],
  ['never: used up, it stays',                               { resetInterval: 'never' },   [use(10n), addOn(), at(FEB)],                                   [10n, 0n, 10n]],
  ['unlimited',                                              { limit: null },              [use(99n), at(FEB)],                                            [null, 0n, null]],
  ['none at all',                                            { limit: 0n },                [use(1n)],                                                      [0n, 1n, -1n]],
  ['an add-on adds to it',                                   {},                           [addOn({ limit: 5n })],                                         [15n, 0n, 15n]],
  ['both are given anew together',                           {},                           [addOn({ limit: 5n }), use(12n), at(FEB)],                      [15n, 0n, 15n]],
  ['a daily add-on is given anew within the month',          {},                           [addOn({ limit: 5n, resetInterval: 'day' }), use(12n), at(T0 + DAY)], [17n, 12n, 5n]],
  ['again and again',                                        {},                           [addOn({ limit: 5n, resetInterval: 'day' }), at(T0 + 3 * DAY)], [15n, 0n, 15n]],
  ['a yearly add-on carries what it has left over',          {},                           [addOn({ limit: 5n, resetInterval: 'year' }), use(12n), at(FEB)], [13n, 0n, 13n]],
  ['and is given anew after a year, beside the plan',        {},                           [addOn({ limit: 5n, resetInterval: 'year' }), use(12n), at(Date.UTC(2027, 0, 31, 12))], [15n, 0n, 15n]],
  ['used up, it comes again all the same',                   {},                           [addOn({ limit: 5n, resetInterval: 'year' }), use(15n), at(Date.UTC(2027, 0, 31, 12))], [15n, 0n, 15n]],
  ['what a daily add-on had left rolls over within the month', {},                         [addOn({ limit: 5n, resetInterval: 'day', rollover: ROLLS }), at(T0 + DAY)], [20n, 0n, 20n]],
  ['up to its cap',                                          {},                           [addOn({ limit: 5n, resetInterval: 'day', rollover: ROLLS }), at(T0 + 2 * DAY - 1)], [20n, 0n, 20n]],
  ['overage of the month is paid by the add-on when it comes anew', {},                    [addOn({ limit: 5n, resetInterval: 'day' }), use(17n), at(T0 + DAY)], [20n, 17n, 3n]],
  ['a daily unlimited add-on, gone later, leaves what it gave', {},                        [addOn({ limit: null, resetInterval: 'day', priority: 101 }), use(99n), at(T0 + DAY), (w) => w.withdrawPlan('voided', 'add-on')], [109n, 99n, 10n]],
  ['an allowance by hand that is used up comes again',       {},                           [(w) => w.grant({ amount: 5n, every: 'quarter' }), use(15n), at(FEB), use(10n), at(Date.UTC(2026, 3, 30, 12))], [15n, 0n, 15n]],
  ['a top-up and a plan',                                    {},                           [topUp(5n), use(12n), at(FEB)],                                 [13n, 0n, 13n]],
];

test.each(STORIES)("a plan's allowance: %s", (_what, plan, steps, expected) => {
  const world = subscribed(plan);
  for (const step of steps) step(world);
  expect(world.numbers).toEqual(expected);
  world.tickAt(world.now);
  expect(world.numbers).toEqual(expected);
});

test('the period is that of the lowest priority, then of the oldest allowance, whatever burns first', () => {
  const world = subscribed({ resetInterval: 'quarter' });
  const quarter = Date.UTC(2026, 3, 30, 12);
  world.now += DAY;
  world.plan({ subscriptionId: 'add-on', resetInterval: 'day' });
  expect(period(world)).toEqual([T0, quarter]);
  // It burns first now and last then, and the period stays.
  world.expirePlanAt(T0 + 5 * DAY, 'add-on');
  world.suspendPlan('paused');
  expect(period(world)).toEqual([T0, quarter]);
  // A later one with the same priority does not lead.
  world.plan({ subscriptionId: 'third', resetInterval: 'hour' });
  world.withdrawPlan('voided', 'third');
  expect(period(world)).toEqual([T0, quarter]);
  world.plan({ subscriptionId: 'first', priority: 1, resetInterval: 'week' });
  expect(period(world)).toEqual([T0 + DAY, T0 + 8 * DAY]);
});

test('when the leading allowance ends, the next one leads a new period, and then there is none', () => {
  const world = subscribed();
  world.plan({ subscriptionId: 'add-on', resetInterval: 'week', limit: 5n });
  world.use(12n);
  world.now += HOUR;
  expect(world.withdrawPlan('voided')).toBe('done');
  expect([world.numbers, period(world)]).toEqual([
    [3n, 0n, 3n],
    [T0 + HOUR, T0 + 7 * DAY],
  ]);
  world.now += HOUR;
  expect(world.withdrawPlan('voided', 'add-on')).toBe('done');
  expect([world.numbers, period(world)]).toEqual([
    [0n, 0n, 0n],
    [T0 + 2 * HOUR, null],
  ]);
});

test('a plan ended and begun in one millisecond beside a top-up makes each movement once', () => {
  const world = subscribed();
  world.grant({ amount: 5n });
  world.use(12n);
  world.now += DAY;
  world.withdrawPlan('voided');
  world.plan({ limit: 20n });
  world.withdrawPlan('voided');
  world.plan({ limit: 30n });
  expect([world.numbers, period(world)[0]]).toEqual([[33n, 0n, 33n], T0 + DAY]);
  const ids = world.transfers.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test("a plan's allowance that was given is not given again", () => {
  const world = new World();
  const terms = { grantId: 'once' };
  expect([world.plan(terms), world.plan(terms)]).toEqual(['done', 'nothing']);
  expect(world.numbers).toEqual([10n, 0n, 10n]);
});

// prettier-ignore
const REFUSED: [string, (world: World) => void, PlanFields, string][] = [
  ['too much',  (world) => { world.grant({ amount: QUANTITY_BOUND - 1n }); },                                            {},                        'out_of_range'],
  ['too many',  (world) => { for (let i = 0; i < GRANTS_LIVE_MAX; i += 1) world.grant({ amount: 1n }); },                {},                        'too_many_grants'],
];

test.each(REFUSED)('a plan is refused whole: %s', (_what, prepare, fields, outcome) => {
  const world = new World();
  prepare(world);
  const before = world.state;
  expect(world.plan({ limit: 0n, ...(outcome === 'too_many_grants' && fields) }, fields)).toBe(
    outcome,
  );
  expect(world.state).toBe(before);
});

test("a plan's allowance that is used up is not dropped to make room", () => {
  const world = subscribed({ resetInterval: 'never' });
  world.use(10n);
  for (let i = 0; i <= GRANTS_KEPT_MAX; i += 1) world.grant({ amount: 1n });
  expect(world.grants.get('id-000001')?.ended).toBeNull();
});

// prettier-ignore
const ENDS: [string, (world: World) => void, string][] = [
  ['withdrawn as expired',                 (w) => { w.withdrawPlan('expired'); },                                        'denied expired'],
  ['withdrawn as void',                    (w) => { w.withdrawPlan('voided'); },                                         'denied not_entitled'],
  ['withdrawn, beside a top-up',           (w) => { w.grant(); w.withdrawPlan('expired'); },                             'allowed ok'],
  ['another subscription was withdrawn',   (w) => { w.withdrawPlan('expired', 'other'); },                               'allowed ok'],
  ['its end is planned',                   (w) => { w.expirePlanAt(T0 + DAY); },                                         'allowed ok'],
  ['its end has come',                     (w) => { w.expirePlanAt(T0 + DAY); w.now = T0 + DAY; },                       'denied expired'],
  ['its end is now',                       (w) => { w.expirePlanAt(T0); },                                               'denied expired'],
  ['its end was before now',               (w) => { w.now += 1; w.expirePlanAt(T0); },                                   'denied expired'],
  ['its end was planned, and is not',      (w) => { w.expirePlanAt(T0 + DAY); w.expirePlanAt(null); w.now += 2 * DAY; }, 'allowed ok'],
  ['it would be given anew when it ends',  (w) => { w.expirePlanAt(FEB); w.now = FEB; },                                 'denied expired'],
];

test.each(ENDS)('the allowance of a plan, %s: a check is %p', (_what, act, answer) => {
  const world = subscribed();
  act(world);
  expect(world.check(1n)).toBe(answer);
});

test("units that rolled over end with their plan's allowance, by command and by time", () => {
  for (const end of [
    (world: World) => world.withdrawPlan('voided'),
    (world: World) => {
      world.expirePlanAt(FEB + DAY);
      world.tickAt(FEB + DAY);
    },
  ]) {
    const world = subscribed({ rollover: ROLLS });
    world.now = FEB;
    expect(world.parts).toEqual([6n, 10n]);
    end(world);
    expect([world.parts, world.numbers]).toEqual([[], [0n, 0n, 0n]]);
  }
});

test('uncanceling a plan leaves the end of units that rolled over', () => {
  const world = subscribed({ rollover: { max: 6n, expiresAfterPeriods: 1 } });
  world.now = FEB;
  world.expirePlanAt(FEB + DAY);
  world.expirePlanAt(null);
  world.use(8n);
  world.now = MAR;
  // 6 and 10 less 8: of the 8 left 6 roll over, and the 6 of before are gone.
  expect(world.parts).toEqual([6n, 10n]);
});

test("a command on a plan's allowance, repeated, changes nothing", () => {
  const world = subscribed();
  const cycle = { anchor: T0 + HOUR, zone: 'UTC' };
  const twice = (act: () => string): void => expect([act(), act()]).toEqual(['done', 'nothing']);
  twice(() => world.suspendPlan('paused'));
  twice(() => world.suspendPlan(null));
  twice(() => world.expirePlanAt(T0 + 90 * DAY));
  world.now = T0 + HOUR;
  twice(() => world.restartPlan(cycle));
  twice(() => world.withdrawPlan('expired'));
});

test('a change of plan gives what it includes, also where there was nothing, and once', () => {
  for (const before of [[], [topUp(5n)]]) {
    const world = new World();
    for (const step of before) step(world);
    const grants = [world.planned({ limit: 7n }), world.planned({ limit: 3n, priority: 1 })];
    const change = (): string =>
      world.do((context, state) =>
        replacePlan(context, state, { subscriptionId: 'plan', since: T0 }, grants),
      );
    expect([change(), change()]).toEqual(['done', 'nothing']);
    const limit = 10n + 5n * BigInt(before.length);
    expect(world.numbers).toEqual([limit, 0n, limit]);
  }
});

const paused: Step = (world) => {
  world.suspendPlan('paused');
};
const blocked: Step = (world) => {
  world.suspendPlan('blocked');
};
const addOnPaused: Step = (world) => {
  world.suspendPlan('paused', 'add-on');
};

// prettier-ignore
const SUSPENDED: [string, PlanFields, Step[], bigint, string][] = [
  // what plan then asked answer
  ['paused',                                             {},                                    [paused],                                         1n,   'denied subscription_paused'],
  ['paused, nothing asked',                              {},                                    [paused],                                         0n,   'denied subscription_paused'],
  ['paused, all asked',                                  {},                                    [paused],                                         10n,  'denied subscription_paused'],
  ['paused, more asked than it has',                     {},                                    [paused],                                         11n,  'denied insufficient_balance'],
  ['blocked',                                            {},                                    [blocked],                                        1n,   'denied blocked'],
  ['blocked weighs more than paused',                    {},                                    [addOn(), addOnPaused, blocked],                  1n,   'denied blocked'],
  ['paused weighs less than blocked',                    {},                                    [addOn(), (w) => w.suspendPlan('blocked', 'add-on'), paused], 1n, 'denied blocked'],
  ['paused and resumed',                                 {},                                    [paused, (w) => w.suspendPlan(null)],             10n,  'allowed ok'],
  ['paused beside a top-up that has enough',             {},                                    [topUp(5n), paused],                              5n,   'allowed ok'],
  ['paused beside one that has not',                     {},                                    [topUp(5n), paused],                              6n,   'denied subscription_paused'],
  ['the top-up burns first while it is paused',          {},                                    [topUp(5n), paused, use(3n)],                     3n,   'denied subscription_paused'],
  ['what was used before it was paused is of the plan',  {},                                    [topUp(5n), use(3n), paused],                     5n,   'allowed ok'],
  ['unlimited, paused',                                  { limit: null },                       [use(99n), paused],                               1n,   'denied subscription_paused'],
  ['unlimited, paused beside a top-up',                  { limit: null },                       [use(99n), topUp(5n), paused],                    5n,   'allowed ok'],
  ['unlimited, paused and resumed',                      { limit: null },                       [use(99n), paused, (w) => w.suspendPlan(null)],   999n, 'allowed unlimited'],
  ['overage is allowed, paused',                         { overageAllowed: true },              [use(10n), paused],                               1n,   'denied subscription_paused'],
  ['overage is allowed by another one',                  {},                                    [addOn({ limit: 0n, overageAllowed: true }), paused], 1n, 'allowed overage_allowed'],
  ['a feature one has',                                  { boolean: true },                     [use(99n)],                                       999n, 'allowed boolean'],
  ['a feature one has, paused',                          { boolean: true },                     [paused],                                         1n,   'denied subscription_paused'],
  ['a feature one has beside units',                     { boolean: true },                     [topUp(5n)],                                      9n,   'allowed boolean'],
  ['a feature one has beside unlimited',                 { boolean: true },                     [addOn({ limit: null })],                         9n,   'allowed unlimited'],
  ['paused over the end of a period',                    {},                                    [paused, at(FEB)],                                1n,   'denied subscription_paused'],
];

test.each(SUSPENDED)('a check of a suspended plan: %s', (_what, plan, steps, asked, answer) => {
  const world = subscribed(plan);
  for (const step of steps) step(world);
  expect(world.check(asked)).toBe(answer);
  // Consuming gives the same answer, and a refusal leaves no trace.
  const before = world.numbers[1];
  const outcome = world.use(asked, { admission: 'consume' });
  expect(outcome.kind).toBe(answer.startsWith('allowed') ? 'recorded' : 'refused');
  if (outcome.kind === 'refused') expect(`denied ${outcome.record.reason}`).toBe(answer);
  if (outcome.kind === 'recorded') expect(world.numbers[1]).toBe(before + asked);
});

// prettier-ignore
const REJECTED: [string, Step[], bigint, string][] = [
  ['paused',                        [paused],            1n,   'refused subscription_paused'],
  ['blocked',                       [blocked],           10n,  'refused blocked'],
  ['paused, more than it has',      [paused],            11n,  'refused insufficient_balance'],
  ['paused beside enough',          [topUp(5n), paused], 5n,   'recorded ok'],
  ['paused, a correction',          [paused],            -1n,  'recorded ok'],
];

test.each(REJECTED)(
  'a track with reject of a suspended plan: %s',
  (_what, steps, value, answer) => {
    const world = subscribed();
    for (const step of steps) step(world);
    const outcome = world.use(value, { admission: 'reject' });
    if (outcome.kind === 'out_of_range') throw new Error('in range');
    expect(`${outcome.kind} ${outcome.record.reason}`).toBe(answer);
  },
);

test('usage of a paused plan is recorded, and a suspended allowance stays in the numbers', () => {
  const world = subscribed();
  world.grant({ amount: 5n });
  world.use(2n);
  world.suspendPlan('paused');
  expect([world.numbers, world.parts]).toEqual([
    [15n, 2n, 13n],
    [5n, 8n],
  ]);
  world.use(6n);
  expect([world.numbers, world.parts]).toEqual([
    [15n, 8n, 7n],
    [0n, 7n],
  ]);
  world.suspendPlan(null);
  expect([world.numbers, world.parts, world.check(7n)]).toEqual([
    [15n, 8n, 7n],
    [7n, 0n],
    'allowed ok',
  ]);
});

test('usage that an unlimited plan paid before its pause stays paid, and nothing is left to show', () => {
  const world = subscribed({ limit: null });
  world.use(99n);
  world.grant({ amount: 5n });
  world.suspendPlan('blocked');
  expect([world.numbers, world.parts]).toEqual([
    [104n, 99n, 5n],
    [5n, 0n],
  ]);
  world.suspendPlan(null);
  world.use(1n);
  expect([world.numbers[0], world.parts]).toEqual([null, [null, 5n]]);
  // Usage beyond all others during the suspension does not count against it: the next allowance
  // pays for it.
  world.suspendPlan('blocked');
  world.use(7n);
  world.grant({ amount: 6n });
  expect([world.numbers[2], world.parts]).toEqual([4n, [0n, 4n, 0n]]);
});

test('a plan paused over the end of a period gets a new allowance, without an event or rollover', () => {
  const world = subscribed({ rollover: ROLLS });
  world.suspendPlan('paused');
  const { length } = world.told;
  world.tickAt(FEB);
  expect([world.parts, world.told.length]).toEqual([[10n], length]);
  world.suspendPlan(null);
  world.tickAt(MAR);
  expect([world.parts, world.told.at(-1)]).toEqual([[6n, 10n], 'granted']);
});

test('a boolean feature shows no numbers, and is used like any other', () => {
  const world = subscribed({ boolean: true, resetInterval: 'never' });
  world.use(7n);
  expect(check(world.seen, 1n)).toMatchObject({ allowed: true, reason: 'boolean' });
  expect([world.numbers, world.parts]).toEqual([[null, 7n, null], [null]]);
  const outcome = world.use(1n, { admission: 'consume' });
  expect(outcome).toMatchObject({ kind: 'recorded', record: { reason: 'boolean' } });
});

test('a plan restarted has the same terms from now, in use again', () => {
  const world = subscribed({ rollover: ROLLS, overageAllowed: true, limit: 8n });
  world.now = FEB;
  world.use(3n);
  world.suspendPlan('paused');
  world.now = FEB + 40 * DAY;
  expect(world.restartPlan({ anchor: world.now, zone: 'Europe/Berlin' })).toBe('done');
  expect([world.numbers, world.check(8n)]).toEqual([
    // 3 of those that had rolled over before are still there.
    [11n, 0n, 11n],
    'allowed ok',
  ]);
  const [, { grant } = { grant: null }] = breakdown(world.seen);
  expect(grant).toMatchObject({
    source: 'subscription',
    subscriptionId: 'plan',
    productId: 'product',
    overageAllowed: true,
    suspended: null,
    recurs: {
      cycle: { anchor: world.now, interval: 'month', zone: 'Europe/Berlin' },
      rollover: ROLLS,
    },
  });
  expect(period(world)).toEqual([world.now, Date.UTC(2026, 4, 9, 12)]);
  expect(world.events.at(-1)?.data).toMatchObject({ source: 'renewal', subscriptionId: 'plan' });
});

test("a plan's allowance given once is not given again by a restart", () => {
  const world = subscribed({ resetInterval: 'never' });
  world.use(4n);
  world.suspendPlan('paused');
  world.now += DAY;
  world.restartPlan({ anchor: world.now, zone: 'UTC' });
  expect([world.numbers, world.check(6n)]).toEqual([[10n, 4n, 6n], 'allowed ok']);
});

test('a plan begins at the grant where the ordering clock is ahead, else at the ordered time', () => {
  for (const [createdAt, effectiveAt] of [
    [T0 + HOUR, T0],
    [T0 - HOUR, T0 - HOUR],
  ] as const) {
    const world = subscribed({ createdAt });
    expect(world.grants.get('id-000001')?.effectiveAt).toBe(effectiveAt);
    expect(world.numbers).toEqual([10n, 0n, 10n]);
  }
});

test("usage before a plan's end was planned does not count on the grant that burns first now", () => {
  const world = new World();
  world.grant({ amount: 5n });
  world.plan({});
  world.use(3n);
  expect(world.parts).toEqual([2n, 10n]);
  world.expirePlanAt(T0 + DAY);
  expect(world.parts).toEqual([10n, 2n]);
});

test('the numbers of a past period have what it was granted', () => {
  const world = subscribed();
  world.now = FEB;
  world.suspendPlan('paused');
  const outcome = world.use(2n, { eventAt: T0 + 1, admission: 'reject' });
  expect(outcome.kind).toBe('recorded');
  expect(snapshotOf(world.seen).consumed).toBe(0n);
});
