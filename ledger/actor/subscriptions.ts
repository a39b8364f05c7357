import { assert } from '../kernel/assert.ts';
import type { MeterEffects } from '../metering/meter-effects.ts';
import type { Meter, MeterState } from '../metering/meter.ts';
import { STALE } from '../outcome.ts';
import { type BillableSpan, billableSpans, isSoldBy } from '../metering/spans.ts';
import { isMuch } from '../metering/asleep.ts';
import { decideTick } from '../metering/advance.ts';
import { type Command, type CommandOutcome, decideCommand } from '../subscriptions/commands.ts';
import type {
  SubscriptionContext,
  SubscriptionDraft,
} from '../subscriptions/subscription-draft.ts';
import type { SubscriptionOrder, Subscription } from '../subscriptions/subscription.ts';
import { type Collected, decideCollect } from '../subscriptions/collecting.ts';
import { type NewSubscription, decideStart } from '../subscriptions/start.ts';
import type { Actor } from './actor.ts';
import { Lacking } from './loader.ts';
import { metersOf, ordered } from './orders.ts';
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
    return decide(session, { customerId, id: wanted.id }, (actor, context) => {
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

/** What the customer, the merchant or a processor says to one of them, one after the other. */
export function commandSubscription(
  session: OwnershipSession,
  customerId: string,
  { id, command }: { readonly id: string; readonly command: Command },
): Promise<CommandOutcome> {
  const { storage } = session.deps;
  return session.mutex.alone([id], async () => {
    // Read here, so that of two who tell of a payment the later one knows the more.
    const back =
      command.kind === 'usage_given_back' ? await storage.findBack(command.paymentId) : null;
    const decideOn = (stored: Subscription | null) =>
      decide(session, { customerId, id }, ({ billing }, context) =>
        decideCommand(context, billing.tentative, { id, command, stored, back }),
      );
    const outcome = await decideOn(null);
    if (outcome.kind !== 'unknown' || command.kind !== 'close_invoice') return outcome;
    // It is over, and knows what it left unpaid.
    return decideOn(await storage.findSubscription(id));
  });
}

/**
 * Charges one of its invoices now. What was decided about it before is on disk by then, and so is
 * each capture that it knows of: what is stored tells whether the invoice may be charged.
 */
export function collectInvoice(
  session: OwnershipSession,
  customerId: string,
  { id, invoiceId }: { readonly id: string; readonly invoiceId: string },
): Promise<Collected | 'not_chargeable'> {
  return session.mutex.alone([id], async () => {
    const invoice = await session.deps.storage.findChargeable({ subscriptionId: id, invoiceId });
    if (invoice === null) return 'not_chargeable';
    return decide(session, { customerId, id }, ({ billing }, context) =>
      decideCollect(context, billing.tentative, invoice),
    );
  });
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

async function decide<T>(
  session: OwnershipSession,
  { customerId, id }: { readonly customerId: string; readonly id: string },
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
      const now = session.contexts.nowOf(actor);
      // What it sells is moved with it, but a pool: that moves its members, too.
      const isAlone = (state: MeterState) => isMuch(state, now) && !isSoldBy(state, id);
      const missing = session.contexts.sleeperBefore(actor, isAlone);
      if (missing !== null) return new Lacking([{ actor, missing }]);
      const spans = soldBy(id, memory, { session, actor });
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
 * The spans of a subscription. Its meters are moved to now: what is due closes before it is billed.
 * null where more is due than one decision does.
 */
function soldBy(
  id: string,
  memory: Memory,
  { session, actor }: Taking,
): readonly BillableSpan[] | null {
  const sold: BillableSpan[] = [];
  let changes = 0;
  for (const { meter, tentative } of actor.customerMeters.values()) {
    if (tentative === undefined || !isSoldBy(tentative, id)) continue;
    const context = session.contexts.ofMeter(actor, meter);
    let state = tentative;
    if (context.now >= state.nextDue) {
      if (changes >= DUE_CHANGES_MAX) return null;
      const effects = decideTick(context, state);
      memory.apply(actor, effects);
      changes += changesOf(effects);
      state = effects.state;
      if (context.now >= state.nextDue) return null;
    }
    for (const span of billableSpans(meter, state)) {
      if (span.subscriptionId === id) sold.push(span);
    }
  }
  return sold;
}

/** With those of what shares its credits. */
function changesOf({ periods, grants, beside }: MeterEffects): number {
  return beside.reduce((sum, other) => sum + changesOf(other), periods.length + grants.length);
}

/** What is due of meters in one decision on a subscription, some of it in the last one's steps. */
const DUE_CHANGES_MAX = 1000;

type Taking = { readonly session: OwnershipSession; readonly actor: Actor };

function take(
  memory: Memory,
  { draft, ...at }: Taking & { readonly draft: SubscriptionDraft },
): void {
  const effects = draft.effects();
  if (effects === null) return;
  memory.apply(at.actor, effects);
  for (const order of draft.orders) {
    for (const meter of metersOf(at.actor.customerMeters, order))
      executeOrders(memory, { ...at, order, meter });
  }
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
