// A meter of levels: nothing of a grant is used up (docs/spec/balance.md#levels).
import { type Facts, knownAt, type Use } from './facts.ts';
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

/** When periods begin: the first one, and how long each is. */
export type Periods = { readonly from: number; readonly every: number };

/**
 * The level at `now` of the period of a `last` meter that begins at `start`: that of its latest
 * event. Without one it is nothing, or where the meter carries that of the period before.
 */
export function lastOf(
  all: Facts,
  { start, now, carry }: { readonly start: number; readonly now: number; readonly carry: boolean },
  periods: Periods,
): bigint {
  const { uses } = knownAt(all, now);
  const own = uses.filter(({ at }) => at >= start && at < start + periods.every);
  const last = own.reduce<Use | null>(later, null);
  if (last !== null) return last.amount;
  if (!carry || start <= periods.from) return 0n;
  return lastOf(all, { start: start - periods.every, now, carry }, periods);
}

/** Of one time it is the one that was told later. */
function later(one: Use | null, other: Use): Use {
  if (one === null || other.at > one.at) return other;
  return other.at === one.at && other.told >= one.told ? other : one;
}
