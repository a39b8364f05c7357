// A credit pool at its edges: how far its totals may go, its smallest unit, and the times of what
// it draws. A chat costs 2 credits.
import { describe, expect, test } from 'bun:test';
import { quiet } from '../../ledger/metering/credits.ts';
import {
  after,
  commit,
  hold,
  plan,
  release,
  type Step,
  topUp,
  use,
  wait,
  withdraw,
} from './credit-steps.ts';
import { CreditWorld, type Numbers } from './credit-world.ts';
import { DAY, HOUR, T0 } from './world.ts';

describe('the totals of a credit pool with use and holds', () => {
  // prettier-ignore
  const ROOM: [string, Step[], (world: CreditWorld) => string, outcome: string][] = [
    // what before then outcome
    ['have room for a hold up to the bound',      [use('chat', 150_000)],                             (world) => world.reserve('chat', 349_999, 'b'),   'reserved unlimited by 699998 credits'],
    ['have none for one that reaches it',         [use('chat', 150_000)],                             (world) => world.reserve('chat', 350_000, 'b'),   'out_of_range'],
    ['have room for use up to the bound',         [hold('chat', 150_000)],                            (world) => world.use('chat', 349_999),            'recorded ok by 699998 credits'],
    ['have none for use that reaches it',         [hold('chat', 150_000)],                            (world) => world.use('chat', 350_000),            'out_of_range'],
    ['have room for what was held before',        [hold('chat', 450_000)],                            (world) => world.commit('chat', 'a', 499_999),    'committed 499999'],
    ['have room for what is let go',              [hold('chat', 499_999), release('chat')],           (world) => world.reserve('chat', 499_999, 'b'),   'reserved unlimited by 999998 credits'],
  ];

  test.each(ROOM)('%s', (_what, before, then, outcome) => {
    const world = after(topUp('credits', null), ...before);
    expect(then(world)).toBe(outcome);
  });
});

describe('the smallest unit of a credit pool', () => {
  const UNIT = 0.000_000_001;
  const small = (...steps: readonly Step[]): CreditWorld => {
    const world = new CreditWorld({ credits: { chat: '0.000000001' } });
    for (const step of steps) step(world);
    return world;
  };
  const ends: Step = (world) => world.grant('credits', 10, { expiresAt: world.now + HOUR });

  test('that is drawn says that it is exhausted', () => {
    const world = small(topUp('credits', UNIT), use('chat', 1));
    expect([world.numbers('credits'), world.told('credits')]).toEqual([
      [UNIT, UNIT, 0, 0],
      ['granted', 'exhausted'],
    ]);
  });

  const takesBack: Step = (world) => {
    for (const { id } of world.state('credits').grants) world.void('credits', id);
  };

  // prettier-ignore
  const KEPT: [string, Step[], Numbers][] = [
    ['is covered by it',      [],                                     [1 + UNIT, 0, UNIT, 1]],
    ['and used stays given',  [commit('chat', 1)],                    [1 + UNIT, UNIT, 0, 1]],
    ['and used is not taken from another', [commit('chat', 1), takesBack],                                [UNIT, UNIT, 0, 0]],
    ['and let go is lost',    [release('chat')],                      [1, 0, 0, 1]],
  ];

  test('that is held beside one that is used goes with its grant when it is let go', () => {
    const held = [hold('chat', 1), hold('chat', 1, 'b'), wait(HOUR)];
    const world = small(
      ends,
      topUp('credits', 1),
      ...held,
      commit('chat', 1),
      release('chat', 'b'),
    );
    expect(world.numbers('credits')).toEqual([1 + UNIT, UNIT, 0, 1]);
  });

  test.each(KEPT)('that is held when its grant ends %s', (_what, steps, numbers) => {
    const world = small(ends, topUp('credits', 1), hold('chat', 1), wait(HOUR), ...steps);
    expect(world.numbers('credits')).toEqual(numbers);
  });
});

test('what a credit pool draws is of now, or of the end of the period that is over', () => {
  const world = after(
    plan('credits', 20),
    use('chat', 1),
    wait(DAY + HOUR),
    use('chat', 2),
    use('chat', 3, DAY),
  );
  const drawn = world.written.transfers.filter(({ drawnFor }) => (drawnFor ?? null) !== null);
  expect(
    drawn.map(({ usage }) => [world.number('credits', usage?.value ?? 0n), usage?.eventAt]),
  ).toEqual([
    [2, T0],
    [4, T0 + DAY + HOUR],
    [6, T0 + DAY - 1],
  ]);
});

// prettier-ignore
const GUARDED: [string, Step[], Parameters<CreditWorld['use']>[2], boolean][] = [
  // what steps usage guarded
  ['consumed within the credits',             [],                         { admission: 'consume' },                  true],
  ['recorded within the credits',             [],                         { admission: 'record' },                   false],
  ['of a period that is over',                [wait(DAY)],                { admission: 'consume', eventAt: T0 },     false],
  ['without a limit',                         [topUp('credits', null)],   { admission: 'consume' },                  false],
  ['that moves nothing, as it is below zero', [use('credits', -10)],      { admission: 'consume' },                  false],
];

