// Automatic top-ups: tables of what happens when, and random histories against a model.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { must } from '../../ledger/kernel/assert.ts';
import {
  statusOf,
  topUpDue,
  type TopUpRefusal,
  type TopUpSettings,
} from '../../ledger/topups/auto-topup.ts';
import { capturesAt, windowAt, withCapture } from '../../ledger/topups/windows.ts';
import { TopUpModel } from './auto-topup-model.ts';
import { capture, chargeOf, HEARD, refuse, SETTINGS, topped, topUpOf } from './auto-topup-steps.ts';
import { holds, seeded } from './property.ts';
import { DAY, HOUR, T0, World } from './world.ts';

test('an auto top-up orders nothing at its threshold, and one charge below it, whatever else is used', () => {
  const world = topped();
  world.use(10n);
  expect(world.orders).toEqual([]);
  world.use(1n);
  world.use(500n);
  expect(world.orders).toEqual([
    {
      id: 'top_up/top-up/customer/meter/1',
      kind: 'top_up',
      at: T0,
      meterId: 'meter',
      paymentId: 'top-up/customer/meter/1',
      priceId: 'price',
      attempt: 1,
    },
  ]);
  expect(statusOf(topUpOf(world))).toBe('charging');
});

test("an auto top-up's capture grants with the id of its payment, in one decision, and once", () => {
  const world = topped();
  world.use(15n);
  const paymentId = chargeOf(world);
  for (const _time of [1, 2]) capture(world, paymentId);
  expect(world.numbers).toEqual([120n, 15n, 105n]);
  expect(world.grants.get(paymentId)).toMatchObject({
    source: 'top_up',
    amount: 100n,
    productId: 'product',
    expiresAt: null,
  });
  expect(topUpOf(world)).toMatchObject({ captures: 1, ordered: 1, lastPaymentId: paymentId });
  expect(world.told).toEqual(['granted', 'granted', 'auto_topup.succeeded']);
  expect(world.events.at(-1)?.data).toMatchObject({ amount: 100, paymentId, reason: null });
});

test('an auto top-up charges the rest of the debt next, in the decision of the capture', () => {
  const world = topped();
  world.use(200n);
  capture(world);
  expect(world.orders.map(({ paymentId }) => paymentId)).toEqual([
    'top-up/customer/meter/1',
    'top-up/customer/meter/2',
  ]);
  capture(world);
  expect(statusOf(topUpOf(world))).toBe('armed');
  expect(world.numbers).toEqual([220n, 200n, 20n]);
});

test('an auto top-up looks at the balance after an expiry, a void and a new period, too', () => {
  const expiring = topped();
  expiring.grant({ amount: 100n, expiresAt: T0 + DAY, priority: 1 });
  expiring.use(15n);
  expect(expiring.orders).toEqual([]);
  expiring.tickAt(T0 + DAY);
  // 15 were taken from what expired: 20 are left.
  expect(expiring.orders).toEqual([]);
  const [first] = expiring.state.grants;
  expiring.void(must(first, 'a grant').id);
  expect(expiring.orders).toHaveLength(1);

  const renewed = new World();
  renewed.grant({ amount: 20n, every: 'day' });
  renewed.topUp({ kind: 'put', settings: SETTINGS, zone: 'UTC' });
  renewed.use(11n);
  refuse(renewed, { passes: true });
  renewed.tickAt(T0 + DAY);
  expect(statusOf(topUpOf(renewed))).toBe('armed');
});

test("an unlimited balance is never below an auto top-up's threshold", () => {
  const world = topped({ enabled: false });
  world.grant({ amount: null });
  world.use(1000n);
  world.topUp({ kind: 'switch', enabled: true });
  expect(world.orders).toEqual([]);
});

