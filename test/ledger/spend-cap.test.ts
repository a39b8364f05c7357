// What a spend cap leaves of usage that is sold: by examples, and against a plain sum.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { MeterState } from '../../ledger/metering/meter.ts';
import { billPlan, cutPlan } from '../../ledger/metering/plan-spans.ts';
import type { Span } from '../../ledger/metering/span.ts';
import type { Tariff, UsagePrice } from '../../ledger/metering/usage-price.ts';
import { type SpanCosts, shownSpending, Spending } from '../../ledger/subscriptions/spend-cap.ts';
import type { Billing, SpendCap, Subscription } from '../../ledger/subscriptions/subscription.ts';
import { holds, seeded } from './property.ts';
import { MONTHLY, SubscriptionWorld } from './subscription-world.ts';
import { DAY, reserved, World } from './world.ts';

/** 10^-12 of the major unit: a cent for each unit. */
const CENT = 10n ** 10n;
/** 10^-21 of the major unit. */
const EXACT_CENT = 10n ** 19n;

const priced = (tariff: Tariff, fields: Partial<UsagePrice> = {}): UsagePrice => ({
  id: 'price',
  currency: 'USD',
  minimum: null,
  maximum: null,
  ...fields,
  ...tariff,
});
const EACH = { model: 'per_unit', unitAmount: CENT } as const;
const PACKAGES = { model: 'package', packageSize: 10n, packageAmount: 5n } as const;
const VOLUME = {
  model: 'volume',
  tiers: [
    { upTo: 5n, unitAmount: 10n * CENT, flatAmount: null },
    { upTo: null, unitAmount: CENT, flatAmount: null },
  ],
} as const;
const FLAT = {
  model: 'graduated',
  tiers: [{ upTo: null, unitAmount: CENT, flatAmount: 100n }],
} as const;

const capOf = (amount: bigint, currency = 'USD'): SpendCap => ({
  amount,
  currency,
  announced: [],
});

/** A subscription that began at `T0`, under the id that `World.plan` gives it. */
function subscription(fields: Partial<Subscription> = {}): Subscription {
  const world = new SubscriptionWorld();
  world.start({ id: 'plan' });
  return { ...world.state, ...fields };
}

function billing(...subscriptions: readonly Subscription[]): Billing {
  return {
    subscriptions: new Map(subscriptions.map((one) => [one.id, one])),
    account: { credit: {}, spendCap: null },
  };
}

/** 10 are included a month, then they are sold. */
function sold(price: UsagePrice, cap: SpendCap, others = 0n): World {
  const world = new World();
  const spending = new Spending(cap, billing(subscription()), world.now);
  world.plan({ price });
  world.affords = (before, after) =>
    spending.allows({ meter: world.meter, before, after }, others * EXACT_CENT);
  return world;
}

const OVERAGE = 'allowed overage_allowed';
const CAP = 'denied spend_cap';

