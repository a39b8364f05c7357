// A change that waits for its payment, while usage is sold. Until it is paid the old plan is in
// force: what ends meanwhile has its limit and its price. The period in which it is paid is of the
// new plan since the change, with its limit and its price.
import { describe, expect, test } from 'bun:test';
import type { UsagePrice } from '../../ledger/metering/usage-price.ts';
import { amountOfLine } from '../../ledger/subscriptions/bills.ts';
import { ids } from '../../src/platform/ids.ts';
import { type Offer, SoldWorld } from './sold-world.ts';
import { CHEAPER, DEARER, MONTHLY, YEARLY } from './subscription-world.ts';
import { DAY, HOUR, T0 } from './world.ts';

const priced = (id: string, dollars: bigint): UsagePrice => ({
  id,
  currency: 'USD',
  minimum: null,
  maximum: null,
  model: 'per_unit',
  unitAmount: dollars * 10n ** 12n,
});

const SMALL: Offer = { plan: MONTHLY, limit: 10n, reset: 'day', price: priced('small', 1n) };
const LARGE: Offer = { plan: DEARER, limit: 100n, reset: 'day', price: priced('large', 7n) };

/** The lines of usage of all invoices: `quantity amount`, those of nothing left out. */
function billed({ db }: SoldWorld): string[] {
  return db.invoices
    .values()
    .filter(({ isVoid }) => !isVoid)
    .flatMap(({ invoice }) => invoice.lines)
    .flatMap((line) => ('usageId' in line ? [`${line.quantity} ${amountOfLine(line)}`] : []))
    .filter((line) => line !== '0 0');
}

async function using(first: Offer): Promise<SoldWorld> {
  const world = await SoldWorld.open('sum', T0);
  await world.start(first, null);
  return world;
}

const use = (world: SoldWorld, value: bigint) =>
  world.use([{ id: ids.next(), at: world.now, value, member: 0n }]);

/** It waits until the answer comes. */
async function waitFor(world: SoldWorld, offer: Offer): Promise<void> {
  world.isSlow = true;
  await world.change(offer);
  expect(world.subscription.waiting).not.toBeNull();
}

async function pay(world: SoldWorld, offer: Offer): Promise<void> {
  world.isSlow = false;
  await world.sweep();
  expect(world.subscription.plan.priceId).toBe(offer.plan.priceId);
}

/** What is told of the next invoice is what the clock bills, also while a change waits. */
async function toRenewal(world: SoldWorld): Promise<void> {
  const told = await world.upcoming();
  const known = new Set(world.db.invoices.values().map(({ invoice }) => invoice.id));
  await world.advance(told?.periodEnd ?? 0);
  const made = world.db.invoices.values().filter(({ invoice }) => !known.has(invoice.id));
  expect(made.flatMap(({ invoice }) => invoice.lines)).toEqual([...(told?.lines ?? [])]);
}

describe('a period that ends while a change waits', () => {
  test.each<[string, Offer, Offer, string]>([
    // 17 of 10 at 1.00.
    ['a larger plan', SMALL, LARGE, '7 700'],
    // 17 of 20 at 7.00 are none, and 3 more are none either.
    ['a smaller one', { ...LARGE, plan: MONTHLY, limit: 20n }, { ...SMALL, plan: DEARER }, ''],
    ['one that sells as much', SMALL, { ...SMALL, plan: DEARER, limit: 100n }, '7 700'],
  ])('has the old limit and the old price: to %s', async (_to, first, second, expected) => {
    const world = await using(first);
    await world.advance(T0 + 3 * DAY + HOUR);
    await waitFor(world, second);
    await world.advance(T0 + 4 * DAY + HOUR);
    await use(world, 17n);
    await world.advance(T0 + 6 * DAY + HOUR);
    await pay(world, second);
    await toRenewal(world);
    expect(billed(world)).toEqual(expected === '' ? [] : [expected]);
  });

  test('is foretold to the cent, and late use in it has the old price, too', async () => {
    const world = await using(SMALL);
    await world.advance(T0 + 3 * DAY + HOUR);
    await use(world, 12n);
    await waitFor(world, LARGE);
    await use(world, 5n);
    const late = world.now;
    await world.advance(T0 + 5 * DAY + HOUR);
    await use(world, 130n);
    const told = await world.upcoming();
    await pay(world, LARGE);
    expect((await world.upcoming())?.lines).toEqual([...(told?.lines ?? [])]);
    await world.use([{ id: ids.next(), at: late, value: 4n, member: 0n }]);
    await toRenewal(world);
    // Of the day of the change 2, then 9 more; of the one in which it was paid 30 beyond the new
    // limit.
    expect(billed(world)).toEqual(['2 200', '9 900', '30 21000']);
  });

  test('is of the old plan also where the period of the subscription ends with it', async () => {
    const world = await using(SMALL);
    await world.advance(T0 + 27 * DAY + HOUR);
    await waitFor(world, LARGE);
    await use(world, 17n);
    await world.advance(T0 + 30 * DAY + HOUR);
    await use(world, 130n);
    await pay(world, LARGE);
    await world.advance(T0 + 29 * DAY + 30 * DAY + HOUR);
    expect(billed(world)).toEqual(['7 700', '30 21000']);
  });
});

