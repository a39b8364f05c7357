// An organisation's time: the wall clock, ahead of it, or stopped; never back.
import { expect, test } from 'bun:test';
import type { ChangeKind, Subscriber } from '../../src/platform/changes.ts';
import { openOrgClocks, type OrgClocks, type TestClock } from '../../src/platform/org-clock.ts';

const TEST = { organisationId: 'one', mode: 'test' } as const;
const LIVE = { organisationId: 'one', mode: 'live' } as const;
const OTHER = { organisationId: 'two', mode: 'test' } as const;

class World {
  wall = 1000;
  stored: TestClock[] = [];
  subscriber: Subscriber | undefined;
  isAway = false;
  readonly warned: string[] = [];

  open(): Promise<OrgClocks> {
    return openOrgClocks({
      list: () => (this.isAway ? Promise.reject(new Error('away')) : Promise.resolve(this.stored)),
      clock: { now: () => this.wall, monotonic: () => 0 },
      changes: {
        trusted: true,
        subscribe: (subscriber) => void (this.subscriber = subscriber),
        tell: () => undefined,
        close: () => Promise.resolve(),
      },
      warn: (_fields, message) => this.warned.push(message),
    });
  }

  async hear(kind: ChangeKind): Promise<void> {
    this.subscriber?.changed(kind, 'one');
    await Bun.sleep(0);
  }
}

test('it is the wall clock until it is moved, then as far ahead; live mode and others stay', async () => {
  const world = new World();
  const clocks = await world.open();
  expect(clocks.now(TEST)).toBe(1000);
  clocks.stop('one', 5000);
  world.wall = 2000;
  expect([TEST, LIVE, OTHER].map((tenant) => clocks.now(tenant))).toEqual([5000, 2000, 2000]);
  clocks.stop('one', 6000);
  expect(clocks.now(TEST)).toBe(6000);
  clocks.run('one');
  expect([clocks.now(TEST), clocks.aheadMs('one'), clocks.aheadMs('two')]).toEqual([6000, 4000, 0]);
  world.wall = 2500;
  expect(clocks.now(TEST)).toBe(6500);
});

test('it does not go back when it stood for longer than it was moved', async () => {
  const world = new World();
  const clocks = await world.open();
  clocks.stop('one', 5000);
  clocks.run('one');
  clocks.stop('one', 5001);
  world.wall = 3000;
  clocks.run('one');
  expect(clocks.now(TEST)).toBe(7001);
});

test('what was never stopped is not let run', async () => {
  const world = new World();
  const clocks = await world.open();
  clocks.run('one');
  expect([clocks.now(TEST), clocks.aheadMs('one')]).toEqual([1000, 0]);
});

test('it is loaded, and follows what other processes save; what is behind is old', async () => {
  const world = new World();
  world.stored = [{ organisationId: 'one', aheadMs: 10 }];
  const clocks = await world.open();
  expect(clocks.now(TEST)).toBe(1010);
  world.stored = [{ organisationId: 'one', aheadMs: 20 }];
  await world.hear('customer');
  expect(clocks.now(TEST)).toBe(1010);
  await world.hear('test_clock');
  expect(clocks.now(TEST)).toBe(1020);
  world.stored = [{ organisationId: 'one', aheadMs: 5 }];
  await world.hear('test_clock');
  expect(clocks.now(TEST)).toBe(1020);
  clocks.stop('one', 1500);
  world.stored = [{ organisationId: 'one', aheadMs: 900 }];
  await world.hear('test_clock');
  expect(clocks.now(TEST)).toBe(1500);
  world.isAway = true;
  world.subscriber?.reset();
  await Bun.sleep(0);
  expect(world.warned).toEqual(['test clocks could not be read']);
});
