// Spans of usage that is sold: when they open and close, and what is past the allowance in each.
import { describe, expect, test } from 'bun:test';
import {
  billPlan,
  chargePlan,
  cutPlan,
  forgetPlan,
  settlePlan,
  unbillPlan,
} from '../../ledger/metering/plan-spans.ts';
import { spansIn } from '../../ledger/metering/meter.ts';
import { withdrawPlan } from '../../ledger/metering/plan-allowance.ts';
import { quantityOf } from '../../ledger/metering/spans.ts';
import type { UsagePrice } from '../../ledger/metering/usage-price.ts';
import { DAY, HOUR, type PlanFields, T0, World } from './world.ts';

const PRICE: UsagePrice = {
  id: 'price',
  currency: 'USD',
  model: 'per_unit',
  unitAmount: 2_000_000_000n,
  minimum: null,
  maximum: null,
};
const DEARER: UsagePrice = { ...PRICE, id: 'dearer' };
const CYCLE = { anchor: T0, zone: 'UTC' };

/** Each as `start end price quantity`, in days since the start; `*` where it is billed. */
function spansOf(world: World): string[] {
  const day = (at: number | null): string => (at === null ? '' : String((at - T0) / DAY));
  const { seen } = world;
  return seen.spans.map((span) => {
    const { subscriptionId, price, start, end, billedAs } = span;
    const what = `${subscriptionId} ${price.id} ${quantityOf(seen, span)}`;
    return `${day(start)}-${day(end)} ${what}${billedAs === null ? '' : ` ${billedAs}`}`;
  });
}

/** 10 a month, and usage beyond it is sold. */
function sold(fields: PlanFields = {}, world = new World()): World {
  world.plan({ price: PRICE, ...fields });
  return world;
}

const later = (world: World, days: number): World => {
  world.tickAt(world.now + days * DAY);
  return world;
};
const at = (days: number): { eventAt: number } => ({ eventAt: T0 + days * DAY });

test('the spans of each period are found among hundreds, where their first is a little early too', () => {
  const hourly = { resetInterval: 'hour' } as const;
  const world = sold(hourly);
  for (let hour = 1; hour < 60; hour += 1) {
    world.tickAt(T0 + hour * HOUR);
    for (let cut = 0; cut < hour % 4; cut += 1) {
      world.use(11n);
      world.now += 60_000;
      world.replacePlan({ ...hourly, price: cut % 2 === 0 ? DEARER : PRICE });
    }
  }
  const { state } = world;
  expect(state.spans.length).toBeGreaterThan(100);
  const [, second] = state.others.filter(({ end }) => (end ?? 0) > T0 + 20 * HOUR);
  const first = state.spans.findIndex(({ accountId }) => accountId === second?.accountId);
  const early = state.spans.map((one, n) => (n === first ? { ...one, start: one.start - 1 } : one));
  for (const spans of [state.spans, early]) {
    for (const period of [...state.others, state.current, { accountId: 'none', start: T0 }]) {
      const its = spans.filter(({ accountId }) => accountId === period.accountId);
      expect(spansIn({ ...state, spans }, period)).toEqual(its);
    }
  }
});

test('a span of sold usage is as long as its period, and bills what is past the allowance', () => {
  const world = sold();
  expect(spansOf(world)).toEqual(['0- plan price 0']);
  world.use(8n);
  world.use(7n);
  expect(spansOf(world)).toEqual(['0- plan price 5']);
  expect(world.check(100n)).toBe('allowed overage_allowed');
  later(world, 28);
  expect(spansOf(world)).toEqual(['0-28 plan price 5', '28- plan price 0']);
});

test('usage without a usage price is not sold', () => {
  const world = sold({ price: null });
  world.use(15n);
  expect(spansOf(world)).toEqual([]);
  expect(world.check(1n)).toBe('denied insufficient_balance');
});

