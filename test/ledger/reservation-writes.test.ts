// What a commit of a reservation writes, and how far totals may go.
import { expect, test } from 'bun:test';
import { QUANTITY_BOUND } from '../../ledger/limits.ts';
import { at, commit, FEB, hold, said, useLate, type Step } from './reservation-steps.ts';
import { subscribed, T0, World } from './world.ts';

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
  // what, steps, value, outcome
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
