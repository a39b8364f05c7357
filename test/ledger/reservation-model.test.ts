// Random histories of what is granted, used and held, over many periods: after each step the ledger
// says what the specification says of the facts, whether its alarms come or not.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Grant } from '../../ledger/metering/grants.ts';
import { balance, breakdown, snapshotOf } from '../../ledger/metering/meter.ts';
import { holds, seeded } from './property.ts';
import { Model } from './reservation-model.ts';
import { DAY, T0, World } from './world.ts';

type Command =
  | { readonly kind: 'use'; readonly value: number }
  | {
      readonly kind: 'top-up';
      readonly size: number;
      readonly priority: number;
      readonly ms: number | null;
    }
  | { readonly kind: 'void'; readonly which: number }
  | { readonly kind: 'release'; readonly which: number }
  | { readonly kind: 'reserve'; readonly amount: number; readonly seconds: number }
  | { readonly kind: 'commit'; readonly which: number; readonly value: number }
  | {
      readonly kind: 'extend';
      readonly which: number;
      readonly more: number;
      readonly seconds: number;
    }
  | { readonly kind: 'change'; readonly size: number }
  | { readonly kind: 'rest'; readonly rests: boolean }
  | { readonly kind: 'withdraw' }
  | { readonly kind: 'wait'; readonly ms: number; readonly rings: boolean };

const just = <const T>(value: T) => fc.constant(value);
const few = fc.integer({ min: 1, max: 9 });
const seconds = fc.oneof(just(60), just(DAY / 1000), fc.integer({ min: 1, max: 350_000 }));
const waits = fc.oneof(just(60_000), just(DAY), fc.integer({ min: 1, max: 2 * DAY }));
const which = fc.nat(5);

const commands = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: just('use'),
        value: fc.integer({ min: -6, max: 9 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: just('top-up'),
        size: few,
        priority: fc.constantFrom(50, 100, 150),
        ms: fc.option(waits),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: just('void'), which }) },
    { weight: 6, arbitrary: fc.record({ kind: just('reserve'), amount: few, seconds }) },
    {
      weight: 4,
      arbitrary: fc.record({ kind: just('commit'), which, value: fc.integer({ min: 0, max: 12 }) }),
    },
    { weight: 3, arbitrary: fc.record({ kind: just('release'), which }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: just('extend'),
        which,
        more: fc.integer({ min: 0, max: 4 }),
        seconds,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: just('change'), size: fc.integer({ min: 0, max: 15 }) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: just('rest'), rests: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ kind: just('withdraw') }) },
    { weight: 5, arbitrary: fc.record({ kind: just('wait'), ms: waits, rings: fc.boolean() }) },
  ),
  { maxLength: 30, size: '+1' },
) as fc.Arbitrary<Command[]>;

const plans = fc.record({
  size: fc.integer({ min: 1, max: 12 }),
  rollover: fc.option(
    fc.record({ max: fc.integer({ min: 1, max: 12 }), periods: fc.integer({ min: 1, max: 3 }) }),
    { freq: 3 },
  ),
});

/** The ledger and the reckoning, side by side. */
class Pair {
  readonly world = new World();
  readonly model: Model;
  readonly #rollover;
  #count = 0;

  constructor({
    size,
    rollover,
  }: {
    size: number;
    rollover: { max: number; periods: number } | null;
  }) {
    this.model = new Model(size, rollover);
    this.#rollover =
      rollover === null
        ? null
        : { max: BigInt(rollover.max), expiresAfterPeriods: rollover.periods };
    this.world.plan(this.#terms('plan', size));
  }

  #terms(grantId: string, size: number) {
    const cycle = { anchor: T0, zone: 'UTC' };
    const limit = BigInt(size);
    return { grantId, limit, resetInterval: 'day', cycle, rollover: this.#rollover } as const;
  }

  #wait(ms: number): void {
    this.world.now += ms;
    this.model.pass(ms);
  }

