import { expect, test } from 'bun:test';
import { DAY, HOUR, T0, World, granted } from './world.ts';

const FEB = Date.UTC(2026, 1, 28, 12);
const MAR = Date.UTC(2026, 2, 31, 12);
const APR = Date.UTC(2026, 3, 30, 12);

/** An allowance of 10 a month from 31 January. */
function monthly(fields: Parameters<World['grant']>[0] = {}): World {
  const world = new World();
  world.grant({ every: 'month', ...fields });
  return world;
}

type Step = (world: World) => void;
const at =
  (moment: number): Step =>
  (world) => {
    world.now = moment;
  };
const use =
  (value: bigint, eventAt: number | null = null): Step =>
  (world) => {
    world.use(value, { eventAt });
  };
const topUp =
  (amount: bigint, fields: Parameters<World['grant']>[0] = {}): Step =>
  (world) => {
    granted(world.grant({ amount, ...fields }));
  };

const ROLLS = { max: 6n, expiresAfterPeriods: 1 };

// prettier-ignore
const STORIES: [string, Parameters<World['grant']>[0], Step[], [bigint | null, bigint, bigint | null]][] = [
  // what allowance then limit consumed balance
  ['it is given at its start',                                {},                       [],                                                       [10n, 0n, 10n]],
  ['a millisecond before its end it is the old period',       {},                       [use(3n), at(FEB - 1)],                                   [10n, 3n, 7n]],
  ['at its end it is given afresh',                           {},                       [use(3n), at(FEB)],                                       [10n, 0n, 10n]],
  ['it does not pile up over many periods',                   {},                       [use(3n), at(APR + DAY)],                                 [10n, 0n, 10n]],
  ['overage is not taken into the next period',               {},                       [use(15n), at(FEB)],                                      [10n, 0n, 10n]],
  ['what is left rolls over',                                 { rollover: ROLLS },      [use(6n), at(FEB)],                                       [14n, 0n, 14n]],
  ['no more than the cap rolls over',                         { rollover: ROLLS },      [use(1n), at(FEB)],                                       [16n, 0n, 16n]],
  ['nothing rolls over of what was used up',                  { rollover: ROLLS },      [use(12n), at(FEB)],                                      [10n, 0n, 10n]],
  ['rollover burns before fresh',                             { rollover: ROLLS },      [use(6n), at(FEB), use(4n), at(MAR)],                     [16n, 0n, 16n]],
  ['rollover expires with its last period',                   { rollover: ROLLS },      [at(FEB), use(10n), at(MAR)],                             [16n, 0n, 16n]],
  ['the cap is on all that rolled over',                      { rollover: { max: 6n, expiresAfterPeriods: 3 } }, [at(FEB), at(MAR)],              [16n, 0n, 16n]],
  ['rollover lives as many periods as it says',               { rollover: { max: 20n, expiresAfterPeriods: 2 } }, [at(FEB), at(MAR)],             [30n, 0n, 30n]],
  ['and not one more',                                        { rollover: { max: 20n, expiresAfterPeriods: 2 } }, [at(FEB), at(MAR), at(APR)],    [30n, 0n, 30n]],
  ['a top-up adds to the period',                             {},                       [topUp(5n)],                                              [15n, 0n, 15n]],
  ['a top-up that is not used goes on',                       {},                       [topUp(5n), use(3n), at(FEB)],                            [15n, 0n, 15n]],
  ['what was used of a top-up does not',                      {},                       [topUp(5n), use(12n), at(FEB)],                           [13n, 0n, 13n]],
  ['a top-up that is used up ends with the period',           {},                       [topUp(5n), use(15n), at(FEB)],                           [10n, 0n, 10n]],
  ['a top-up goes on for many periods',                       {},                       [topUp(5n), use(12n), at(APR + DAY)],                     [13n, 0n, 13n]],
  ['a top-up of before burns in the new period',              {},                       [topUp(5n), use(12n), at(FEB), use(11n), at(MAR)],        [12n, 0n, 12n]],
  ['a top-up that expires takes only its rest',               {},                       [topUp(5n, { expiresAt: T0 + DAY }), use(2n), at(T0 + DAY)], [12n, 2n, 10n]],
  ['a top-up of the future is not there yet',                 {},                       [topUp(5n, { effectiveAt: T0 + DAY }), at(T0 + DAY - 1)], [10n, 0n, 10n]],
  ['a top-up of the future starts at its time',               {},                       [topUp(5n, { effectiveAt: T0 + DAY }), at(T0 + DAY)],     [15n, 0n, 15n]],
  ['one starts and expires while nobody looks',               {},                       [topUp(5n, { effectiveAt: T0 + DAY, expiresAt: T0 + 2 * DAY }), at(T0 + 3 * DAY)], [10n, 0n, 10n]],
  ['an allowance that ends leaves an endless period',         { expiresAt: T0 + DAY },  [topUp(5n), use(3n), at(T0 + 99 * DAY)],                  [5n, 0n, 5n]],
  ['an allowance that ends at a boundary rolls nothing over', { expiresAt: FEB, rollover: ROLLS }, [at(FEB)],                                     [0n, 0n, 0n]],
  ['an allowance of the future begins its own period',        { effectiveAt: FEB },     [topUp(5n), use(2n), at(FEB)],                            [13n, 0n, 13n]],
  ['unlimited goes on',                                       { amount: null },         [use(1000n), at(FEB)],                                    [null, 0n, null]],
  ['unlimited does not roll over',                            { amount: null, rollover: ROLLS }, [use(1000n), at(FEB)],                           [null, 0n, null]],
  ['an unlimited top-up goes on',                             {},                       [topUp(1n), (world) => world.grant({ amount: null }), use(99n), at(FEB)], [null, 0n, null]],
];

