// A lease over lost answers, refusals, time that passes and takes in any order: what it gives out
// is held for it, and after its close exactly what was taken is counted.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { FATES, Holder } from './lease-model.ts';

/** Lets what was called come to its end: an answer of the model takes a few turns. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 60; turn += 1) await Promise.resolve();
};

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ take: fc.integer({ min: 0, max: 8 }) }) },
  { weight: 1, arbitrary: fc.constant({ ready: 1 }) },
  { weight: 2, arbitrary: fc.record({ passMs: fc.integer({ min: 1, max: 70_000 }) }) },
);

test('a lease stays within what is held, in any order of takes, waits, times and faults', async () => {
  const world = fc.record({
    granted: fc.integer({ min: 0, max: 60 }),
    amount: fc.integer({ min: 1, max: 20 }),
    fates: fc.array(fc.constantFrom(...FATES), { maxLength: 20 }),
    steps: fc.array(step, { maxLength: 60 }),
  });
  let late = 0;
  await fc.assert(
    fc.asyncProperty(world, async ({ granted, amount, fates, steps }) => {
      const holder = new Holder(granted, fates);
      const lease = holder.lease({ amount });
      let taken = 0;
      for (const one of steps) {
        if ('take' in one) {
          if (lease.take(one.take)) taken += one.take;
        } else if ('ready' in one) await lease.ready().catch(() => undefined);
        else {
          holder.pass(one.passMs);
          if (lease.remaining === 0) late += 1;
          await settled();
        }
        // What can be taken is held for it, and no more than asked.
        expect(lease.remaining).toBeLessThanOrEqual(Math.min(amount, holder.reserved));
        // While one slice replaces another, both are held; and another one of which it does not
        // know.
        expect(holder.reserved).toBeLessThanOrEqual(3 * amount);
        // Of a process that would die now, this much is not counted.
        expect(holder.consumed).toBeLessThanOrEqual(taken);
      }
      // The first closes may meet what is left of the faults.
      for (let tries = 0; tries < 30; tries += 1) {
        if (
          await lease.close().then(
            () => true,
            () => false,
          )
        )
          break;
      }
      expect(holder.consumed).toBe(taken);
      expect(lease.take()).toBe(false);
      holder.pass(60_000);
      expect(holder.reserved).toBe(0);
    }),
    { numRuns: 1000 },
  );
  expect(late).toBeGreaterThan(100);
});
