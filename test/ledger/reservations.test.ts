// Reservations: what is held, what is committed, extended and let go, and what a period, a grant or a
// plan that ends makes of what is held.
import { describe, expect, test } from 'bun:test';
import { RESERVATIONS_OPEN_MAX } from '../../ledger/limits.ts';
import { snapshotOf } from '../../ledger/metering/meter.ts';
import type { ResolveOutcome } from '../../ledger/metering/reservation-decisions.ts';
import {
  DAY,
  granted,
  type GrantFields,
  HOUR,
  type PlanFields,
  reserved,
  subscribed,
  T0,
  World,
} from './world.ts';

const FEB = Date.UTC(2026, 1, 28, 12);
const MAR = Date.UTC(2026, 2, 31, 12);
/** In seconds. */
const LONG = 29 * 86_400;
const MONTHLY = { cycle: { anchor: T0, zone: 'UTC' } };
const ROLLS = { max: 6n, expiresAfterPeriods: 2 };

type Numbers = readonly [
  limit: bigint | null,
  consumed: bigint,
  reserved: bigint,
  balance: bigint | null,
];

function numbers(world: World): Numbers {
  const { limit, consumed, reserved: held } = snapshotOf(world.seen);
  return [limit, consumed, held, world.numbers[2]];
}

/** Of all periods in memory, by their start: what was used, and what is held. */
function periods(world: World): (readonly [bigint, bigint])[] {
  const { current, others } = world.seen;
  return [...others, current].map(({ consumed, reserved: held }) => [consumed, held]);
}

const said = (outcome: ResolveOutcome) =>
  outcome.kind === 'done'
    ? `${outcome.reservation.status}${outcome.reservation.late ? ' late' : ''} ${outcome.reservation.committed}`
    : outcome.kind;

type Step = (world: World) => unknown;

const hold =
  (id: string, amount: bigint, seconds = LONG): Step =>
  (world) =>
    expect(world.reserve(amount, seconds, id).kind).toBe('reserved');
const commit =
  (id: string, value: bigint): Step =>
  (world) =>
    expect(world.commit(id, value).kind).toBe('done');
const release =
  (id: string): Step =>
  (world) =>
    expect(world.release(id).kind).toBe('done');
const use =
  (value: bigint): Step =>
  (world) =>
    expect(world.use(value).kind).toBe('recorded');
const topUp =
  (amount: bigint, fields: GrantFields = {}): Step =>
  (world) =>
    granted(world.grant({ id: 'top-up', amount, ...fields }));
const at =
  (time: number): Step =>
  (world) => {
    world.now = time;
  };
const change =
  (...plans: readonly PlanFields[]): Step =>
  (world) => {
    world.now += 1;
    expect(world.replacePlan(...plans.map((plan) => ({ ...MONTHLY, ...plan })))).toBe('done');
  };
const voided =
  (id: string): Step =>
  (world) =>
    expect(world.void(id)).toBe('voided');

function after(world: World, steps: readonly Step[]): World {
  for (const step of steps) step(world);
  return world;
}

/** Until its time is over. */
const late = (world: World): null => {
  world.now += 60_000;
  return null;
};

