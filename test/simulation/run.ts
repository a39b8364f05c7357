// One seed, from the start of the first process to the auditor's final check.
import * as calls from './calls.ts';
import { isAsWritten } from './credit-calls.ts';
import { type FaultName, planFaults } from './faults.ts';
import { type Compared, Historian } from './historian.ts';
import { checkLevels } from './level-audit.ts';
import { Load } from './load.ts';
import { checkReserved } from './reservation-audit.ts';
import { checkSold } from './sold-audit.ts';
import * as sold from './sold-calls.ts';
import { World } from './world.ts';

export type Run = {
  readonly problems: readonly string[];
  readonly faults: readonly FaultName[];
  readonly events: number;
  readonly transfers: number;
  /** Balances beside those of the reference; null where nobody compares them. */
  readonly settled: Compared | null;
};

const ACTIVE_MS = 6000;
/** Histories go on for as long as the run waits for leases, without faults. */
const TOLD_MS = 8000;
/** A lease that must expire, the retries meanwhile, and at most two seconds. */
const SERVED_MS_MAX = 2000;
/** Longer than any client waits. */
const LAST_MS = 60_000;

export function simulate(seed: number, trace: (line: string) => void = () => undefined): Run {
  const world = new World(seed, trace);
  const { schedule, auditor, server } = world;
  for (const place of world.places) world.later(schedule.between(0, 50), () => world.start(place));
  const faults = planFaults(world, ACTIVE_MS);
  const load = new Load(world);
  const historian = historianOf(world, { seed, faults });
  world.later(100, () => {
    load.start(ACTIVE_MS);
    if (historian !== null) load.tell(historian, TOLD_MS);
  });
  schedule.run(ACTIVE_MS);
  heal(world);
  schedule.run(schedule.now + world.leaseMs + SERVED_MS_MAX);
  let isDone = false;
  askLast(world)
    .then(() => endAll(world, load, historian))
    .finally(() => {
      isDone = true;
    })
    .catch((error: unknown) => auditor.said('the last client', 'failed', error));
  schedule.run(LAST_MS, () => isDone && load.running === 0);
  auditor.demand(isDone && load.running === 0, 'it does not come to an end');
  auditor.close(server.db);
  checkReserved(auditor, server.db);
  checkLevels(auditor, server.db);
  world.credits?.close();
  checkSold(auditor, server.db, !faults.some((name) => TURNS_CLOCKS.has(name)));
  world.hard.close(world.isCalm);
  const transfers = server.db.transfers.size;
  const { problems } = auditor;
  const settled = historian?.compared ?? null;
  return { problems, faults, events: schedule.events, transfers, settled };
}

/** In every third run. Not where a clock is set: then rows do not say in which order they came. */
function historianOf(
  world: World,
  { seed, faults }: { readonly seed: number; readonly faults: readonly FaultName[] },
): Historian | null {
  const may = seed % 3 === 0 && !faults.includes('clockJump');
  return may ? new Historian(world, seed) : null;
}

/** No faults from here on. */
function heal(world: World): void {
  const { network, server, places, stopgaps } = world;
  world.trace('all faults are over');
  network.heal();
  network.latencyMsMax = 1;
  server.isUp = true;
  server.slowMsMax = 0;
  server.slowReadMsMax = 0;
  world.downMsMax = 100;
  for (const end of stopgaps) end();
  for (const place of places) world.start(place);
}

/**
 * Every customer is now served by every place, or by the only one that may serve, and every answer
 * is exactly the database's state.
 */
async function askLast(world: World): Promise<void> {
  const { catalogue, auditor, places } = world;
  const meters = [catalogue.meters.open, catalogue.meters.strict];
  for (const customer of catalogue.customers) {
    let served = 0;
    for (const place of places) {
      const became = await calls.check(world, { customer, meter: catalogue.meters.open }, place);
      if (became === 'answer') served += 1;
      await calls.balances(world, { customer, meters }, place);
    }
    const wanted = world.isSolo ? 1 : places.length;
    auditor.demand(
      served === wanted,
      `customer ${customer.externalId} is served by ${served} places`,
    );
  }
}

const TURNS_CLOCKS: ReadonlySet<FaultName> = new Set(['clockJump', 'sleep']);

/** When nobody uses anything any more, every subscription ends, and what it owes is carried out. */
async function endAll(world: World, load: Load, historian: Historian | null): Promise<void> {
  const { schedule, catalogue, server, places } = world;
  while (load.running > 0) await schedule.wait(100, null);
  for (const customer of catalogue.customers) {
    for (const place of places) {
      if ((await sold.act(world, customer, { kind: 'cancel', place })) === 'answer') break;
    }
  }
  await historian?.end();
  const { db } = server;
  for (let tries = 0; tries < 20 && db.owed.size + db.charges.size > 0; tries += 1) {
    await schedule.wait(500, null);
  }
  await compareCredits(world);
}

/** What nodes remember is what is written, once what is due is written, too. */
async function compareCredits(world: World): Promise<void> {
  if (world.pool === null) return;
  for (const customer of world.catalogue.customers) {
    let isSame = await isAsWritten(world, customer);
    for (let tries = 0; tries < 20 && !isSame; tries += 1) {
      await world.schedule.wait(500, null);
      isSame = await isAsWritten(world, customer);
    }
    world.auditor.demand(isSame, `the credits of ${customer.externalId} are not what is written`);
  }
}
