// Edge cases of metering: two things at one moment, nothing left, a period that is over, and the
// events.
import { describe, expect, test } from 'bun:test';
import { decideTick } from '../../ledger/metering/advance.ts';
import { leaderOf } from '../../ledger/metering/grants.ts';
import { GRANTS_KEPT_MAX } from '../../ledger/limits.ts';
import { DAY, HOUR, T0, World, granted, subscribed } from './world.ts';

const iso = (at: number): string => new Date(at).toISOString();

describe("a grant's event", () => {
  test('has what it gives, and what there is now, in the units of its meter', () => {
    const world = new World('sum', 2);
    world.use(150n);
    world.grant({ amount: 1000n, expiresAt: T0 + DAY });
    expect(world.events).toMatchObject([
      {
        type: 'entitlement.granted',
        timestamp: T0,
        sequence: 1n,
        data: {
          amount: 10,
          limit: 10,
          balance: 8.5,
          source: 'manual_top_up',
          subscriptionId: null,
          expiresAt: iso(T0 + DAY),
          periodStart: iso(T0),
          periodEnd: null,
        },
      },
    ]);
  });

  test('has no numbers where it is unlimited', () => {
    const world = new World();
    world.grant({ amount: null });
    world.grant({ every: 'day' });
    expect(
      world.events.map(({ data }) => [data['amount'], data['limit'], data['balance']]),
    ).toEqual([
      [null, null, null],
      [10, null, null],
    ]);
    // Of one millisecond, they are told one after the other.
    expect(world.events.map(({ timestamp }) => timestamp)).toEqual([T0, T0 + 1]);
  });

  test('names the plan that a subscription began', () => {
    expect(subscribed().events.at(-1)?.data).toMatchObject({
      source: 'subscription_start',
      subscriptionId: 'plan',
    });
    const later = new World();
    const plan = { subscriptionId: 'plan', productId: 'product' };
    later.grant({ source: 'subscription', effectiveAt: T0 + HOUR, ...plan });
    later.tickAt(T0 + HOUR);
    expect(later.events.at(-1)?.data).toMatchObject({ source: 'subscription_start' });
  });
});

describe('a grant begins', () => {
  // prettier-ignore
  test.each([
    ['made an hour ago, for then: then',        { createdAt: T0 - HOUR, effectiveAt: T0 - HOUR }, T0 - HOUR],
    ['made now, for an hour ago: now',          { createdAt: T0, effectiveAt: T0 - HOUR },        T0],
    ['made now, for now: now',                  { createdAt: T0, effectiveAt: T0 },               T0],
  ])('at its time: %s', (_what, fields, at) => {
    const world = new World();
    world.grant(fields);
    expect(world.transfers).toMatchObject([{ at }]);
  });

  test('now, where it is restarted by a clock that is ahead', () => {
    const world = subscribed();
    world.now += HOUR;
    world.restartPlan({ anchor: T0 + 2 * HOUR, zone: 'UTC' });
    expect([...world.grants.values()].at(-1)).toMatchObject({ effectiveAt: T0 + HOUR });
  });
});

describe('used-up top-ups', () => {
  const full = (last: Parameters<World['grant']>[0]): World => {
    const world = new World();
    for (let i = 1; i < GRANTS_KEPT_MAX; i += 1) world.grant({ amount: 1n });
    world.grant({ amount: 1n, ...last });
    world.use(BigInt(GRANTS_KEPT_MAX));
    return world;
  };

  test('are dropped where there are too many', () => {
    const world = full({});
    expect(world.state.grants).toHaveLength(GRANTS_KEPT_MAX);
    world.grant({ amount: 7n });
    expect(world.state.grants.map(({ amount }) => amount)).toEqual([7n]);
    const { ended } = [...world.grants.values()][0] ?? {};
    expect(ended).toEqual({ at: T0, how: 'used_up' });
  });

  // prettier-ignore
  test.each([
    ['one that comes again',  { every: 'day' as const },          [1n, 7n]],
    ['one of the future',     { effectiveAt: T0 + DAY },          [1n, 7n]],
    ['one that has units',    { amount: 2n },                     [2n, 7n]],
  ])('are dropped where there are too many, but not %s', (_what, last, kept) => {
    const world = full(last);
    world.grant({ amount: 7n });
    expect(new Set(world.state.grants.map(({ amount }) => amount))).toEqual(new Set(kept));
  });

  test('stay while there are few', () => {
    const world = new World();
    world.grant({ amount: 1n });
    world.use(1n);
    world.grant({ amount: 7n });
    expect(world.state.grants).toHaveLength(2);
  });
});

test('voiding a grant that is not live writes nothing', () => {
  const world = new World();
  world.grant();
  const before = world.state;
  world.void('nothing');
  expect(world.state).toBe(before);
});

test('an alarm that finds nothing to do is written all the same, or it would ring for ever', () => {
  const world = new World();
  world.grant({ every: 'day' });
  expect(decideTick(world.context, world.state).stateChanged).toBe(true);
});

