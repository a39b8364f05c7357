// What is due of a meter before anything is decided on it: where its alerts may recover, and where
// it is much.
import { expect, test } from 'bun:test';
import { DUE_WORK_MAX } from '../../ledger/limits.ts';
import { reach, recoversFirst, sleepsLong, workBefore } from '../../ledger/metering/asleep.ts';
import { CreditWorld } from './credit-world.ts';
import { DAY, HOUR, T0, World } from './world.ts';

const PRICE = {
  id: 'price',
  currency: 'USD',
  model: 'per_unit',
  unitAmount: 2_000_000_000n,
  minimum: null,
  maximum: null,
} as const;

const recovers = (world: World) => recoversFirst(world.context, world.state);
const sleeps = (world: World) => sleepsLong(world.context, world.state);

test('what is due of a meter whose alerts have fired comes first', () => {
  const world = new World();
  world.grant({ every: 'day' });
  world.now = T0 + DAY;
  expect(recovers(world)).toBe(null);
  world.now = T0 + DAY - 1;
  world.state = { ...world.state, fired: [{ id: 'alert', eventId: null }] };
  expect(recovers(world)).toBe(null);
  world.now = T0 + DAY;
  expect(recovers(world)).toBe(world.meter.id);
  world.tickAt(T0 + DAY);
  expect(recovers(world)).toBe(null);
});

test('what is due of a meter comes first where it is more than one decision does', () => {
  const world = new World();
  world.grant({ every: 'hour' });
  world.now = T0 + 125 * HOUR;
  expect(sleeps(world)).toBe(null);
  world.now = T0 + 126 * HOUR;
  expect(sleeps(world)).toBe(world.meter.id);
  world.tickAt(world.now);
  expect(sleeps(world)).toBe(null);
});

test('the more grants a meter has, the fewer steps are much', () => {
  const world = new World();
  world.grant({ every: 'hour' });
  for (let n = 0; n < 99; n += 1) world.grant({ amount: 1n });
  world.now = T0 + 2 * HOUR;
  expect(sleeps(world)).toBe(null);
  world.now = T0 + 3 * HOUR;
  expect(sleeps(world)).toBe(world.meter.id);
  const periods: number[] = [];
  while (sleeps(world) !== null) {
    world.tickAt(world.now);
    periods.push((world.state.current.start - T0) / HOUR);
  }
  expect(periods).toEqual([3]);
});

/** A pool by the hour, a member with hours of its own, and one that has those of the pool. */
function pooled(): CreditWorld {
  const world = new CreditWorld();
  world.grant('credits', 1000, { every: 'hour' });
  world.grant('chat', 5, { every: 'hour' });
  world.use('chat', 7);
  world.use('images', 1);
  return world;
}

test('a pool and its members that slept count together, and are moved as far as one decision goes', () => {
  const world = pooled();
  world.now = T0 + 50 * HOUR;
  expect(sleepsLong(world.context('chat'), world.state('chat'))).toBe(null);
  const until = T0 + 120 * HOUR;
  world.now = until;
  // Each of them by itself is not much.
  expect(sleepsLong(world.context('chat'), world.state('chat'))).toBe('credits');
  const stops: number[] = [];
  while (sleepsLong(world.context('images'), world.state('images')) !== null) {
    const at = reach(world.context('images'), world.state('images'));
    world.now = at;
    expect(workBefore(world.context('images'), world.state('images'))).toBeLessThanOrEqual(
      DUE_WORK_MAX,
    );
    world.tick('images');
    stops.push(Math.floor((at - T0) / HOUR));
    world.now = until;
  }
  expect(stops).toEqual([50, 100]);
  world.tick('images');
  const atOnce = pooled();
  atOnce.now = until;
  atOnce.tick('credits');
  for (const slug of ['credits', 'chat', 'images'] as const) {
    expect(world.state(slug).nextDue).toBe(atOnce.state(slug).nextDue);
    expect(world.periods(slug)).toEqual(atOnce.periods(slug));
    expect(world.numbers(slug)).toEqual(atOnce.numbers(slug));
  }
});

test('what is due first is reached, however much it is', () => {
  const world = new CreditWorld();
  world.grant('credits', 100_000);
  for (let n = 0; n < DUE_WORK_MAX + 1; n += 1) world.reserve('chat', 1, `hold ${n}`);
  world.now = T0 + HOUR;
  const at = reach(world.context('chat'), world.state('chat'));
  expect(at).toBe(world.state('chat').nextDue);
});

/** Many holds of a pool and of its members, which expire at once. */
function holding(seconds: number): CreditWorld {
  const world = new CreditWorld();
  world.grant('credits', 100_000, { every: 'hour' });
  world.grant('chat', 20, { every: 'hour', rollover: { max: 10n, expiresAfterPeriods: 2 } });
  for (let n = 0; n < 300; n += 1) {
    world.reserve('chat', 1, `chat ${n}`, seconds);
    if (n % 2 === 0) world.reserve('images', 1, `image ${n}`, seconds);
    if (n % 3 === 0) world.reserve('credits', 1, `credit ${n}`, seconds);
  }
  world.use('chat', 3);
  world.now = T0 + HOUR;
  return world;
}

test.each([
  ['before a period ends', 3595],
  ['with a period', 3600],
])('many holds that expire %s go in as many decisions as it takes', (_when, seconds) => {
  const world = holding(seconds);
  const gone: number[] = [];
  for (let isLast = false; !isLast;) {
    const step = world.step('images');
    const { reservations, beside } = step.effects;
    gone.push(beside.reduce((sum, one) => sum + one.reservations.length, reservations.length));
    isLast = step.isLast;
  }
  expect(gone.length).toBeGreaterThan(3);
  // Of a meter with one grant half as many, and with what the pool holds for the member.
  expect(Math.max(...gone)).toBeLessThanOrEqual(DUE_WORK_MAX + 2);
  const atOnce = holding(seconds);
  atOnce.tick('credits');
  for (const slug of ['credits', 'chat', 'images'] as const) {
    expect(world.state(slug).reservations).toEqual([]);
    expect(world.periods(slug).at(-1)).toEqual(atOnce.periods(slug).at(-1));
    expect(world.numbers(slug)).toEqual(atOnce.numbers(slug));
    expect(world.state(slug).nextDue).toBe(atOnce.state(slug).nextDue);
  }
});

test('under a spend cap the meters that are sold count together, and the others do not', () => {
  const world = new CreditWorld({});
  const hourly = { resetInterval: 'hour' } as const;
  for (const slug of ['chat', 'images'] as const) world.plan(slug, 5, { ...hourly, price: PRICE });
  for (const slug of ['tokens', 'minutes'] as const) world.plan(slug, 5, hourly);
  world.now = T0 + 60 * HOUR;
  world.cap('chat', () => true);
  expect([world.asleepBefore('calls'), world.sleeperAmongSold()]).toEqual([null, null]);
  world.now = T0 + 100 * HOUR;
  const second = { kind: 'asleep', meterId: 'images', isLong: true } as const;
  expect(world.asleepBefore('calls')).toEqual(second);
  world.tick('images');
  expect(world.asleepBefore('calls')).toBe(null);
});

test('what a spend cap is about is moved before the first one is set', () => {
  const world = new CreditWorld({});
  const sold = { resetInterval: 'hour', price: PRICE } as const;
  for (const slug of ['chat', 'images'] as const) world.plan(slug, 5, sold);
  world.now = T0 + 100 * HOUR;
  expect(world.asleepBefore('calls')).toBe(null);
  expect(world.sleeperAmongSold()).toMatchObject({ meterId: 'images' });
});
