// Subscriptions that sell usage: what clients ask of them, and what they do when time passes.
import { unreachable } from '../../ledger/kernel/assert.ts';
import type { Customer } from '../../ledger/metering/meter.ts';
import type { UsagePrice } from '../../ledger/metering/usage-price.ts';
import type { Command } from '../../ledger/subscriptions/commands.ts';
import type { Plan, PlanAllowance } from '../../ledger/subscriptions/subscription.ts';
import { ids } from '../../src/platform/ids.ts';
import { T0 } from './catalogue.ts';
import { send } from './client.ts';
import type { Place } from './process.ts';
import type { World } from './world.ts';

const DAY_MS = 86_400_000;

const subscriptionIdOf = ({ id }: Customer): string => ids.derive('subscription', id);

const PLAN: Plan = {
  productId: 'product',
  priceId: 'small',
  planName: 'small',
  priceListName: 'DEFAULT',
  unitAmount: 100n,
  currency: 'USD',
  interval: 'day',
  intervalCount: 1,
  quantity: 1,
};

const PRICE: UsagePrice = {
  id: ids.derive('usage price', 'small'),
  currency: 'USD',
  minimum: 3n,
  maximum: null,
  model: 'graduated',
  tiers: [
    { upTo: 7n, unitAmount: 13n * 10n ** 9n, flatAmount: null },
    { upTo: null, unitAmount: 7n * 10n ** 9n, flatAmount: 5n },
  ],
};

type Offer = { readonly plan: Plan; readonly allowances: readonly PlanAllowance[] };

/**
 * Where there is a pool, the first gives credits, the second also units of a member, the last only
 * those.
 */
function offersOf({ catalogue, pool }: World): Readonly<Record<'small' | 'large' | 'bare', Offer>> {
  const allowance: PlanAllowance = {
    meter: catalogue.meters.sold,
    entitlementId: ids.derive('entitlement', 'small'),
    priority: 100,
    limit: 4n,
    resetInterval: 'day',
    resetCount: 1,
    overageAllowed: false,
    price: PRICE,
    rollover: null,
    boolean: false,
  };
  const large = { ...PRICE, id: ids.derive('usage price', 'large'), minimum: null };
  const more = { entitlementId: ids.derive('entitlement', 'large'), limit: 9n, price: large };
  const paid = (slug: 'credits' | 'tokens', limit: bigint): PlanAllowance[] => {
    const entitlementId = ids.derive('entitlement', slug, String(limit));
    const meter = catalogue.meters[slug];
    return pool === null ? [] : [{ ...allowance, meter, entitlementId, limit, price: null }];
  };
  return {
    small: { plan: PLAN, allowances: [allowance, ...paid('credits', 30n)] },
    large: {
      plan: { ...PLAN, priceId: 'large', planName: 'large', unitAmount: 900n },
      allowances: [{ ...allowance, ...more }, ...paid('credits', 45n), ...paid('tokens', 6n)],
    },
    bare: {
      plan: { ...PLAN, priceId: 'bare', planName: 'bare', unitAmount: 50n },
      allowances: [allowance, ...paid('tokens', 4n)],
    },
  };
}

/** It renews `renewsIn` milliseconds after the start of the run. */
export async function begin(
  world: World,
  customer: Customer,
  renewsIn: number,
): Promise<'answer' | 'unknown'> {
  const { plan, allowances } = offersOf(world).small;
  const id = subscriptionIdOf(customer);
  const signup = {
    paymentLinkId: null,
    paymentLinkToken: null,
    clientReferenceId: null,
    externalCustomerId: null,
    metadata: {},
  };
  const wanted = {
    id,
    bundleId: id,
    plan,
    allowances,
    signup,
    zone: 'UTC',
    startAt: T0 + renewsIn - DAY_MS,
    trialEnd: null,
    discount: null,
    paid: null,
  };
  const reply = await send(
    world,
    { what: `a subscription of ${customer.externalId}` },
    (ledger) => ledger.subscriptions.start(customer.id, wanted),
    () => {
      const isThere = world.server.db.subscriptions.has(id);
      world.auditor.demand(isThere, `I8: subscription ${id} is not durable`);
    },
  );
  return reply.kind;
}

export type Act = 'small' | 'large' | 'bare' | 'pause' | 'resume' | 'cancel';

/** Then what it owes is carried out, or by a sweep. */
export async function act(
  world: World,
  customer: Customer,
  { kind, place }: { readonly kind: Act; readonly place?: Place },
): Promise<'answer' | 'unknown'> {
  const id = subscriptionIdOf(customer);
  const reply = await send(
    world,
    { what: `${kind} of ${customer.externalId}`, place },
    async (ledger, process) => {
      const outcome = await ledger.subscriptions.command(customer.id, id, commandOf(world, kind));
      await process.carryOut(id);
      return outcome;
    },
    ({ kind: became }) => {
      if (kind !== 'cancel' || became !== 'done') return;
      const isEnded = world.server.db.subscriptions.get(id)?.subscription.status === 'canceled';
      world.auditor.demand(isEnded, `I8: the end of subscription ${id} is not durable`);
    },
  );
  return reply.kind;
}

function commandOf(world: World, kind: Act): Command {
  switch (kind) {
    case 'small':
    case 'large':
    case 'bare':
      return { kind: 'change', ...offersOf(world)[kind], givenBack: [] };
    case 'pause':
      return { kind, resumesAt: null, keepInvoices: false };
    case 'resume':
      return { kind };
    case 'cancel':
      return { kind, mode: 'immediate' };
    default:
      return unreachable(kind);
  }
}
