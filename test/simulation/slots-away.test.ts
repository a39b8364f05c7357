// Slots that leave a session while its calls are under way.
import { expect, test } from 'bun:test';
import type { Actor } from '../../ledger/actor/actor.ts';
import { recordBatch } from '../../ledger/actor/batch-recording.ts';
import { NotOwner } from '../../ledger/actor/own-slots.ts';
import { OwnershipSession } from '../../ledger/actor/ownership-session.ts';
import { recordOne } from '../../ledger/actor/recording.ts';
import type { UsageRequest } from '../../ledger/outcome.ts';
import { slotOf } from '../../ledger/kernel/slot.ts';
import { idsOf, T0 } from './catalogue.ts';
import { diskOf } from './disk.ts';
import { Machine } from './schedule.ts';
import { World } from './world.ts';

/** A node that is alone, in virtual time. */
class Alone {
  readonly world = new World(1, () => undefined);
  readonly customers = this.world.catalogue.customers.map(({ id }) => id);
  readonly meter = this.world.catalogue.meters.open;
  readonly #machine = new Machine('alone');

  session(): OwnershipSession {
    const { schedule, server, random, leaseMs } = this.world;
    const storage = diskOf(server, { machine: this.#machine, address: null });
    const clock = { now: () => T0 + Math.floor(schedule.now), monotonic: () => schedule.now };
    const askedAt = { monotonic: clock.monotonic(), wall: clock.now() };
    const fence = this.settled(storage.claim());
    const bug = (_: unknown, message: string): void => expect.unreachable(message);
    const session = new OwnershipSession(
      {
        storage,
        clock,
        leaseMs,
        ids: idsOf(random),
        orgClock: {
          now: clock.now,
          wall: clock.now,
          observe: () => undefined,
          stopped: new Set(),
          catchUp: () => Promise.resolve(),
        },
        timers: {
          after: (ms, task) => schedule.after(ms, this.#machine, task),
          soon: (task) => void schedule.after(0, this.#machine, task),
        },
        log: { info: bug, warn: bug, error: bug },
        bounds: {
          meters: Infinity,
          grantsPerMeter: Infinity,
          grants: Infinity,
          subscriptions: Infinity,
        },
        cacheBounds: { actors: 100, bytes: Infinity },
        render: () => '',
        wants: () => false,
        alertsOf: () => [],
        poolOf: () => null,
        onPaymentDue: () => Promise.resolve(),
        onSubscriptionDue: () => Promise.resolve(),
        onFlush: () => undefined,
        onTopUpsOrdered: () => undefined,
      },
      { fence: fence!, askedAt, onLost: (why) => expect.unreachable(why) },
    );
    session.store.slots.gain(this.customers.map(slotOf));
    return session;
  }

  /** What the promise gives, in 100 ms at most. */
  settled<T>(promise: Promise<T>): T {
    const late = new Error('it was never settled');
    const outcome: { value?: T; error: Error | null } = { error: late };
    promise.then(
      (value) => Object.assign(outcome, { value, error: null }),
      (error: unknown) => (outcome.error = error as Error),
    );
    const { schedule } = this.world;
    schedule.run(schedule.now + 100, () => outcome.error !== late);
    if (outcome.error !== null) throw outcome.error;
    return outcome.value as T;
  }
}

const request = (keyId: string): UsageRequest => ({
  value: 1n,
  member: null,
  eventAt: null,
  admission: 'record',
  metadata: null,
  exactReplay: false,
  fingerprint: 1n,
  keyId,
  formerKeyId: null,
  idempotencyKey: null,
  externalId: null,
});

test('a simulated keyed call whose slot leaves and comes back does not wait for itself', () => {
  const alone = new Alone();
  const session = alone.session();
  const { meter } = alone;
  const [id = ''] = alone.customers;
  const find = (): Promise<Actor> => session.store.actorOf(id);
  const keyed = request(idsOf(alone.world.random).next());
  const item = { actor: alone.settled(find()), meter, request: keyed };
  session.store.lose([slotOf(id)]);
  // As a router does that finds the slot here again.
  const elsewhere = async () => {
    session.store.slots.gain([slotOf(id)]);
    return recordOne(session, { ...item, actor: await find() }, null);
  };
  const first = alone.settled(recordOne(session, item, elsewhere));
  expect(first).toMatchObject({ kind: 'recorded', replayed: false });
  // The key is free again.
  const again = alone.settled(
    recordOne(session, { ...item, actor: alone.settled(find()) }, elsewhere),
  );
  expect(again).toMatchObject({ kind: 'recorded', replayed: true });
});

test('a simulated batch that lost one customer holds no other in memory', () => {
  const alone = new Alone();
  const session = alone.session();
  const [gone = '', stays = ''] = alone.customers;
  const { random } = alone.world;
  const items = [gone, stays].map((id) => ({
    actor: alone.settled(session.store.actorOf(id)),
    meter: alone.meter,
    request: request(idsOf(random).next()),
    follows: false,
  }));
  session.store.lose([slotOf(gone)]);
  session.store.directory.forget(stays);
  expect(() => alone.settled(recordBatch(session, items, false))).toThrow(NotOwner);
  const { held } = alone.settled(session.store.actorOf(stays));
  expect(held).toBe(0);
});
