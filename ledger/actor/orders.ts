import { must, unreachable } from '../kernel/assert.ts';
import type { MeterContext } from '../metering/meter-draft.ts';
import type { MeterEffects } from '../metering/meter-effects.ts';
import type { Grant } from '../metering/grants.ts';
import type { Meter, MeterState } from '../metering/meter.ts';
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
import { isSoldBy } from '../metering/spans.ts';
import type { PlanAllowance, SubscriptionOrder } from '../subscriptions/subscription.ts';

// What subscriptions order of the customer's meters: of its actor's, and of a copy that is ahead.

/** The meters that have grants of the subscription, and the ones that will get some. */
export function metersOf(
  known: ReadonlyMap<string, { readonly meter: Meter; readonly tentative: MeterState | undefined }>,
  order: SubscriptionOrder,
): readonly Meter[] {
  const meters = new Map<string, Meter>();
  if ('meterId' in order) {
    const { meter } = must(known.get(order.meterId), 'what is billed was sold');
    return [meter];
  }
  for (const { meter, tentative } of known.values()) {
    if (tentative !== undefined && isSoldBy(tentative, order.subscriptionId)) {
      meters.set(meter.id, meter);
    }
  }
  if ('allowances' in order) {
    for (const { meter } of order.allowances) meters.set(meter.id, meter);
  }
  return [...meters.values()];
}

/** What an order does to one meter. */
export function ordered(
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
      return billPlan(context, state, order.line);
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
