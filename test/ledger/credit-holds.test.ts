// What a pool holds for what is reserved of its members: used, let go, extended, over the ends of
// periods and of grants. Costs: a chat 2 credits, an image 5.
import { describe, expect, test } from 'bun:test';
import { after, commit, hold, plan, release, type Step, topUp, use, wait } from './credit-steps.ts';
import type { Numbers } from './credit-world.ts';
import { DAY, HOUR, T0 } from './world.ts';

describe('a hold that a credit pool pays for', () => {
  const extend =
    (amount: number, expected = 'open 0'): Step =>
    (world) =>
      expect(world.extend('chat', 'a', amount)).toBe(expected);
  const expire: Step = (world) => {
    world.now += 60_000;
  };
  const short = (amount: number, id = 'a'): Step => hold('chat', amount, id, 60);

  // prettier-ignore
  const HELD: [string, Step[], chat: Numbers, credits: Numbers][] = [
    ['is off both',                                [hold('chat', 7)],                                            [5, 0, 7, 0],  [50, 0, 4, 46]],
    ['of its own is off its own',                  [hold('chat', 3)],                                            [5, 0, 3, 2],  [50, 0, 0, 50]],
    ['several',                                    [hold('chat', 3), hold('chat', 4, 'b')],                      [5, 0, 7, 0],  [50, 0, 4, 46]],
    ['with what was used',                         [use('chat', 6), hold('chat', 2)],                            [5, 6, 2, 0],  [50, 2, 4, 44]],
    ['used in between is before it',               [hold('chat', 3), use('chat', 4)],                            [5, 4, 3, 0],  [50, 0, 4, 46]],
    ['corrected in between',                       [use('chat', 5), hold('chat', 3), use('chat', -2)],           [5, 3, 3, 0],  [50, 0, 2, 48]],
    ['committed',                                  [hold('chat', 7), commit('chat', 7)],                         [5, 7, 0, 0],  [50, 4, 0, 46]],
    ['committed, less',                            [hold('chat', 7), commit('chat', 6)],                         [5, 6, 0, 0],  [50, 2, 0, 48]],
    ['committed, much less',                       [hold('chat', 7), commit('chat', 4)],                         [5, 4, 0, 1],  [50, 0, 0, 50]],
    ['committed, nothing',                         [hold('chat', 7), commit('chat', 0)],                         [5, 0, 0, 5],  [50, 0, 0, 50]],
    ['committed, more',                            [hold('chat', 7), commit('chat', 9)],                         [5, 9, 0, 0],  [50, 8, 0, 42]],
    ['committed, more than all',                   [hold('chat', 7), commit('chat', 40)],                        [5, 40, 0, 0], [50, 70, 0, -20]],
    ['released',                                   [hold('chat', 7), release('chat')],                           [5, 0, 0, 5],  [50, 0, 0, 50]],
    ['expired, seen',                              [short(7), expire],                                           [5, 0, 0, 5],  [50, 0, 0, 50]],
    ['expired, and committed late',                [short(7), expire, commit('chat', 7)],                        [5, 7, 0, 0],  [50, 4, 0, 46]],
    ['extended',                                   [hold('chat', 3), extend(8)],                                 [5, 0, 8, 0],  [50, 0, 6, 44]],
    ['not extended beyond both',                   [hold('chat', 3), extend(31, 'denied insufficient_balance')], [5, 0, 3, 2],  [50, 0, 0, 50]],
    ['the first of two committed',                 [hold('chat', 4), hold('chat', 3, 'b'), commit('chat', 4)],   [5, 4, 3, 0],  [50, 0, 4, 46]],
    ['the first of two committed, more',           [hold('chat', 4), hold('chat', 3, 'b'), commit('chat', 7)],   [5, 7, 3, 0],  [50, 4, 6, 40]],
    ['the first of two released',                  [hold('chat', 4), hold('chat', 3, 'b'), release('chat')],     [5, 0, 3, 2],  [50, 0, 0, 50]],
    ['both committed',                             [hold('chat', 4), hold('chat', 3, 'b'), commit('chat', 4), commit('chat', 3, 'b')], [5, 7, 0, 0], [50, 4, 0, 46]],
    ['granted more of its own',                    [hold('chat', 7), topUp('chat', 1)],                          [6, 0, 7, 0],  [50, 0, 2, 48]],
    ['of two members',                             [hold('chat', 7), hold('images', 2, 'b'), commit('images', 2, 'b')], [5, 0, 7, 0], [50, 10, 4, 36]],
    ['of the pool directly, too',                  [hold('chat', 7), hold('credits', 6, 'b')],                   [5, 0, 7, 0],  [50, 0, 10, 40]],
  ];

  test.each(HELD)('%s', (_what, steps, chat, credits) => {
    const world = after(topUp('credits', 50), topUp('chat', 5), ...steps);
    expect([world.numbers('chat'), world.numbers('credits')]).toEqual([chat, credits]);
  });

  test('is paid by both', () => {
    const world = after(topUp('credits', 50), topUp('chat', 5));
    expect(world.reserve('chat', 7, 'a')).toBe('reserved ok by 5 chat and 4 credits');
    expect(world.reserve('chat', 24, 'b')).toBe('denied insufficient_balance');
    expect(world.reserve('chat', 23, 'b')).toBe('reserved ok by 46 credits');
    expect(world.written.reservations.get('a')?.paidBy).toMatchObject({ own: 5n });
  });

  test('frees both its parts when it expires, also for another member', () => {
    const held = [topUp('credits', 10), short(5), wait(60_000)];
    expect(after(...held).reserve('credits', 10, 'b')).toBe('reserved ok by nobody');
    expect(after(...held).use('images', 1, { admission: 'consume' })).toBe(
      'recorded ok by 5 credits',
    );
    const world = after(...held, use('credits', 10));
    expect(world.written.reservations.get('a')?.status).toBe('expired');
    expect(world.numbers('credits')).toEqual([10, 10, 0, 0]);
  });

  test('from an ended period of the pool is paid once, where the member draws on the next', () => {
    const held = [topUp('credits', 50), plan('chat', 5), hold('chat', 15), wait(HOUR)];
    const world = after(...held, plan('credits', 30), commit('chat', 15));
    expect(world.numbers('credits')).toEqual([80, 20, 0, 60]);
  });

  test('is no reservation of a caller on the pool', () => {
    const world = after(topUp('credits', 50), hold('chat', 7));
    const [its] = world.state('credits').reservations;
    expect(its?.memberAccountId).toBe(world.state('chat').current.accountId);
    expect(world.release('credits', its!.id)).toBe('unknown');
  });

  // prettier-ignore
  const OVER: [string, Step[], chat: [number, number, number][], credits: [number, number, number][]][] = [
    ['is of its period',               [],                                           [[2, 0, 7], [0, 0, 0]],  [[20, 0, 10], [20, 0, 0]]],
    ['committed',                      [commit('chat', 7)],                          [[2, 7, 0], [0, 0, 0]],  [[20, 10, 0], [20, 0, 0]]],
    ['committed, less',                [commit('chat', 3)],                          [[2, 3, 0], [0, 0, 0]],  [[20, 2, 0], [20, 0, 0]]],
    ['committed, more',                [commit('chat', 9)],                          [[2, 7, 0], [0, 2, 0]],  [[20, 10, 0], [20, 4, 0]]],
    ['with more used late',            [use('chat', 1, DAY), commit('chat', 7)],     [[2, 8, 0], [0, 0, 0]],  [[20, 12, 0], [20, 0, 0]]],
  ];

  test.each(OVER)('over the end of a period %s', (_what, steps, chat, credits) => {
    const world = after(
      plan('credits', 20),
      topUp('chat', 2),
      hold('chat', 7),
      wait(DAY + HOUR),
      ...steps,
    );
    // Nothing, so that its current period has an account.
    use('chat', 0)(world);
    expect([world.periods('chat'), world.periods('credits')]).toEqual([chat, credits]);
  });
});

