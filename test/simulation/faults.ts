// The faults of a run. Each seed has a few kinds, some of them often.
import { DATABASE } from './network.ts';
import { loseLast } from './owned.ts';
import type { Place } from './process.ts';
import type { World } from './world.ts';

type Fault = (world: World) => void;

/** Sometimes longer than a lease. */
const spell = (world: World): number => world.schedule.between(1, world.leaseMs * 2.5);

const FAULTS = {
  crash: (world) => anyPlace(world).process?.kill(),
  restart: (world) => {
    const { process } = anyPlace(world);
    process
      ?.stop()
      .catch((error: unknown) => world.auditor.said(process.machine.name, 'did not close', error));
  },
  pause: (world) => stand(world, { monotonicToo: false }),
  /** A whole machine sleeps: its monotonic clock stops. */
  sleep: (world) => stand(world, { monotonicToo: true }),
  clockJump: (world) => {
    anyPlace(world).ahead += world.random.integer(world.mayStepBack ? -3000 : 0, 3000);
  },
  databaseCut: (world) => {
    const name = anyPlace(world).process?.machine.name;
    if (name !== undefined) cut(world, name, DATABASE);
  },
  nodesCut: (world) => {
    const [a, b] = [anyPlace(world).process, anyPlace(world).process];
    if (a !== null && b !== null && a !== b) cut(world, a.machine.name, b.machine.name);
  },
  databaseDown: (world) => {
    world.server.isUp = false;
    world.later(world.schedule.between(1, world.leaseMs * 1.5), () => {
      world.server.isUp = true;
    });
  },
  slowDisk: (world) => {
    world.server.slowMsMax = world.schedule.between(1, world.leaseMs * 1.5);
    world.later(spell(world), () => {
      world.server.slowMsMax = 0;
    });
  },
  slowReads: (world) => {
    world.server.slowReadMsMax = world.schedule.between(1, world.leaseMs);
    world.later(spell(world), () => {
      world.server.slowReadMsMax = 0;
    });
  },
  /** A copy of the database that lacks the last transactions is promoted. */
  staleCopy: (world) => {
    if (world.auditor.isLossy || !world.random.chance(0.2)) return;
    loseLast(world.auditor, world.server, world.random.integer(1, 10));
  },
  lostMessages: (world) => {
    world.network.lossRate = world.schedule.random.integer(1, 20) / 100;
    world.later(spell(world), () => {
      world.network.lossRate = 0;
    });
  },
  slowNetwork: (world) => {
    world.network.latencyMsMax = world.schedule.between(1, 200);
    world.later(spell(world), () => {
      world.network.latencyMsMax = 1;
    });
  },
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof FAULTS;

/** Schedules the faults until `until`. */
export function planFaults(world: World, until: number): readonly FaultName[] {
  const { random } = world.schedule;
  world.isCalm = random.chance(0.1);
  if (world.isCalm) return [];
  const names = (Object.keys(FAULTS) as FaultName[]).filter(() => random.chance(0.3));
  if (names.length === 0) return names;
  world.mayStepBack = !names.includes('sleep');
  const count = random.integer(1, 8);
  for (let i = 0; i < count; i += 1) {
    const name = random.pick(names);
    world.later(world.schedule.between(0, until), () => {
      world.trace(`fault: ${name}`);
      FAULTS[name](world);
    });
  }
  return names;
}

function anyPlace(world: World): Place {
  return world.schedule.random.pick(world.places);
}

function stand(world: World, { monotonicToo }: { monotonicToo: boolean }): void {
  const place = anyPlace(world);
  const machine = place.process?.machine;
  if (machine === undefined || machine.isPaused) return;
  const began = world.schedule.now;
  machine.isPaused = true;
  let isOver = false;
  const resume = (): void => {
    // It may stand still again when the last stopgap ends.
    if (isOver) return;
    isOver = true;
    // A process that started there since has a clock that never stopped, and no clock goes back.
    const isSame = place.process?.machine === machine;
    if (monotonicToo && isSame) place.stoodStill += world.schedule.now - began;
    world.schedule.resume(machine);
  };
  world.later(spell(world), resume);
  world.stopgaps.push(resume);
}

/** One direction, or both. */
function cut({ network, schedule, later }: World, a: string, b: string): void {
  const ways = schedule.random.pick([
    [[a, b]],
    [[b, a]],
    [
      [a, b],
      [b, a],
    ],
  ] as const);
  for (const [from, to] of ways) network.cut(from, to);
  later(schedule.between(1, 6000), () => {
    for (const [from, to] of ways) network.mend(from, to);
  });
}
