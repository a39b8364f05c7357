// The steps of an advancing clock, on alarms that the test makes: their order, their times, and
// what ends the advance early.
import { expect, test } from 'bun:test';
import { LedgerUnavailable } from '../../../ledger/ports.ts';
import type { DueAlarm, NextAlarms } from '../../../ledger/storage.ts';
import { openOrgClocks, type OrgClocks } from '../../../src/platform/org-clock.ts';
import {
  type DueAlarms,
  TestClocks,
  type TestClocksDeps,
} from '../../../src/test-clock/test-clocks.ts';
import { MINUTE } from './clock.ts';

const ORG = 'one';
const TENANT = { organisationId: ORG, mode: 'test' } as const;
const START = 1_000_000;

function alarm(name: string, dueAt: number): DueAlarm {
  return { kind: 'meter', actorId: name, subjectId: name, tenant: TENANT, dueAt };
}

/** Alarms in memory: each fires once, and may add others. */
class World implements DueAlarms {
  alarms: DueAlarm[] = [];
  owed = 0;
  readonly causes = new Map<string, readonly DueAlarm[]>();
  readonly stuck = new Set<string>();
  /** Each fired alarm and its time. */
  readonly rung: [string, number][] = [];
  readonly saved: number[] = [];
  /** Tells the other nodes that the clock runs. */
  tellRunning = (): Promise<void> => Promise.resolve();
  after: (task: () => void) => void = queueMicrotask;
  version = 0;
  rows: TestClocksDeps['rows'] = {
    stop: (to) => {
      this.saved.push(to.aheadMs);
      return Promise.resolve({ ...to, version: (this.version += 1) });
    },
    run: (organisationId) => {
      const aheadMs = this.saved.at(-1) ?? 0;
      const version = (this.version += 1);
      return Promise.resolve({ organisationId, aheadMs, stoppedAt: null, version });
    },
  };

  readonly testClocks: TestClocks;

  readonly clocks: OrgClocks;

  private constructor(clocks: OrgClocks) {
    this.clocks = clocks;
    this.testClocks = new TestClocks({
      clocks,
      due: this,
      owed: [{ carryOut: () => Promise.resolve(this.owed > 0 && (this.owed -= 1) >= 0) }],
      rows: { stop: (to) => this.rows.stop(to), run: (id) => this.rows.run(id) },
      tellAll: async ({ stoppedAt }) => {
        if (stoppedAt === null) await this.tellRunning();
        return [];
      },
      timers: {
        after: (_ms, task) => {
          this.after(task);
          return () => undefined;
        },
        soon: queueMicrotask,
      },
    });
  }

  static async open(): Promise<World> {
    return new World(
      await openOrgClocks({
        list: () => Promise.resolve([]),
        clock: { now: () => START, monotonic: () => 0 },
        timers: { after: () => () => undefined, soon: queueMicrotask },
        changes: {
          trusted: true,
          subscribe: () => undefined,
          publish: () => Promise.resolve(),
          close: () => Promise.resolve(),
        },
        warn: () => undefined,
      }),
    );
  }

  get now(): number {
    return this.clocks.now(TENANT) - START;
  }

  get held(): string[] {
    return [...this.clocks.stopped];
  }

  quiet(organisationId: string): Promise<void> {
    expect(this.held).toEqual([organisationId]);
    return Promise.resolve();
  }

  next(_organisationId: string, until: number): Promise<NextAlarms> {
    const due = this.alarms.filter(({ dueAt }) => dueAt <= until);
    due.sort((a, b) => a.dueAt - b.dueAt);
    const first = due[0]?.dueAt ?? 0;
    const alarms = due.filter(({ dueAt }) => dueAt <= first + MINUTE);
    return Promise.resolve({ alarms, at: alarms.at(-1)?.dueAt ?? until });
  }

  ring(due: readonly DueAlarm[]): Promise<void> {
    for (const one of due) {
      expect(this.held).toEqual([ORG]);
      this.rung.push([one.actorId, this.now]);
      if (this.stuck.has(one.actorId)) continue;
      this.alarms = this.alarms.filter((other) => other !== one);
      this.alarms.push(...(this.causes.get(one.actorId) ?? []));
    }
    return Promise.resolve();
  }
}

const move = (world: World, ms: number, left = new AbortController().signal) =>
  world.testClocks.move(ORG, (now) => now + ms, left);

