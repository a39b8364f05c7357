// Alerts: when they fire and are taken back, by what, and what is told of it.
import { expect, test } from 'bun:test';
import { type Alert, alertOrder, type AlertType } from '../../ledger/metering/alert.ts';
import { decideLook } from '../../ledger/metering/alert-look.ts';
import { ALERTS_FIRED_MAX } from '../../ledger/limits.ts';
import type { Aggregation } from '../../ledger/metering/meter.ts';
import { DAY, HOUR, reserved, T0, World } from './world.ts';

/** `usage 80`, `remaining_percentage 12.5`. */
function alertOf(text: string): Alert {
  const [type = '', amount = ''] = text.split(' ');
  const isPercent = type.endsWith('percentage');
  const threshold = isPercent ? BigInt(Math.round(Number(amount) * 10_000)) : BigInt(amount);
  return { id: text, type: type as AlertType, threshold };
}

const HEARD = () => true;

function watched(alerts: readonly string[], aggregation: Aggregation = 'sum'): World {
  const world = new World(aggregation);
  watch(world, alerts);
  return world;
}

function watch(world: World, alerts: readonly string[], hears = HEARD): void {
  world.alerts =
    alerts.length === 0
      ? null
      : { all: alerts.map(alertOf).sort(alertOrder), hears, mayFire: true };
}

/**
 * What was told since the last time: `+` fired, `!` fired though it was past before, `-` recovered.
 */
function told(world: World): string[] {
  const events = world.events.splice(0).filter(({ type }) => type.startsWith('alert.'));
  return events.map(({ type, data }) => {
    const sign = type === 'alert.recovered' ? '-' : data['initial'] === true ? '!' : '+';
    return `${sign}${String(data['alertId'])}`;
  });
}

const look = (world: World): string =>
  world.do((context, state) => ({
    outcome: { kind: 'done' },
    effects: decideLook(context, state),
  }));

test.each([
  ['usage 80', 79n, 1n],
  ['usage_percentage 80', 79n, 1n],
  ['usage_percentage 80.5', 80n, 1n],
  ['usage_percentage 150', 149n, 1n],
  ['remaining 20', 79n, 1n],
  ['remaining 0', 99n, 1n],
  ['remaining_percentage 20', 79n, 1n],
  ['remaining_percentage 0', 99n, 1n],
  ['remaining_percentage 0.5', 99n, 1n],
])('an alert at %s of 100 fires at its threshold, once', (alert, before, step) => {
  const world = watched([alert]);
  world.grant({ amount: 100n });
  world.use(before);
  expect(told(world)).toEqual([]);
  world.use(step);
  expect(told(world)).toEqual([`+${alert}`]);
  world.use(step);
  world.use(500n);
  look(world);
  world.tickAt(T0 + DAY);
  expect(told(world)).toEqual([]);
});

test('alerts that one call jumps over fire in the order in which usage reaches them', () => {
  const world = watched([
    'usage 90',
    'usage 10',
    'usage 50',
    'remaining 0',
    'remaining 50',
    'usage 200',
  ]);
  world.grant({ amount: 100n });
  world.use(100n);
  expect(told(world)).toEqual([
    '+usage 10',
    '+usage 50',
    '+usage 90',
    '+remaining 50',
    '+remaining 0',
  ]);
});

test("an alert's event has its fields", () => {
  const world = watched(['usage_percentage 62.5']);
  world.grant({ amount: 8n });
  world.use(5n);
  const event = world.events.find(({ type }) => type === 'alert.triggered');
  expect(event).toMatchObject({
    objectType: 'ENTITLEMENT',
    objectId: 'entitlement',
    accountId: 'customer',
    data: {
      alertId: 'usage_percentage 62.5',
      featureKey: 'feature',
      customerId: 'customer',
      externalCustomerId: null,
      alertType: 'usage_percentage',
      threshold: 62.5,
      consumed: 5,
      limit: 8,
      balance: 3,
      initial: false,
    },
  });
  expect(world.state.fired).toEqual([{ id: 'usage_percentage 62.5', eventId: event!.id }]);
});

test('an alert by percentage never fires with a limit of 0 or without one', () => {
  const world = watched([
    'usage 5',
    'usage_percentage 1',
    'remaining_percentage 50',
    'remaining 5',
  ]);
  world.use(4n);
  look(world);
  // Without a grant nothing can run out.
  expect(told(world)).toEqual([]);
  world.use(1n);
  expect(told(world)).toEqual(['+usage 5']);

  const unlimited = watched([
    'usage 5',
    'usage_percentage 1',
    'remaining_percentage 50',
    'remaining 5',
  ]);
  unlimited.grant({ amount: null });
  unlimited.use(1000n);
  look(unlimited);
  expect(told(unlimited)).toEqual([]);
});