test('usage is marked as sold where its period is, also when it is late', () => {
  const world = new World();
  const marked = (): boolean | undefined => world.transfers.at(-1)?.usage?.sold;
  world.use(1n);
  expect(marked()).toBe(false);
  later(world, 1);
  sold({}, world);
  world.use(1n);
  expect(marked()).toBe(true);
  later(world, 35);
  world.use(1n, at(2));
  expect(marked()).toBe(true);
  world.use(1n, at(0.5));
  expect(marked()).toBe(false);
});

test('an early event of the next period, which has no span yet, is marked as sold', () => {
  const world = sold();
  world.now = T0 + 28 * DAY - 60_000;
  world.use(13n, at(28));
  expect(world.transfers.at(-1)?.usage?.sold).toBe(true);
  later(world, 1);
  expect(spansOf(world)).toEqual(['0-28 plan price 0', '28- plan price 3']);
});

test('a top-up is used before usage is sold', () => {
  const world = sold();
  world.grant({ amount: 20n });
  world.use(25n);
  expect(spansOf(world)).toEqual(['0- plan price 0']);
  world.use(10n);
  expect(spansOf(world)).toEqual(['0- plan price 5']);
});

test('the rest of a top-up goes on to the next period, and covers what comes late of the one before', () => {
  const world = sold();
  world.grant({ amount: 20n });
  world.use(25n);
  later(world, 28);
  world.use(3n, at(27));
  expect(spansOf(world)).toEqual(['0-28 plan price 0', '28- plan price 0']);
  expect(world.numbers).toEqual([12n, 0n, 12n]);
});

describe('a late event', () => {
  test('counts in the span of its own time', () => {
    const world = sold();
    world.use(12n);
    later(world, 28);
    world.use(4n, at(27));
    world.use(1n);
    expect(spansOf(world)).toEqual(['0-28 plan price 6', '28- plan price 0']);
    world.use(-5n, at(1));
    expect(spansOf(world)).toEqual(['0-28 plan price 1', '28- plan price 0']);
  });

  test('is the first one of a period in which nothing was included', () => {
    const world = sold({ limit: 0n });
    later(world, 28);
    later(world, 26);
    world.use(4n, at(27));
    expect(spansOf(world)).toEqual(['0-28 plan price 4', '28- plan price 0']);
  });

  test('from before a plan change moves the end of one span and the start of the next', () => {
    const world = sold();
    world.use(12n);
    later(world, 10);
    world.replacePlan({ price: DEARER, cycle: CYCLE });
    world.use(4n);
    expect(spansOf(world)).toEqual(['0-10 plan price 2', '10- plan dearer 4']);
    world.use(3n, at(9));
    expect(spansOf(world)).toEqual(['0-10 plan price 5', '10- plan dearer 4']);
  });

  test.each([
    ['max', [7n, 20n, 15n], ['0-10 plan price 5', '10-28 plan dearer 10', '28- plan dearer 0']],
    ['last', [7n, 20n, 15n], ['0-10 plan price 5', '10-28 plan dearer 10', '28- plan dearer 0']],
    ['count', [1n, 1n, 1n], ['0-10 plan price 0', '10-28 plan dearer 0', '28- plan dearer 0']],
  ] as const)('of a %s meter counts in its spans', (aggregation, [first, second, third], spans) => {
    const world = sold({}, new World(aggregation));
    world.use(first, at(0));
    later(world, 10);
    world.replacePlan({ price: DEARER, cycle: CYCLE });
    world.use(second, at(10));
    later(world, 18);
    world.use(third, at(9));
    expect(spansOf(world)).toEqual([...spans]);
  });
});

test('a trial sells no usage: that begins when the trial is over', () => {
  const world = sold({ charges: false });
  world.use(12n);
  expect(world.check(1n)).toBe('denied insufficient_balance');
  expect(spansOf(world)).toEqual([]);
  world.do((context, state) => chargePlan(context, state, 'plan', world.now));
  expect(world.check(1n)).toBe('allowed overage_allowed');
  world.use(1n);
  expect(spansOf(world)).toEqual(['0- plan price 3']);
});

