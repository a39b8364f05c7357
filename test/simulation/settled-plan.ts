// The historian's subscription: what it asks of the ledger. Its plans cost nothing.
import type { Customer } from '../../ledger/metering/meter.ts';
import type { Command } from '../../ledger/subscriptions/commands.ts';
import type { PlanAllowance } from '../../ledger/subscriptions/subscription.ts';
import { ids } from '../../src/platform/ids.ts';
import type { Plan } from '../ledger/reference/facts.ts';
import { send } from './client.ts';
import type { Place } from './process.ts';
import type { World } from './world.ts';

const planIdOf = ({ id }: Customer): string => ids.derive('settled', id);

/** What the reference's plan is here. A limit of 0: it lacks the feature. */
function offerOf({ catalogue }: World, { limit, rollover }: Plan, index: number) {
  const allowance: PlanAllowance = {
    meter: catalogue.meters.settled,
    entitlementId: ids.derive('entitlement', 'settled', String(index)),
    priority: 100,
    limit,
    resetInterval: 'day',
    resetCount: 1,
    overageAllowed: false,
    price: null,
    rollover:
      rollover === undefined ? null : { max: rollover.max, expiresAfterPeriods: rollover.periods },
    boolean: false,
  };
  const plan = {
    productId: 'settled',
    priceId: priceOf(index),
    planName: priceOf(index),
    priceListName: 'DEFAULT',
    unitAmount: 0n,
    currency: 'USD',
    interval: 'month',
    intervalCount: 1,
    quantity: 1,
  } as const;
  return { plan, allowances: limit === 0n ? [] : [allowance] };
}

const priceOf = (index: number): string => `settled ${index}`;

export async function begin(
  world: World,
  customer: Customer,
  { plan, startAt }: { readonly plan: Plan; readonly startAt: number },
): Promise<'answer' | 'unknown'> {
  const id = planIdOf(customer);
  const wanted = {
    id,
    bundleId: id,
    ...offerOf(world, plan, 0),
    signup: {
      paymentLinkId: null,
      paymentLinkToken: null,
      clientReferenceId: null,
      externalCustomerId: null,
      metadata: {},
    },
    zone: 'UTC',
    startAt,
    trialEnd: null,
    discount: null,
    paid: null,
  };
  const reply = await send(
    world,
    { what: `the settled plan of ${customer.externalId}` },
    (ledger) => ledger.subscriptions.start(customer.id, wanted),
    () => undefined,
  );
  return reply.kind;
}

export function change(
  world: World,
  customer: Customer,
  { plan, index }: { readonly plan: Plan; readonly index: number },
): Promise<'answer' | 'unknown'> {
  const offer = offerOf(world, plan, index);
  return order(world, customer, { kind: 'change', ...offer, givenBack: [] });
}

/** Asks each place, until one has done it. */
export async function cancel(world: World, customer: Customer): Promise<void> {
  for (const place of world.places) {
    const command = { kind: 'cancel', mode: 'immediate' } as const;
    if ((await order(world, customer, command, place)) === 'answer') return;
  }
}

async function order(
  world: World,
  customer: Customer,
  command: Command,
  place?: Place,
): Promise<'answer' | 'unknown'> {
  const id = planIdOf(customer);
  const reply = await send(
    world,
    { what: `${command.kind} of the settled plan of ${customer.externalId}`, place },
    (ledger) => ledger.subscriptions.command(customer.id, id, command),
    ({ kind }) => {
      const may = kind === 'done' || command.kind === 'cancel';
      world.auditor.demand(may, `${command.kind} of a settled plan was answered ${kind}`);
    },
  );
  return reply.kind;
}

/** The number of its plan, as it is durable, and of its last event. */
export function planNow({ server }: World, customer: Customer) {
  const row = server.db.subscriptions.get(planIdOf(customer))?.subscription;
  return { index: Number(row?.plan.priceId.split(' ')[1]), sequence: row?.sequence ?? 0n };
}