test('a grant arms a fired alert, which fires again', () => {
  const world = watched([
    'usage 80',
    'usage_percentage 80',
    'remaining 20',
    'remaining_percentage 20',
  ]);
  world.grant({ amount: 100n });
  world.use(80n);
  expect(told(world)).toHaveLength(4);
  // 80 of 105, 25 left: only the one whose threshold is in units of what is left.
  world.grant({ amount: 5n });
  expect(told(world)).toEqual([
    '-usage_percentage 80',
    '-remaining 20',
    '-remaining_percentage 20',
  ]);
  world.use(4n);
  expect(told(world)).toEqual(['+usage_percentage 80', '+remaining_percentage 20']);
  world.use(1n);
  expect(told(world)).toEqual(['+remaining 20']);
});

test('a grant that is too small does not arm a fired alert', () => {
  const world = watched(['remaining 20']);
  world.grant({ amount: 100n });
  world.use(100n);
  expect(told(world)).toEqual(['+remaining 20']);
  world.grant({ amount: 20n });
  expect(told(world)).toEqual([]);
  world.grant({ amount: 1n });
  expect(told(world)).toEqual(['-remaining 20']);
});

test('an unlimited grant arms every fired alert', () => {
  const world = watched(['usage 5', 'remaining 5']);
  world.grant({ amount: 10n });
  world.use(10n);
  told(world);
  world.grant({ amount: null });
  expect(told(world)).toEqual(['-usage 5', '-remaining 5']);
});

test('a new period arms a fired alert, at the time when it begins', () => {
  const world = watched(['usage 80', 'remaining_percentage 10']);
  world.grant({ amount: 100n, every: 'day' });
  world.use(95n);
  expect(told(world)).toEqual(['+usage 80', '+remaining_percentage 10']);
  world.tickAt(T0 + DAY + HOUR);
  const recovered = world.events.filter(({ type }) => type === 'alert.recovered');
  expect(recovered.map(({ data }) => data['consumed'])).toEqual([0, 0]);
  expect(told(world)).toEqual(['-usage 80', '-remaining_percentage 10']);
  world.use(80n);
  expect(told(world)).toEqual(['+usage 80']);
});

test('the first usage of a new period arms an alert before it fires', () => {
  const world = watched(['usage 80']);
  world.grant({ amount: 100n, every: 'day' });
  world.use(80n);
  told(world);
  world.now = T0 + 3 * DAY + HOUR;
  world.use(90n);
  expect(told(world)).toEqual(['-usage 80', '+usage 80']);
});

test('a new period that begins past the threshold keeps the alert fired', () => {
  const world = watched(['remaining 100']);
  world.grant({ amount: 100n, every: 'day' });
  world.use(1n);
  // It was past before the usage.
  expect(told(world)).toEqual(['!remaining 100']);
  world.tickAt(T0 + DAY);
  world.use(1n);
  expect(told(world)).toEqual([]);
});

test('a correction neither fires nor arms an alert', () => {
  const world = watched(['usage 80', 'remaining 20']);
  world.grant({ amount: 100n });
  world.use(90n);
  expect(told(world)).toEqual(['+usage 80', '+remaining 20']);
  world.use(-50n);
  expect(told(world)).toEqual([]);
  world.use(50n);
  expect(told(world)).toEqual([]);
  expect(world.state.fired).toHaveLength(2);
});

test('late usage of an ended period neither fires nor arms an alert; of the current one it counts', () => {
  const world = watched(['usage 80']);
  world.grant({ amount: 100n, every: 'day' });
  world.use(10n);
  world.tickAt(T0 + DAY + HOUR);
  world.use(200n, { eventAt: T0 + HOUR });
  expect(told(world)).toEqual([]);
  world.use(80n, { eventAt: T0 + DAY + 1 });
  expect(told(world)).toEqual(['+usage 80']);
});

test('held units count as less remaining for an alert, and not as usage', () => {
  const world = watched(['usage 50', 'remaining 50', 'remaining_percentage 50']);
  world.grant({ amount: 100n });
  world.reserve(40n);
  expect(told(world)).toEqual([]);
  world.reserve(10n);
  expect(told(world)).toEqual(['+remaining 50', '+remaining_percentage 50']);
});