describe('what is held', () => {
  // prettier-ignore
  const HELD: [string, Step[], Numbers, (bigint | null)[]][] = [
    // what                                     steps                                                    numbers              parts
    ['is off the balance',                      [hold('a', 4n)],                                         [10n, 0n, 4n, 6n],   [6n]],
    ['may be all there is',                     [hold('a', 10n)],                                        [10n, 0n, 10n, 0n],  [0n]],
    ['adds up',                                 [hold('a', 4n), hold('b', 5n), use(1n)],                 [10n, 1n, 9n, 0n],   [0n]],
    ['is off the parts in burn order',          [topUp(5n, { priority: 1 }), hold('a', 7n)],             [15n, 0n, 7n, 8n],   [0n, 8n]],
    ['after a checkpoint, too',                 [hold('a', 7n), topUp(5n, { priority: 1 }), use(1n)],    [15n, 1n, 7n, 7n],   [4n, 3n]],
    ['and usage past the limit is debt',        [hold('a', 8n), use(7n)],                                [10n, 7n, 8n, -5n],  [0n]],
    ['debt is paid by what is granted',         [hold('a', 8n), use(7n), topUp(9n)],                     [19n, 7n, 8n, 4n],   [0n, 4n]],
    ['is used in part',                         [hold('a', 8n), commit('a', 3n)],                        [10n, 3n, 0n, 7n],   [7n]],
    ['is used to the last unit',                [hold('a', 8n), commit('a', 8n)],                        [10n, 8n, 0n, 2n],   [2n]],
    ['is not used at all',                      [hold('a', 8n), commit('a', 0n)],                        [10n, 0n, 0n, 10n],  [10n]],
    ['is not enough',                           [hold('a', 8n), commit('a', 13n)],                       [10n, 13n, 0n, -3n], [0n]],
    ['is let go',                               [hold('a', 8n), release('a')],                           [10n, 0n, 0n, 10n],  [10n]],
    ['is let go after a checkpoint',            [hold('a', 8n), topUp(5n), release('a')],                [15n, 0n, 0n, 15n],  [10n, 5n]],
    ['is used after a checkpoint',              [hold('a', 8n), topUp(5n), commit('a', 3n)],             [15n, 3n, 0n, 12n],  [7n, 5n]],
    ['is not enough after a checkpoint',        [hold('a', 8n), topUp(5n), commit('a', 11n)],            [15n, 11n, 0n, 4n],  [0n, 4n]],
    ['two, of which one is let go',             [hold('a', 4n), hold('b', 5n), topUp(5n), release('a')], [15n, 0n, 5n, 10n],  [5n, 5n]],
    ['a correction leaves it',                  [use(5n), hold('a', 5n), topUp(5n), use(-3n)],           [15n, 2n, 5n, 8n],   [3n, 5n]],
    ['a correction of all but it',              [use(5n), hold('a', 5n), topUp(5n), use(-9n)],           [15n, 0n, 5n, 10n],  [5n, 5n]],
    ['below zero a commit counts from there',   [use(-4n), hold('a', 6n), commit('a', 6n)],              [10n, 2n, 0n, 8n],   [8n]],
    ['below zero, after a checkpoint',          [use(-4n), hold('a', 6n), topUp(5n), commit('a', 6n)],   [15n, 2n, 0n, 13n],  [8n, 5n]],
  ];

  test.each(HELD)('%s', (_what, steps, expected, parts) => {
    const world = after(subscribed(), steps);
    expect([numbers(world), world.parts]).toEqual([expected, parts]);
    expect(world.reservations.values().some(({ status }) => status === 'open')).toBe(
      expected[2] > 0n,
    );
  });

  test('more than there is is refused, and leaves no trace', () => {
    const world = after(subscribed(), [hold('a', 4n)]);
    const before = world.state;
    expect(world.reserve(7n)).toMatchObject({
      kind: 'denied',
      answer: { reason: 'insufficient_balance' },
    });
    expect(world.state).toBe(before);
    expect(world.check(6n)).toBe('allowed ok');
    expect(world.check(7n)).toBe('denied insufficient_balance');
    expect(world.use(7n, { admission: 'consume' }).kind).toBe('refused');
    expect(world.use(7n, { admission: 'reject' }).kind).toBe('refused');
  });

  test('is a pending transfer, and a commit posts it once', () => {
    const world = after(subscribed(), [hold('a', 8n), commit('a', 11n)]);
    const moved = world.transfers
      .filter(({ debit }) => debit === world.state.current.accountId)
      .map(({ kind, amount, hold: held }) => [kind, amount, held?.amount ?? null]);
    expect(moved).toEqual([
      ['pending', 8n, null],
      ['post', 8n, 8n],
      ['pending', 3n, null],
      ['post', 3n, 3n],
    ]);
  });

  test('1,000 may be open, and no more', () => {
    const world = subscribed({ limit: 5000n });
    for (let count = 0; count < RESERVATIONS_OPEN_MAX; count += 1) reserved(world.reserve(1n));
    expect(world.reserve(1n).kind).toBe('too_many_reservations');
    world.now += 300_000;
    expect(world.reserve(1n).kind).toBe('reserved');
  });
});