test.each(STORIES)('an allowance over its periods: %s', (_what, allowance, steps, expected) => {
  const world = monthly(allowance);
  for (const step of steps) step(world);
  expect(world.numbers).toEqual(expected);
  // Once written, it equals what was read.
  world.tickAt(world.now);
  expect(world.numbers).toEqual(expected);
});

test.each(STORIES)(
  'an alarm at every step of an allowance changes nothing: %s',
  (_what, allowance, steps, expected) => {
    const world = monthly(allowance);
    for (const step of steps) {
      step(world);
      for (let due = world.state.nextDue; due <= world.now; due = world.state.nextDue) {
        const { now } = world;
        world.tickAt(due);
        world.now = now;
      }
    }
    expect(world.numbers).toEqual(expected);
  },
);

test('the period of an allowance is the calendar of its start, the 31st too', () => {
  const world = monthly();
  const periods = [T0, FEB, MAR].map((moment) => {
    world.now = moment;
    return [world.seen.current.start, world.seen.current.end];
  });
  expect(periods).toEqual([
    [T0, FEB],
    [FEB, MAR],
    [MAR, APR],
  ]);
});

test('top-ups alone have one period, from the first grant on, without an end', () => {
  const world = new World();
  world.now = T0 + HOUR;
  world.grant();
  world.now = T0 + 400 * DAY;
  world.grant();
  world.use(12n);
  expect([world.numbers, world.state.current.end, world.state.firstGrantAt]).toEqual([
    [20n, 12n, 8n],
    null,
    T0 + HOUR,
  ]);
});

test('usage before the first grant stays in its period when an allowance begins', () => {
  const world = new World();
  world.use(4n);
  world.now += DAY;
  world.grant({ every: 'day' });
  expect([world.numbers, world.consumedIn(0)]).toEqual([[10n, 0n, 10n], 4n]);
});

test('units that roll over into the next period leave the limit of the old one', () => {
  const world = monthly();
  world.grant({ amount: 5n });
  world.use(12n);
  world.tickAt(FEB);
  const [old] = world.state.others;
  expect([old?.granted, world.state.current.granted]).toEqual([12n, 13n]);
});

test('a period is given once, however many alarms and calls come', () => {
  const world = monthly();
  for (let i = 0; i < 3; i += 1) {
    world.tickAt(FEB);
    world.use(1n);
    world.tickAt(FEB);
  }
  expect(world.numbers).toEqual([10n, 3n, 7n]);
  const credits = world.transfers.filter(({ usage }) => usage === null).map(({ id }) => id);
  expect(new Set(credits).size).toBe(credits.length);
});