describe('usage under a spend cap', () => {
  // prettier-ignore
  test.each<[string, Tariff, Partial<UsagePrice>, bigint, bigint, bigint, string]>([
    // what price bounds cap used more answer
    ['within what is included',                      EACH,     {},                  0n,   0n,   10n,  'allowed ok'],
    ['beyond it, at a cap of 0',                     EACH,     {},                  0n,   0n,   11n,  CAP],
    ['up to the cap',                                EACH,     {},                  5n,   0n,   15n,  OVERAGE],
    ['one more than the cap',                        EACH,     {},                  5n,   0n,   16n,  CAP],
    ['the rest of the cap',                          EACH,     {},                  5n,   13n,  2n,   OVERAGE],
    ['more than the rest',                           EACH,     {},                  5n,   13n,  3n,   CAP],
    ['nothing more, over the cap',                   EACH,     {},                  5n,   99n,  0n,   OVERAGE],
    ['one more, over the cap',                       EACH,     {},                  5n,   99n,  1n,   CAP],
    ['the first of a package',                       PACKAGES, {},                  5n,   10n,  1n,   OVERAGE],
    ['the rest of a package, with nothing left',     PACKAGES, {},                  5n,   11n,  9n,   OVERAGE],
    ['the next package',                             PACKAGES, {},                  5n,   11n,  10n,  CAP],
    ['a flat amount once it is reached',             FLAT,     {},                  100n, 0n,   11n,  CAP],
    ['a flat amount that fits',                      FLAT,     {},                  101n, 0n,   11n,  OVERAGE],
    ['cheaper all together',                         VOLUME,   {},                  50n,  15n,  1n,   OVERAGE],
    ['dearer by itself',                             VOLUME,   {},                  9n,   10n,  1n,   CAP],
    ['more, past the maximum of the price',          EACH,     { maximum: 5n },     5n,   15n,  99n,  OVERAGE],
    ['as much as the maximum allows',                EACH,     { maximum: 6n },     5n,   15n,  99n,  CAP],
    ['not weighed with the minimum of the price',    EACH,     { minimum: 900n },   5n,   10n,  5n,   OVERAGE],
  ])('is decided: %s', (_what, tariff, bounds, cap, used, more, answer) => {
    const world = sold(priced(tariff, bounds), capOf(cap));
    if (used > 0n) world.use(used);
    expect(world.check(more)).toBe(answer);
    // A consume is the same question.
    const outcome = world.use(more, { admission: 'consume' });
    expect(outcome.kind).toBe(answer === CAP ? 'refused' : 'recorded');
  });

  test('shares it with other meters', () => {
    const world = sold(priced(EACH), capOf(5n), 3n);
    expect([world.check(12n), world.check(13n)]).toEqual([OVERAGE, CAP]);
  });

  test('is held to it by `reject`, too, and recorded as a fact without', () => {
    const world = sold(priced(EACH), capOf(5n));
    world.use(14n);
    const refused = world.use(2n, { admission: 'reject' });
    expect(refused).toMatchObject({ kind: 'refused', record: { reason: 'spend_cap' } });
    expect(world.use(1n, { admission: 'reject' }).kind).toBe('recorded');
    expect(world.use(7n)).toMatchObject({
      kind: 'recorded',
      record: { reason: 'overage_allowed' },
    });
    expect(world.use(-7n, { admission: 'reject' }).kind).toBe('recorded');
  });

  test('holds no more in all than the rest of the cap', () => {
    const world = sold(priced(EACH), capOf(5n));
    const held = reserved(world.reserve(12n));
    expect([world.check(3n), world.check(4n)]).toEqual([OVERAGE, CAP]);
    expect(world.reserve(4n)).toMatchObject({ kind: 'denied', answer: { reason: 'spend_cap' } });
    for (const admission of ['consume', 'reject'] as const) {
      expect(world.use(4n, { admission }).kind).toBe('refused');
    }
    expect(world.extend(held, 16n)).toEqual({ kind: 'denied', reason: 'spend_cap' });
    expect(world.extend(held, 15n).kind).toBe('done');
    expect(world.check(1n)).toBe(CAP);
    // What is within the hold was allowed before.
    expect(world.commit(held, 14n).kind).toBe('done');
    expect([world.check(1n), world.check(2n)]).toEqual([OVERAGE, CAP]);
  });

  test('is denied for its own reasons first', () => {
    const world = sold(priced(EACH), capOf(0n));
    world.suspendPlan('paused');
    expect(world.check(11n)).toBe('denied subscription_paused');
  });
});

describe('a spend cap counts', () => {
  const spent = (world: World, ...subscriptions: readonly Subscription[]) =>
    new Spending(capOf(9n), billing(...subscriptions), world.now).costOf(world.meter, world.seen) /
    EXACT_CENT;
  const overBy = (units: bigint): World => {
    const world = sold(priced(EACH), capOf(99n));
    world.use(10n + units);
    return world;
  };

  test('beyond what was billed of its period, whose tiers, packages and maximum go on', () => {
    const spentOf = (tariff: Tariff, fields: Partial<UsagePrice> = {}) => {
      const world = sold(priced(tariff, fields), capOf(0n));
      world.use(17n);
      world.now += DAY;
      world.do((context, state) => cutPlan(context, state, 'plan', world.now));
      const [cut] = world.state.spans;
      const line = { billedAs: 'line', spanIds: [cut?.id ?? ''] };
      world.do((context, state) => billPlan(context, state, line));
      world.use(6n);
      return spent(world, subscription());
    };
    expect(spentOf(EACH)).toBe(6n);
    // 13 in two packages of ten, of which one was billed.
    expect(spentOf(PACKAGES)).toBe(5n);
    expect(spentOf(EACH, { maximum: 9n })).toBe(2n);
    expect(spentOf(EACH, { maximum: 7n })).toBe(0n);
  });

  test('subscriptions in its currency', () => {
    const own = subscription();
    const euros = subscription({ plan: { ...MONTHLY, currency: 'EUR' } });
    expect(spent(overBy(4n), own)).toBe(4n);
    expect(spent(overBy(4n), euros)).toBe(0n);
    expect(spent(overBy(4n))).toBe(0n);
  });

  test('usage of the current period, on time, though its alarm is late', () => {
    const world = overBy(4n);
    const own = subscription();
    world.now = own.periodEnd - 1;
    expect(spent(world, own)).toBe(4n);
    world.now += 1;
    expect(spent(world, own)).toBe(0n);
    // Time stands still for it.
    expect(spent(world, { ...own, overdue: 'blocked' })).toBe(4n);
  });

  test('a subscription until it ends', () => {
    const world = overBy(4n);
    const own = subscription({ cancelAt: world.now + DAY });
    expect(spent(world, own)).toBe(4n);
    world.now += DAY;
    expect(spent(world, own)).toBe(0n);
    expect(spent(world, { ...own, cancelAt: null, status: 'canceled' })).toBe(0n);
  });

  test('as an exact decimal', () => {
    const cap = capOf(5n);
    expect(shownSpending(cap, 0n)).toMatchObject({ spent: '0.00', remaining: '0.05' });
    const finest = { amount: '0.05', spent: '0.000000000000000000001' };
    expect(shownSpending(cap, 1n)).toMatchObject(finest);
    expect(shownSpending(cap, 6n * EXACT_CENT)).toMatchObject({ spent: '0.06', remaining: '0.00' });
    expect(shownSpending(capOf(5n, 'JPY'), 0n)).toMatchObject({ amount: '5', spent: '0' });
  });
});

