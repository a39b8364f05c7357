// What usage costs: the invoices of a subscription, each by what is known when it is issued
// (docs/spec/balance.md#what-usage-costs).
import { type Facts, knownAt, type Subscription } from './facts.ts';
import { cost } from './rate.ts';
import { planAt } from './sources.ts';
import { settle, type Span } from './walk.ts';

type Invoice = { readonly at: number; readonly cents: bigint };

/** All that bill usage until `now`, also those of nothing. */
function invoicesOf(facts: Facts, subscription: Subscription, now: number): Invoice[] {
  const billed = new Map<string, bigint>();
  return momentsOf(facts, subscription, now).map(({ at, isWhole }) => {
    let cents = 0n;
    for (const span of settle(facts, at).spans) {
      const { price, start, end } = span;
      if (span.subscription.id !== subscription.id) continue;
      const isOver = hasEnded(span, facts, at);
      if (!isWhole && !isOver) continue;
      const key = `${start} ${price.id}`;
      const share = isOver ? { part: span.part, whole: end - start } : null;
      const due = cost(price, span.quantity, share);
      cents += due - (billed.get(key) ?? 0n);
      billed.set(key, due);
    }
    return { at, cents };
  });
}

export const totalOf = (facts: Facts, subscription: Subscription, now: number): bigint =>
  invoicesOf(facts, subscription, now).reduce((sum, { cents }) => sum + cents, 0n);

type Moment = {
  readonly at: number;
  /** It bills what still runs, too. */ readonly isWhole: boolean;
};

function momentsOf({ holds }: Facts, subscription: Subscription, now: number): Moment[] {
  const { plans, billedEvery, end = Infinity } = subscription;
  const [first, ...changes] = plans;
  const moments: Moment[] = changes.map(({ at }) => ({ at, isWhole: true }));
  for (let at = (first?.at ?? now) + billedEvery; at < end && at <= now; at += billedEvery) {
    moments.push({ at, isWhole: false });
  }
  moments.push({ at: end, isWhole: true });
  // What was held before the end and is committed after it is billed once more.
  for (const hold of holds) {
    const committed = hold.end !== null && hold.end.used > 0n ? hold.end.told : 0;
    if (hold.at < end && committed > end) moments.push({ at: committed, isWhole: true });
  }
  // A renewal and a change at one time: what is over, and then what runs.
  return moments
    .filter(({ at }) => at <= now)
    .toSorted((a, b) => a.at - b.at || Number(a.isWhole) - Number(b.isWhole));
}

/** Its period is over, or another price or none is in force. */
function hasEnded({ subscription, price, end }: Span, facts: Facts, at: number): boolean {
  if (at >= end) return true;
  const known = knownAt(facts, at).subscriptions.find(({ id }) => id === subscription.id);
  return known === undefined || planAt(known, at)?.price?.id !== price.id;
}
