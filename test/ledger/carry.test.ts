// A meter that carries its level: what a period begins with, and what a late event changes of it
// (docs/spec/balance.md#levels).
import { expect, test } from 'bun:test';
import { decideUsage } from '../../ledger/metering/usage.ts';
import type { MeterState } from '../../ledger/metering/meter.ts';
import { DAY, T0, World } from './world.ts';

/** 10 a day. */
function daily(): World {
  const world = new World('last', 0, true);
  world.plan({ resetInterval: 'day' });
  return world;
}

function passTo(world: World, days: number): void {
  for (let at = T0 + DAY; at <= T0 + days * DAY; at += DAY) if (at > world.now) world.tickAt(at);
}

const levelsOf = ({ others, current }: MeterState): bigint[] =>
  [...others, current].filter(({ start }) => start >= T0).map(({ consumed }) => consumed);

test('what a period begins with is a transfer that names the event, and is none', () => {
  const world = daily();
  world.use(7n, { id: 'seven' });
  passTo(world, 1);
  const carried = world.transfers.filter((one) => one.carried !== undefined);
  expect(carried).toMatchObject([
    { kind: 'single', amount: 7n, debit: world.state.current.accountId, usage: null },
  ]);
  expect(carried.map((one) => one.carried)).toEqual(['seven']);
  world.use(4n, { eventAt: T0 + DAY - 1 });
  const back = world.transfers.filter((one) => one.carried !== undefined).at(-1);
  expect(back).toMatchObject({ kind: 'reverse', amount: 3n, usage: null });
});

test('a level of nothing goes on, too: what is late before it changes nothing after it', () => {
  const world = daily();
  passTo(world, 1);
  world.use(0n);
  passTo(world, 3);
  world.use(9n, { eventAt: T0 + 1 });
  expect(levelsOf(world.state)).toEqual([9n, 0n, 0n, 0n]);
});

test('an early event sets the level of its period, and a late one before it does not', () => {
  const world = daily();
  world.use(7n);
  world.now = T0 + DAY - 60_000;
  world.use(3n, { eventAt: T0 + DAY + 60_000 });
  expect(world.numbers).toEqual([10n, 7n, 3n]);
  passTo(world, 1);
  expect(world.numbers).toEqual([10n, 3n, 7n]);
  world.use(8n, { eventAt: T0 + DAY - 1 });
  expect(levelsOf(world.state)).toEqual([8n, 3n]);
  passTo(world, 2);
  expect(world.numbers).toEqual([10n, 3n, 7n]);
});

test('what was used before the first grant is the level of its first period', () => {
  const world = new World('last', 0, true);
  world.use(6n);
  world.now += 1;
  world.grant({ amount: 10n, every: 'day' });
  expect(world.numbers).toEqual([10n, 6n, 4n]);
});

test('a change to another interval begins a period with the level of the one that it cuts', () => {
  const world = daily();
  world.use(6n);
  world.now = T0 + DAY / 2;
  world.replacePlan({ limit: 20n, resetInterval: 'week' });
  expect(world.numbers).toEqual([20n, 6n, 14n]);
});

test('beyond the budget of a unit the period that runs has its level, as those after it', () => {
  const world = daily();
  world.use(7n);
  passTo(world, 4);
  const late = {
    id: 'zzz',
    value: 4n,
    eventAt: T0 + 1,
    member: null,
    admission: 'record',
    fingerprint: null,
    metadata: null,
    exactReplay: false,
  } as const;
  const context = { ...world.context, late: { left: 2 } };
  const { effects } = decideUsage(context, world.state, late, () => undefined);
  expect(levelsOf(effects?.state ?? world.state)).toEqual([4n, 4n, 4n, 7n, 4n]);
  expect(context.late.left).toBe(0);
});
