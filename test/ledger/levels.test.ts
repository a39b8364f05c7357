// A meter of levels: nothing of a grant is used up (docs/spec/balance.md#levels). Its limit is the
// sum of the grants that are in force, and a grant that ends leaves with its whole amount.
import { expect, test } from 'bun:test';
import { DAY, granted, T0, World } from './world.ts';

const at = (world: World, days: number): World => {
  world.now = T0 + days * DAY;
  return world;
};

test('a grant that ends leaves with its whole amount', () => {
  const world = new World('last');
  world.grant({ amount: 50n, expiresAt: T0 + DAY });
  world.grant({ amount: 100n });
  world.use(15n);
  expect(world.numbers).toEqual([150n, 15n, 135n]);
  expect(world.parts).toEqual([35n, 100n]);
  at(world, 2);
  expect(world.numbers).toEqual([100n, 15n, 85n]);
  expect(world.parts).toEqual([85n]);
});

test('a grant that is voided takes its whole amount, above the level too', () => {
  const world = new World('last');
  const id = granted(world.grant({ amount: 50n }));
  world.grant({ amount: 10n });
  world.use(55n);
  world.void(id);
  expect(world.numbers).toEqual([10n, 55n, -45n]);
});

test.each(['last', 'max', 'unique'] as const)(
  'what is granted by hand on a meter that takes %s is the same in each period',
  (aggregation) => {
    const world = new World(aggregation);
    world.plan({ limit: 10n, resetInterval: 'day' });
    world.grant({ amount: 100n });
    for (let day = 0; day < 4; day += 1) {
      at(world, day);
      expect(world.numbers).toEqual([110n, 0n, 110n]);
      for (let member = 0n; member < 40n; member += 1n) world.use(member + 1n, { member });
      expect(world.numbers).toEqual([110n, 40n, 70n]);
    }
    // Late, in the period of its own time, which has the limit that it had.
    const late = world.use(105n, {
      eventAt: T0 + DAY + 1,
      member: 1000n,
      admission: 'reject',
    });
    expect(late.kind).toBe('recorded');
  },
);

test('a smaller plan and back, and a pause, use up nothing', () => {
  const world = subscribedTo('last');
  world.use(8n);
  world.replacePlan({ limit: 5n });
  expect(world.numbers).toEqual([5n, 8n, -3n]);
  world.replacePlan({ limit: 20n });
  expect(world.numbers).toEqual([20n, 8n, 12n]);
  world.suspendPlan('paused');
  world.use(9n);
  world.suspendPlan(null);
  expect(world.numbers).toEqual([20n, 9n, 11n]);
});

test('an unlimited plan and back uses up nothing', () => {
  const world = subscribedTo('last');
  world.replacePlan({ limit: null });
  world.use(300n);
  world.replacePlan({ limit: 20n });
  world.use(7n);
  expect(world.numbers).toEqual([20n, 7n, 13n]);
});

/** The plan of `subscribed`, of a level. */
function subscribedTo(aggregation: 'last'): World {
  const world = new World(aggregation);
  world.plan({});
  return world;
}