test('of two subscriptions that sell one feature the leading one bills', () => {
  const world = sold({ subscriptionId: 'second', priority: 5, price: DEARER });
  world.plan({ price: PRICE, limit: 3n });
  world.use(20n);
  expect(spansOf(world)).toEqual(['0- second dearer 7']);
  later(world, 1);
  world.withdrawPlan('expired', 'second');
  expect(spansOf(world)).toEqual(['0-1 second dearer 7', '1- plan price 0']);
});

test('a correction under a plan that sells nothing takes back what was billed, and the next change is made', () => {
  const world = sold({ limit: 0n });
  world.use(3n);
  later(world, 1);
  world.do((context, state) => cutPlan(context, state, 'plan', world.now));
  world.replacePlan({ limit: 20n, cycle: CYCLE });
  expect(world.numbers).toEqual([20n, 3n, 20n]);
  world.use(-2n);
  expect(world.numbers).toEqual([20n, 1n, 20n]);
  later(world, 1);
  world.replacePlan({ limit: 30n, cycle: CYCLE });
  expect(world.numbers).toEqual([30n, 1n, 30n]);
  expect(later(world, 30).numbers).toEqual([30n, 0n, 30n]);
});

test('a cancellation closes the span with the limit that it had', () => {
  const world = sold();
  world.use(4n);
  later(world, 3);
  world.withdrawPlan('expired');
  world.use(5n, at(1));
  expect(spansOf(world)).toEqual(['0-3 plan price 0']);
  world.use(5n, at(1));
  expect(spansOf(world)).toEqual(['0-3 plan price 4']);
});

test('usage is still sold while a subscription is paused or blocked', () => {
  const world = sold();
  world.suspendPlan('paused');
  world.use(13n);
  expect(world.check(1n)).toBe('denied subscription_paused');
  expect(spansOf(world)).toEqual(['0- plan price 3']);
});

test("at a renewal the product's new usage price counts from the start of the period", () => {
  const world = sold();
  later(world, 28);
  world.use(14n);
  const since = world.now;
  world.now += 1000;
  world.refreshPlanSince(since, { price: DEARER, cycle: CYCLE });
  expect(spansOf(world)).toEqual(['0-28 plan price 0', '28- plan dearer 4']);
});

describe('a plan change that is to be paid first', () => {
  const cut = (): World => {
    const world = sold();
    world.use(12n);
    later(world, 10);
    const spanIds = world.state.spans.map(({ id }) => id);
    world.do((context, state) => cutPlan(context, state, 'plan', world.now));
    world.do((context, state) => billPlan(context, state, { billedAs: 'line', spanIds }));
    world.use(3n);
    return world;
  };
  const cutAt = T0 + 10 * DAY;

  test('closes the span, so that it can be billed', () => {
    expect(spansOf(cut())).toEqual(['0-10 plan price 2 line', '10- plan price 3']);
  });

  test('gives usage since then the new price, once it is paid', () => {
    const world = cut();
    world.now += 5000;
    world.replacePlanSince(cutAt, { price: DEARER, cycle: CYCLE });
    expect(spansOf(world)).toEqual(['0-10 plan price 2 line', '10- plan dearer 3']);
  });

  test('drops what was sold since then, where the new plan sells nothing', () => {
    const world = cut();
    world.now += 2 * DAY;
    world.replacePlanSince(cutAt, { price: null, cycle: CYCLE });
    expect(spansOf(world)).toEqual(['0-10 plan price 2 line']);
  });

  const UNPAID = { undone: ['line'], billedAs: ['line'], cutAt };

  test('joins the span again, where it is not paid', () => {
    const world = cut();
    world.do((context, state) => unbillPlan(context, state, UNPAID));
    expect(spansOf(world)).toEqual(['0- plan price 5']);
  });

  test('joins the closed span again, where it is not paid after the period', () => {
    const world = later(cut(), 18);
    world.use(1n, at(9));
    world.do((context, state) => unbillPlan(context, state, UNPAID));
    expect(spansOf(world)).toEqual(['0-28 plan price 6', '28- plan price 0']);
  });
});