test('an auto top-up whose decline may pass is retried after 1, 6 and 24 hours, and no more', () => {
  const world = topped();
  world.use(20n);
  for (const [index, hours] of [1, 6, 24].entries()) {
    refuse(world, { passes: true });
    expect(statusOf(topUpOf(world))).toBe('charging');
    const due = world.now + hours * HOUR;
    expect([topUpDue(topUpOf(world)), world.state.nextDue]).toEqual([due, due]);
    world.tickAt(due - 1);
    world.use(1n);
    expect(world.orders).toHaveLength(index + 1);
    world.tickAt(due);
    expect(world.orders.at(-1)?.attempt).toBe(index + 2);
  }
  refuse(world, { passes: true });
  expect([statusOf(topUpOf(world)), topUpOf(world).refused]).toEqual(['suspended', 'declined']);
  world.tickAt(world.now + 400 * DAY);
  world.use(1n);
  world.topUp({ kind: 'put', settings: SETTINGS, zone: 'UTC' });
  world.topUp({ kind: 'switch', enabled: false });
  world.topUp({ kind: 'switch', enabled: true });
  expect(world.orders).toHaveLength(4);
});

test.each(['declined', 'authentication_required', 'no_payment_method'] as const)(
  'an auto top-up after %s is suspended until another method is stored, once for each',
  (why) => {
    const world = topped();
    world.use(20n);
    refuse(world, { why });
    expect([statusOf(topUpOf(world)), topUpOf(world).refused]).toEqual(['suspended', why]);
    expect(world.state.nextDue).toBe(Infinity);
    for (const _time of [1, 2]) world.topUp({ kind: 'arm', methodId: 'method' });
    expect(world.orders).toHaveLength(2);
    refuse(world, { why });
    world.topUp({ kind: 'arm', methodId: 'method' });
    expect(world.orders).toHaveLength(2);
    world.topUp({ kind: 'arm', methodId: 'other' });
    expect(world.orders).toHaveLength(3);
  },
);

test("a method stored during an auto top-up's charge is tried as soon as that fails", () => {
  const world = topped();
  world.use(20n);
  world.topUp({ kind: 'arm', methodId: 'method' });
  expect(world.orders).toHaveLength(1);
  refuse(world);
  expect(world.orders).toHaveLength(2);
  refuse(world);
  expect(statusOf(topUpOf(world))).toBe('suspended');
});

test('an auto top-up deleted during its charge still grants what is captured', () => {
  const world = topped();
  world.use(20n);
  const paymentId = chargeOf(world);
  expect(world.topUp({ kind: 'remove' })).toBeNull();
  capture(world, paymentId);
  expect(world.numbers).toEqual([120n, 20n, 100n]);
  world.use(100n);
  expect(world.orders).toHaveLength(1);
  expect(world.topUp({ kind: 'switch', enabled: true })).toBeNull();
  world.topUp({ kind: 'put', settings: SETTINGS, zone: 'UTC' });
  // Another charge has another id.
  expect(chargeOf(world)).toBe('top-up/customer/meter/2');
});

test("an auto top-up's charge grants what it was ordered for", () => {
  const world = topped();
  world.use(20n);
  world.topUp({ kind: 'put', settings: { ...SETTINGS, amount: 7n, threshold: 0n }, zone: 'UTC' });
  capture(world);
  expect(world.numbers).toEqual([120n, 20n, 100n]);
});

test('an auto top-up orders nothing that the meter could not hold', () => {
  const world = topped({ amount: 10n ** 15n - 20n });
  world.use(20n);
  expect(world.orders).toEqual([]);
  expect(statusOf(topUpOf(world))).toBe('armed');
});

test("an auto top-up's charge reserves its room on the meter: no grant takes it", () => {
  const most = 10n ** 15n - 1n;
  const world = topped({ amount: most - 20n });
  world.use(20n);
  expect(world.orders).toHaveLength(1);
  expect(world.grant({ amount: 1n }).kind).toBe('out_of_range');
  expect(world.grant({ amount: 1n, effectiveAt: T0 + DAY }).kind).toBe('out_of_range');
  capture(world);
  expect(world.numbers).toEqual([most, 20n, most - 20n]);
});

test('an auto top-up orders nothing whose room on the meter another grant has', () => {
  const most = 10n ** 15n - 1n;
  const world = topped({ amount: most - 20n });
  world.grant({ amount: 1n, effectiveAt: T0 + DAY });
  world.use(20n);
  expect(world.orders).toEqual([]);
});

