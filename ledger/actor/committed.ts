import type { MeterEffects } from '../metering/meter-effects.ts';
import type { Span } from '../metering/span.ts';
import { type BillableSpan, billableSpans } from '../metering/spans.ts';
import { decideCommitted } from '../subscriptions/committed.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import type { Actor } from './actor.ts';
import type { OwnershipSession } from './ownership-session.ts';
import type { Memory } from './unit.ts';

// What is committed of a hold after the subscription that sold it has ended: its invoice is made by
// the decision that commits, so there is never one without the other.

/** Ended subscriptions, as they are stored: memory lets go of them. */
export type Ended = ReadonlyMap<string, Subscription | null>;

/** Those that have ended, and sold what a decision has changed. */
export function endedSellers({ billing }: Actor, effects: MeterEffects): readonly string[] {
  const { subscriptions } = billing.tentative;
  const ids = closedIn(effects).map(({ subscriptionId }) => subscriptionId);
  return [...new Set(ids)].filter((id) => {
    const { status = 'canceled' } = subscriptions.get(id) ?? {};
    return status === 'canceled';
  });
}

/** With those of a pool. */
function closedIn({ spans, beside }: MeterEffects): readonly Span[] {
  const own = spans.flatMap(({ span, isLive }) => (isLive && span.end !== null ? [span] : []));
  return [...own, ...beside.flatMap(closedIn)];
}

/** What a subscription has sold so far. */
export function soldSoFar({ customerMeters }: Actor, id: string): readonly BillableSpan[] {
  return [...customerMeters.values()].flatMap(({ meter, tentative }) =>
    tentative === undefined
      ? []
      : billableSpans(meter, tentative).filter(({ subscriptionId }) => subscriptionId === id),
  );
}

type Committed = {
  readonly holdId: string;
  /** What each of those has sold before the commit. */
  readonly before: ReadonlyMap<string, readonly BillableSpan[]>;
  readonly ended: Ended;
};

/**
 * Bills a commit that memory has taken over. Returns the subscriptions that owe something by it.
 */
export function billEnded(
  {
    session,
    actor,
    memory,
  }: {
    readonly session: OwnershipSession;
    readonly actor: Actor;
    readonly memory: Memory;
  },
  { holdId, before, ended }: Committed,
): readonly string[] {
  const owing: string[] = [];
  for (const [id, sold] of before) {
    const { tentative: billing } = actor.billing;
    const stored = ended.get(id) ?? null;
    if (!billing.subscriptions.has(id) && stored === null) continue;
    const spans = soldSoFar(actor, id);
    const context = { ...session.contexts.ofSubscriptions(actor), spans };
    const of = { id, stored, holdId, before: sold };
    const effects = decideCommitted(context, billing, of).effects();
    if (effects === null) continue;
    memory.apply(actor, effects);
    owing.push(id);
  }
  return owing;
}
