import { assert, unreachable } from '../kernel/assert.ts';
import type { MeterContext } from '../metering/meter-draft.ts';
import type { MeterEffects } from '../metering/meter-effects.ts';
import type { Grant } from '../metering/grants.ts';
import type { Meter, MeterState } from '../metering/meter.ts';
import { STALE } from '../outcome.ts';
import {
  expirePlanAt,
  planGrant,
  refreshPlan,
  replacePlan,
  restartPlan,
  startPlan,
  suspendPlan,
  withdrawPlan,
} from '../metering/plan-allowance.ts';
import {
  billPlan,
  chargePlan,
  cutPlan,
  forgetPlan,
  settlePlan,
  unbillPlan,
} from '../metering/plan-spans.ts';
import { type BillableSpan, billableSpans } from '../metering/spans.ts';
import { advanced, decideTick } from '../metering/advance.ts';
import { type Command, type CommandOutcome, decideCommand } from '../subscriptions/commands.ts';
import type {
  SubscriptionContext,
  SubscriptionDraft,
} from '../subscriptions/subscription-draft.ts';
import type {
  PlanAllowance,
  SubscriptionOrder,
  Subscription,
} from '../subscriptions/subscription.ts';
import { type PreviewOutcome, decidePreview } from '../subscriptions/preview.ts';
import { type UpcomingInvoice, decideUpcoming, upcomingAt } from '../subscriptions/upcoming.ts';
import { type NewSubscription, decideStart } from '../subscriptions/start.ts';
import type { Actor } from './actor.ts';
import type { OwnershipSession } from './ownership-session.ts';
import { DUPLICATE, type Memory } from './unit.ts';

// Operations on subscriptions. A decision and its changes to the customer's meters are one unit:
// one flush writes both, or neither. Every answer is durable. Each throws NotOwner where another
// node owns the customer.

/**
 * Starts it, once for each id. It may have ended since. `full`: the customer has as many as it may.
 */
export function startSubscription(
  session: OwnershipSession,
  customerId: string,
  wanted: NewSubscription,
): Promise<'started' | 'exists' | 'full'> {
  return session.mutex.alone([wanted.id], async () => {
    if (await session.deps.storage.subscriptionExists(wanted.id)) return 'exists';
    return decide(session, customerId, (actor, context) => {
      const { tentative } = actor.billing;
      if (tentative.subscriptions.has(wanted.id)) return { outcome: 'exists', draft: null };
      // A paid subscription starts regardless of the bound.
      const isPaid = wanted.paid !== null;
      if (!isPaid && tentative.subscriptions.size >= session.deps.bounds.subscriptions) {
        return { outcome: 'full', draft: null };
      }
      return { outcome: 'started', draft: decideStart(context, tentative, wanted) };
    });
  });
}

/** What the customer, the merchant or a processor says to one of them. */
export function commandSubscription(
  session: OwnershipSession,
  customerId: string,
  { id, command }: { readonly id: string; readonly command: Command },
): Promise<CommandOutcome> {
  return decide(session, customerId, ({ billing }, context) =>
    decideCommand(context, billing.tentative, { id, command }),
  );
}

/** As the last decision left it; null where nothing can happen to it any more. */
export function findSubscription(
  session: OwnershipSession,
  customerId: string,
  id: string,
): Promise<Subscription | null> {
  return session.executor.read(
    () => session.store.actorOf(customerId),
    ({ billing }) => billing.tentative.subscriptions.get(id) ?? null,
  );
}

/** What its next invoice would bill, by what is durable; null where it has ended. */
export function upcomingInvoice(
  session: OwnershipSession,
  customerId: string,
  id: string,
): Promise<UpcomingInvoice | null> {
  return session.executor.read(
    () => session.store.actorOf(customerId),
    (actor) => {
      const context = session.contexts.ofSubscriptions(actor);
      const billing = actor.billing.durable;
      const at = upcomingAt(billing, id, context.now);
      if (at === null) return null;
      const then = { ...context, now: at, spans: durableSpans(session, actor, at) };
      return decideUpcoming(then, billing, { id, asOf: context.now });
    },
  );
}

/** What a command would answer, bill and do now, by what is durable. Nothing is written. */
export function previewCommand(
  session: OwnershipSession,
  customerId: string,
  asked: { readonly id: string; readonly command: Command },
): Promise<PreviewOutcome> {
  return session.executor.read(
    () => session.store.actorOf(customerId),
    (actor) => {
      const context = session.contexts.ofSubscriptions(actor);
      const spans = durableSpans(session, actor, context.now);
      return decidePreview({ ...context, spans }, actor.billing.durable, asked);
    },
  );
}

/** The spans of the customer's meters as they are at a time, if nothing more is recorded. */
function durableSpans(
  session: OwnershipSession,
  actor: Actor,
  at: number,
): readonly BillableSpan[] {
  return [...actor.customerMeters.values()].flatMap(({ meter, durable }) => {
    if (durable === undefined || durable.spans.length === 0) return [];
    const then = { ...session.contexts.ofMeter(actor, meter), now: at };
    return billableSpans(meter, advanced(then, durable));
  });
}