test.each(GUARDED)(
  "a draw on a credit pool %s: its transfer's mark",
  (_what, steps, fields, isGuarded) => {
    const world = after(plan('credits', 20), use('chat', 0), ...steps);
    world.use('chat', 1, fields);
    const drawn = world.written.transfers.filter(({ drawnFor }) => (drawnFor ?? null) !== null);
    expect(drawn.map(({ usage }) => usage?.guarded)).toEqual([isGuarded]);
  },
);

test('the first grant of a credit pool pays for what was used before it, in its decision', () => {
  const world = after(use('chat', 3), topUp('credits', 100));
  expect(world.state('credits').current.consumed).toBe(world.units('credits', 6));
});

test('a quiet decision keeps its alerts, and fires none', () => {
  const world = after();
  const { alerts, credits } = world.context('chat');
  const all = alerts ?? { all: [], hears: () => true, mayFire: true };
  const hushed = quiet({ ...world.context('chat'), alerts: all });
  expect(hushed.alerts).toEqual({ ...all, mayFire: false });
  expect(quiet({ ...world.context('chat'), alerts: null, credits: null })).toMatchObject({
    alerts: null,
    credits: null,
  });
  expect(hushed.credits?.pool).toBe(credits!.pool);
});

test('what was held of a period without a limit costs a credit pool nothing, beside late use', () => {
  const world = after(
    plan('credits', 20),
    topUp('chat', null),
    hold('chat', 3),
    use('chat', 2),
    wait(DAY + HOUR),
  );
  use('chat', 1, DAY)(world);
  use('chat', 0)(world);
  expect([world.periods('chat'), world.periods('credits')]).toEqual([
    [
      [6, 3, 3],
      [0, 0, 0],
    ],
    [
      [20, 0, 0],
      [20, 0, 0],
    ],
  ]);
});

describe("a member's periods", () => {
  test('begin once what was due of it before has been done', () => {
    const world = after(plan('credits', 20), use('chat', 0));
    world.grant('chat', 5, { expiresAt: T0 + HOUR });
    for (const step of [wait(DAY + HOUR), use('chat', 0)]) step(world);
    expect(world.periods('chat')).toEqual([
      [0, 0, 0],
      [0, 0, 0],
    ]);
  });

  test('are those of the pool once its own plan has expired', () => {
    const world = after(plan('credits', 20));
    world.grant('chat', 2, { every: 'day', expiresAt: T0 + HOUR });
    for (const step of [use('chat', 1), wait(DAY + HOUR), use('chat', 1)]) step(world);
    const [member, pool] = [world.state('chat').current, world.state('credits').current];
    expect([member.start, member.end]).toEqual([pool.start, pool.end]);
    expect(world.periods('chat').at(-1)).toEqual([0, 1, 0]);
  });

  test.each([
    ['begins', [topUp('credits', 5), use('chat', 1), wait(HOUR), plan('credits', 20)]],
    ['ends', [plan('credits', 20), use('chat', 1), wait(HOUR), withdraw('credits')]],
    ['ends at once', [plan('credits', 20), use('chat', 1), withdraw('credits')]],
    ['is renewed', [plan('credits', 20), use('chat', 1), wait(DAY), use('credits', 1)]],
  ] as const)("are those of the credit pool as soon as the pool's plan %s", (_what, steps) => {
    const world = after(...steps);
    const [member, pool] = [world.state('chat').current, world.state('credits').current];
    expect([member.start, member.end]).toEqual([pool.start, pool.end]);
  });
});

test("a period of the pool that an early event has opened is nobody else's before its time", () => {
  const world = after(plan('credits', 20), topUp('chat', 5));
  expect(world.use('credits', 1, { eventAt: T0 + DAY + 1 })).toStartWith('recorded');
  use('chat', 1)(world);
  expect(world.state('credits').current.start).toBe(T0);
  expect(world.state('chat').current).toMatchObject({ start: T0, end: T0 + DAY });
});

test('a draw of what a late usage moves into the period that runs is not guarded', () => {
  const world = after(topUp('credits', 100));
  world.grant('chat', 10, { every: 'day', rollover: { max: 10n, expiresAfterPeriods: 1 } });
  world.now += DAY;
  world.use('chat', 15);
  // 8 of the 10 that rolled over were used before: today's 3 more are the pool's.
  expect(world.use('chat', 8, { admission: 'reject', eventAt: T0 })).toStartWith('recorded');
  const drawn = world.written.transfers.filter(({ drawnFor }) => (drawnFor ?? null) !== null);
  expect(
    drawn.map(({ amount, usage }) => [world.number('credits', amount), usage?.guarded]),
  ).toEqual([[6, false]]);
});
