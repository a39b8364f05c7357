// Random histories of one meter: what alerts tell, against a reckoning by the numbers that a
// customer sees before and after each step.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { unreachable } from '../../ledger/kernel/assert.ts';
import { ALERT_TYPES, alertOrder, type AlertType } from '../../ledger/metering/alert.ts';
import { decideLook } from '../../ledger/metering/alert-look.ts';
import { casesOf } from '../support/cases.ts';
import { holds, seeded } from './property.ts';
import { DAY, HOUR, World } from './world.ts';

const CASES = 2000;

type Wanted = { readonly type: AlertType; readonly threshold: number };

type Step =
  | { readonly kind: 'use'; readonly value: bigint; readonly ago: number }
  | { readonly kind: 'grant'; readonly amount: bigint | null; readonly lasts: number | null }
  | { readonly kind: 'daily'; readonly amount: bigint }
  | { readonly kind: 'void'; readonly which: number }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'look' };

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('use' as const),
      value: fc.bigInt({ min: -8n, max: 15n }),
      ago: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 3 * DAY })),
    }),
  },
  fc.record({
    kind: fc.constant('grant' as const),
    amount: fc.oneof({ weight: 5, arbitrary: fc.bigInt({ min: 1n, max: 20n }) }, fc.constant(null)),
    lasts: fc.option(fc.integer({ min: 1, max: 2 * DAY })),
  }),
  fc.record({ kind: fc.constant('daily' as const), amount: fc.bigInt({ min: 0n, max: 20n }) }),
  fc.record({ kind: fc.constant('void' as const), which: fc.nat(9) }),
  fc.record({
    kind: fc.constant('wait' as const),
    ms: fc.oneof(fc.integer({ min: 1, max: 30 * HOUR }), fc.constantFrom(1, DAY)),
  }),
  fc.constant({ kind: 'look' as const }),
);

const alerts: fc.Arbitrary<Wanted[]> = fc.uniqueArray(
  fc.record({
    type: fc.constantFrom(...ALERT_TYPES),
    threshold: fc.integer({ min: 1, max: 30 }),
  }),
  { maxLength: 6, selector: ({ type, threshold }) => `${type} ${threshold}` },
);

type Seen = {
  readonly limit: number | null;
  readonly consumed: number;
  readonly balance: number;
  readonly wasGranted: boolean;
  readonly start: number;
};

/** As a customer sees it now. */
function seenOf(world: World): Seen {
  const [limit, consumed, balance] = world.numbers;
  const { firstGrantAt, current } = world.seen;
  return {
    limit: limit === null ? null : Number(limit),
    consumed: Number(consumed),
    balance: Number(balance ?? 0n),
    wasGranted: firstGrantAt !== null,
    start: current.start,
  };
}

/** Percentages are by tens here, so a double is exact. */
function isReached({ type, threshold }: Wanted, seen: Seen): boolean {
  const { limit, consumed, balance, wasGranted } = seen;
  if (limit === null) return false;
  const rest = Math.max(0, balance);
  if (type === 'usage') return consumed >= threshold;
  if (type === 'remaining') return wasGranted && rest <= threshold;
  if (limit === 0) return false;
  return type === 'usage_percentage'
    ? (100 * consumed) / limit >= 4 * threshold
    : (100 * rest) / limit <= 2 * threshold;
}

const nameOf = ({ type, threshold }: Wanted): string => `${type} ${threshold}`;

function scaledOf({ type, threshold }: Wanted): bigint {
  if (type === 'usage_percentage') return BigInt(4 * threshold * 10_000);
  if (type === 'remaining_percentage') return BigInt(2 * threshold * 10_000);
  return BigInt(threshold);
}

/** What was told since the last time. */
function told(world: World): string[] {
  return world.events
    .splice(0)
    .filter(({ type }) => type.startsWith('alert.'))
    .map(({ type, data }) => {
      const sign = type === 'alert.recovered' ? '-' : data['initial'] === true ? '!' : '+';
      return `${sign}${String(data['alertId'])}`;
    });
}

function take(world: World, step: Step): void {
  switch (step.kind) {
    case 'use':
      world.use(step.value, step.ago === 0 ? {} : { eventAt: world.now - step.ago });
      return;
    case 'grant':
      world.grant({
        amount: step.amount,
        expiresAt: step.lasts === null ? null : world.now + step.lasts,
      });
      return;
    case 'daily':
      world.grant({ amount: step.amount, every: 'day' });
      return;
    case 'void': {
      const grant = world.state.grants[step.which];
      if (grant !== undefined) world.void(grant.id);
      return;
    }
    case 'look':
      world.do((context, state) => ({
        outcome: { kind: 'done' },
        effects: decideLook(context, state),
      }));
      return;
    case 'wait':
      return;
    default:
      unreachable(step);
  }
}

test(seeded('alerts fire as the numbers say, for any history'), () => {
  let fired = 0;
  let recovered = 0;
  holds(
    fc.property(alerts, fc.array(steps, { minLength: 1, maxLength: 40 }), (wanted, history) => {
      const world = new World();
      const order = wanted
        .map((one) => ({ ...one, id: nameOf(one), threshold: scaledOf(one), of: one }))
        .sort(alertOrder);
      world.alerts = { all: order, hears: () => true, mayFire: true };
      const on = new Set<string>();
      for (const step of history) {
        world.now += step.kind === 'wait' ? step.ms : 1;
        // What time alone causes, first.
        const wasStart = world.state.current.start;
        world.tickAt(world.now);
        const byTime = seenOf(world);
        const granted = world.events.some(({ type }) => type === 'entitlement.granted');
        const back = granted || byTime.start !== wasStart;
        const expectedBack = backOf(order, { on, isBack: back, seen: byTime });
        const toldByTime = told(world);
        // Of several periods that passed at once, each may lead back; none of them fires.
        expect(toldByTime.toSorted()).toEqual(expectedBack.toSorted());
        recovered += toldByTime.length;

        take(world, step);
        const after = seenOf(world);
        const grants = world.events.some(({ type }) => type === 'entitlement.granted');
        const isNew = grants || after.start !== byTime.start;
        // Late usage of another period counts by what it leaves of this one.
        const leavesLess = after.limit !== null && byTime.limit !== null;
        const isUsage =
          step.kind === 'use' &&
          (after.consumed > byTime.consumed || (leavesLess && after.balance < byTime.balance));
        const expected = backOf(order, { on, isBack: isNew, seen: after });
        if (isUsage || step.kind === 'look') {
          for (const { of, id } of order) {
            if (on.has(id) || !isReached(of, after)) continue;
            on.add(id);
            expected.push(`${isReached(of, byTime) ? '!' : '+'}${id}`);
          }
        }
        expect(told(world)).toEqual(expected);
        fired += expected.length;
        expect(new Set(world.state.fired.map(({ id }) => id))).toEqual(on);
      }
    }),
    CASES,
  );
  // It is about something, however few the cases.
  expect(fired).toBeGreaterThan(casesOf(CASES) / 5);
  expect(recovered).toBeGreaterThan(casesOf(CASES) / 50);
});

/** What a grant or a new period takes back, in the order in which it fired. */
function backOf(
  order: readonly { readonly id: string; readonly of: Wanted }[],
  { on, isBack, seen }: { readonly on: Set<string>; readonly isBack: boolean; readonly seen: Seen },
): string[] {
  if (!isBack) return [];
  const back = [...on].filter((id) => {
    const alert = order.find((one) => one.id === id);
    return alert !== undefined && !isReached(alert.of, seen);
  });
  for (const id of back) on.delete(id);
  return back.map((id) => `-${id}`);
}