async function decide<T>(
  session: OwnershipSession,
  customerId: string,
  decision: (
    actor: Actor,
    context: SubscriptionContext,
  ) => {
    readonly outcome: T | null;
    readonly draft: SubscriptionDraft | null;
  },
): Promise<T> {
  const decided = await session.executor.decideOn<Actor, T>(
    'subscription',
    () => session.store.actorOf(customerId),
    [],
    (actor, memory) => {
      const spans = soldTo(memory, session, actor);
      if (spans === null) return STALE;
      const context = { ...session.contexts.ofSubscriptions(actor), spans };
      const { outcome, draft } = decision(actor, context);
      if (draft !== null) take(memory, { session, actor, draft });
      return outcome ?? STALE;
    },
  );
  assert(decided !== DUPLICATE, 'without keys it is no duplicate');
  return decided;
}

/**
 * The spans of the customer's meters, each of which is advanced to now: what is due closes before it
 * is billed. null where more is due than one decision does.
 */
function soldTo(
  memory: Memory,
  session: OwnershipSession,
  actor: Actor,
): readonly BillableSpan[] | null {
  const sold: BillableSpan[] = [];
  for (const { meter, tentative } of actor.customerMeters.values()) {
    if (tentative === undefined || tentative.spans.length === 0) continue;
    const context = session.contexts.ofMeter(actor, meter);
    let state = tentative;
    if (context.now >= state.nextDue) {
      const effects = decideTick(context, state);
      memory.apply(actor, effects);
      state = effects.state;
      if (context.now >= state.nextDue) return null;
    }
    sold.push(...billableSpans(meter, state));
  }
  return sold;
}

type Taking = { readonly session: OwnershipSession; readonly actor: Actor };

function take(
  memory: Memory,
  { draft, ...at }: Taking & { readonly draft: SubscriptionDraft },
): void {
  const effects = draft.effects();
  if (effects === null) return;
  memory.apply(at.actor, effects);
  for (const order of draft.orders) {
    for (const meter of metersOf(at.actor, order)) executeOrders(memory, { ...at, order, meter });
  }
}

/** The meters that have grants of the subscription, and the ones that will get some. */
function metersOf(actor: Actor, order: SubscriptionOrder): readonly Meter[] {
  const meters = new Map<string, Meter>();
  for (const { meter, tentative } of actor.customerMeters.values()) {
    const isIts = ({ subscriptionId: id }: { readonly subscriptionId: string | null }): boolean =>
      id === order.subscriptionId;
    if (tentative?.grants.some(isIts) === true || tentative?.spans.some(isIts) === true) {
      meters.set(meter.id, meter);
    }
  }
  if ('allowances' in order) {
    for (const { meter } of order.allowances) meters.set(meter.id, meter);
  }
  return [...meters.values()];
}

function executeOrders(
  memory: Memory,
  {
    session,
    actor,
    order,
    meter,
  }: Taking & { readonly order: SubscriptionOrder; readonly meter: Meter },
): void {
  const context = session.contexts.ofMeter(actor, meter);
  const { outcome, effects } = ordered(context, session.contexts.stateOf(actor, meter), order);
  if (outcome.kind !== 'done') {
    // The plan continues without it: the meter holds as much as it can.
    const what = { meter: meter.id, subscription: order.subscriptionId, why: outcome.kind };
    session.deps.log.warn(what, 'an allowance could not be given');
  }
  assert(outcome.kind === 'done' || effects === null, 'what is refused changes nothing');
  if (effects !== null) memory.apply(actor, effects);
}

function ordered(
  context: MeterContext,
  state: MeterState,
  order: SubscriptionOrder,
): { readonly outcome: { readonly kind: string }; readonly effects: MeterEffects | null } {
  const { subscriptionId: id } = order;
  switch (order.kind) {
    case 'start':
      return startPlan(context, state, grantsFor(context, order, order.allowances));
    case 'replace':
      return replacePlan(context, state, order, grantsFor(context, order, order.allowances));
    case 'refresh':
      return refreshPlan(context, state, order, grantsFor(context, order, order.allowances));
    case 'withdraw':
      return withdrawPlan(context, state, id, order);
    case 'expire_at':
      return expirePlanAt(context, state, id, order.at);
    case 'suspend':
      return suspendPlan(context, state, id, order.why);
    case 'restart':
      return restartPlan(context, state, id, order.cycle);
    case 'charge':
      return chargePlan(context, state, id, order.at);
    case 'cut':
      return cutPlan(context, state, id, order.at);
    case 'bill':
      return billPlan(context, state, order.lines);
    case 'settle':
      return settlePlan(context, state, order.billedAs);
    case 'forget':
      return forgetPlan(context, state, id);
    case 'unbill':
      return unbillPlan(context, state, order);
    default:
      return unreachable(order);
  }
}

function grantsFor(
  { ids, meter, now }: MeterContext,
  order: Extract<SubscriptionOrder, { allowances: unknown }>,
  allowances: readonly PlanAllowance[],
): readonly Grant[] {
  const { subscriptionId, sequence, productId, cycle } = order;
  const createdAt = 'at' in order ? Math.min(order.at, now) : now;
  return allowances
    .filter((allowance) => allowance.meter.id === meter.id)
    .map(({ meter: _meter, entitlementId, ...terms }) =>
      planGrant({
        ...terms,
        grantId: ids.derive('plan', subscriptionId, entitlementId, String(sequence)),
        subscriptionId,
        productId,
        cycle,
        createdAt,
        charges: order.charges,
      }),
    );
}