test('usage before a period that begins earlier than it is decided is sold', () => {
  const world = later(sold(), 10);
  const anchor = world.now;
  world.do((context, state) => cutPlan(context, state, 'plan', anchor));
  world.now += DAY;
  world.use(12n);
  world.restartPlan({ anchor, zone: 'UTC' });
  expect(spansOf(world)).toEqual(['0-10 plan price 0', '10-11 plan price 2', '10- plan price 0']);
});

test('spans that an ended subscription has left to bill are kept until they are billed', () => {
  const world = sold({ subscriptionId: 'second', priority: 5, resetInterval: 'week' });
  world.plan({ price: PRICE });
  world.use(12n);
  later(world, 50);
  world.withdrawPlan('expired', 'second');
  expect(spansOf(world)).toContain('0-7 second price 0');
});

describe('of spans that a cut has made', () => {
  // prettier-ignore
  test.each([
    ['at the start',              0,   [6n, 0n, 0n, 0n]],
    ['just before the first cut', 9.9, [6n, 0n, 0n, 0n]],
    ['at the first cut',          10,  [2n, 4n, 0n, 0n]],
    ['just before the second',    14.9, [2n, 4n, 0n, 0n]],
    ['at the second cut',         15,  [2n, 0n, 4n, 0n]],
    ['at the end of the period',  27.9, [2n, 0n, 4n, 0n]],
    ['in the next period',        28,  [2n, 0n, 0n, 4n]],
  ])('a late event %s counts in its own', (_what, day, quantities) => {
    const world = sold();
    world.use(12n);
    for (const days of [10, 5]) {
      later(world, days);
      world.do((context, state) => cutPlan(context, state, 'plan', world.now));
    }
    later(world, 14);
    world.use(10n);
    world.use(4n, at(day));
    const { seen } = world;
    expect(seen.spans.map((span) => quantityOf(seen, span))).toEqual([...quantities]);
  });

  test('none is made where the subscription sells nothing', () => {
    const free = sold({ price: null });
    const other = sold();
    for (const [world, id] of [
      [free, 'plan'],
      [other, 'another'],
    ] as const) {
      expect(world.do((context, state) => cutPlan(context, state, id, later(world, 1).now))).toBe(
        'nothing',
      );
    }
    expect([spansOf(free), spansOf(other)]).toEqual([[], ['0- plan price 0']]);
  });
});

describe('beside what another subscription has sold', () => {
  /** It sold the first day, and the plan all after it. */
  const both = (): World => {
    const world = sold({ subscriptionId: 'second', priority: 5, price: DEARER, limit: 0n });
    world.plan({ price: PRICE, limit: 0n });
    world.use(2n);
    later(world, 1).withdrawPlan('expired', 'second');
    world.use(5n);
    return later(world, 1);
  };

  test('a change of plan gives the new price to its own', () => {
    const world = both();
    world.replacePlanSince(T0, { price: { ...PRICE, id: 'new' }, limit: 0n, cycle: CYCLE });
    expect(spansOf(world)).toEqual(['0-1 second dearer 2', '1- plan new 5']);
  });

  test.each([
    ['what is not billed of its own', false, ['0-1 second dearer 2']],
    [
      'nothing that is billed',
      true,
      ['0-1 second dearer 2', '1-2 plan price 5 line', '2- plan price 0'],
    ],
  ] as const)('an end that comes to nothing drops %s', (_what, isBilled, left) => {
    const world = both();
    if (isBilled) {
      const spanIds = world.state.spans.slice(1).map(({ id }) => id);
      world.do((context, state) => cutPlan(context, state, 'plan', world.now));
      world.do((context, state) => billPlan(context, state, { billedAs: 'line', spanIds }));
    }
    world.do((context, state) => forgetPlan(context, state, 'plan'));
    expect(spansOf(world)).toEqual(left.filter((one) => !one.startsWith('2-')));
  });
});

