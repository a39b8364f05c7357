import { must } from '../kernel/assert.ts';
import {
  decideTopUp,
  type TopUpCommand,
  type TopUpOutcome,
} from '../metering/auto-topup-decisions.ts';
import type { Meter, MeterState } from '../metering/meter.ts';
import type { AutoTopUp, TopUpAnswer, TopUpSettings } from '../topups/auto-topup.ts';
import type { Actor } from './actor.ts';
import type { OwnershipSession } from './ownership-session.ts';

// The automatic top-ups of a customer. Every answer is durable. Each throws NotOwner where another
// node owns the customer.

/** With these settings. `too_many_meters`: the customer has as many meters as it may. */
export function putTopUp(
  session: OwnershipSession,
  customerId: string,
  meter: Meter,
  wanted: { readonly settings: TopUpSettings; readonly zone: string },
): Promise<AutoTopUp | 'too_many_meters'> {
  return session.executor.decideOnMeter<AutoTopUp | 'too_many_meters'>(
    customerId,
    meter,
    (context, state, actor) => {
      if (!session.contexts.hasRoom(actor, meter)) {
        return { outcome: 'too_many_meters', effects: null };
      }
      const { outcome, effects } = decideTopUp(context, state, { kind: 'put', ...wanted });
      return { outcome: must(outcome, 'what was put'), effects };
    },
  );
}

/** What is said to one that is there; null where it is not, or was removed. */
export type TopUpChange = Exclude<TopUpCommand, { kind: 'put' | 'settle' }> | TopUpSettlement;
type TopUpSettlement = { readonly kind: 'settle'; readonly answer: TopUpAnswer };

export async function changeTopUp(
  session: OwnershipSession,
  customerId: string,
  meterId: string,
  change: TopUpChange,
): Promise<TopUpOutcome> {
  const actor = await session.store.actorOf(customerId);
  const meter = actor.customerMeters.get(meterId)?.meter;
  if (meter === undefined) return null;
  const { wants } = session.deps;
  return session.executor.decideOnMeter(customerId, meter, (context, state) => {
    if (change.kind !== 'settle') return decideTopUp(context, state, change);
    const { customer } = context;
    const isHeard = {
      succeeded: wants(customer, 'auto_topup.succeeded'),
      failed: wants(customer, 'auto_topup.failed'),
    };
    return decideTopUp(context, state, { ...change, isHeard });
  });
}

/** One that has not been removed, with its meter. */
export type CustomerTopUp = { readonly meter: Meter; readonly topUp: SetTopUp };
export type SetTopUp = AutoTopUp & { readonly settings: TopUpSettings };

/** All of the customer, as they are durable. */
export function topUpsOf(
  session: OwnershipSession,
  customerId: string,
): Promise<readonly CustomerTopUp[]> {
  return session.executor.read(
    () => session.store.actorOf(customerId),
    (actor) => settled(actor),
  );
}

function settled(actor: Actor): readonly CustomerTopUp[] {
  return [...actor.customerMeters.values()].flatMap(({ meter, durable }) => {
    const topUp = isSet(durable);
    return topUp === null ? [] : [{ meter, topUp }];
  });
}

function isSet(state: MeterState | undefined): SetTopUp | null {
  const topUp = state?.topUp ?? null;
  if (topUp === null || topUp.settings === null) return null;
  return { ...topUp, settings: topUp.settings };
}
