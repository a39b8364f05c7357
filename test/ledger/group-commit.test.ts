// Callers that come back right after their answers share a flush. Nobody else waits for them.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { GroupCommit } from '../../ledger/actor/group-commit.ts';
import { TENANT_FLUSH_ROWS_MAX } from '../../ledger/limits.ts';
import { FLUSH_MS, JournalWorld, type Planted } from './journal-world.ts';
import { holds, seeded } from './property.ts';

const WAIT_MS_MAX = 2;

test.each([
  ['nobody was answered', { answered: 0, took: 5, came: 0, after: 0 }, 0],
  ['a caller alone is back', { answered: 1, took: 5, came: 1, after: 0.1 }, 0],
  ['all are back', { answered: 16, took: 5, came: 16, after: 0.1 }, 0],
  ['one is missing', { answered: 16, took: 5, came: 15, after: 0.5 }, 1.5],
  ['the flush was short', { answered: 16, took: 0.75, came: 3, after: 0.25 }, 0.5],
  ['the flush was long', { answered: 16, took: 90, came: 3, after: 0 }, 2],
  ['the answers are older than the wait', { answered: 16, took: 5, came: 1, after: 2 }, 0],
  ['the node was idle', { answered: 16, took: 5, came: 1, after: 60_000 }, 0],
])('how long a group commit waits: %s', (_, { answered, took, came, after }, waits) => {
  const group = new GroupCommit();
  group.answered(answered, { now: 1000, ms: took });
  for (let n = 0; n < came; n += 1) expect(group.came()).toBe(n + 1 >= answered);
  expect(group.waitMs(1000 + after)).toBe(waits);
});

/** One flush after the other: how many of those answered come back in time, in parts of all. */
const flushes = fc.array(
  fc.record({
    answered: fc.nat(300),
    took: fc.integer({ min: 1, max: 20 }),
    early: fc.nat(300),
    late: fc.nat(300),
  }),
  { maxLength: 300 },
);

test(seeded('a flush waits for callers within its bound, and not where all are back'), () => {
  holds(
    fc.property(flushes, (all) => {
      const group = new GroupCommit();
      for (const [now, { answered, took, early, late }] of all.entries()) {
        group.answered(answered, { now, ms: took });
        for (let n = 0; n < early; n += 1) group.came();
        const ms = group.waitMs(now);
        expect(ms).toBeGreaterThanOrEqual(0);
        expect(ms).toBeLessThanOrEqual(Math.min(took, WAIT_MS_MAX));
        if (early >= answered) expect(ms).toBe(0);
        if (ms === 0) continue;
        for (let n = 0; n < late; n += 1) group.came();
        group.waited();
      }
    }),
    300,
  );
});

/** Of `count` flushes, those that waited, where this many of 100 callers come back in time. */
function waitsOf(group: GroupCommit, { count, back }: { count: number; back: number }): number {
  let waits = 0;
  for (let n = 0; n < count; n += 1) {
    group.answered(100, { now: n, ms: 5 });
    if (group.waitMs(n) === 0) continue;
    waits += 1;
    for (let came = 0; came < back; came += 1) group.came();
    group.waited();
  }
  return waits;
}

test.each([
  [0, 100],
  [50, 100],
  [74, 100],
])('where %d of 100 callers come back, few flushes wait: at most %d of 5000', (back, most) => {
  expect(waitsOf(new GroupCommit(), { count: 5000, back })).toBeLessThanOrEqual(most);
});

test.each([75, 100])('where %d of 100 callers come back, each flush waits', (back) => {
  expect(waitsOf(new GroupCommit(), { count: 1000, back })).toBe(1000);
});

test('callers that begin to come back are waited for again', () => {
  const group = new GroupCommit();
  waitsOf(group, { count: 5000, back: 0 });
  waitsOf(group, { count: 1000, back: 100 });
  expect(waitsOf(group, { count: 100, back: 100 })).toBe(100);
});

const latencyOf = ({ submittedAt, settledAt }: Planted): number => settledAt - submittedAt;
const sizesOf = (units: Iterable<Planted>): number[] =>
  [...Map.groupBy(units, ({ settledAt }) => settledAt).values()].map(({ length }) => length);

/** Each caller sends again this long after its answer. */
function loop(world: JournalWorld, { callers, backMs }: { callers: number; backMs: number }): void {
  world.onSettled = () => {
    if (world.schedule.now > 200) return;
    world.schedule.after(backMs, null, () => void world.submit('fine'));
  };
  for (let n = 0; n < callers; n += 1) {
    world.schedule.after((n % 2) * (FLUSH_MS / 2), null, () => void world.submit('fine'));
  }
}

test('callers in a loop are joined into one group of flushes', () => {
  const world = new JournalWorld();
  loop(world, { callers: 32, backMs: 0.3 });
  world.run(1000);
  expect(sizesOf(world.units.values()).slice(0, 2)).toEqual([16, 32]);
  expect(new Set(sizesOf(world.units.values()).slice(1))).toEqual(new Set([32]));
});

test('a caller alone has its answer after one flush', () => {
  const world = new JournalWorld();
  loop(world, { callers: 1, backMs: 0.3 });
  world.run(1000);
  expect(world.units.size).toBeGreaterThan(50);
  for (const unit of world.units.values()) expect(latencyOf(unit)).toBeCloseTo(FLUSH_MS);
});

test.each([0.1, 0.5, 0.9, 3])('callers that come every %d ms hardly wait for others', (gapMs) => {
  const world = new JournalWorld();
  for (let at = 0; at < 1000; at += gapMs) {
    world.schedule.after(at, null, () => void world.submit('fine'));
  }
  world.run(10_000);
  const latencies = [...world.units.values()].map(latencyOf);
  expect(Math.max(...latencies)).toBeLessThanOrEqual(2 * FLUSH_MS + WAIT_MS_MAX);
  const delayed = latencies.filter((ms) => ms > 2 * FLUSH_MS + 0.001);
  expect(delayed.length / latencies.length).toBeLessThan(0.05);
});

test('a flush that becomes full begins at once', () => {
  const world = new JournalWorld();
  for (let n = 0; n < 2400; n += 1) world.submit('fine', `org ${n % 4}`);
  world.run(FLUSH_MS + 0.3);
  const first = world.submit('fine');
  world.run(0.2);
  for (let n = 0; n < TENANT_FLUSH_ROWS_MAX; n += 1) world.submit('fine');
  world.run(100);
  expect(latencyOf(first)).toBeCloseTo(0.2 + FLUSH_MS);
});

test('units that wait for callers when the journal is abandoned are refused then', () => {
  const world = new JournalWorld();
  loop(world, { callers: 3, backMs: 1 });
  // The third one waits for the first two.
  world.run(FLUSH_MS + 0.5);
  world.journal.abandon();
  world.run(100);
  const ends = [...world.units.values()].map(({ settled, settledAt }) => [settled, settledAt]);
  expect(ends.slice(0, 3)).toEqual([
    ['committed', FLUSH_MS],
    ['committed', FLUSH_MS],
    ['unavailable', FLUSH_MS + 0.5],
  ]);
  expect(world.written.length).toBe(2);
});