test("a test clock's move visits each due time, close ones at the last of them, none beyond the end", async () => {
  const world = await World.open();
  world.alarms = [
    alarm('far', START + 10 * MINUTE + 1),
    alarm('third', START + 5 * MINUTE),
    alarm('overdue', START - MINUTE),
    alarm('second', START + 3 * MINUTE + 7),
    alarm('first', START + 3 * MINUTE),
  ];
  world.causes.set('third', [alarm('caused', START + 7 * MINUTE)]);
  expect(await move(world, 10 * MINUTE)).toBe('moved');
  expect(world.rung).toEqual([
    ['overdue', 0],
    ['first', 3 * MINUTE + 7],
    ['second', 3 * MINUTE + 7],
    ['third', 5 * MINUTE],
    ['caused', 7 * MINUTE],
  ]);
  // Each step was stored, and so is the end.
  expect(world.saved).toEqual([0, 3 * MINUTE + 7, 5 * MINUTE, 7 * MINUTE, 10 * MINUTE]);
  expect([world.now, world.held]).toEqual([10 * MINUTE, []]);
});

test("a test clock's step carries out what is owed, again while it brings about more", async () => {
  const world = await World.open();
  world.owed = 3;
  expect(await move(world, 1)).toBe('moved');
  expect(world.owed).toBe(0);
});

test("a test clock's step that cannot finish ends the move there, and it goes on from there", async () => {
  const world = await World.open();
  world.alarms = [alarm('stuck', START + MINUTE), alarm('later', START + 5 * MINUTE)];
  world.stuck.add('stuck');
  const moving = move(world, 10 * MINUTE);
  expect(await move(world, 0)).toBe('moving');
  expect(await moving.catch((error: unknown) => error)).toBeInstanceOf(LedgerUnavailable);
  expect(world.held).toEqual([]);
  expect([world.now, world.saved.at(-1)]).toEqual([MINUTE, MINUTE]);
  expect(world.rung.every(([name]) => name === 'stuck')).toBe(true);
  world.stuck.clear();
  expect(await move(world, 9 * MINUTE)).toBe('moved');
  expect(world.rung.slice(-2)).toEqual([
    ['stuck', MINUTE],
    ['later', 5 * MINUTE],
  ]);
});

test('a test clock stays before the year 3000, however often it is moved', async () => {
  const world = await World.open();
  const end = Date.UTC(3000, 0);
  const years = 5 * 365 * 86_400_000;
  for (;;) {
    const at = START + world.now;
    const reply = await move(world, years);
    if (at + years < end) expect(reply).toBe('moved');
    else {
      expect(reply).toBe('past_end');
      break;
    }
  }
  expect(await move(world, end - 1 - START - world.now)).toBe('moved');
  expect(await move(world, 1)).toBe('past_end');
});

test('a test clock whose caller disconnects stays at the step that had begun', async () => {
  const world = await World.open();
  const caller = new AbortController();
  world.alarms = [alarm('first', START + MINUTE), alarm('second', START + 5 * MINUTE)];
  world.ring = (due) => {
    caller.abort();
    return World.prototype.ring.call(world, due);
  };
  const moving = move(world, 10 * MINUTE, caller.signal);
  expect(await moving.catch((error: unknown) => error)).toBeInstanceOf(LedgerUnavailable);
  expect([world.rung, world.now, world.held]).toEqual([[['first', MINUTE]], MINUTE, []]);
  expect(await move(world, 9 * MINUTE)).toBe('moved');
  expect(world.rung.at(-1)).toEqual(['second', 5 * MINUTE]);
});

test('a test clock that runs on other nodes already is moved once every node knows', async () => {
  const world = await World.open();
  const [telling, told] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  world.tellRunning = () => {
    telling.resolve();
    return told.promise;
  };
  const first = move(world, MINUTE);
  await telling.promise;
  const second = move(world, 2 * MINUTE);
  told.resolve();
  expect(await Promise.all([first, second])).toEqual(['moved', 'moved']);
  expect([world.now, world.held]).toEqual([3 * MINUTE, []]);
});

test('a test clock is moved by a node that has not heard that it runs', async () => {
  const world = await World.open();
  world.clocks.set({ organisationId: ORG, aheadMs: 0, stoppedAt: START, version: 0 });
  world.version = 1;
  expect(await move(world, MINUTE)).toBe('moved');
  expect([world.now, world.held]).toEqual([MINUTE, []]);
});

test('a test clock that could not be let run is moved on, and runs at the end of that', async () => {
  const world = await World.open();
  const { rows } = world;
  const later: (() => void)[] = [];
  world.after = (task) => later.push(task);
  world.rows = { ...rows, run: () => Promise.reject(new Error('no database')) };
  expect(await move(world, MINUTE)).toBe('moved');
  expect(world.held).toEqual([ORG]);
  world.rows = rows;
  world.ring = (due) => {
    for (const task of later.splice(0)) task();
    return World.prototype.ring.call(world, due);
  };
  world.alarms = [alarm('first', START + 2 * MINUTE), alarm('second', START + 3 * MINUTE)];
  expect(await move(world, 5 * MINUTE)).toBe('moved');
  expect(world.rung.map(([name]) => name)).toEqual(['first', 'second']);
  expect([world.now, world.held]).toEqual([6 * MINUTE, []]);
});
