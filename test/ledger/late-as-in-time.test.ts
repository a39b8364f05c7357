// The first sentence of docs/spec/balance.md on the ledger itself: usage that comes late leaves
// what it would have left in time.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { breakdown, snapshotOf } from '../../ledger/metering/meter.ts';
import { cutPlan } from '../../ledger/metering/plan-spans.ts';
import { quantityOf } from '../../ledger/metering/spans.ts';
import type { UsagePrice } from '../../ledger/metering/usage-price.ts';
import { holds, seeded } from './property.ts';
import { DAY, HOUR, type PlanFields, T0, World } from './world.ts';

const PRICE: UsagePrice = {
  id: 'price',
  currency: 'USD',
  model: 'per_unit',
  unitAmount: 2_000_000_000n,
  minimum: null,
  maximum: null,
};
const DAILY = { resetInterval: 'day', cycle: { anchor: T0, zone: 'UTC' } } as const;
const PLANS: readonly (PlanFields | null)[] = [
  { ...DAILY, limit: 20n },
  { ...DAILY, limit: 5n, rollover: { max: 12n, expiresAfterPeriods: 2 } },
  { ...DAILY, limit: 30n, rollover: { max: 30n, expiresAfterPeriods: 1 } },
  { ...DAILY, limit: 10n, price: PRICE },
  { ...DAILY, limit: 15n, price: { ...PRICE, id: 'dearer' } },
  { ...DAILY, limit: 0n, price: PRICE },
  null,
];

type Fact =
  /** `late`: told after so many facts more; 0 in time. */
  | { readonly kind: 'use'; readonly value: bigint; readonly late: number }
  | { readonly kind: 'grant'; readonly amount: bigint; readonly lasts: number | null }
  | { readonly kind: 'void'; readonly which: number }
  | { readonly kind: 'change'; readonly plan: number }
  | { readonly kind: 'end' }
  | { readonly kind: 'start'; readonly plan: number };

const units = (max: number) => fc.bigInt({ min: 1n, max: BigInt(max) });
const plan = fc.nat({ max: PLANS.length - 1 });
const facts: fc.Arbitrary<Fact> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('use'),
      value: fc.bigInt({ min: -12n, max: 25n }),
      late: fc.constantFrom(0, 1, 2, 4, 9),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('grant'),
      amount: units(30),
      lasts: fc.option(fc.integer({ min: 1, max: 60 * HOUR })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('void'), which: fc.nat({ max: 5 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('change'), plan }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('end') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('start'), plan }) },
) as fc.Arbitrary<Fact>;
const histories = fc.array(
  fc.record({
    after: fc.oneof(fc.integer({ min: 1, max: HOUR }), fc.integer({ min: 1, max: 30 * HOUR })),
    fact: facts,
  }),
  { minLength: 2, maxLength: 16 },
);

type Told = { readonly after: number; readonly fact: Fact };

/** Whether late usage is told late, or in time. */
function worldOf(history: readonly Told[], isLate: boolean): World {
  const world = new World();
  const owed: { readonly from: number; readonly value: bigint; readonly eventAt: number }[] = [];
  const grants: string[] = [];
  let hasPlan = true;
  world.plan(PLANS[1] ?? {});
  for (const [index, { after, fact }] of history.entries()) {
    world.tickAt(world.now + after);
    switch (fact.kind) {
      case 'use':
        if (isLate && fact.late > 0)
          owed.push({ from: index + fact.late, value: fact.value, eventAt: world.now });
        else world.use(fact.value);
        break;
      case 'grant': {
        const id = `grant ${index}`;
        grants.push(id);
        world.grant({
          id,
          amount: fact.amount,
          expiresAt: fact.lasts === null ? null : world.now + fact.lasts,
        });
        break;
      }
      case 'void':
        world.void(grants[fact.which] ?? '');
        break;
      case 'change':
        if (!hasPlan) break;
        // A change bills what was sold.
        world.do((context, state) => cutPlan(context, state, 'plan', world.now));
        world.replacePlan(...[PLANS[fact.plan] ?? []].flat());
        break;
      case 'end':
        if (hasPlan) world.withdrawPlan('voided');
        hasPlan = false;
        break;
      case 'start':
        if (!hasPlan)
          hasPlan =
            world.plan(...[PLANS[fact.plan] ?? []].flat()) !== '' && PLANS[fact.plan] !== null;
        break;
      default:
        fact satisfies never;
    }
    for (const { from, value, eventAt } of owed) if (from === index) world.use(value, { eventAt });
  }
  for (const { from, value, eventAt } of owed) {
    if (from >= history.length) world.use(value, { eventAt });
  }
  return world;
}

function numbersOf(world: World) {
  const { seen } = world;
  const { limit, consumed, billed } = snapshotOf(seen);
  return {
    limit,
    consumed,
    billed,
    left: breakdown(seen)
      .filter(({ remaining }) => remaining !== 0n)
      .map(({ grant, remaining }) => `${grant.source} ${grant.expiresAt ?? ''} ${remaining}`),
    sold: seen.spans.map((span) => `${span.start} ${span.price.id} ${quantityOf(seen, span)}`),
  };
}

test(
  seeded('usage that comes late leaves the balance, what is left and what was sold as in time'),
  () => {
    holds(
      fc.property(histories, (history) => {
        const [late, inTime] = [worldOf(history, true), worldOf(history, false)];
        expect(numbersOf(late)).toEqual(numbersOf(inTime));
        for (const world of [late, inTime]) {
          world.tickAt(world.now + 2 * DAY);
          world.use(12n);
          world.tickAt(world.now + DAY);
        }
        expect(numbersOf(late)).toEqual(numbersOf(inTime));
      }),
      4000,
    );
  },
  30_000,
);