const WINDOWS = [
  // A Sunday is the last day of its week; a year ends within one.
  ['week', 'UTC', '2026-11-29T23:59:59.999Z', '2026-11-23T00:00:00Z', '2026-11-30T00:00:00Z'],
  ['week', 'UTC', '2027-01-01T12:00:00Z', '2026-12-28T00:00:00Z', '2027-01-04T00:00:00Z'],
  ['month', 'UTC', '2028-02-29T00:00:00Z', '2028-02-01T00:00:00Z', '2028-03-01T00:00:00Z'],
  // Of a zone: still the day before, and days of 23 and 25 hours.
  [
    'day',
    'America/New_York',
    '2026-07-01T03:59:59Z',
    '2026-06-30T04:00:00Z',
    '2026-07-01T04:00:00Z',
  ],
  [
    'month',
    'America/New_York',
    '2026-07-01T03:59:59Z',
    '2026-06-01T04:00:00Z',
    '2026-07-01T04:00:00Z',
  ],
  ['day', 'Europe/Berlin', '2026-03-29T12:00:00Z', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
  ['day', 'Europe/Berlin', '2026-10-25T12:00:00Z', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
] as const;

test.each(WINDOWS)(
  "an auto top-up's limit window: a %s in %s that has %s",
  (interval, zone, at, start, end) => {
    const found = windowAt(interval, zone, Date.parse(at));
    expect(found).toEqual({ start: Date.parse(start), end: Date.parse(end) });
  },
);

test("an auto top-up's limit counts captures in its windows, and a clock that steps back forgets none", () => {
  const zone = 'UTC';
  const sunday = Date.UTC(2026, 10, 29, 12);
  let captured = withCapture(null, { at: sunday, zone });
  captured = withCapture(captured, { at: sunday - HOUR, zone });
  captured = withCapture(captured, { at: sunday + DAY, zone });
  expect(captured).toEqual({ at: sunday + DAY, day: 1, week: 1, month: 3 });
  expect(capturesAt(captured, 'month', { at: sunday + 2 * DAY, zone })).toBe(0);
  expect(capturesAt(captured, 'week', { at: sunday + 2 * DAY, zone })).toBe(1);
  expect(capturesAt(captured, 'day', { at: sunday, zone })).toBe(1);
});

/** What changes the level without a capture. */
const OF_LEVEL = ['use', 'grant', 'hold', 'commit', 'release', 'wait', 'ring'] as const;
type LevelStep =
  | { readonly kind: 'use' | 'grant' | 'hold' | 'commit'; readonly units: number }
  | { readonly kind: 'wait'; readonly hours: number }
  | { readonly kind: 'release' | 'ring' };
type TopUpStep =
  | { readonly kind: 'capture' | 'stale' | 'method' | 'taken' | 'remove' | 'off' | 'on' }
  | { readonly kind: 'refuse'; readonly why: TopUpRefusal; readonly passes: boolean }
  | { readonly kind: 'put'; readonly settings: TopUpSettings };
type Step = LevelStep | TopUpStep;

const isOfLevel = (step: Step): step is LevelStep => OF_LEVEL.some((kind) => kind === step.kind);

const limits = fc.option(
  fc.record({
    count: fc.integer({ min: 1, max: 3 }),
    interval: fc.constantFrom('day', 'week', 'month'),
  }),
);
const settings = fc.record({
  enabled: fc.boolean(),
  threshold: fc.bigInt({ min: 0n, max: 60n }),
  amount: fc.bigInt({ min: 1n, max: 50n }),
  priceId: fc.constant('price'),
  productId: fc.constant('product'),
  limit: limits,
});
const kindOf = (kind: Step['kind']) => fc.constant({ kind } as Step);
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('use' as const),
      units: fc.integer({ min: -5, max: 30 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('grant' as const),
      units: fc.integer({ min: 1, max: 60 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('hold', 'commit'),
      units: fc.integer({ min: 1, max: 30 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      hours: fc.integer({ min: 0, max: 200 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('put' as const), settings }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('refuse' as const),
      why: fc.constantFrom('declined', 'authentication_required', 'no_payment_method'),
      passes: fc.boolean(),
    }),
  },
  { weight: 8, arbitrary: kindOf('capture') },
  ...(['ring', 'stale', 'method', 'taken', 'remove', 'off', 'on', 'release'] as const).map(
    (kind) => ({
      weight: 2,
      arbitrary: kindOf(kind),
    }),
  ),
);

test(seeded('any history of an auto top-up is as its model says'), () => {
  holds(
    fc.property(
      fc.constantFrom('UTC', 'America/New_York', 'Asia/Kathmandu', 'Europe/Berlin'),
      fc.array(steps, { minLength: 1, maxLength: 60 }),
      (zone, history) => {
        const world = new World();
        const model = new TopUpModel(zone);
        for (const step of history) {
          if (isOfLevel(step)) changeLevel(step, { world, model });
          else play(step, { world, model, zone });
          model.look(world.now);
          expectSame(world, model);
        }
        expectSound(world, model);
      },
    ),
    3000,
  );
});

type Playing = { readonly world: World; readonly model: TopUpModel; readonly zone: string };

/** The model takes over what it leaves. */
function changeLevel(step: LevelStep, { world, model }: Omit<Playing, 'zone'>): void {
  const open = world.state.reservations[0]?.id ?? 'none';
  switch (step.kind) {
    case 'use':
      world.use(BigInt(step.units));
      break;
    case 'grant':
      world.grant({ amount: BigInt(step.units) });
      break;
    case 'hold':
      world.reserve(BigInt(step.units), HOLD_SECONDS);
      break;
    case 'commit':
      world.commit(open, BigInt(step.units));
      break;
    case 'release':
      world.release(open);
      break;
    case 'wait':
      world.tickAt(world.now + step.hours * HOUR);
      break;
    case 'ring':
      world.tickAt(Number.isFinite(world.state.nextDue) ? world.state.nextDue : world.now);
      break;
    default:
      return step satisfies never;
  }
  model.level = levelOf(world);
}

const HOLD_SECONDS = 40 * 3600;
const levelOf = ({ state: { current } }: World): bigint =>
  current.granted - current.consumed - current.reserved;

function play(step: TopUpStep, { world, model, zone }: Playing): void {
  const charge = world.state.topUp?.charge ?? null;
  switch (step.kind) {
    case 'put':
      model.put(step.settings);
      return void world.topUp({ kind: 'put', settings: step.settings, zone });
    case 'on':
    case 'off': {
      const enabled = step.kind === 'on';
      if (model.settings !== null) model.put({ ...model.settings, enabled });
      return void world.topUp({ kind: 'switch', enabled });
    }
    case 'remove':
      if (model.settings !== null) model.remove();
      return void world.topUp({ kind: 'remove' });
    case 'method':
      model.storeMethod();
      return void world.topUp({ kind: 'arm', methodId: world.ids.next() });
    case 'taken': {
      // Stored before the last charge began.
      model.takeMethod();
      const begun = (world.state.topUp?.ordered ?? 0) - 1;
      return void world.topUp({ kind: 'arm', methodId: world.ids.next(), begun });
    }
    case 'capture':
      if (charge === null) return undefined;
      model.capture(world.now);
      return capture(world);
    case 'refuse':
      if (charge === null) return undefined;
      model.refuse(world.now, step.why, step.passes);
      return refuse(world, step);
    case 'stale': {
      // The answer to a charge before it.
      const answer = { kind: 'captured', paymentId: 'another', at: world.now } as const;
      return void world.topUp({ kind: 'settle', answer, isHeard: HEARD });
    }
    default:
      return step satisfies never;
  }
}

function expectSame(world: World, model: TopUpModel): void {
  const { state, orders } = world;
  const { topUp, nextDue } = state;
  const status = topUp === null || topUp.settings === null ? null : statusOf(topUp);
  const found = [status, orders.length, topUp?.charge?.amount ?? null, topUp?.refused ?? null];
  expect<unknown[]>(found).toEqual([model.status, model.charges, model.underWay, model.stopped]);
  expect(levelOf(world)).toBe(model.level);
  // It goes on by itself, or waits for somebody. What was held may leave an alarm for nothing.
  const due = topUp === null ? Infinity : topUpDue(topUp);
  expect(nextDue).toBeLessThanOrEqual(Math.min(due, state.reservations[0]?.expiresAt ?? Infinity));
  if (world.reservations.size === 0) expect(nextDue).toBe(due);
}

/** No charge has an id twice, and each capture is one grant. */
function expectSound({ orders, grants, state }: World, { captures }: TopUpModel): void {
  expect(new Set(orders.map(({ paymentId }) => paymentId)).size).toBe(orders.length);
  const given = orders.filter(({ paymentId }) => grants.has(paymentId));
  expect([given.length, state.topUp?.captures ?? 0]).toEqual([captures.length, captures.length]);
}