describe('a spend cap is announced', () => {
  const announced = (cap: SpendCap, world: World, own = subscription()) =>
    new Spending(cap, billing(own), world.now).announced(world.seen, { credit: {}, spendCap: cap })
      ?.account.spendCap?.announced;

  test('once in a period of the subscription that sells the usage', () => {
    const world = sold(priced(EACH), capOf(1n));
    const own = subscription();
    const once = announced(capOf(1n), world, own);
    expect(once).toEqual([{ subscriptionId: 'plan', periodStart: own.periodStart }]);
    expect(announced({ ...capOf(1n), announced: once! }, world, own)).toBeUndefined();
  });

  test('without keeping what was announced in earlier periods', () => {
    const world = sold(priced(EACH), capOf(1n));
    const own = subscription();
    const past = [
      { subscriptionId: 'plan', periodStart: own.periodStart - 31 * DAY },
      { subscriptionId: 'ended', periodStart: own.periodStart },
    ];
    expect(announced({ ...capOf(1n), announced: past }, world, own)).toEqual([
      { subscriptionId: 'plan', periodStart: own.periodStart },
    ]);
  });

  test('not for a meter that sells nothing', () => {
    const world = new World();
    world.plan({});
    expect(announced(capOf(0n), world)).toBeUndefined();
  });
});

const START = 1000 * DAY;
/** Spans of closed stretches around the start of two subscriptions' periods. */
const SPAN = fc.record({
  by: fc.constantFrom('a', 'b', 'elsewhere', 'euros'),
  end: fc.integer({ min: -3, max: 3 }).map((days) => START + days * DAY),
  opening: fc.bigInt({ min: -5n, max: 40n }),
  more: fc.bigInt({ min: -5n, max: 40n }),
  limit: fc.bigInt({ min: 0n, max: 30n }),
  unitAmount: fc.bigInt({ min: 0n, max: 5n * CENT }),
  maximum: fc.option(fc.bigInt({ min: 0n, max: 50n })),
  isBilled: fc.boolean(),
});
type Drawn = typeof SPAN extends fc.Arbitrary<infer T> ? T : never;

function spanOf(drawn: Drawn, index: number): Span {
  const { by, end, opening, more, limit, unitAmount, maximum, isBilled } = drawn;
  return {
    id: `span ${index}`,
    subscriptionId: by,
    price: priced({ model: 'per_unit', unitAmount }, { maximum, minimum: 7n }),
    accountId: `account ${index}`,
    period: null,
    place: 0,
    endedIn: null,
    start: end - DAY,
    end,
    limit,
    opening: { aggregate: opening, latest: null },
    closing: { aggregate: opening + more, latest: null },
    billedAs: isBilled ? 'line' : null,
  };
}

/** The same sum, without the code under test. */
function plainSum(drawn: readonly Drawn[]): bigint {
  let sum = 0n;
  for (const { by, end, opening, more, limit, unitAmount, maximum, isBilled } of drawn) {
    const since = by === 'a' ? START : START - DAY;
    if (!['a', 'b'].includes(by) || end <= since || isBilled) continue;
    let units = 0n;
    const from = opening < 0n ? 0n : opening;
    for (let unit = from; unit < opening + more; unit += 1n) if (unit >= limit) units += 1n;
    const cost = units * unitAmount * 10n ** 9n;
    const most = maximum === null ? cost : maximum * EXACT_CENT;
    sum += cost < most ? cost : most;
  }
  return sum;
}

test(
  seeded('what a spend cap has spent is the sum over its meters, however often it is asked'),
  () => {
    const own = (id: string, periodStart: number, currency = 'USD') =>
      subscription({
        id,
        periodStart,
        periodEnd: START + 20 * DAY,
        plan: { ...MONTHLY, currency },
      });
    const all = billing(own('a', START), own('b', START - DAY), own('euros', START, 'EUR'));
    const ofSpans: SpanCosts = new WeakMap();
    const meters = fc.array(fc.array(SPAN, { maxLength: 6 }), { maxLength: 4 });
    holds(
      fc.property(meters, meters, (first, later) => {
        const spending = new Spending(capOf(0n), all, START + 10 * DAY, ofSpans);
        const { meter, state } = new World();
        const states = (drawn: readonly (readonly Drawn[])[]) =>
          drawn.map((spans): { meter: typeof meter; state: MeterState } => ({
            meter,
            state: { ...state, spans: spans.map(spanOf) },
          }));
        for (const drawn of [first, later]) {
          const now = states(drawn);
          const spent = () =>
            now.reduce((sum, one) => sum + spending.costOf(one.meter, one.state), 0n);
          expect(spent()).toBe(plainSum(drawn.flat()));
          expect(spent()).toBe(plainSum(drawn.flat()));
        }
      }),
      500,
    );
  },
);