describe('time', () => {
  test('it expires at its time, whether an alarm comes or a call much later', () => {
    const start = (): World => after(new World(), [topUp(10n), hold('a', 4n, 60), hold('b', 3n, 120)]);
    const [onTime, later] = [start(), start()];
    for (const second of [60, 120]) onTime.tickAt(T0 + second * 1000);
    onTime.tickAt(T0 + DAY);
    later.tickAt(T0 + DAY);
    for (const world of [onTime, later]) {
      expect(numbers(world)).toEqual([10n, 0n, 0n, 10n]);
      const all = [...world.reservations.values()];
      expect(all.map(({ status, resolvedAt }) => [status, resolvedAt])).toEqual([
        ['expired', T0 + 60_000],
        ['expired', T0 + 120_000],
      ]);
    }
    expect(later.transfers.map(({ id }) => id)).toEqual(onTime.transfers.map(({ id }) => id));
  });

  test('until then it is held, and from then on it is not', () => {
    const world = after(subscribed(), [hold('a', 4n, 60)]);
    world.now += 59_999;
    expect(numbers(world)).toEqual([10n, 0n, 4n, 6n]);
    world.now += 1;
    expect(numbers(world)).toEqual([10n, 0n, 0n, 10n]);
    // The alarm is set for it.
    expect(world.state.nextDue).toBe(T0 + 60_000);
  });

  test('what expires as the period ends rolls over', () => {
    const world = after(subscribed({ rollover: ROLLS }), [
      use(6n),
      hold('a', 4n, (FEB - T0) / 1000),
      at(FEB),
    ]);
    expect(numbers(world)).toEqual([14n, 0n, 0n, 14n]);
  });

  test('where the clock steps back: it counts from the period that runs', () => {
    const world = after(subscribed({ resetInterval: 'day' }), [at(T0 + DAY)]);
    world.tickAt(world.now);
    after(world, [at(T0 + DAY - 2000), hold('a', 4n, 1), hold('b', 3n, 60)]);
    expect(numbers(world)).toEqual([10n, 0n, 7n, 3n]);
    after(world, [commit('b', 2n), at(T0 + DAY - 1000)]);
    expect(numbers(world)).toEqual([10n, 2n, 0n, 8n]);
    world.tickAt(T0 + DAY + HOUR);
    expect(numbers(world)).toEqual([10n, 2n, 0n, 8n]);
    expect(world.reservations.get('a')).toMatchObject({ status: 'expired' });
  });
});

