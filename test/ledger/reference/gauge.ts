// A meter of levels: nothing of a grant is used up (docs/spec/balance.md#levels).
import { type Facts, knownAt } from './facts.ts';
import { onceOf, potOf, recurringOf } from './sources.ts';

export type Level = { readonly limit: bigint | null; readonly balance: bigint | null };

/** `level`: of the current period. */
export function levelOf(all: Facts, level: bigint, now: number): Level {
  const facts = knownAt(all, now);
  const isInForce = ({ from, until }: { readonly from: number; readonly until: number }): boolean =>
    from <= now && now < until;
  const pots = recurringOf(facts)
    .filter(isInForce)
    .map((recurring) => potOf(recurring, facts, now));
  let limit: bigint | null = 0n;
  for (const { size } of [...onceOf(facts).filter(isInForce), ...pots]) {
    const amount = size(now);
    limit = limit === null || amount === null ? null : limit + amount;
  }
  return { limit, balance: limit === null ? null : limit - level };
}