describe('units that a credit pool holds when its grants end', () => {
  const expiring: Step = (world) => world.grant('credits', 10, { expiresAt: world.now + HOUR });
  const two = [expiring, topUp('credits', 50), hold('chat', 3), hold('chat', 4, 'b'), wait(HOUR)];

  // prettier-ignore
  const ENDS: [string, Step[], Numbers][] = [
    ['is covered by them',                [],                                                   [60, 0, 14, 46]],
    ['and committed, too',                [commit('chat', 3), commit('chat', 4, 'b')],          [60, 14, 0, 46]],
    ['and committed in part',             [commit('chat', 2), commit('chat', 0, 'b')],          [54, 4, 0, 50]],
    ['and released is lost',              [release('chat'), release('chat', 'b')],              [50, 0, 0, 50]],
    ['and released in part',              [release('chat')],                                    [58, 0, 8, 50]],
    ['and committed beyond',              [commit('chat', 10), release('chat', 'b')],           [56, 20, 0, 36]],
  ];

  test.each(ENDS)('%s', (_what, steps, expected) => {
    expect(after(...two, ...steps).numbers('credits')).toEqual(expected);
  });

  const rolls: Step = (world) =>
    world.plan('credits', 20, {
      resetInterval: 'day',
      rollover: { max: world.units('credits', 8), expiresAfterPeriods: 2 },
    });

  // An image was used in the period, too.
  // prettier-ignore
  const ROLLS: [string, Step[], Numbers][] = [
    ['does not roll over',                  [],                                      [21, 0, 0, 21]],
    ['rolls over when it is released',      [release('chat')],                       [28, 0, 0, 28]],
    ['rolls over in part',                  [commit('chat', 6)],                     [23, 0, 0, 23]],
    ['committed does not roll over',        [commit('chat', 7)],                     [21, 0, 0, 21]],
    ['while the rollover lasts',            [use('credits', 26), wait(DAY), release('chat')],                                          [22, 0, 0, 22]],
    ['used first in the day after',         [use('credits', 26), wait(DAY), use('credits', 20), wait(DAY), release('chat')],           [22, 0, 0, 22]],
  ];

  test.each(ROLLS)('over the end of its own period %s', (_what, steps, expected) => {
    const world = after(rolls, hold('chat', 7), wait(DAY), use('images', 0, HOUR), ...steps);
    expect(world.numbers('credits')).toEqual(expected);
  });

  test('over the end of the pool and of its period expire in its period', () => {
    const world = after(plan('credits', 20), hold('chat', 7, 'a', 30 * 3600), wait(DAY));
    world.tick('credits');
    expect(world.periods('credits')).toEqual([
      [20, 0, 14],
      [20, 0, 0],
    ]);
    world.ringUntil(T0 + 30 * HOUR);
    expect(world.periods('credits')).toEqual([
      [20, 0, 0],
      [20, 0, 0],
    ]);
    expect(world.state('credits').reservations).toEqual([]);
  });
});
