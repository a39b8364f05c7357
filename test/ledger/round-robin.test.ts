// Waiting items are taken in turn: a tenant that sends more is not served sooner, and a tenant's
// own items keep their order.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { HEARTBEAT, type Unit } from '../../ledger/actor/journal-unit.ts';
import { WaitQueue } from '../../ledger/actor/wait-queue.ts';
import { QUEUE_BYTES_MAX, QUEUE_ROWS_MAX, QUEUE_UNITS_MAX } from '../../ledger/limits.ts';
import { holds, seeded } from './property.ts';

const unit = (tenant: string, subject = 'one', size = { rows: 1, bytes: 0 }): Unit => ({
  ...HEARTBEAT,
  tenant,
  subject,
  size,
});

/** Up to `count`, in the order in which they are taken. */
function take(line: WaitQueue, count: number): Unit[] {
  const taken: Unit[] = [];
  line.take((one) => taken.length < count && taken.push(one) > 0);
  return taken;
}

const namesOf = (units: readonly Unit[]) =>
  units.map(({ tenant, subject }) => `${tenant}/${subject}`);

test('a round-robin serves organisations in turn, and of each its customers', () => {
  const line = new WaitQueue();
  for (let n = 0; n < 4; n += 1) line.push(unit('loud', 'hot'));
  line.push(unit('loud', 'cold'));
  line.push(unit('quiet'));
  expect(namesOf(take(line, 4))).toEqual(['loud/hot', 'quiet/one', 'loud/cold', 'loud/hot']);
  line.push(unit('late'));
  expect(namesOf(take(line, 2))).toEqual(['loud/hot', 'late/one']);
  expect(line.size).toBe(1);
});

test('from one flush to the next, a served tenant goes behind the others', () => {
  const line = new WaitQueue();
  for (let n = 0; n < 3; n += 1) for (const name of ['a', 'b', 'c']) line.push(unit(name));
  const flushes = Array.from({ length: 9 }, () => namesOf(take(line, 1)).join());
  expect(flushes.map((name) => name[0]).join('')).toBe('abcabcabc');
});

test('a unit too large for the rest of a flush is first in the next', () => {
  const line = new WaitQueue();
  line.push(unit('small'));
  line.push(unit('large', 'one', { rows: 9, bytes: 0 }));
  line.push(unit('small'));
  line.push(unit('other'));
  let rows = 0;
  const fits = ({ size }: Unit): boolean => {
    if (rows > 0 && rows + size.rows > 4) return false;
    rows += size.rows;
    return true;
  };
  line.take(fits);
  expect([rows, line.size]).toEqual([3, 1]);
  line.push(unit('small'));
  rows = 0;
  line.take(fits);
  expect([rows, line.size]).toEqual([9, 1]);
});

test('a tenant refused by a flush is not tried again in it, however many more are taken', () => {
  const line = new WaitQueue();
  const each = 1000;
  const heavy = { rows: 9, bytes: 0 };
  for (let n = 0; n < each; n += 1) line.push(unit('a', `heavy ${n}`, heavy));
  for (let n = 0; n < each; n += 1) line.push(unit('a', `light ${n}`));
  let asked = 0;
  line.take(({ size }) => {
    asked += 1;
    return size.rows < 9;
  });
  expect([asked, line.size]).toEqual([2 * each, each]);
});

test('one organisation has half of a flush at most, and the next one finds room', () => {
  const largest = [
    { rows: 1, bytes: 0 },
    { rows: QUEUE_ROWS_MAX / 16, bytes: 0 },
    { rows: 1, bytes: QUEUE_BYTES_MAX / 16 },
  ];
  for (const size of largest) {
    const line = new WaitQueue();
    for (let n = 0; n < 6; n += 1) {
      const greedy = unit(`greedy ${n}`, 'one', size);
      while (line.hasRoomFor(greedy)) line.push(greedy);
      expect(line.hasRoomFor(unit('modest'))).toBe(true);
    }
    expect(line.size).toBeLessThan(QUEUE_UNITS_MAX);
    expect(line.largestShare).toBeLessThanOrEqual(0.5);
  }
});

const arrivals = fc.array(
  fc.record({ tenant: fc.constantFrom('a', 'b', 'c'), subject: fc.constantFrom('x', 'y', 'z') }),
  { maxLength: 60 },
);

test(
  seeded(
    'each queued unit is taken once, in its own order; put back, it is taken again in that order',
  ),
  () => {
    holds(
      fc.property(arrivals, fc.array(fc.nat(5), { maxLength: 30 }), (all, counts) => {
        const line = new WaitQueue();
        const units = all.map(({ tenant, subject }) => unit(tenant, subject));
        for (const one of units) line.push(one);
        const taken: Unit[] = [];
        for (const count of counts) {
          const some = take(line, count);
          // Every other time the flush fails.
          if (count % 2 === 0) line.putBack(some);
          else taken.push(...some);
        }
        taken.push(...line.clear());
        expect([line.size, line.rows, line.bytes]).toEqual([0, 0, 0]);
        const own = (from: readonly Unit[]) =>
          Map.groupBy(from, ({ tenant, subject }) => `${tenant}${subject}`);
        expect(taken.length).toBe(units.length);
        for (const [name, mine] of own(units)) {
          expect(
            own(taken)
              .get(name)!
              .every((one, place) => one === mine[place]),
          ).toBe(true);
        }
      }),
      300,
    );
  },
);
