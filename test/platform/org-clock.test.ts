// An organisation's time: equal to the wall clock, ahead of it, or stopped; it never goes back.
import { expect, test } from 'bun:test';
import type { ChangeKind, Subscriber } from '../../src/platform/postgres/changes.ts';
import { openOrgClocks, type OrgClocks, type TestClock } from '../../src/platform/org-clock.ts';

const TEST = { organisationId: 'one', mode: 'test' } as const;
const LIVE = { organisationId: 'one', mode: 'live' } as const;
const OTHER = { organisationId: 'two', mode: 'test' } as const;

class World {
  wall = 1000;
  stored: TestClock[] = [];
  subscriber: Subscriber | undefined;
  isAway = false;
  version = 0;
  readonly warned: string[] = [];
  /** Timers that are set. */
  tasks: (() => void)[] = [];

  open(): Promise<OrgClocks> {
    return openOrgClocks({
      list: () => (this.isAway ? Promise.reject(new Error('away')) : Promise.resolve(this.stored)),
      clock: { now: () => this.wall, monotonic: () => 0 },
      timers: {
        after: (_ms, task) => {
          this.tasks.push(task);
          return () => undefined;
        },
        soon: queueMicrotask,
      },
      changes: {
        trusted: true,
        subscribe: (subscriber) => void (this.subscriber = subscriber),
        publish: () => Promise.resolve(),
        close: () => Promise.resolve(),
      },
      warn: (_fields, message) => this.warned.push(message),
    });
  }

  async hear(kind: ChangeKind): Promise<void> {
    await this.subscriber?.changed(kind, 'one');
  }

  stopped(at: number): TestClock {
    return { ...this.ahead(Math.max(0, at - this.wall)), stoppedAt: at };
  }

  ahead(aheadMs: number): TestClock {
    return { organisationId: 'one', aheadMs, stoppedAt: null, version: (this.version += 1) };
  }

  async later(): Promise<void> {
    for (const task of this.tasks.splice(0)) task();
    await Bun.sleep(0);
  }
}

test("an organisation's clock is the wall clock until it is moved, then as far ahead, in its mode", async () => {
  const world = new World();
  const clocks = await world.open();
  expect(clocks.now(TEST)).toBe(1000);
  clocks.set(world.stopped(5000));
  world.wall = 2000;
  expect([TEST, LIVE, OTHER].map((tenant) => clocks.now(tenant))).toEqual([5000, 2000, 2000]);
  expect([...clocks.stopped]).toEqual(['one']);
  clocks.set(world.stopped(6000));
  expect(clocks.now(TEST)).toBe(6000);
  clocks.set(world.ahead(4000));
  expect([clocks.now(TEST), clocks.now(OTHER), clocks.stopped.size]).toEqual([6000, 2000, 0]);
  world.wall = 2500;
  expect(clocks.now(TEST)).toBe(6500);
});

test("an organisation's clock never goes back, when stopped in place or where this node lags", async () => {
  const world = new World();
  const clocks = await world.open();
  clocks.set(world.ahead(4000));
  world.wall = 1500;
  // From a node whose clock is behind.
  clocks.set({ ...world.ahead(4000), stoppedAt: 5100 });
  expect(clocks.now(TEST)).toBe(5500);
  clocks.set({ ...world.ahead(4000), stoppedAt: 7000 });
  expect(clocks.now(TEST)).toBe(7000);
  clocks.set(world.ahead(5000));
  expect(clocks.now(TEST)).toBe(7000);
  world.wall = 2100;
  expect(clocks.now(TEST)).toBe(7100);
});

test("the newer version of an organisation's clock counts, however late the older is heard", async () => {
  const world = new World();
  const clocks = await world.open();
  const [stop, on, run] = [world.stopped(5000), world.stopped(6000), world.ahead(5000)];
  clocks.set(on);
  clocks.set(stop);
  expect(clocks.now(TEST)).toBe(6000);
  clocks.set(run);
  clocks.set(on);
  expect(clocks.stopped.size).toBe(0);
  world.wall = 1001;
  expect(clocks.now(TEST)).toBe(6001);
});

test("an organisation's clock is loaded, and follows what other processes save", async () => {
  const world = new World();
  world.stored = [world.ahead(10)];
  const clocks = await world.open();
  expect(clocks.now(TEST)).toBe(1010);
  world.stored = [world.ahead(20)];
  await world.hear('customer');
  expect(clocks.now(TEST)).toBe(1010);
  await world.hear('test_clock');
  expect(clocks.now(TEST)).toBe(1020);
  clocks.set(world.stopped(1500));
  await world.hear('test_clock');
  expect(clocks.now(TEST)).toBe(1500);
  world.isAway = true;
  world.subscriber?.reset();
  await Bun.sleep(0);
  expect(world.warned).toEqual(['test clocks could not be read']);
});

test("an organisation's clock whose mover died runs on, without a notification", async () => {
  const world = new World();
  const clocks = await world.open();
  const stop = world.stopped(5000);
  world.stored = [stop];
  await world.hear('test_clock');
  await world.later();
  expect([...clocks.stopped]).toEqual(['one']);
  // The same row: the lease of the node that moved it is over.
  world.stored = [{ ...stop, stoppedAt: null }];
  world.isAway = true;
  await world.later();
  expect([...clocks.stopped]).toEqual(['one']);
  world.isAway = false;
  world.wall = 1200;
  await world.later();
  expect([clocks.now(TEST), clocks.stopped.size]).toEqual([5200, 0]);
  await world.later();
  expect(world.tasks).toEqual([]);
});

test('a time heard from another node is past, unless that clock is wrong', async () => {
  const world = new World();
  const clocks = await world.open();
  clocks.observe(900);
  expect(clocks.wall()).toBe(1000);
  clocks.observe(3000);
  clocks.observe(2999);
  expect([TEST, LIVE].map((tenant) => clocks.now(tenant))).toEqual([3000, 3000]);
  expect(clocks.stats).toEqual({ leadMs: 2000, wrong: 0 });
  clocks.observe(3001);
  clocks.observe(9999);
  expect(clocks.wall()).toBe(3000);
  expect(clocks.stats).toEqual({ leadMs: 2000, wrong: 2 });
  expect(world.warned).toHaveLength(1);
  world.wall = 3100;
  expect([clocks.wall(), clocks.stats.leadMs]).toEqual([3100, 0]);
  // The wall clock is set back: the timer does not wait until it has caught up.
  world.wall = 500;
  expect(clocks.wall()).toBe(500);
});
