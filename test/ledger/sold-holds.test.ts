// What was held before a subscription ended and is committed after it goes on one more final
// invoice (docs/spec/balance.md#settled-in-the-small).
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import fc from 'fast-check';
import type { UsagePrice } from '../../ledger/metering/usage-price.ts';
import { amountOfLine } from '../../ledger/subscriptions/bills.ts';
import { ids } from '../../src/platform/ids.ts';
import { holdsLater, seeded } from './property.ts';
import { prices } from './rating-cases.ts';
import { type Offer, SoldWorld } from './sold-world.ts';
import { MONTHLY } from './subscription-world.ts';
import { DAY, HOUR, T0 } from './world.ts';

setDefaultTimeout(60_000);

const DOLLAR = 10n ** 12n;
const PER_UNIT: UsagePrice = {
  id: 'price',
  currency: 'USD',
  minimum: null,
  maximum: null,
  model: 'per_unit',
  unitAmount: DOLLAR,
};
const GRADUATED: UsagePrice = {
  id: 'graduated',
  currency: 'USD',
  minimum: null,
  maximum: null,
  model: 'graduated',
  tiers: [
    { upTo: 10n, unitAmount: 10n * DOLLAR, flatAmount: null },
    { upTo: null, unitAmount: 5n * DOLLAR, flatAmount: null },
  ],
};

async function sold(offer: Partial<Offer> = {}): Promise<SoldWorld> {
  const world = await SoldWorld.open('sum', T0);
  await world.start({ plan: MONTHLY, limit: 0n, reset: 'month', price: PER_UNIT, ...offer }, null);
  return world;
}

/** The lines of usage of each invoice for nothing else: `type quantity amount`. */
function finals({ db }: SoldWorld): string[] {
  return db.invoices
    .values()
    .filter(({ invoice }) => invoice.reason === 'usage')
    .map(({ invoice, isVoid }) => {
      const lines = invoice.lines.map((line) =>
        [line.type, ...('usageId' in line ? [line.quantity] : []), amountOfLine(line)].join(' '),
      );
      return [...(isVoid ? ['void'] : []), ...lines].join(', ');
    });
}

const cancel = (world: SoldWorld) => world.do({ kind: 'cancel', mode: 'immediate' });
const use = (world: SoldWorld, value: bigint, at = world.now) =>
  world.use([{ id: ids.next(), at, value, member: 0n }]);

/** A hold of some units, and then the end. */
async function ended(held: readonly bigint[], offer: Partial<Offer> = {}, used = 0n) {
  const world = await sold(offer);
  await world.advance(T0 + DAY);
  if (used > 0n) await use(world, used);
  const holds: string[] = [];
  for (const amount of held) holds.push(await world.hold(amount, 20 * DAY));
  await world.advance(T0 + 2 * DAY);
  await cancel(world);
  return { world, holds };
}

describe('a hold that is committed after the end', () => {
  test('is billed once more', async () => {
    const { world, holds } = await ended([100n]);
    expect(finals(world)).toEqual([]);
    await world.commit(holds[0] ?? '', 100n);
    expect(finals(world)).toEqual(['usage 100 10000']);
    expect(world.subscription.open).toEqual([]);
  });

  test('and made in the millisecond of the end is', async () => {
    const world = await sold();
    await world.advance(T0 + DAY);
    const hold = await world.hold(100n, DAY);
    await cancel(world);
    world.now += 1;
    await world.commit(hold, 100n);
    expect(finals(world)).toEqual(['usage 100 10000']);
  });

  test('is billed for what was used of it, once', async () => {
    const { world, holds } = await ended([100n]);
    await world.advance(world.now + 9 * DAY);
    await world.commit(holds[0] ?? '', 30n);
    await world.commit(holds[0] ?? '', 30n);
    expect(finals(world)).toEqual(['usage 30 3000']);
  });

  test('is billed for no more than was held', async () => {
    const { world, holds } = await ended([100n]);
    await world.commit(holds[0] ?? '', 150n);
    expect(finals(world)).toEqual(['usage 100 10000']);
  });

  test('is billed for nothing where it is released, or has expired', async () => {
    const { world, holds } = await ended([100n, 100n]);
    await world.commit(holds[0] ?? '', 0n);
    await world.advance(world.now + 30 * DAY);
    expect(await world.commit(holds[1] ?? '', 100n)).toMatchObject({
      reservation: { late: true, committed: 100n },
    });
    expect(finals(world)).toEqual([]);
  });

  test('has the tiers of the whole span, with the holds before it', async () => {
    const { world, holds } = await ended([6n, 10n], { price: GRADUATED }, 6n);
    await world.commit(holds[1] ?? '', 10n);
    world.forget();
    await world.commit(holds[0] ?? '', 6n);
    // As 22 at once.
    expect(finals(world)).toEqual([
      'usage 6 6000',
      'usage_adjustment 10 7000',
      'usage_adjustment 6 3000',
    ]);
  });

  test('is covered by what the plan included', async () => {
    const { world, holds } = await ended([8n, 8n], { limit: 10n });
    await world.commit(holds[1] ?? '', 8n);
    expect(finals(world)).toEqual([]);
    await world.commit(holds[0] ?? '', 8n);
    expect(finals(world)).toEqual(['usage 6 600']);
  });

  test('counts against a minimum that was billed', async () => {
    const { world, holds } = await ended([100n], { price: { ...PER_UNIT, minimum: 28_00n } });
    await world.commit(holds[0] ?? '', 100n);
    // Two days of 28.
    expect(finals(world)).toEqual(['usage 0 200', 'usage_adjustment 100 9800']);
  });

  test('bills nothing of what was recorded late after the end', async () => {
    const { world, holds } = await ended([100n], {}, 5n);
    await use(world, 7n, T0 + DAY + HOUR);
    await world.commit(holds[0] ?? '', 100n);
    expect(finals(world)).toEqual(['usage 5 500', 'usage_adjustment 100 10000']);
  });

  test('of an earlier period is billed, too', async () => {
    const world = await sold({ reset: 'day' });
    await world.advance(T0 + HOUR);
    const hold = await world.hold(100n, 20 * DAY);
    await world.advance(T0 + 3 * DAY + HOUR);
    await cancel(world);
    await world.commit(hold, 100n);
    expect(finals(world)).toEqual(['usage 100 10000']);
  });

  test('is billed where a crash comes between', async () => {
    const { world, holds } = await ended([100n]);
    world.forget();
    await world.commit(holds[0] ?? '', 100n, { isKilled: true });
    expect(finals(world)).toEqual([]);
    await world.commit(holds[0] ?? '', 100n, { isKilled: true });
    await world.sweep();
    expect(finals(world)).toEqual(['usage 100 10000']);
  });

  test('stays open where its charge is declined', async () => {
    const { world, holds } = await ended([100n, 50n]);
    world.isDeclined = true;
    await world.commit(holds[0] ?? '', 100n);
    world.isDeclined = false;
    await world.commit(holds[1] ?? '', 50n);
    expect(finals(world)).toEqual(['usage 100 10000', 'usage_adjustment 50 5000']);
  });
});