describe('over the end of a period', () => {
  test('a top-up that is used up ends, and units that roll over allow no overage', () => {
    const world = new World();
    const rollover = { max: 6n, expiresAfterPeriods: 2 };
    world.grant({ every: 'day', rollover, overageAllowed: true, priority: 200 });
    const id = granted(world.grant({ amount: 3n }));
    world.use(5n);
    world.tickAt(T0 + DAY);
    expect(world.grants.get(id)?.ended).toEqual({ at: T0 + DAY, how: 'used_up' });
    const rolled = world.state.grants.find(({ source }) => source === 'rollover');
    expect(rolled).toMatchObject({ amount: 6n, overageAllowed: false });
  });

  test('an unlimited top-up begins again at nothing used', () => {
    const world = new World();
    world.grant({ every: 'day', priority: 200 });
    const id = granted(world.grant({ amount: null }));
    world.use(5n);
    world.tickAt(T0 + DAY);
    expect(world.grants.get(id)?.used).toBe(0n);
    world.use(2n);
    world.void(id);
    // It gave what was used of it in this period, beside the 10 of the day.
    expect(world.numbers).toEqual([12n, 2n, 10n]);
  });

  test('an allowance used up rolls nothing over, not even an empty grant', () => {
    const world = new World();
    world.grant({ every: 'day', rollover: { max: 6n, expiresAfterPeriods: 2 } });
    world.use(10n);
    world.tickAt(T0 + DAY);
    expect(world.state.grants.map(({ source }) => source)).toEqual(['manual']);
  });

  test('a late event is answered with the numbers of its own period', () => {
    const world = new World();
    world.grant({ every: 'day' });
    world.use(4n);
    world.now = T0 + DAY;
    world.use(1n);
    const late = world.use(2n, { eventAt: T0 + 1 });
    expect(late).toMatchObject({
      record: { snapshot: { consumed: 6n, periodStart: T0, periodEnd: T0 + DAY } },
    });
  });
});

test('the allowance with the lower id leads, among those of one priority and age', () => {
  const world = new World();
  world.grant({ every: 'day' });
  world.grant({ every: 'week' });
  const [first, second] = world.state.grants;
  if (first === undefined || second === undefined) throw new Error('two grants');
  for (const grants of [
    [first, second],
    [second, first],
  ]) {
    expect(leaderOf(grants)?.id).toBe('id-000001');
  }
});

describe('with nothing left', () => {
  test('unused overage is not counted as overage', () => {
    const world = new World();
    world.grant({ overageAllowed: true });
    expect(world.use(10n)).toMatchObject({ record: { reason: 'ok' } });
    expect(world.use(1n)).toMatchObject({ record: { reason: 'overage_allowed' } });
  });

  test('usage of a meter that counts is checked as one, whatever it reports', () => {
    const world = new World('count');
    world.grant({ amount: 1n });
    expect(world.use(0n, { admission: 'consume' }).kind).toBe('recorded');
    expect(world.use(0n, { admission: 'consume' }).kind).toBe('refused');
  });

  test('usage that changes nothing is recorded as a fact, not held to the limit', () => {
    const world = new World('max');
    world.grant();
    world.use(4n, { admission: 'reject' });
    world.use(3n, { admission: 'reject' });
    expect(world.transfers.map(({ usage }) => usage?.guarded)).toEqual([undefined, true, false]);
    expect(world.transfers.at(-1)).toMatchObject({ kind: 'single', amount: 0n });
    world.use(5n, { admission: 'reject' });
    expect(world.transfers.at(-1)).toMatchObject({ amount: 1n, usage: { guarded: true } });
  });
});

describe('where the clock stepped back before the period', () => {
  const stepped = (): World => {
    const world = subscribed({ resetInterval: 'day' });
    world.tickAt(T0 + DAY);
    world.now = T0 + DAY - 1;
    return world;
  };

  test('what is consumed counts in the period whose balance admits it', () => {
    const world = subscribed({ resetInterval: 'day' });
    world.use(9n);
    world.tickAt(T0 + DAY);
    world.now = T0 + DAY - 1;
    world.use(3n, { admission: 'consume' });
    expect(world.transfers.at(-1)).toMatchObject({
      amount: 3n,
      usage: { eventAt: T0 + DAY, consumedAfter: 3n, limitAfter: 10n, guarded: true },
    });
  });

  test('a plan ends', () => {
    const world = stepped();
    expect(world.withdrawPlan('expired')).toBe('done');
    expect(world.state.grants).toEqual([]);
  });

  test('a plan changes to one that gives nothing of it', () => {
    const world = stepped();
    expect(world.replacePlan()).toBe('done');
    expect(world.parts).toEqual([]);
  });

  test('an allowance is taken back', () => {
    const world = new World();
    const id = granted(world.grant({ every: 'day' }));
    world.tickAt(T0 + DAY);
    world.now = T0 + DAY - 1;
    expect(world.void(id)).toBe('voided');
  });
});

// The node of its call had died, and the one that decides it is late.
test('an allowance that is decided after its end, in a later period', () => {
  const world = new World();
  world.grant({ every: 'hour' });
  world.tickAt(T0 + HOUR);
  world.use(4n);
  world.now = T0 + HOUR + 2000;
  const [createdAt, expiresAt] = [T0 + HOUR - 3000, T0 + HOUR - 1000];
  world.grant({ every: 'hour', priority: 99, createdAt, effectiveAt: createdAt, expiresAt });
  world.tickAt(world.now);
  expect(world.numbers).toEqual([10n, 4n, 6n]);
  expect(world.state.current).toMatchObject({ start: T0 + HOUR, end: T0 + 2 * HOUR });
});