test('those that expire together are in one order, whatever they were made in', () => {
  const world = after(subscribed(), [hold('b', 1n), hold('c', 1n), hold('a', 1n)]);
  expect(world.state.reservations.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
});

describe('again, and too late', () => {
  // prettier-ignore
  const AGAIN: [string, ((world: World) => ResolveOutcome | null)[], string[], Numbers][] = [
    // what                                  calls                                                                  answers                               numbers
    ['the same commit',                      [(w) => w.commit('a', 5n), (w) => w.commit('a', 5n)],                  ['committed 5', 'committed 5'],        [10n, 5n, 0n, 5n]],
    ['the same commit above',                [(w) => w.commit('a', 9n), (w) => w.commit('a', 9n)],                  ['committed 9', 'committed 9'],        [10n, 9n, 0n, 1n]],
    ['the same commit of nothing',           [(w) => w.commit('a', 0n), (w) => w.commit('a', 0n)],                  ['committed 0', 'committed 0'],        [10n, 0n, 0n, 10n]],
    ['another commit',                       [(w) => w.commit('a', 5n), (w) => w.commit('a', 6n)],                  ['committed 5', 'not_open'],           [10n, 5n, 0n, 5n]],
    ['a commit of what was let go',          [(w) => w.release('a'), (w) => w.commit('a', 6n)],                     ['released 0', 'not_open'],            [10n, 0n, 0n, 10n]],
    ['the same release',                     [(w) => w.release('a'), (w) => w.release('a')],                        ['released 0', 'released 0'],          [10n, 0n, 0n, 10n]],
    ['a release of what was committed',      [(w) => w.commit('a', 0n), (w) => w.release('a')],                     ['committed 0', 'not_open'],           [10n, 0n, 0n, 10n]],
    ['more time for what was committed',     [(w) => w.commit('a', 5n), (w) => w.extend('a', null, 9)],             ['committed 5', 'not_open'],           [10n, 5n, 0n, 5n]],
    ['what there never was',                 [(w) => w.commit('x', 5n), (w) => w.release('x'), (w) => w.extend('x', 9n)], ['unknown', 'unknown', 'unknown'], [10n, 0n, 6n, 4n]],
    ['a commit after its time',              [late, (w) => w.commit('a', 5n)],                                      ['committed late 5'],                 [10n, 5n, 0n, 5n]],
    ['past the limit after its time',        [late, (w) => w.commit('a', 13n)],                                     ['committed late 13'],                [10n, 13n, 0n, -3n]],
    ['a commit of nothing after its time',   [late, (w) => w.commit('a', 0n), (w) => w.commit('a', 0n)],            ['committed late 0', 'committed late 0'], [10n, 0n, 0n, 10n]],
    ['the same late commit',                 [late, (w) => w.commit('a', 5n), (w) => w.commit('a', 5n)],            ['committed late 5', 'committed late 5'], [10n, 5n, 0n, 5n]],
    ['another late commit',                  [late, (w) => w.commit('a', 5n), (w) => w.commit('a', 4n)],            ['committed late 5', 'not_open'],      [10n, 5n, 0n, 5n]],
    ['a release after a late commit',        [late, (w) => w.commit('a', 5n), (w) => w.release('a')],               ['committed late 5', 'not_open'],      [10n, 5n, 0n, 5n]],
    ['a release after its time',             [late, (w) => w.release('a'), (w) => w.release('a')],                  ['expired 0', 'expired 0'],            [10n, 0n, 0n, 10n]],
    ['a commit after such a release',        [late, (w) => w.release('a'), (w) => w.commit('a', 5n)],               ['expired 0', 'committed late 5'],     [10n, 5n, 0n, 5n]],
    ['more time after its time',             [late, (w) => w.extend('a', null, 9)],                                 ['not_open'],                         [10n, 0n, 0n, 10n]],
  ];

  test.each(AGAIN)('%s', (_what, calls, answers, expected) => {
    const world = after(subscribed(), [hold('a', 6n, 60)]);
    const outcomes = calls.map((call) => call(world));
    expect(outcomes.flatMap((one) => (one === null ? [] : said(one)))).toEqual(answers);
    expect(numbers(world)).toEqual(expected);
  });

  test('the first answer has what was left then', () => {
    const world = after(subscribed(), [hold('a', 6n)]);
    expect(world.commit('a', 5n)).toMatchObject({ balance: 5n, used: [{ value: 5n }] });
    after(world, [use(4n)]);
    expect(world.commit('a', 5n)).toMatchObject({ balance: 5n, used: [] });
  });
});

describe('extended', () => {
  // prettier-ignore
  const EXTENDED: [string, Step[], bigint | null, number | null, string, Numbers][] = [
    // what                           before                        amount seconds  answer            numbers
    ['more',                          [],                           7n,    null,    'open 0',         [10n, 0n, 7n, 3n]],
    ['all there is',                  [],                           10n,   60,      'open 0',         [10n, 0n, 10n, 0n]],
    ['as much as before',             [],                           4n,    null,    'open 0',         [10n, 0n, 4n, 6n]],
    ['less',                          [],                           3n,    60,      'less_than_held', [10n, 0n, 4n, 6n]],
    ['past the balance',              [],                           11n,   60,      'denied',         [10n, 0n, 4n, 6n]],
    ['after a checkpoint',            [topUp(5n)],                  9n,    null,    'open 0',         [15n, 0n, 9n, 6n]],
    ['for longer',                    [],                           null,  LONG,    'open 0',         [10n, 0n, 4n, 6n]],
    ['for 30 days since it was made', [],                           null,  30 * 86_400 - 10, 'open 0', [10n, 0n, 4n, 6n]],
    ['for longer than that',          [],                           7n,    30 * 86_400 - 9,  'too_long', [10n, 0n, 4n, 6n]],
    ['while the plan rests',          [(w) => w.suspendPlan('paused')], 7n, 60,     'denied',         [10n, 0n, 4n, 6n]],
    ['longer while the plan rests',   [(w) => w.suspendPlan('paused')], null, 60,   'open 0',         [10n, 0n, 4n, 6n]],
  ];

  test.each(EXTENDED)('%s', (_what, steps, amount, seconds, answer, expected) => {
    const world = after(subscribed(), [hold('a', 4n, 300), ...steps]);
    world.now += 10_000;
    const before = world.reservations.get('a');
    expect(said(world.extend('a', amount, seconds))).toBe(answer);
    expect(numbers(world)).toEqual(expected);
    if (answer !== 'open 0') return expect(world.reservations.get('a')).toBe(before!);
    const expiresAt = seconds === null ? T0 + 300_000 : world.now + seconds * 1000;
    expect(world.state.reservations).toMatchObject([{ amount: expected[2], expiresAt }]);
    // It counts once: the hold that was replaced is resolved.
    after(world, [commit('a', 2n)]);
    expect(numbers(world)).toEqual([expected[0], 2n, 0n, (expected[0] ?? 0n) - 2n]);
    return undefined;
  });

  test('again and again', () => {
    const world = after(subscribed(), [hold('a', 4n, 60)]);
    for (const amount of [5n, 7n, 7n, 10n]) {
      world.now += 50_000;
      expect(said(world.extend('a', amount, 60))).toBe('open 0');
    }
    expect(said(world.commit('a', 9n))).toBe('committed 9');
    expect(numbers(world)).toEqual([10n, 9n, 0n, 1n]);
    const pending = world.transfers.filter(({ kind }) => kind === 'pending');
    const resolved = world.transfers.flatMap(({ hold: held }) => held?.id ?? []);
    expect(resolved.toSorted()).toEqual(pending.map(({ id }) => id).toSorted());
  });

  test('after its period: only for longer', () => {
    const world = after(subscribed(), [hold('a', 4n), at(FEB)]);
    expect(said(world.extend('a', 5n))).toBe('period_over');
    expect(said(world.extend('a', 4n, 3600))).toBe('open 0');
    expect(periods(world)).toEqual([
      [0n, 4n],
      [0n, 0n],
    ]);
    after(world, [at(FEB + HOUR)]);
    expect(periods(world)[0]).toEqual([0n, 0n]);
  });
});

const daily = { resetInterval: 'day', rollover: ROLLS } as const;
/** Everything of the plan is used on each day until then. */
const spent =
  (days: number): Step =>
  (world) => {
    for (let day = 1; day < days; day += 1) after(world, [at(T0 + day * DAY), use(10n)]);
  };

describe('after the period in which it was made', () => {
  // prettier-ignore
  const OVER: [string, PlanFields, Step[], Numbers, (readonly [bigint, bigint])[] | null][] = [
    // what                                     plan                      steps                                                                   numbers              periods
    ['it takes nothing from the next one',      {},                       [hold('a', 4n), at(FEB)],                                               [10n, 0n, 0n, 10n],  [[0n, 4n], [0n, 0n]]],
    ['what is committed is of its own',         {},                       [hold('a', 4n), at(FEB), commit('a', 3n)],                              [10n, 0n, 0n, 10n],  [[3n, 0n], [0n, 0n]]],
    ['the excess is of now',                    {},                       [hold('a', 4n), at(FEB), commit('a', 6n)],                              [10n, 2n, 0n, 8n],   [[4n, 0n], [2n, 0n]]],
    ['after its time all is of now',            {},                       [hold('a', 4n, 60), at(FEB), commit('a', 6n)],                          [10n, 6n, 0n, 4n],   null],
    ['released, nothing rolls over',            {},                       [hold('a', 4n), at(FEB), release('a')],                                 [10n, 0n, 0n, 10n],  [[0n, 0n], [0n, 0n]]],
    ['released, it rolls over',                 { rollover: ROLLS },      [use(6n), hold('a', 4n), at(FEB), release('a')],                        [14n, 0n, 0n, 14n],  null],
    ['expired, it rolls over',                  { rollover: ROLLS },      [use(6n), hold('a', 4n), at(T0 + LONG * 1000)],                         [14n, 0n, 0n, 14n],  null],
    ['committed in part, the rest rolls over',  { rollover: ROLLS },      [use(6n), hold('a', 4n), at(FEB), commit('a', 1n)],                     [13n, 0n, 0n, 13n],  null],
    ['up to what the cap leaves',               { rollover: ROLLS },      [use(2n), hold('a', 4n), at(FEB), release('a')],                        [16n, 0n, 0n, 16n],  null],
    ['what was used of it leaves room',         { rollover: ROLLS },      [hold('a', 4n), at(FEB), use(4n), release('a')],                        [20n, 4n, 0n, 16n],  null],
    ['after a checkpoint, too',                 { rollover: ROLLS },      [hold('a', 4n), at(FEB), use(4n), topUp(1n), release('a')],             [21n, 4n, 0n, 17n],  null],
    ['two of one day, one after the other',     { rollover: ROLLS },      [use(5n), hold('a', 2n), hold('b', 3n), at(FEB), release('b'), release('a')], [15n, 0n, 0n, 15n], null],
    ['within the life of what rolls over',      daily,                    [use(6n), hold('a', 4n), spent(2), at(T0 + 2.5 * DAY), release('a')],   [14n, 0n, 0n, 14n],  null],
    ['its life is that of its period',          daily,                    [use(6n), hold('a', 4n), spent(2), at(T0 + 2.5 * DAY), release('a'), use(14n), at(T0 + 3 * DAY)], [10n, 0n, 0n, 10n], null],
    ['and not after it',                        daily,                    [use(6n), hold('a', 4n), spent(3), at(T0 + 3 * DAY), release('a')],     [10n, 0n, 0n, 10n],  null],
    ['a share of a top-up comes back',          {},                       [topUp(5n, { priority: 1 }), hold('a', 7n), at(FEB), release('a')],     [15n, 0n, 0n, 15n],  null],
    ['what is not used of it comes back',       {},                       [topUp(5n, { priority: 1 }), hold('a', 7n), at(FEB), commit('a', 3n)],  [12n, 0n, 0n, 12n],  [[3n, 0n], [0n, 0n]]],
    ['beside what was left of it',              {},                       [topUp(5n, { priority: 1 }), hold('a', 3n), at(FEB), release('a')],     [15n, 0n, 0n, 15n],  null],
    ['from periods ago',                        { resetInterval: 'day' }, [topUp(5n, { priority: 1 }), hold('a', 3n), spent(5), at(T0 + 5 * DAY), release('a')], [13n, 0n, 0n, 13n], null],
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

  test('a plan that begins ends the period of the top-ups', () => {
    const begin = (): World =>
      after(new World(), [topUp(10n), hold('a', 4n), at(T0 + HOUR), (world) => world.plan({})]);
    expect(numbers(begin())).toEqual([16n, 0n, 0n, 16n]);
    expect(numbers(after(begin(), [commit('a', 4n)]))).toEqual([16n, 0n, 0n, 16n]);
    expect(numbers(after(begin(), [release('a')]))).toEqual([20n, 0n, 0n, 20n]);
  });

  test('an allowance beside the one that leads is given anew', () => {
    const plans = [{}, { resetInterval: 'week', priority: 200, rollover: ROLLS }] as const;
    const begin = (): World => {
      const world = new World();
      world.plan(...plans);
      return after(world, [use(10n), hold('a', 7n), at(T0 + 7 * DAY)]);
    };
    // 3 of the week have rolled over; 7 are held of the week before.
    expect(numbers(begin())).toEqual([30n, 10n, 7n, 13n]);
    expect(numbers(after(begin(), [commit('a', 7n)]))).toEqual([30n, 17n, 0n, 13n]);
    expect(numbers(after(begin(), [use(1n), release('a')]))).toEqual([27n, 11n, 0n, 16n]);
    expect(numbers(after(begin(), [commit('a', 5n)]))).toEqual([30n, 15n, 0n, 15n]);
  });
});

describe('what ends under it covers what is committed, and keeps what is not', () => {
  const HOUR_LATER = T0 + HOUR;
  const alone = (fields: GrantFields = {}): World =>
    after(new World(), [topUp(10n, fields)]);
  const withdraw: Step = (world) => world.withdrawPlan('voided');
  const held = (...steps: Step[]): Step[] => [use(3n), hold('a', 4n), at(HOUR_LATER), ...steps];
  const expiring = { expiresAt: HOUR_LATER };

  // prettier-ignore
  const ENDED: [string, () => World, Step[], Numbers][] = [
    // what                             world                        steps                                                    numbers
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

describe('another plan under it', () => {
  const unlimited = change({ limit: null });
  const back = change({});
  const rolling = { rollover: ROLLS };

  // prettier-ignore
  const CHANGED: [string, PlanFields, Step[], Numbers][] = [
    // what                                       old        steps                                                              numbers
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
    ['held while unlimited, and back',            {},        [use(8n), unlimited, hold('a', 5n), back],                         [15n, 8n, 5n, 2n]],
    ['held while unlimited, back, released',      {},        [use(8n), unlimited, hold('a', 5n), back, release('a')],           [10n, 8n, 0n, 2n]],
    ['held and released while unlimited',         {},        [use(8n), unlimited, hold('a', 5n), topUp(5n), release('a'), back], [15n, 8n, 0n, 7n]],
    ['by the day instead',                        {},        [hold('a', 8n), change({ limit: 5n, resetInterval: 'day' })],      [0n, 0n, 0n, 0n]],
    ['by the day instead, released',              {},        [hold('a', 8n), change({ limit: 5n, resetInterval: 'day' }), release('a')], [5n, 0n, 0n, 5n]],
    ['by the day and back, released',             {},        [hold('a', 8n), change({ limit: 5n, resetInterval: 'day' }), back, release('a')], [10n, 0n, 0n, 10n]],
    ['none, and its hold released',               {},        [hold('a', 8n), change(), release('a')],                           [0n, 0n, 0n, 0n]],
    ['less: of the old no more rolls over',       rolling,   [hold('a', 8n), change({ limit: 5n, ...rolling }), at(FEB), release('a')], [10n, 0n, 0n, 10n]],
    ['unlimited: nothing rolls over',             rolling,   [hold('a', 8n), unlimited, at(FEB), release('a'), change(rolling)], [10n, 0n, 0n, 10n]],
  ];

  test.each(CHANGED)('%s', (_what, old, steps, expected) => {
    expect(numbers(after(subscribed(old), steps))).toEqual(expected);
  });
});

describe('of a plan that rests', () => {
  const pause: Step = (world) => world.suspendPlan('paused');
  const resume: Step = (world) => world.suspendPlan(null);

  // prettier-ignore
  const RESTING: [string, PlanFields, Step[], Numbers, string][] = [
    // what                            plan               steps                                                    numbers                check
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

describe('without a limit', () => {
  const overage = { overageAllowed: true };

  // prettier-ignore
  const FREE: [string, PlanFields, Step[], string, Numbers][] = [
    // what                                plan                steps                                        why                numbers
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

  test('an unlimited top-up beside a plan, over the end of a period and its own', () => {
    const world = after(subscribed(), [topUp(0n, { amount: null, priority: 1 }), hold('a', 20n)]);
    after(world, [at(FEB), use(3n), voided('top-up')]);
    expect(numbers(world)).toEqual([13n, 3n, 0n, 10n]);
    expect(numbers(after(world, [release('a')]))).toEqual([13n, 3n, 0n, 10n]);
  });
});

test('it is exhausted by what is committed, once; what is held only or of another period tells nothing', () => {
  const world = after(subscribed(), [hold('a', 10n)]);
  expect(world.told).toEqual(['granted']);
  after(world, [commit('a', 12n)]);
  expect(world.told).toEqual(['granted', 'exhausted']);
  expect(world.events.at(-1)?.data).toMatchObject({ consumed: 10, balance: 0, remaining: 0 });
  const other = after(subscribed(), [hold('a', 10n), at(FEB), commit('a', 10n)]);
  expect(other.told).toEqual(['granted', 'granted']);
});

test('the grants that pay for it stay until it is resolved', () => {
  const world = after(subscribed(), [topUp(5n, { priority: 1 }), hold('a', 5n), at(FEB)]);
  world.tickAt(FEB);
  expect(world.grants.get('top-up')?.ended).toBeNull();
  after(world, [commit('a', 5n), at(MAR)]);
  world.tickAt(MAR);
  expect(world.grants.get('top-up')?.ended).toMatchObject({ how: 'used_up' });
});
