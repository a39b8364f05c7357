// Turns a product and one of its prices into a plan with its allowances.
import { DAY_MS } from '../../ledger/kernel/durations.ts';
import { assert, must } from '../../ledger/kernel/assert.ts';
import { isAmount } from '../../ledger/kernel/money.ts';
import { inRange } from '../../ledger/kernel/quantity.ts';
import {
  amountOf,
  type Plan,
  type PlanAllowance,
} from '../../ledger/subscriptions/subscription.ts';
import type { Processor } from '../processors/processor.ts';
import type { Entitlement } from '../records/entitlements.ts';
import type { ProductFeature } from '../records/product-features.ts';
import type { PriceRecord, ProductRecord } from '../records/products.ts';

const BY_INTERVAL = { day: 'daily', week: 'weekly', month: 'monthly', year: 'yearly' } as const;

/** Of a recurring price. */
export function planOf(
  product: Pick<ProductRecord, 'id' | 'slug'>,
  price: PriceRecord,
  quantity: number,
): Plan {
  assert(price.type === 'recurring', 'a plan recurs');
  const interval = must(price.interval, 'the interval of a recurring price');
  const intervalCount = must(price.intervalCount, 'the count of a recurring price');
  const every = intervalCount === 1 ? BY_INTERVAL[interval] : `${intervalCount}-${interval}`;
  return {
    productId: product.id,
    priceId: price.id,
    planName: `${product.slug}-${every}`,
    priceListName: 'DEFAULT',
    unitAmount: price.amount,
    currency: price.currency,
    interval,
    intervalCount,
    quantity,
  };
}

/** That of an entitlement without one of its own. */
const PRIORITY = 100;

/**
 * Each unit bought gives what the product gives. A feature that it only sells has an allowance of
 * nothing, whose periods are the subscription's.
 */
export function allowancesOf(
  features: readonly ProductFeature[],
  plan: Pick<Plan, 'quantity' | 'interval' | 'intervalCount'>,
): readonly PlanAllowance[] {
  return features.map(({ meter, entitlement, usagePrice: price }) => {
    if (entitlement !== null) return { meter, price, ...given(entitlement, plan.quantity) };
    return {
      meter,
      entitlementId: must(price, 'a feature is given or sold').id,
      priority: PRIORITY,
      limit: 0n,
      resetInterval: plan.interval,
      resetCount: plan.intervalCount,
      overageAllowed: false,
      price,
      rollover: null,
      boolean: false,
    };
  });
}

function given(
  { id, type, limit, rollover, priority, overageAllowed, resetInterval }: Entitlement,
  quantity: number,
): Omit<PlanAllowance, 'meter' | 'price'> {
  return {
    entitlementId: id,
    priority,
    limit: limit === null ? null : limit * BigInt(quantity),
    resetInterval,
    resetCount: 1,
    overageAllowed,
    rollover: rollover === null ? null : { ...rollover, max: rollover.max * BigInt(quantity) },
    boolean: type === 'boolean',
  };
}

/** Whether this quantity can be billed and granted. */
export function isWithinReach(plan: Plan, allowances: readonly PlanAllowance[]): boolean {
  return (
    isAmount(amountOf(plan), plan.currency) &&
    allowances.every(({ limit, rollover }) => inRange((limit ?? 0n) + (rollover?.max ?? 0n)))
  );
}

/** Why the processor never charges a period of it; null where it may, or where there is none. */
export function chargeRefusal(processor: Processor | null, plan: Plan): string | null {
  const amount = amountOf(plan);
  return amount === 0n || processor === null ? null : processor.refusalOf(amount, plan.currency);
}

/** When a trial that begins now ends: whole days, by the clock of UTC. */
export function trialEndOf(days: number | null, startAt: number): number | null {
  return days === null || days === 0 ? null : startAt + days * DAY_MS;
}
