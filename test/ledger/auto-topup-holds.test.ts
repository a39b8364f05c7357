// Automatic top-ups beside reservations and alerts: what is held is off the level.
import { expect, test } from 'bun:test';
import { statusOf } from '../../ledger/topups/auto-topup.ts';
import { capture, refuse, topped, topUpOf } from './auto-topup-steps.ts';
import { hold, commit, release, use, type Step } from './reservation-steps.ts';
import { DAY, HOUR, T0, type World } from './world.ts';

const captured: Step = (world) => capture(world);
/** Until it has expired. */
const expires: Step = (world) => world.tickAt(world.now + 30 * DAY);

/** Of 20 units, with 100 more below 10. The level is with holds taken off. */
// prettier-ignore
const STORIES: [string, Step[], orders: number, level: bigint][] = [
  // what steps orders, level
  ['a hold down to the threshold',             [hold('a', 10n)],                                           0, 10n],
  ['a hold that crosses it',                   [hold('a', 11n)],                                           1, 9n],
  ['holds that cross it together',             [hold('a', 6n), hold('b', 6n), hold('c', 6n)],              1, 2n],
  ['use beside a hold',                        [hold('a', 6n), use(5n), use(1n)],                          1, 8n],
  ['a release during the charge',              [hold('a', 11n), release('a')],                             1, 20n],
  ['which is granted all the same, once',      [hold('a', 11n), release('a'), captured],                   1, 120n],
  ['and a release after the capture',          [hold('a', 11n), captured, release('a')],                   1, 120n],
  ['an expiry during the charge',              [hold('a', 11n), expires, captured],                        1, 120n],
  ['and an expiry after the capture',          [hold('a', 11n), captured, expires],                        1, 120n],
  ['a commit of what was held',                [hold('a', 11n), commit('a', 11n)],                         1, 9n],
  ['a commit of as much after the capture',    [hold('a', 11n), captured, commit('a', 11n)],               1, 109n],
  ['a commit of less',                         [hold('a', 10n), commit('a', 2n), use(8n)],                 0, 10n],
  ['a commit of more',                         [hold('a', 10n), commit('a', 11n)],                         1, 9n],
  ['a commit of much more',                    [hold('a', 10n), commit('a', 130n), captured],              2, -10n],
  ['until there is enough',                    [hold('a', 10n), commit('a', 130n), captured, captured],    2, 90n],
  ['a commit after the expiry',                [hold('a', 10n), expires, commit('a', 11n)],                1, 9n],
  ['crossed anew after a release',             [hold('a', 11n), captured, release('a'), hold('b', 111n)],  2, 9n],
];

test.each(STORIES)('an auto top-up with holds: %s', (_what, steps, orders, level) => {
  const world = topped();
  for (const step of steps) step(world);
  expect([world.orders.length, world.numbers[2]]).toEqual([orders, level]);
  expect(new Set(world.orders.map(({ id }) => id)).size).toBe(orders);
});

test("an auto top-up's capture covers what is held, and no other charge follows", () => {
  const world = topped();
  hold('a', 20n)(world);
  use(30n)(world);
  capture(world);
  expect(world.numbers).toEqual([120n, 30n, 70n]);
  commit('a', 20n)(world);
  expect(world.numbers).toEqual([120n, 50n, 70n]);
  expect([statusOf(topUpOf(world)), world.orders.length]).toEqual(['armed', 1]);
});

test("the next alarm is the sooner of a hold's expiry and an auto top-up's retry", () => {
  const world = topped();
  world.reserve(15n, 7200);
  refuse(world, { passes: true });
  expect(world.state.nextDue).toBe(T0 + HOUR);
  world.tickAt(T0 + HOUR);
  // The charge is under way: only the hold has a time.
  expect([world.orders.length, world.state.nextDue]).toEqual([2, T0 + 2 * HOUR]);
  refuse(world, { passes: true });
  expect(world.state.nextDue).toBe(T0 + 2 * HOUR);
  // What is let go leads back: it is armed when it would have been tried again.
  world.tickAt(T0 + 2 * HOUR);
  expect([statusOf(topUpOf(world)), world.state.nextDue]).toEqual(['charging', T0 + 7 * HOUR]);
  world.tickAt(T0 + 7 * HOUR);
  expect([statusOf(topUpOf(world)), world.orders.length]).toEqual(['armed', 2]);
});

test("an alert that the same usage fired is armed by the auto top-up's grant", () => {
  const world = topped();
  const alert = { id: 'low', type: 'remaining', threshold: 9n } as const;
  world.alerts = { all: [alert], hears: () => true, mayFire: true };
  hold('a', 11n)(world);
  expect([alertsOf(world), world.orders.length]).toEqual([['alert.triggered 9'], 1]);
  // A release does not take it back, and the charge goes on.
  release('a')(world);
  expect(alertsOf(world)).toEqual(['alert.triggered 9']);
  capture(world);
  expect(alertsOf(world)).toEqual(['alert.triggered 9', 'alert.recovered 120']);
  use(111n)(world);
  expect([alertsOf(world).at(-1), world.orders.length]).toEqual(['alert.triggered 9', 2]);
});

test('an auto top-up whose grant is too small leaves the alert fired, and charges again', () => {
  const world = topped();
  const alert = { id: 'low', type: 'remaining', threshold: 9n } as const;
  world.alerts = { all: [alert], hears: () => true, mayFire: true };
  use(120n)(world);
  capture(world);
  expect([alertsOf(world), world.orders.length]).toEqual([['alert.triggered -100'], 2]);
  capture(world);
  expect(alertsOf(world)).toEqual(['alert.triggered -100', 'alert.recovered 100']);
});

/** What was told of alerts, with the balance that it came with. */
function alertsOf({ events }: World): string[] {
  return events
    .filter(({ type }) => type.startsWith('alert.'))
    .map(({ type, data }) => `${type} ${String(data['balance'])}`);
}
