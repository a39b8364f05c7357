// A unit that the database does not accept fails alone, soon and for good; the units that wait with
// it are written.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { JournalWorld, type Kind, LEASE_MS, type Planted, SLOW_MS } from './journal-world.ts';
import { holds, seeded } from './property.ts';

const endOf = ({ settled }: Planted): unknown =>
  typeof settled === 'object' && settled !== null ? 'failed' : settled;

const ENDS: Record<Kind, string> = {
  fine: 'committed',
  unlucky: 'committed',
  slow: 'slow',
  lost: 'slow',
  poisoned: 'failed',
  broken: 'failed',
  used: 'duplicate',
};

test.each(Object.entries(ENDS) as [Kind, string][])('a %s unit alone ends as %s', (kind, end) => {
  const world = new JournalWorld();
  const unit = world.submit(kind);
  world.run(10 * LEASE_MS);
  expect([endOf(unit), world.isLost]).toEqual([end, false]);
  expect(unit.flushed).toBeLessThanOrEqual(2);
});

test('one slow unit among a thousand is refused alone, and the others wait for a few flushes', () => {
  const world = new JournalWorld();
  const units = Array.from({ length: 1000 }, (_, n) => world.submit(n === 613 ? 'slow' : 'fine'));
  world.run(10 * LEASE_MS);
  const ends = Map.groupBy(units, endOf);
  expect([ends.get('slow')?.length, ends.get('committed')?.length]).toEqual([1, 999]);
  // Four levels of halving, and alone once more.
  expect(units[613]!.flushed).toBeLessThanOrEqual(6);
  expect(Math.max(...units.map(({ decided }) => decided))).toBeLessThanOrEqual(6);
  expect(world.isLost).toBe(false);
});

test('while a slow unit is searched for, later units wait for one flush of the search at a time', () => {
  const world = new JournalWorld();
  for (let n = 0; n < 1000; n += 1) world.submit(n === 613 ? 'slow' : 'fine', 'loud');
  const later: Planted[] = [];
  for (let n = 0; n < 60; n += 1) {
    world.run(100);
    later.push(world.submit('fine', 'quiet'));
  }
  world.run(10 * LEASE_MS);
  const waits = later.map((unit) => unit.settledAt - unit.submittedAt);
  expect(Math.max(...waits)).toBeLessThan(1.2 * SLOW_MS);
});

test('units that wait while even an empty flush is slow are written when the database is well', () => {
  const world = new JournalWorld();
  const early = world.submit('fine');
  world.isUnwell = true;
  world.run(2 * SLOW_MS);
  world.isUnwell = false;
  world.run(LEASE_MS);
  expect(endOf(early)).toBe('committed');
});

test('a late empty flush fails none of the waiting units', () => {
  const world = new JournalWorld();
  const early = world.submit('fine');
  world.isSluggish = true;
  world.run(4 * SLOW_MS);
  expect(early.flushed).toBeGreaterThan(2);
  world.isSluggish = false;
  world.run(LEASE_MS);
  expect(endOf(early)).toBe('committed');
});

test('units are not tried for ever while even an empty flush is slow', () => {
  const world = new JournalWorld();
  const unit = world.submit('fine');
  world.isSluggish = true;
  world.run(30 * LEASE_MS);
  expect([endOf(unit), world.isLost]).toEqual(['slow', false]);
  expect(unit.flushed).toBeLessThanOrEqual(16);
});

test('a lease outlives a slow flush, and the units sent after it', () => {
  const world = new JournalWorld();
  for (let n = 0; n < 20; n += 1) {
    world.submit('slow', `org ${n}`);
    world.run(SLOW_MS / 2);
    expect(world.journal.isLeaseValid()).toBe(true);
  }
  world.run(40 * LEASE_MS);
  expect([...world.units.values()].map(endOf)).toEqual(Array(20).fill('slow'));
  expect(world.isLost).toBe(false);
});

test('a caller of used keys does not make other units be decided again and again', () => {
  const world = new JournalWorld();
  const others: Planted[] = [];
  for (let n = 0; n < 300; n += 1) {
    world.submit('used', 'loud');
    others.push(world.submit('fine', 'quiet'));
    world.run(1);
  }
  world.run(LEASE_MS);
  expect(others.every((unit) => unit.settled === 'committed')).toBe(true);
  expect(Math.max(...others.map(({ decided }) => decided))).toBeLessThanOrEqual(3);
  const waits = others.map((unit) => unit.settledAt - unit.submittedAt);
  expect(Math.max(...waits)).toBeLessThan(60);
});

const kinds = fc.oneof(
  { weight: 12, arbitrary: fc.constant('fine' as const) },
  { weight: 1, arbitrary: fc.constantFrom(...(Object.keys(ENDS) as Kind[])) },
);
const arrivals = fc.array(
  fc.record({
    kind: kinds,
    tenant: fc.constantFrom('a', 'b', 'c'),
    afterMs: fc.oneof(fc.constant(0), fc.nat(5), fc.nat(SLOW_MS)),
  }),
  { maxLength: 80 },
);

test(seeded('each unit comes to its end, and is written once or not at all'), () => {
  holds(
    fc.property(arrivals, (all) => {
      const world = new JournalWorld();
      for (const { kind, tenant, afterMs } of all) {
        world.run(afterMs);
        world.submit(kind, tenant);
      }
      world.run(100 * LEASE_MS);
      expect(world.isLost).toBe(false);
      expect(world.undurable.size).toBe(0);
      expect(new Set(world.written).size).toBe(world.written.length);
      for (const unit of world.units.values()) {
        expect(endOf(unit)).toBe(ENDS[unit.kind]);
        expect(world.written.includes(unit.id)).toBe(unit.settled === 'committed');
        expect(unit.decided).toBeLessThanOrEqual(16);
      }
    }),
    200,
  );
});