test('a month that another interval cuts when it is paid has the old limit and the old price', async () => {
  const world = await using({ ...SMALL, reset: 'month' });
  const yearly: Offer = { ...LARGE, plan: YEARLY, reset: 'month' };
  await world.advance(T0 + 3 * DAY);
  await use(world, 12n);
  await waitFor(world, yearly);
  await use(world, 5n);
  await world.advance(T0 + 5 * DAY);
  await pay(world, yearly);
  await use(world, 130n);
  await world.advance(T0 + 6 * DAY);
  await world.do({ kind: 'cancel', mode: 'immediate' });
  // Ten of the larger plan's hundred count as used, until the old month would have ended.
  expect(billed(world)).toEqual(['2 200', '5 500', '40 28000']);
});

test('a day that ends while a change waits has the old minimum, and the next ones the new', async () => {
  const minimum = (offer: Offer, cents: bigint): Offer => ({
    ...offer,
    price: { ...offer.price, minimum: cents },
  });
  const [small, large] = [minimum(SMALL, 100n), minimum(LARGE, 400n)];
  const world = await using(small);
  await world.advance(T0 + 3 * DAY + 12 * HOUR);
  await waitFor(world, large);
  await world.advance(T0 + 5 * DAY + 12 * HOUR);
  await pay(world, large);
  await toRenewal(world);
  // Five days, of which three and a half were billed by the change; and 23 days.
  expect(billed(world).toSorted()).toEqual(['0 100', '0 350', '0 50', '0 9200']);
});

describe('a larger plan that was waited for, and back', () => {
  const monthly = { reset: 'month' } as const;
  const back: Offer = { ...SMALL, ...monthly, plan: CHEAPER };

  test('leaves no debt of what was used meanwhile', async () => {
    const world = await using({ ...SMALL, ...monthly });
    await world.advance(T0 + 3 * DAY);
    await use(world, 12n);
    await waitFor(world, { ...LARGE, ...monthly });
    await use(world, 5n);
    await world.advance(T0 + 5 * DAY);
    await pay(world, LARGE);
    await world.advance(T0 + 6 * DAY);
    await world.change(back);
    expect(await world.left()).toBe(0n);
    await use(world, 3n);
    expect(await world.left()).toBe(-3n);
    await toRenewal(world);
    expect(billed(world)).toEqual(['2 200', '3 300']);
  });

  test.each(['before it', 'while it is had', 'after it'])(
    'leaves no debt of a hold that is committed %s',
    async (when) => {
      const world = await using({ ...SMALL, ...monthly });
      await world.advance(T0 + 3 * DAY);
      await use(world, 12n);
      await waitFor(world, { ...LARGE, ...monthly });
      const hold = await world.hold(5n, 20 * DAY);
      if (when === 'before it') await world.commit(hold, 5n);
      await world.advance(T0 + 5 * DAY);
      await pay(world, LARGE);
      if (when === 'while it is had') await world.commit(hold, 5n);
      await world.advance(T0 + 6 * DAY);
      await world.change(back);
      if (when === 'after it') await world.commit(hold, 5n);
      expect(await world.left()).toBe(0n);
      await toRenewal(world);
      expect(billed(world)).toEqual(['2 200']);
    },
  );
});

test('a change that is refused leaves what another of its millisecond has billed', async () => {
  const world = await using(SMALL);
  await world.advance(T0 + 3 * DAY + HOUR);
  await use(world, 12n);
  const second: Offer = { ...SMALL, plan: CHEAPER };
  expect(await world.change(second)).toBeTrue();
  await world.use([{ id: ids.next(), at: world.now - HOUR, value: 7n, member: 0n }]);
  world.isDeclined = true;
  expect(await world.change({ ...SMALL, plan: DEARER })).toBeFalse();
  world.isDeclined = false;
  await toRenewal(world);
  expect(billed(world)).toEqual(['2 200', '7 700']);
});