test('a hold fires an alert as usage does, and a release neither fires nor arms it', () => {
  const world = watched(['usage 50', 'remaining 50', 'remaining 20']);
  world.grant({ amount: 100n });
  world.reserve(49n);
  expect(told(world)).toEqual([]);
  const id = reserved(world.reserve(31n));
  expect(told(world)).toEqual(['+remaining 50', '+remaining 20']);
  world.release(id);
  world.reserve(31n);
  expect(told(world)).toEqual([]);
});

test('refused usage neither fires nor arms an alert', () => {
  const world = watched(['usage 80', 'remaining 20']);
  world.grant({ amount: 100n });
  world.use(101n, { admission: 'reject' });
  world.use(101n, { admission: 'consume', fingerprint: 1n });
  expect(told(world)).toEqual([]);
});

test('an alert made for a customer past it fires once: when it is scanned, or with the next usage', () => {
  const world = watched([]);
  world.grant({ amount: 100n });
  world.use(90n);
  watch(world, ['usage 80', 'usage 100']);
  expect(look(world)).toBe('done');
  expect(look(world)).toBe('nothing');
  expect(told(world)).toEqual(['!usage 80']);
  watch(world, ['usage 80', 'usage 85', 'usage 100']);
  world.use(10n);
  expect(told(world)).toEqual(['!usage 85', '+usage 100']);
});

test('an alert without a subscribed endpoint fires and is armed without events', () => {
  const world = watched([]);
  watch(world, ['usage 80'], () => false);
  world.grant({ amount: 100n, every: 'day' });
  world.use(80n);
  expect(world.state.fired).toEqual([{ id: 'usage 80', eventId: null }]);
  watch(world, ['usage 80']);
  world.use(1n);
  expect(told(world)).toEqual([]);
  world.tickAt(T0 + DAY);
  expect(told(world)).toEqual(['-usage 80']);
});

test('a deleted alert is forgotten with the next grant, and writes no event', () => {
  const world = watched(['usage 80', 'usage 90']);
  world.grant({ amount: 100n });
  world.use(95n);
  told(world);
  watch(world, ['usage 90']);
  world.use(1n);
  expect(world.state.fired).toHaveLength(2);
  world.grant({ amount: 1n });
  expect(told(world)).toEqual([]);
  expect(world.state.fired.map(({ id }) => id)).toEqual(['usage 90']);
  watch(world, []);
  world.grant({ amount: 1n });
  expect(world.state.fired).toEqual([]);
});

test('few alerts are remembered, however many are made and deleted', () => {
  const world = watched([]);
  world.grant({ amount: 1000n });
  for (let n = 1; n <= 3 * ALERTS_FIRED_MAX; n += 1) {
    watch(world, [`usage ${n}`]);
    world.use(1n);
  }
  expect(told(world)).toHaveLength(3 * ALERTS_FIRED_MAX);
  expect(world.state.fired.length).toBeLessThanOrEqual(ALERTS_FIRED_MAX);
});

test.each<[Aggregation, readonly bigint[], readonly string[]]>([
  ['count', [5n, 5n, 5n], ['+usage 2', '+usage 3']],
  ['max', [1n, 9n, 4n], ['+usage 2', '+usage 3']],
  ['last', [1n, 2n, 3n, 1n, 2n], ['+usage 2', '+usage 3']],
])('alerts fire on a %s meter', (aggregation, values, expected) => {
  const world = watched(['usage 2', 'usage 3', 'usage 10'], aggregation);
  world.grant({ amount: 100n });
  for (const value of values) {
    world.now += 1;
    world.use(value);
  }
  expect(told(world)).toEqual([...expected]);
});

test('a larger plan arms a fired alert, and a smaller one does not fire it by itself', () => {
  const world = watched(['usage_percentage 80']);
  world.plan({ limit: 100n });
  world.use(80n);
  expect(told(world)).toEqual(['+usage_percentage 80']);
  world.replacePlan({ limit: 1000n });
  expect(told(world)).toEqual(['-usage_percentage 80']);
  world.replacePlan({ limit: 90n });
  expect(told(world)).toEqual([]);
  world.use(1n);
  expect(told(world)).toEqual(['!usage_percentage 80']);
});

test("an alert's percentage is exact where a double is not", () => {
  const world = watched(['usage_percentage 33.3333']);
  world.grant({ amount: 300_000_000_000_001n });
  // 33.3333 % of it are 99999900000000.333333.
  world.use(99_999_900_000_000n);
  expect(told(world)).toEqual([]);
  world.use(1n);
  expect(told(world)).toEqual(['+usage_percentage 33.3333']);
});
