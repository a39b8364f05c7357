import { expect, test } from 'bun:test';
import { DAY, World } from './world.ts';

type Step = (world: World) => void;
const use =
  (value: bigint): Step =>
  (world) => {
    world.use(value);
  };
const grant =
  (fields: Parameters<World['grant']>[0] = {}): Step =>
  (world) => {
    world.grant(fields);
  };
const nextDay: Step = (world) => {
  world.now += DAY;
};
const late: Step = (world) => {
  world.use(99n, { eventAt: world.now - DAY });
};

// prettier-ignore
const STORIES: [string, Step[], string[]][] = [
  // what steps told
  ['nothing while something is left',            [grant(), use(9n)],                                        ['granted']],
  ['once at exactly zero',                       [grant(), use(10n)],                                       ['granted', 'exhausted']],
  ['once when it goes below',                    [grant(), use(11n)],                                       ['granted', 'exhausted']],
  ['not again while it stays there',             [grant(), use(10n), use(1n), use(5n)],                     ['granted', 'exhausted']],
  ['not by a correction',                        [grant(), use(12n), use(-1n)],                             ['granted', 'exhausted']],
  ['not by an event of zero',                    [grant(), use(10n), use(0n)],                              ['granted', 'exhausted']],
  ['not without a grant ever',                   [use(5n)],                                                 []],
  ['again after a grant',                        [grant(), use(10n), grant(), use(10n)],                    ['granted', 'exhausted', 'granted', 'exhausted']],
  ['not by the grant itself, still short',       [grant(), use(30n), grant()],                              ['granted', 'exhausted', 'granted']],
  ['again by the next use, still short',         [grant(), use(30n), grant(), use(1n)],                     ['granted', 'exhausted', 'granted', 'exhausted']],
  ['again in a new period',                      [grant({ every: 'day' }), use(10n), nextDay, use(10n)],    ['granted', 'exhausted', 'granted', 'exhausted']],
  ['not by a late event',                        [grant({ every: 'day' }), nextDay, late],                  ['granted', 'granted']],
  ['not where it is unlimited',                  [grant({ amount: null }), use(99n)],                       ['granted']],
  ['where overage is allowed, too',              [grant({ overageAllowed: true }), use(10n)],               ['granted', 'exhausted']],
];

test.each(STORIES)('exhaustion of a feature is announced %s', (_what, steps, told) => {
  const world = new World();
  for (const step of steps) step(world);
  expect(world.told).toEqual(told);
});

test('the event of an exhausted feature has its limit, consumption, remaining 0 and signed balance', () => {
  const world = new World('sum', 1);
  world.grant({ amount: 100n });
  world.use(125n);
  expect(world.events.at(-1)).toMatchObject({
    type: 'entitlement.exhausted',
    objectType: 'ENTITLEMENT',
    accountId: 'customer',
    data: { featureKey: 'feature', limit: 10, consumed: 12.5, remaining: 0, balance: -2.5 },
  });
});

test('events of exhaustion have numbers without a gap and ascending times, within a millisecond too', () => {
  const world = new World();
  for (let i = 0; i < 5; i += 1) {
    world.grant();
    world.use(10n);
  }
  expect(world.events.map(({ sequence }) => sequence)).toEqual(
    Array.from({ length: 10 }, (_, index) => BigInt(index + 1)),
  );
  const times = world.events.map(({ timestamp }) => timestamp);
  expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
});
