// Reservations: what is held, committed, extended and let go, on time, again and too late.
import { describe, expect, test } from 'bun:test';
import { RESERVATIONS_OPEN_MAX } from '../../ledger/limits.ts';
import type { ResolveOutcome } from '../../ledger/metering/reservation-decisions.ts';
import {
  after,
  at,
  commit,
  FEB,
  hold,
  LONG,
  numbers,
  periods,
  release,
  ROLLS,
  said,
  topUp,
  use,
  type Numbers,
  type Step,
} from './reservation-steps.ts';
import { DAY, HOUR, reserved, subscribed, T0, World } from './world.ts';

/** Until its time is over. */
const late = (world: World): null => {
  world.now += 60_000;
  return null;
};

describe('a reservation', () => {
  // prettier-ignore
  const HELD: [string, Step[], Numbers, (bigint | null)[]][] = [
    // what steps numbers parts
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

  test('of more than there is is refused, and leaves no trace', () => {
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

  test('may be open 1,000 times, and no more', () => {
    const world = subscribed({ limit: 5000n });
    for (let count = 0; count < RESERVATIONS_OPEN_MAX; count += 1) reserved(world.reserve(1n));
    expect(world.reserve(1n).kind).toBe('too_many_reservations');
    world.now += 300_000;
    expect(world.reserve(1n).kind).toBe('reserved');
  });
});

describe('the time of a reservation', () => {
  test('ends it, whether an alarm comes or a call much later', () => {
    const start = (): World =>
      after(new World(), [topUp(10n), hold('a', 4n, 60), hold('b', 3n, 120)]);
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

  test('holds its units until it expires, and not from then on', () => {
    const world = after(subscribed(), [hold('a', 4n, 60)]);
    world.now += 59_999;
    expect(numbers(world)).toEqual([10n, 0n, 4n, 6n]);
    world.now += 1;
    expect(numbers(world)).toEqual([10n, 0n, 0n, 10n]);
    // The alarm is set for it.
    expect(world.state.nextDue).toBe(T0 + 60_000);
  });

  test('lets units that expire as the period ends roll over', () => {
    const world = after(subscribed({ rollover: ROLLS }), [
      use(6n),
      hold('a', 4n, (FEB - T0) / 1000),
      at(FEB),
    ]);
    expect(numbers(world)).toEqual([14n, 0n, 0n, 14n]);
  });

  test('counts from the running period, where the clock steps back', () => {
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

test('reservations that expire together are in one order, whatever they were made in', () => {
  const world = after(subscribed(), [hold('b', 1n), hold('c', 1n), hold('a', 1n)]);
  expect(world.state.reservations.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
});

describe('a reservation resolved again, or too late', () => {
  // prettier-ignore
  const AGAIN: [string, ((world: World) => ResolveOutcome | null)[], string[], Numbers][] = [
    // what calls answers numbers
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

  test('gives its first answer with what was left then', () => {
    const world = after(subscribed(), [hold('a', 6n)]);
    expect(world.commit('a', 5n)).toMatchObject({ balance: 5n, used: [{ value: 5n }] });
    after(world, [use(4n)]);
    expect(world.commit('a', 5n)).toMatchObject({ balance: 5n, used: [] });
  });
});

describe('a reservation that is extended', () => {
  // prettier-ignore
  const EXTENDED: [string, Step[], bigint | null, number | null, string, Numbers][] = [
    // what before amount seconds answer numbers
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
    if (answer !== 'open 0') return expect(world.reservations.get('a')).toBe(before);
    const expiresAt = seconds === null ? T0 + 300_000 : world.now + seconds * 1000;
    expect(world.state.reservations).toMatchObject([{ amount: expected[2], expiresAt }]);
    // It counts once: the hold that was replaced is resolved.
    after(world, [commit('a', 2n)]);
    expect(numbers(world)).toEqual([expected[0], 2n, 0n, (expected[0] ?? 0n) - 2n]);
    return undefined;
  });

  test('may be extended again and again', () => {
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

  test('after its period may only be extended for longer', () => {
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
