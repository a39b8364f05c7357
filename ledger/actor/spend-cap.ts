import { announceSpendCap as tellSpendCap } from '../metering/announcements.ts';
import type { MeterState } from '../metering/meter.ts';
import { advance, advanced } from '../metering/advance.ts';
import { type MeterContext, MeterDraft } from '../metering/meter-draft.ts';
import type { UsageOutcome } from '../metering/usage.ts';
import { shownSpending } from '../subscriptions/spend-cap.ts';
import type {
  BillingAccount,
  SpendCap,
  SubscriptionEffects,
} from '../subscriptions/subscription.ts';
import { assert } from '../kernel/assert.ts';
import type { Actor } from './actor.ts';
import type { Version } from './costs.ts';
import { Lacking } from './loader.ts';
import type { OwnershipSession } from './ownership-session.ts';
import type { UsageItem } from './stored-usage.ts';
import { DUPLICATE, type Memory } from './unit.ts';

// The spend cap of a customer: set, read, removed, and announced once it is reached. What it allows
// is asked by the decisions on meters (`Contexts.affordsOf`).

/** Decimals, as they are shown; null without a cap. */
export type ShownSpendCap = ReturnType<typeof shownSpending>;

/** Durable when it answers. */
export async function setSpendCap(
  session: OwnershipSession,
  customerId: string,
  wanted: Pick<SpendCap, 'amount' | 'currency'> | null,
): Promise<ShownSpendCap | null> {
  const decided = await session.executor.decideOn<Actor, ShownSpendCap | null>(
    'spend_cap',
    () => session.store.actorOf(customerId),
    [],
    (actor, memory) => {
      const sleeper = session.contexts.sleeperAmongSold(actor);
      if (sleeper !== null) return new Lacking([{ actor, missing: sleeper }]);
      const { account } = actor.billing.tentative;
      const now = account.spendCap;
      // The same again is not announced again; another cap is a new one.
      if (now?.amount !== wanted?.amount || now?.currency !== wanted?.currency) {
        const spendCap = wanted === null ? null : { ...wanted, announced: [] };
        memory.apply(actor, accountChanged(actor, { ...account, spendCap }));
      }
      return shown(session, actor, 'tentative');
    },
  );
  assert(decided !== DUPLICATE, 'without keys it is no duplicate');
  return decided;
}

/** As it is durable. */
export function findSpendCap(
  session: OwnershipSession,
  customerId: string,
): Promise<ShownSpendCap | null> {
  return session.executor.read(
    () => session.store.actorOf(customerId),
    (actor) => {
      const sleeper = session.contexts.sleeperAmongSold(actor);
      if (sleeper !== null) return new Lacking([{ actor, missing: sleeper }]);
      return shown(session, actor, 'durable');
    },
  );
}

function shown(
  { contexts }: OwnershipSession,
  actor: Actor,
  version: Version,
): ShownSpendCap | null {
  const spending = contexts.spendingOf(actor, version);
  if (spending === null) return null;
  return shownSpending(spending.cap, contexts.costsOf(actor, version, spending).used);
}

function accountChanged(
  { customer, billing: { tentative } }: Actor,
  account: BillingAccount,
): SubscriptionEffects {
  return {
    kind: 'subscription',
    customer,
    before: tentative,
    state: { ...tentative, account },
    subscriptions: [],
    account,
    events: [],
    followups: [],
  };
}

/**
 * Says in the unit of a usage that it has reached the spend cap, or that the cap has refused it:
 * once in a period of the subscription that sells it, or that sells the credits that pay for it.
 * Where no endpoint would hear of it, nothing is written. Returns how many effects it has applied.
 */
export function announceSpendCap(
  session: OwnershipSession,
  memory: Memory,
  of: Pick<UsageItem, 'actor' | 'meter'>,
  { context, before, outcome }: Decided,
): number {
  if (context.affords === null) return 0;
  const told = announceOn(session, memory, of, { before, outcome });
  const payer = context.credits?.payer ?? null;
  if (payer === null) return told;
  const pool = { actor: of.actor, meter: payer.context.meter };
  return told + announceOn(session, memory, pool, { before: payer.now(), outcome });
}

/** What a usage was decided on, and what came of it. */
type Decided = {
  readonly context: MeterContext;
  readonly before: MeterState;
  readonly outcome: UsageOutcome;
};

function announceOn(
  session: OwnershipSession,
  memory: Memory,
  { actor, meter }: Pick<UsageItem, 'actor' | 'meter'>,
  { before, outcome }: Omit<Decided, 'context'>,
): number {
  const { contexts, deps } = session;
  const spending = contexts.spendingOf(actor, 'tentative');
  if (spending === null || outcome.kind === 'out_of_range') return 0;
  if (!deps.wants(actor.customer, 'customer.spend_cap_reached')) return 0;
  const { used } = contexts.costsOf(actor, 'tentative', spending);
  const mayBeReached =
    outcome.kind === 'refused' ? outcome.record.reason === 'spend_cap' : spending.isReached(used);
  if (!mayBeReached) return 0;
  const context = contexts.ofMeter(actor, meter);
  const draft = new MeterDraft(context, contexts.stateOf(actor, meter));
  advance(draft);
  const isReached =
    outcome.kind === 'refused' ||
    spending.costOf(meter, draft.state) > spending.costOf(meter, advanced(context, before));
  if (!isReached) return 0;
  const { tentative } = actor.billing;
  const announced = spending.announced(draft.state, tentative.account);
  if (announced === null) return 0;
  const { remaining: _remaining, ...data } = shownSpending(spending.cap, used);
  tellSpendCap(draft, announced.period, { ...data, subscriptionId: announced.subscriptionId });
  memory.apply(actor, accountChanged(actor, announced.account));
  memory.apply(actor, draft.effects());
  return 2;
}
