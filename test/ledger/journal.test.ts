// A unit that the database does not accept fails alone, soon and for good; the units that wait with
// it are written.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  ANSWERED_ROWS_A_TURN,
  DECIDING_MS_A_TURN,
  FLUSH_BYTES_A_TURN,
  FLUSH_ROWS_A_TURN,
  FLUSH_ROWS_BESIDE_OTHERS,
} from '../../ledger/limits.ts';
import {
  FLUSH_MS,
  JournalWorld,
  type Kind,
  LEASE_MS,
  type Planted,
  SLOW_MS,
} from './journal-world.ts';
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
  refused: 'committed',
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

/** Two of them are more than a turn has. */
const SLOW_DECISION_MS = 0.6 * DECIDING_MS_A_TURN;

test('of units that take long to decide few are decided at once, and a neighbour has its turn', () => {
  const world = new JournalWorld();
  const slow = Array.from({ length: 98 }, () =>
    world.submit('fine', 'loud', { ms: SLOW_DECISION_MS }),
  );
  expect(world.decidingMs).toBeLessThan(3 * SLOW_DECISION_MS);
  const neighbour = world.submit('fine', 'quiet');
  world.run(10 * LEASE_MS);
  // Two of the turn in which they came, the neighbour, and two of the next turn.
  expect(Math.max(...world.flushes)).toBeLessThanOrEqual(5);
  expect(neighbour.settledAt).toBeLessThan(4 * FLUSH_MS);
  expect(slow.map(endOf)).toEqual(slow.map(() => 'committed'));
  // In their order, each once.
  expect(world.written.filter((id) => id !== neighbour.id)).toEqual(slow.map(({ id }) => id));
  expect(slow.every(({ decided }) => decided === 1)).toBe(true);
});

