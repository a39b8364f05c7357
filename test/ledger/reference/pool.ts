// A pool and its members: what a member uses beyond its own grants in a stretch costs the pool, at
// the rate of that time (docs/spec/balance.md#pools).
import type { Facts } from './facts.ts';
import { type Settled, settle } from './walk.ts';

export type Member = { readonly facts: Facts; readonly rate: bigint };

export function settlePool(pool: Facts, members: readonly Member[], now: number): Settled {
  const paid = members.flatMap(({ facts, rate }) =>
    settle(facts, now).uncovered.map(({ at, amount }) => ({
      at,
      told: at,
      amount: amount * rate,
    })),
  );
  return settle({ ...pool, uses: [...pool.uses, ...paid] }, now);
}