test.each([
  ['at once', 5, 5, ['0-5 plan price 2']],
  ['late', 3, 5, ['0-3 plan price 2']],
  ['before it began', 0, 5, []],
  ['after its period', 3, 30, ['0-3 plan price 2']],
  ['early', 9, 5, ['0-5 plan price 2']],
] as const)('an end that is decided %s ends the span at its time', (_what, end, day, spans) => {
  const world = sold();
  world.use(12n);
  world.now = T0 + day * DAY;
  const how = { how: 'expired', at: T0 + end * DAY } as const;
  world.do((context, state) => withdrawPlan(context, state, 'plan', how));
  expect(spansOf(world)).toEqual([...spans]);
});

describe('a billed span is dropped', () => {
  const billed = (): World => {
    const world = sold();
    world.use(12n);
    later(world, 28);
    const spanIds = world.state.spans.slice(0, 1).map(({ id }) => id);
    world.do((context, state) => billPlan(context, state, { billedAs: 'line', spanIds }));
    return world;
  };
  const starts = (world: World): string[] => spansOf(world).map((span) => span.split(' ')[0] ?? '');

  test('when its subscription says that it is settled', () => {
    const world = billed();
    world.do((context, state) => settlePlan(context, state, ['line']));
    expect(starts(world)).toEqual(['28-']);
  });

  test('when no event can come any more to its ended subscription', () => {
    const world = billed();
    later(world, 31);
    expect(starts(world)).toEqual(['0-28', '28-59', '59-']);
    later(world, 30);
    expect(starts(world)).toEqual(['28-59', '59-89', '89-']);
  });
});

describe('a long pause', () => {
  const signup = {
    paymentLinkId: null,
    paymentLinkToken: null,
    clientReferenceId: null,
    externalCustomerId: null,
    metadata: {},
  };

  /** With an allowance for each hour, and of a subscription that lives. */
  function hourly(price: UsagePrice = PRICE): World {
    const world = sold({ resetInterval: 'hour', price });
    world.subscriptions.set('plan', { signup, status: 'active', pausedAt: null });
    return world;
  }

  function paused(price?: UsagePrice): World {
    const world = hourly(price);
    world.subscriptions.set('plan', { signup, status: 'paused', pausedAt: world.now });
    world.suspendPlan('paused');
    return world;
  }

  test('drops spans without usage or cost, once no event can come any more', () => {
    const world = paused();
    world.use(12n);
    for (let day = 0; day < 60; day += 1) later(world, 1);
    const { spans } = world.seen;
    expect(spansOf(world)[0]).toBe(`0-${1 / 24} plan price 2`);
    expect(T0 + 60 * DAY - (spans[1]?.start ?? 0)).toBeLessThan(37 * DAY);
    expect(spans.length).toBeLessThan(37 * 24);
  });

  test('drops spans with a minimum, too: paused time has none', () => {
    const world = paused({ ...PRICE, minimum: 100n });
    for (let day = 0; day < 60; day += 1) later(world, 1);
    expect(world.seen.spans.length).toBeLessThan(37 * 24);
  });

  test('keeps the span that it began in, for the share before it', () => {
    const world = hourly({ ...PRICE, minimum: 100n });
    later(world, 1 / 48);
    world.subscriptions.set('plan', { signup, status: 'paused', pausedAt: world.now });
    world.suspendPlan('paused');
    for (let day = 0; day < 60; day += 1) later(world, 1);
    expect(spansOf(world)[0]).toBe(`0-${1 / 24} plan price 0`);
    expect(world.seen.spans.length).toBeLessThan(37 * 24);
  });

  test('keeps spans that a minimum bills while it is blocked', () => {
    const world = hourly({ ...PRICE, minimum: 100n });
    world.suspendPlan('blocked');
    for (let day = 0; day < 60; day += 1) later(world, 1);
    expect(world.seen.spans).toHaveLength(60 * 24 + 1);
  });

  test('is what drops spans: without it all are kept, until they are billed', () => {
    const world = hourly();
    for (let day = 0; day < 60; day += 1) later(world, 1);
    expect(world.seen.spans).toHaveLength(60 * 24 + 1);
  });
});