test('an event just ahead of the end counts in the next period, and the allowance joins it there', () => {
  const world = monthly();
  world.now = FEB - 60_000;
  world.use(2n, { eventAt: FEB - 1 });
  world.use(3n, { eventAt: FEB });
  expect(world.numbers).toEqual([10n, 2n, 8n]);
  world.now = FEB + 1;
  expect(world.numbers).toEqual([10n, 3n, 7n]);
  world.use(1n);
  expect([world.numbers, world.consumedIn(T0)]).toEqual([[10n, 4n, 6n], 2n]);
});

test('an event ahead of an allowance that is not renewed leaves a period that works', () => {
  const world = monthly({ expiresAt: FEB });
  world.grant({ amount: 7n });
  world.now = FEB - 60_000;
  world.use(3n, { eventAt: FEB + 60_000 });
  for (const moment of [FEB, FEB + HOUR, MAR, MAR + DAY]) {
    world.tickAt(moment);
    world.use(1n);
  }
  expect(world.numbers).toEqual([7n, 7n, 0n]);
});

test('an allowance voided in the millisecond in which its period began ends cleanly', () => {
  const world = new World();
  const id = granted(world.grant({ every: 'day' }));
  world.now = T0 + DAY;
  world.use(1n);
  expect(world.void(id)).toBe('voided');
  world.use(1n);
  world.now += 1;
  world.grant();
  expect(world.check(1n)).toBe('allowed ok');
});

test('a late event counts in its own period, and changes nothing now', () => {
  const world = monthly();
  world.use(1n);
  world.now = MAR + DAY;
  world.use(4n, { eventAt: T0 });
  world.use(5n, { eventAt: FEB - 1 });
  world.use(6n, { eventAt: FEB });
  expect(world.numbers).toEqual([10n, 0n, 10n]);
  expect([T0, FEB, MAR].map((start) => world.consumedIn(start))).toEqual([10n, 6n, 0n]);
});

test('a late event from before the first grant counts in the period before it', () => {
  const world = monthly();
  world.now = T0 + DAY;
  world.use(4n, { eventAt: T0 - 1 });
  expect([world.numbers, world.consumedIn(0)]).toEqual([[10n, 0n, 10n], 4n]);
});

// prettier-ignore
const GAPS: [string, (world: World) => void, number][] = [
  // what then into
  ['under an allowance that has gone',                 () => undefined,                                                  T0 + DAY],
  ['under one whose calendar goes on',                 (world) => { world.grant({ amount: null, every: 'week' }); },     T0 + DAY],
];

test.each(GAPS)(
  'a late event where nothing was counted has a period of its own: %s',
  (_what, then, into) => {
    const world = new World();
    // Its first period has an account, and the period of the unlimited allowance has none.
    world.use(1n);
    const id = granted(world.grant({ amount: null, every: 'month' }));
    world.now += 3 * DAY;
    world.void(id);
    world.now += DAY;
    world.use(1n);
    then(world);
    expectApart(world, into);
  },
);

test('a late event of a period that is not kept any more has a period of its own', () => {
  const world = new World();
  const id = granted(world.grant({ every: 'month' }));
  world.now += 2 * DAY;
  world.void(id);
  // The two days have left the memory when a plan comes that counts from the first of them.
  world.now = T0 + 39 * DAY;
  world.plan({ limit: null, cycle: { anchor: T0, zone: 'UTC' } });
  expect(world.state.others).toEqual([]);
  expectApart(world, T0 + 5 * DAY);
});

/** Late events there change nothing now, and no two periods overlap. */
function expectApart(world: World, into: number): void {
  const before = world.numbers;
  for (const ms of [0, 1, HOUR, -HOUR]) {
    expect(world.use(2n, { eventAt: into + ms }).kind).toBe('recorded');
  }
  expect(world.numbers).toEqual(before);
  const periods = [...world.state.others, world.state.current];
  for (const [index, { start }] of periods.entries()) {
    expect(periods[index - 1]?.end ?? 0).toBeLessThanOrEqual(start);
  }
}

test('an allowance by the hour that slept for 400 days is caught up in bounded steps', () => {
  const world = new World();
  world.grant({ every: 'hour' });
  world.use(10n);
  world.now = T0 + 400 * DAY;
  expect(world.numbers).toEqual([10n, 0n, 10n]);
  // Periods that no event can fall into any more are only in the database.
  expect(world.seen.others.length).toBeLessThanOrEqual(36 * 24);
});