  obey(command: Command): void {
    const { world, model } = this;
    // No two things are made in one millisecond.
    this.#wait(1);
    this.#count += 1;
    const id = `n${this.#count}`;
    switch (command.kind) {
      case 'use':
        world.use(BigInt(command.value));
        return model.use(command.value);
      case 'top-up': {
        const { size, priority, ms } = command;
        const expiresAt = ms === null ? null : world.now + ms;
        world.grant({ id, amount: BigInt(size), priority, expiresAt });
        return model.topUp(id, size, priority, expiresAt ?? Infinity);
      }
      case 'void': {
        const one = model.liveTops[command.which];
        if (one === undefined) return;
        world.void(one.id);
        return model.void(one);
      }
      case 'reserve': {
        const { amount, seconds: open } = command;
        const isAllowed = model.usable() >= amount;
        expect(world.reserve(BigInt(amount), open, id).kind).toBe(
          isAllowed ? 'reserved' : 'denied',
        );
        if (isAllowed) model.hold(id, amount, world.now + open * 1000);
        return;
      }
      case 'change':
        if (!model.hasPlan) return;
        world.replacePlan(...(command.size === 0 ? [] : [this.#terms(id, command.size)]));
        return model.change(command.size);
      case 'rest':
        if (!model.hasPlan) return;
        world.suspendPlan(command.rests ? 'paused' : null);
        return model.rest(command.rests);
      case 'withdraw':
        if (!model.hasPlan) return;
        world.withdrawPlan('voided');
        return model.withdraw();
      case 'wait':
        this.#wait(command.ms);
        if (command.rings) world.tickAt(world.now);
        return;
      case 'commit':
      case 'release':
      case 'extend':
        this.#resolve(command);
        return;
      default:
        command satisfies never;
    }
  }

  #resolve(command: Extract<Command, { kind: 'commit' | 'release' | 'extend' }>): void {
    const { world, model } = this;
    const one = model.held[command.which % (model.held.length || 1)];
    if (one === undefined) return;
    const { status, id } = one;
    if (command.kind === 'release') {
      const outcome = world.release(id);
      expect(outcome.kind).toBe(status === 'committed' ? 'not_open' : 'done');
      if (status === 'open') model.resolve(one, 0, 'released');
      return;
    }
    if (command.kind === 'commit') {
      const before = world.reservations.get(id);
      const outcome = world.commit(id, BigInt(command.value));
      if (status === 'open') return model.resolve(one, command.value, 'committed');
      const isRepeat = status === 'committed' && before?.committed === BigInt(command.value);
      expect(outcome.kind).toBe(isRepeat || status === 'expired' ? 'done' : 'not_open');
      if (status !== 'expired') return;
      one.status = 'committed';
      return model.use(command.value);
    }
    const expiresAt = world.now + command.seconds * 1000;
    const { more } = command;
    const isLong = expiresAt > T0 + 29 * DAY;
    if (isLong) return;
    const isDenied = more > 0 && (!model.isOfNow(one) || model.usable() < more);
    const outcome = world.extend(id, BigInt(one.amount + more), command.seconds);
    const isDone = status === 'open' && !isDenied;
    expect(outcome.kind === 'done').toBe(isDone);
    if (isDone) Object.assign(one, { amount: one.amount + more, expiresAt });
  }

  compare(): void {
    const { world, model } = this;
    const state = world.seen;
    const { limit, consumed, reserved: held } = snapshotOf(state);
    const expected = model.balance();
    expect([limit, consumed, held, balance(snapshotOf(state))]).toEqual([
      expected.limit,
      expected.consumed,
      expected.reserved,
      expected.balance,
    ]);
    const left = breakdown(state).filter(({ remaining }) => remaining !== 0n);
    const its = left.map(
      ({ grant, remaining }) => [this.#nameOf(grant), Number(remaining)] as const,
    );
    const sumOf = (units: readonly number[]): number => units.reduce((a, b) => a + b, 0);
    const all = this.#expectedLeft();
    const rest = Math.max(0, Number(expected.balance));
    // Below nothing a hold is off the balance, and uses up no grant.
    if (sumOf(Object.values(all)) > rest) expect(sumOf(its.map(([, units]) => units))).toBe(rest);
    else expect(Object.fromEntries(its)).toEqual(all);
    expect(state.reservations.map(({ id }) => id)).toEqual(model.open.map(({ id }) => id));
  }

  /** What rolled over is named by its period. */
  #nameOf({ id, source, effectiveAt }: Grant): string {
    if (source === 'rollover') return `plan@${effectiveAt - DAY}+`;
    return source === 'subscription' ? 'plan' : id;
  }

  #expectedLeft(): Record<string, number> {
    const { left } = this.model.balance();
    const named = left.map(([id, units]) => {
      const isPlan = id.startsWith('plan@') && !id.endsWith('+');
      return [isPlan ? 'plan' : id, Number(units)] as const;
    });
    return Object.fromEntries(named.filter(([, units]) => units > 0));
  }

  /** Each hold is resolved once, and by what became of it. */
  close(): void {
    const { world, model } = this;
    this.#wait(30 * DAY);
    world.tickAt(world.now);
    this.compare();
    expect(world.state.reservations).toEqual([]);
    const resolved = new Map<string, string[]>();
    for (const { kind, hold } of world.transfers) {
      if (hold !== null) resolved.set(hold.id, [...(resolved.get(hold.id) ?? []), kind]);
    }
    for (const { id, kind } of world.transfers) {
      if (kind === 'pending') expect(resolved.get(id)?.length).toBe(1);
    }
    for (const { id, status } of model.held) {
      expect(world.reservations.get(id)?.status).toBe(status);
    }
    for (const { id, totals } of [...world.refold()].map(([key, value]) => ({
      id: key,
      totals: value,
    }))) {
      expect([id, totals.debitsPending, totals.creditsPending]).toEqual([id, 0n, 0n]);
    }
  }
}

test(
  seeded('held, used and left units of reservations are what the specification says'),
  () => {
    const property = fc.property(plans, commands, (plan, history) => {
      const pair = new Pair(plan);
      for (const command of history) {
        pair.obey(command);
        pair.compare();
      }
      pair.close();
    });
    holds(property, 300);
  },
  60_000,
);