test('units that take long to decide are decided again a few at a time', () => {
  const world = new JournalWorld();
  const first = world.submit('fine');
  world.run(1);
  // While that one is written, each is decided in a turn of its own.
  const units = Array.from({ length: 12 }, (_, n) => {
    world.run(0);
    return world.submit(n === 7 ? 'poisoned' : 'fine', 'loud', { ms: DECIDING_MS_A_TURN + 1 });
  });
  const before = world.flushes.length;
  world.run(10 * LEASE_MS);
  expect(world.flushes[before]).toBeGreaterThan(6);
  expect(Math.max(...world.flushes.slice(before + 1))).toBeLessThan(3);
  expect([first, ...units].map(endOf)).toEqual([first, ...units].map(({ kind }) => ENDS[kind]));
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

/** How many were settled in each turn. */
const inTurns = (units: readonly Planted[]): number[] =>
  [...Map.groupBy(units, ({ settledAt }) => settledAt).values()].map(({ length }) => length);

test.each(['fine', 'refused'] as const)('many %s units are answered a few in a turn', (kind) => {
  const world = new JournalWorld();
  world.turnMs = 1;
  world.submit('fine');
  world.run(1);
  const units = Array.from({ length: 250 }, () => world.submit(kind));
  world.run(LEASE_MS);
  expect(units.map(endOf)).toEqual(units.map(() => 'committed'));
  expect(Math.max(...inTurns(units))).toBeLessThanOrEqual(ANSWERED_ROWS_A_TURN / 16);
  // All of them in one flush, or none: the next one renews the lease.
  expect(world.flushes[1]).toBe(kind === 'fine' ? 250 : 0);
});

// prettier-ignore
const FLUSHES: [what: string, turns: number, units: number, unit: object][] = [
  ['a small flush',                1,     1,                     {}],
  ['a flush of much metadata',     3,     1,                     { bytes: FLUSH_BYTES_A_TURN + 1 }],
  ['a flush of as many rows as go in a turn', 1, FLUSH_ROWS_A_TURN, {}],
  ['a flush of more rows',         3,     FLUSH_ROWS_A_TURN + 1, {}],
];

test.each(FLUSHES)('%s is decided, built and encoded in %d turns', (_what, turns, units, unit) => {
  const world = new JournalWorld();
  world.turnMs = 1;
  // More organisations than one, as each has a share of a flush.
  for (let n = 0; n < units; n += 1) world.submit('fine', `org-${n % 4}`, unit);
  world.run(LEASE_MS / 10);
  expect([world.flushes, world.flushedAt]).toEqual([[units], [turns]]);
});

test.each([
  ['few', FLUSH_ROWS_BESIDE_OTHERS, 0],
  ['many', FLUSH_ROWS_BESIDE_OTHERS + 1, 1],
])('after half a turn of answers a flush of %s rows', (_what, units, waits) => {
  const world = new JournalWorld();
  world.turnMs = 1;
  // Each has 16 rows, with those of its answer. The node's own are not waited for.
  for (let n = 0; n < ANSWERED_ROWS_A_TURN / 32 + 1; n += 1) world.submit('fine', '');
  world.run(1.5);
  for (let n = 0; n < units; n += 1) world.submit('fine', `org-${n % 4}`);
  world.run(LEASE_MS / 10);
  const [first = 0, second] = world.flushedAt;
  expect(world.flushes[1]).toBe(units);
  expect(second).toBe(first + FLUSH_MS + waits * world.turnMs);
});

test('what took a turn to decide is built in the next one', () => {
  const world = new JournalWorld();
  world.turnMs = 1;
  world.submit('fine');
  world.run(1);
  // They come while the first one is written; the second is decided after that.
  for (let n = 0; n < 2; n += 1) world.submit('fine', 'loud', { ms: DECIDING_MS_A_TURN });
  world.run(LEASE_MS / 10);
  const [first = 0, second] = world.flushedAt;
  expect(world.flushes).toEqual([1, 2]);
  expect(second).toBe(first + FLUSH_MS + world.turnMs);
});

test('a seat that is lost between the turns of a flush writes nothing of it', () => {
  const world = new JournalWorld();
  world.turnMs = 1;
  const unit = world.submit('fine', 'org', { bytes: FLUSH_BYTES_A_TURN + 1 });
  world.run(1.5);
  world.journal.lose();
  world.run(LEASE_MS);
  expect([unit.settled, world.flushes]).toEqual(['unavailable', []]);
});

test('what is on disk is answered so, though the seat is lost before its turn', () => {
  const world = new JournalWorld();
  world.turnMs = 1;
  const written = Array.from({ length: 250 }, () => world.submit('fine'));
  const at = (settled: string | null): number =>
    written.filter((unit) => unit.settled === settled).length;
  while (at('committed') === 0) world.run(0.5);
  const later = world.submit('fine');
  expect(at(null)).toBeGreaterThan(0);
  world.journal.lose();
  world.run(LEASE_MS);
  expect([at('committed'), later.settled]).toEqual([250, 'unavailable']);
});

test('the lease is renewed while units come without end that write nothing', () => {
  const world = new JournalWorld();
  world.turnMs = 2 * DECIDING_MS_A_TURN;
  const orgs = Array.from({ length: 1000 }, (_, n) => `org ${n}`);
  const ask = (tenant: string): void =>
    void world.submit('refused', tenant, { ms: DECIDING_MS_A_TURN });
  // Whoever is refused asks again: there is always somebody who waits.
  world.onSettled = ({ tenant }) => world.schedule.after(1, null, () => ask(tenant));
  for (const tenant of orgs) ask(tenant);
  for (let n = 0; n < 40; n += 1) {
    world.run(LEASE_MS / 10);
    expect(world.journal.isLeaseValid()).toBe(true);
  }
  expect(world.journal.stats['queuedUnits']).toBeGreaterThan(900);
  expect(world.flushes.length).toBeGreaterThan(4);
  expect(Math.max(...world.flushes)).toBe(0);
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
        const isWritten = unit.settled === 'committed' && unit.kind !== 'refused';
        expect(world.written.includes(unit.id)).toBe(isWritten);
        expect(unit.decided).toBeLessThanOrEqual(16);
      }
    }),
    200,
  );
});