test.each<[string, (world: SoldWorld) => Promise<unknown>]>([
  ["a cancellation at its period's end", (w) => w.do({ kind: 'cancel', mode: 'at_period_end' })],
  [
    'dunning',
    async (world) => {
      world.isDeclined = true;
    },
  ],
])('a hold before an end by %s is billed after it', async (_how, ends) => {
  const world = await sold();
  await world.advance(T0 + 20 * DAY);
  await ends(world);
  await world.advance(T0 + 27 * DAY);
  const hold = await world.hold(100n, 30 * DAY);
  await world.advance(T0 + 55 * DAY);
  expect(world.subscription.status).toBe('canceled');
  world.isDeclined = false;
  await world.commit(hold, 60n);
  expect(finals(world).at(-1)).toMatch(/^usage(_adjustment)? 60 6000$/);
});

type Held = { readonly day: number; readonly amount: bigint; readonly used: bigint };

/**
 * What all invoices for usage come to: of holds that are committed after the end, or of as much use
 * in time.
 */
async function billedFor(offer: Offer, held: readonly Held[], isHeld: boolean): Promise<bigint> {
  const world = await sold(offer);
  const holds: { readonly id: string; readonly used: bigint }[] = [];
  for (const { day, amount, used } of held.toSorted((a, b) => a.day - b.day)) {
    await world.advance(T0 + day * DAY + HOUR);
    const isAll = used > amount;
    if (!isHeld) await use(world, isAll ? amount : used);
    else holds.push({ id: await world.hold(amount, 20 * DAY), used });
  }
  await world.advance(T0 + 12 * DAY);
  await cancel(world);
  for (const [index, { id, used }] of holds.toReversed().entries()) {
    if (index % 2 === 1) world.forget();
    await world.advance(world.now + HOUR);
    await world.commit(id, used);
  }
  return world.db.invoices
    .values()
    .filter(({ isVoid }) => !isVoid)
    .flatMap(({ invoice }) => invoice.lines)
    .reduce((sum, line) => ('usageId' in line ? sum + amountOfLine(line) : sum), 0n);
}

test(seeded('what is committed after the end costs what as much use in time costs'), async () => {
  const held = fc.record({
    day: fc.integer({ min: 0, max: 11 }),
    amount: fc.bigInt({ min: 1n, max: 20n }),
    used: fc.bigInt({ min: 0n, max: 25n }),
  });
  const offers = fc.record({
    plan: fc.constant(MONTHLY),
    limit: fc.bigInt({ min: 0n, max: 30n }),
    reset: fc.constantFrom<Offer['reset']>('day', 'month'),
    price: prices(60n).map((price) => ({ ...price, id: 'price', currency: 'USD' })),
  });
  const all = fc.uniqueArray(held, { maxLength: 6, selector: ({ day }) => day });
  const property = fc.asyncProperty(offers, all, async (offer, holds) => {
    expect(await billedFor(offer, holds, true)).toBe(await billedFor(offer, holds, false));
  });
  await holdsLater(property, 30);
});
