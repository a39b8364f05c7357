// What a commit of a reservation writes, how far totals may go, and which grants pay for what.
import { expect, test } from 'bun:test';
import { QUANTITY_BOUND } from '../../ledger/limits.ts';
import type { Grant } from '../../ledger/metering/grants.ts';
import { paidBetween, type Reservation } from '../../ledger/metering/reservation.ts';
import { at, commit, FEB, hold, said, useLate, type Step } from './reservation-steps.ts';
import { grantOf, reserved, subscribed, T0, World } from './world.ts';

test.each([
  ['count', [3n, 2n]],
  ['sum', [null, null]],
] as const)(
  'a commit on a %s meter says how many events it is, and is not guarded',
  (aggregation, events) => {
    const world = new World(aggregation);
    world.grant({ amount: 10n });
    hold('a', 3n)(world);
    commit('a', 5n)(world);
    const posts = world.transfers.flatMap(({ kind, usage }) =>
      kind === 'post' && usage !== null ? [usage] : [],
    );
    expect(posts.map((usage) => usage.events)).toEqual([...events]);
    expect(posts.map(({ value, guarded, eventAt }) => [value, guarded, eventAt])).toEqual([
      [3n, false, T0],
      [2n, false, T0],
    ]);
  },
);

test('a reservation that expired and came to nothing is committed late, and moves nothing', () => {
  const world = subscribed();
  hold('a', 4n, 60)(world);
  world.tickAt(T0 + 60_000);
  const before = world.transfers.length;
  expect(said(world.commit('a', 0n))).toBe('committed late 0');
  expect(world.transfers).toHaveLength(before);
  expect(said(world.commit('a', 0n))).toBe('committed late 0');
  expect(said(world.commit('a', 1n))).toBe('not_open');
});

const MOST = QUANTITY_BOUND - 1n;
const uses =
  (value: bigint): Step =>
  (world) =>
    world.use(value);
const next = at(FEB);

// prettier-ignore
const FAR: [string, Step[], value: bigint, outcome: string][] = [
  // what                                             steps                                    value  outcome
  ['all that the period has room for',                [uses(MOST - 12n)],                      12n,   'done'],
  ['one more than that',                              [uses(MOST - 12n)],                      13n,   'out_of_range'],
  ['more than its own period has room for, later',    [uses(MOST - 5n), next],                 12n,   'done'],
  ['what was held, where its own has no room, later', [uses(MOST - 5n), next, useLate(1n)],    5n,    'out_of_range'],
  ['what the next period has room for',               [next, uses(MOST - 7n)],                 12n,   'done'],
  ['one more than the next period has room for',      [next, uses(MOST - 7n)],                 13n,   'out_of_range'],
  ['what was held, where the next has no room',       [next, uses(MOST)],                      5n,    'done'],
  ['one more, where the next has no room',            [next, uses(MOST)],                      6n,    'out_of_range'],
];

test.each(FAR)('a commit of %s', (_what, steps, value, outcome) => {
  const world = subscribed();
  hold('a', 5n)(world);
  for (const step of steps) step(world);
  expect(world.commit('a', value).kind).toBe(outcome as never);
});

/** By the number of its units; `paid` of them by a grant before. */
function open(id: string, amount: bigint, paid = 0n, accountId = 'period'): Reservation {
  const world = new World();
  world.grant({ amount: 1000n });
  reserved(world.reserve(amount, 300, id));
  const [one] = world.state.reservations;
  const parts =
    paid === 0n ? [] : [{ grantId: 'before', amount: paid, renewsAt: null, spent: false }];
  return { ...one!, accountId, parts };
}

const burned = (...used: readonly bigint[]): readonly Grant[] =>
  used.map((units, index) =>
    grantOf({ id: `grant ${index + 1}`, now: T0 }, { amount: 100n, used: units }),
  );

// prettier-ignore
const PAID: [string, before: bigint[], after: bigint[], Reservation[], Record<string, string[]>][] = [
  // what                               before     after       reservations                                    what pays
  ['nothing was burned',                [4n],      [4n],       [open('a', 3n)],                                {}],
  ['one grant pays for one',            [0n],      [3n],       [open('a', 3n)],                                { a: ['3 grant 1'] }],
  ['one pays for two, in their order',  [0n],      [5n],       [open('a', 3n), open('b', 2n)],                 { a: ['3 grant 1'], b: ['2 grant 1'] }],
  ['two pay for one',                   [0n, 0n],  [2n, 1n],   [open('a', 3n)],                                { a: ['2 grant 1', '1 grant 2'] }],
  ['two pay for two, across',           [0n, 0n],  [4n, 1n],   [open('a', 3n), open('b', 2n)],                 { a: ['3 grant 1'], b: ['1 grant 1', '1 grant 2'] }],
  ['only what was burned since',        [7n, 1n],  [9n, 2n],   [open('a', 3n)],                                { a: ['2 grant 1', '1 grant 2'] }],
  ['what is paid for already is not due', [0n],    [3n],       [open('a', 3n, 2n), open('b', 2n)],             { a: ['2 before', '1 grant 1'], b: ['2 grant 1'] }],
  ['what is paid for whole gets nothing', [0n],    [2n],       [open('a', 3n, 3n), open('b', 2n)],             { b: ['2 grant 1'] }],
  ['those of other periods get nothing', [0n],     [2n],       [open('a', 3n, 0n, 'other'), open('b', 2n)],    { b: ['2 grant 1'] }],
  ['what no grant has for it is unpaid', [0n],     [2n],       [open('a', 3n), open('b', 2n)],                 { a: ['2 grant 1'] }],
  ['a new grant had burned nothing',    [1n],      [1n, 2n],   [open('a', 2n)],                                { a: ['2 grant 2'] }],
];

test.each(PAID)(
  'what grants pay for reservations: %s',
  (_what, before, after, reservations, expected) => {
    const paid = paidBetween(burned(...before), burned(...after), {
      reservations,
      accountId: 'period',
    });
    const shown = [...paid].map(([id, { parts }]) => [
      id,
      parts.map((part) => `${part.amount} ${part.grantId}`),
    ]);
    expect(Object.fromEntries(shown)).toEqual(expected);
  },
);
