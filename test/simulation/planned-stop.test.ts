// Nodes stop one after the other while callers continue at those that are left: none is refused,
// also where a node learns in one look that the last other one has given it its slots and is gone.
import { expect, test } from 'bun:test';
import type { UsageRequest } from '../../ledger/outcome.ts';
import { idsOf } from './catalogue.ts';
import type { Place, Process } from './process.ts';
import { someOf } from '../support/cases.ts';
import { World } from './world.ts';

const SEEDS = someOf(Array.from({ length: 60 }, (_, n) => n + 1));
const CALLERS = 8;
const STEPS_MAX = 60_000;

/** Nodes in virtual time, and callers: each has one call after the other under way. */
class PlannedStop {
  readonly refused: string[] = [];
  answered = 0;
  readonly #world: World;
  /** Where callers go. */
  readonly #open: Set<Place>;
  readonly #underWay = new Map<Place, number>();

  constructor(world: World) {
    this.#world = world;
    this.#open = new Set(world.places);
    world.downMsMax = Infinity;
    world.network.latencyMsMax = world.random.pick([5, 20]);
    for (const place of world.places) world.start(place);
  }

  run(): void {
    const processes = () => this.#world.places.map(({ process }) => process);
    const isServed = (process: Process | null) => (process?.ledger.stats['slots'] ?? 0) > 0;
    this.#until(() => processes().every(isServed));
    const bug = (error: unknown) => void this.refused.push(String(error));
    for (let i = 0; i < CALLERS; i += 1) this.#call().catch(bug);
    this.#stopAll().catch(bug);
    this.#until(() => processes().every((process) => process === null));
  }

  #until(isSo: () => boolean): void {
    const { schedule } = this.#world;
    for (let steps = 0; !isSo(); steps += 1) {
      if (steps > STEPS_MAX) throw new Error('it takes for ever');
      schedule.run(schedule.now + 1);
    }
  }

  async #call(): Promise<void> {
    const { random, schedule, network } = this.#world;
    while (this.#open.size > 0) {
      const place = random.pick([...this.#open]);
      this.#count(place, 1);
      await this.#record(place.process!);
      this.#count(place, -1);
      await schedule.wait(network.latency(), null);
    }
  }

  async #record({ ledger, machine }: Process): Promise<void> {
    const { random, catalogue, schedule } = this.#world;
    const { id, organisationId, mode } = random.pick(catalogue.customers);
    try {
      const found = await ledger.find({ organisationId, mode }, { id });
      const usage = { ...USAGE, keyId: idsOf(random).next() };
      await ledger.record(found!, catalogue.meters.open, usage);
      this.answered += 1;
    } catch (error) {
      this.refused.push(`${schedule.now} ${machine.name}: ${String(error)}`);
    }
  }

  /** As `src/front.ts`: a node that leaves answers until nothing comes any more, and then ends. */
  async #stopAll(): Promise<void> {
    const { schedule, random, places } = this.#world;
    for (const place of places) {
      const process = place.process!;
      process.ledger.leave();
      await schedule.wait(schedule.between(0, 100), null);
      this.#open.delete(place);
      while (this.#underWay.get(place) !== 0) await schedule.wait(random.integer(1, 5), null);
      process.stop().catch((error: unknown) => this.refused.push(String(error)));
      while (place.process !== null) await schedule.wait(1, null);
    }
  }

  #count(place: Place, by: number): void {
    this.#underWay.set(place, (this.#underWay.get(place) ?? 0) + by);
  }
}

const USAGE: UsageRequest = {
  value: 1n,
  member: null,
  eventAt: null,
  admission: 'record',
  metadata: null,
  exactReplay: false,
  fingerprint: 1n,
  keyId: null,
  formerKeyId: null,
  idempotencyKey: null,
  externalId: null,
};

test('simulated nodes that stop in turn refuse no caller', () => {
  const refused: string[] = [];
  let answered = 0;
  for (const seed of SEEDS) {
    const world = new World(seed, () => undefined);
    if (world.isSolo) continue;
    const stop = new PlannedStop(world);
    stop.run();
    answered += stop.answered;
    refused.push(...stop.refused.map((why) => `seed ${seed}: ${why}`));
  }
  expect(refused).toEqual([]);
  expect(answered).toBeGreaterThan(150 * SEEDS.length);
}, 60_000);
