// A lease over lost answers, refusals and takes in any order: what it gives out was granted, and
// after its close exactly what was taken is counted. And the end of a period.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ConnectionError } from '../../src/client/errors.ts';
import { Lease, type LeaseDeps } from '../../src/client/lease.ts';
import type { CheckResult } from '../../src/client/types.ts';

const FATES = ['answered', 'lost', 'cut', 'rival'] as const;
type Fate = (typeof FATES)[number];

/** A balance; each answer to a consume is given, lost after it was counted, or never asked for. */
class Balance {
  readonly #fates: Fate[];
  readonly #answers = new Map<string, CheckResult>();
  consumed = 0;
  granted: number;
  resetsAt: string | null = null;

  constructor(granted: number, fates: readonly Fate[]) {
    this.granted = granted;
    this.#fates = [...fates];
  }

  deps(): LeaseDeps {
    let keys = 0;
    return {
      newKey: () => String((keys += 1)),
      closed: () => undefined,
      look: async () => this.#decide(0),
      giveBack: async ({ value }) => {
        this.consumed += value;
      },
      consume: async ({ value }, key) => {
        await Promise.resolve();
        const fate = this.#fates.shift() ?? 'answered';
        if (fate === 'cut') throw new ConnectionError('cut');
        // Somebody else was quicker.
        if (fate === 'rival') this.granted = Math.max(this.consumed, this.granted - 5);
        const answer = this.#answers.get(key) ?? this.#decide(Number(value));
        this.#answers.set(key, answer);
        if (fate === 'lost') throw new ConnectionError('lost');
        return answer;
      },
    };
  }

  #decide(value: number): CheckResult {
    const allowed = value <= this.granted - this.consumed;
    if (allowed) this.consumed += value;
    const reason = allowed ? 'ok' : 'insufficient_balance';
    const remaining = this.granted - this.consumed;
    return { allowed, reason, remaining, resetsAt: this.resetsAt } as CheckResult;
  }
}

test('any order of takes, waits and faults', async () => {
  const world = fc.record({
    granted: fc.integer({ min: 0, max: 60 }),
    amount: fc.integer({ min: 1, max: 20 }),
    fates: fc.array(fc.constantFrom(...FATES), { maxLength: 20 }),
    steps: fc.array(fc.integer({ min: -1, max: 8 }), { maxLength: 60 }),
  });
  await fc.assert(
    fc.asyncProperty(world, async ({ granted, amount, fates, steps }) => {
      const balance = new Balance(granted, fates);
      const lease = new Lease(balance.deps(), { externalCustomerId: 'a', featureKey: 'f', amount });
      let taken = 0;
      for (const step of steps) {
        if (step < 0) await lease.ready().catch(() => undefined);
        else if (lease.take(step)) taken += step;
        expect(taken).toBeLessThanOrEqual(balance.consumed);
        expect(balance.consumed - taken).toBeLessThanOrEqual(amount);
      }
      // The first close may meet what is left of the faults.
      const failed = await lease.close().then(
        () => false,
        () => true,
      );
      if (!failed) expect(balance.consumed).toBe(taken);
      expect(balance.consumed).toBeGreaterThanOrEqual(taken);
    }),
    { numRuns: 1000 },
  );
});

test('what is left at the end of its period is neither used nor given back in the next', async () => {
  const balance = new Balance(100, []);
  const endsAt = Date.now() + 20;
  balance.resetsAt = new Date(endsAt).toISOString();
  const lease = new Lease(balance.deps(), { externalCustomerId: 'a', featureKey: 'f', amount: 40 });
  await lease.ready();
  expect(lease.take(10)).toBe(true);
  balance.resetsAt = null;
  // Looks at the clock, however busy the loop is.
  while (lease.remaining > 0) lease.take(0);
  expect(Date.now()).toBeGreaterThanOrEqual(endsAt);
  expect(lease.take()).toBe(false);
  expect(balance.consumed).toBe(40);
  // The next slice is of the next period.
  expect(await lease.ready()).toBe(true);
  expect(balance.consumed).toBe(80);
  await lease.close();
  expect(balance.consumed).toBe(40);
});

test('slices of two periods are not mixed, and nothing is given back over the end', async () => {
  const balance = new Balance(1000, []);
  balance.resetsAt = new Date(Date.now() + 60_000).toISOString();
  const lease = new Lease(balance.deps(), { externalCustomerId: 'a', featureKey: 'f', amount: 40 });
  await lease.ready();
  expect(lease.take(15)).toBe(true);
  // The service is in the next period already.
  balance.resetsAt = new Date(Date.now() + 1000).toISOString();
  expect(await lease.ready(26)).toBe(false);
  expect(lease.remaining).toBe(15);
  expect(balance.consumed).toBe(55);
  await lease.close();
  expect(balance.consumed).toBe(55);
});
