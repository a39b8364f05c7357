// What a history of sold usage costs, in the ledger and in the reference.
import type { UsagePrice } from '../../../ledger/metering/usage-price.ts';
import { amountOfLine } from '../../../ledger/subscriptions/bills.ts';
import { ids } from '../../../src/platform/ids.ts';
import { type Offer, SoldWorld } from '../sold-world.ts';
import { MONTHLY } from '../subscription-world.ts';
import { T0 } from '../world.ts';
import { type Facts, NOTHING, type Plan, type Price } from './facts.ts';
import { DAY, type Timed, withStep } from './history.ts';
import { totalOf } from './money.ts';

/** The smallest amount of a unit is a part of a cent. */
const OF_CENT = 10n ** 10n;
const BILLED_DAYS = 3;
const BILLED_MS = BILLED_DAYS * DAY;

/** The cents of all invoices for usage, once all of it is billed. A history of usage alone. */
export async function moneyOf(
  history: readonly Timed[],
  plan: Plan,
): Promise<{ readonly ledger: bigint; readonly reference: bigint }> {
  const world = await SoldWorld.open('sum', T0);
  await world.start(offerOf(plan), null);
  const subscription = {
    id: 'plan',
    plans: [{ at: T0, plan }],
    every: DAY,
    billedEvery: BILLED_MS,
  };
  let facts: Facts = { ...NOTHING, subscriptions: [subscription] };
  for (const { after, step } of history) {
    await world.advance(world.now + after);
    const { now } = world;
    if (step.kind !== 'use') throw new Error('a history of usage');
    const at = Math.max(T0, now - step.back);
    await world.use([{ id: ids.next(), at, value: step.amount, member: 0n }]);
    facts = withStep(facts, step, { now, plans: [plan] });
  }
  const end = T0 + (Math.ceil((world.now - T0) / BILLED_MS) + 1) * BILLED_MS;
  await world.advance(end);
  return { ledger: billedIn(world), reference: totalOf(facts, subscription, end) };
}

function billedIn({ db }: SoldWorld): bigint {
  const invoices = db.invoices.values().filter(({ isVoid }) => !isVoid);
  const lines = invoices.flatMap(({ invoice }) => invoice.lines);
  return lines
    .filter((line) => 'usageId' in line)
    .reduce((sum, line) => sum + amountOfLine(line), 0n);
}

function offerOf({ limit, price }: Plan): Offer {
  if (limit === null || price === undefined) throw new Error('a plan that sells');
  return {
    plan: { ...MONTHLY, interval: 'day', intervalCount: BILLED_DAYS },
    limit,
    price: priceOf(price),
    reset: 'day',
  };
}

function priceOf(price: Price): UsagePrice {
  const { minimum = null, maximum = null } = price;
  const terms = { id: price.id, currency: 'USD', minimum, maximum };
  switch (price.model) {
    case 'per_unit':
      return { ...terms, model: 'per_unit', unitAmount: price.amount * OF_CENT };
    case 'package':
      return {
        ...terms,
        model: 'package',
        packageSize: price.size,
        packageAmount: price.amount,
      };
    case 'graduated':
    case 'volume':
      return {
        ...terms,
        model: price.model,
        tiers: price.tiers.map(({ upTo, amount, flat = null }) => ({
          upTo,
          unitAmount: amount * OF_CENT,
          flatAmount: flat,
        })),
      };
    default:
      return price satisfies never;
  }
}
