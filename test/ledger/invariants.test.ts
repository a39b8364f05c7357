// Random commands on one meter; after each of them all invariants are checked.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Interval, INTERVALS } from '../../ledger/kernel/calendar.ts';
import { type Suspension, leaderOf } from '../../ledger/metering/grants.ts';
import {
  type Aggregation,
  available,
  balance,
  breakdown,
  snapshotOf,
  dueOf,
} from '../../ledger/metering/meter.ts';
import { PERIODS_KEPT_MS } from '../../ledger/limits.ts';
import { NO_TOTALS } from '../../ledger/kernel/transfers.ts';
import { holds, seeded } from './property.ts';
import { DAY, HOUR, type PlanFields, T0, World } from './world.ts';

type Command =
  | { readonly kind: 'use'; readonly value: bigint; readonly ago: number; readonly member: bigint }
  | { readonly kind: 'reject' | 'consume'; readonly value: bigint; readonly member: bigint }
  | {
      readonly kind: 'grant';
      readonly amount: bigint | null;
      readonly startsIn: number;
      readonly lasts: number | null;
      readonly priority: number;
      readonly overageAllowed: boolean;
      readonly every: Interval | null;
      readonly rollover: { readonly max: bigint; readonly expiresAfterPeriods: number } | null;
    }
  | { readonly kind: 'void'; readonly which: number }
  | { readonly kind: 'reserve'; readonly amount: bigint; readonly seconds: number }
  | { readonly kind: 'commit'; readonly which: number; readonly value: bigint }
  | { readonly kind: 'release'; readonly which: number }
  | {
      readonly kind: 'extend';
      readonly which: number;
      readonly more: bigint | null;
      readonly seconds: number | null;
    }
  | { readonly kind: 'plan' | 'replace'; readonly of: string; readonly terms: PlanFields }
  | { readonly kind: 'withdraw'; readonly of: string; readonly how: 'expired' | 'voided' }
  | { readonly kind: 'expire'; readonly of: string; readonly in: number | null }
  | { readonly kind: 'suspend'; readonly of: string; readonly why: Suspension | null }
  | { readonly kind: 'restart'; readonly of: string; readonly zone: string }
  | { readonly kind: 'wait'; readonly ms: number };

const waits = fc.oneof(
  fc.integer({ min: 1, max: HOUR }),
  fc.integer({ min: 1, max: 40 * DAY }),
  fc.constantFrom(1, HOUR, DAY, 7 * DAY),
);
const members = fc.bigInt({ min: 0n, max: 5n });

function commandsOf(aggregation: Aggregation): fc.Arbitrary<Command[]> {
  const min = aggregation === 'sum' || aggregation === 'count' ? -15n : 0n;
  const use = fc.record({
    kind: fc.constant('use' as const),
    value: fc.bigInt({ min, max: 15n }),
    ago: fc.oneof(
      { weight: 3, arbitrary: fc.constant(0) },
      fc.integer({ min: -300_000, max: 35 * DAY }),
    ),
    member: members,
  });
  const admit = fc.record({
    kind: fc.constantFrom('reject' as const, 'consume' as const),
    value: fc.bigInt({ min: 0n, max: 15n }),
    member: members,
  });
  const of = fc.constantFrom('plan', 'add-on');
  const rollovers = fc.option(
    fc.record({
      max: fc.bigInt({ min: 1n, max: 20n }),
      expiresAfterPeriods: fc.integer({ min: 1, max: 3 }),
    }),
  );
  const plan = fc.record({
    kind: fc.constantFrom('plan' as const, 'plan' as const, 'replace' as const),
    of,
    terms: fc.record({
      limit: fc.option(fc.bigInt({ min: 0n, max: 30n }), { freq: 6 }),
      resetInterval: fc.oneof(
        { weight: 1, arbitrary: fc.constantFrom(...INTERVALS) },
        { weight: 3, arbitrary: fc.constantFrom('day', 'month', 'quarter', 'never') },
      ),
      priority: fc.integer({ min: 0, max: 2 }),
      overageAllowed: fc.boolean(),
      rollover: rollovers,
      boolean: fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0),
      cycle: fc.record({
        anchor: fc.integer({ min: T0 - 50 * DAY, max: T0 + 50 * DAY }),
        zone: fc.constantFrom('UTC', 'UTC', 'Europe/Berlin', 'Pacific/Apia'),
      }),
    }),
  });
  const orders = fc.oneof(
    plan,
    fc.record({
      kind: fc.constant('withdraw' as const),
      of,
      how: fc.constantFrom('expired' as const, 'voided' as const),
    }),
    fc.record({ kind: fc.constant('expire' as const), of, in: fc.option(waits) }),
    fc.record({
      kind: fc.constant('suspend' as const),
      of,
      why: fc.constantFrom('paused' as const, 'blocked' as const, null),
    }),
    fc.record({
      kind: fc.constant('restart' as const),
      of,
      zone: fc.constantFrom('UTC', 'Europe/Berlin'),
    }),
  );
  const grant = fc.record({
    kind: fc.constant('grant' as const),
    amount: fc.option(fc.bigInt({ min: 1n, max: 30n }), { freq: 8 }),
    startsIn: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, waits),
    lasts: fc.option(waits),
    priority: fc.integer({ min: 0, max: 3 }),
    overageAllowed: fc.boolean(),
    every: fc.option(fc.constantFrom(...INTERVALS), { freq: 1 }),
    rollover: rollovers,
  });
  const which = fc.nat(9);
  const seconds = fc.oneof(fc.constantFrom(60, 3600), fc.integer({ min: 1, max: 29 * 86_400 }));
  const reservations = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('reserve' as const),
        amount: fc.bigInt({ min: 1n, max: 15n }),
        seconds,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('commit' as const),
        which,
        value: fc.bigInt({ min: 0n, max: 15n }),
      }),
    },
    fc.record({ kind: fc.constant('release' as const), which }),
    fc.record({
      kind: fc.constant('extend' as const),
      which,
      more: fc.option(fc.bigInt({ min: -1n, max: 9n })),
      seconds: fc.option(seconds),
    }),
  );
  const isHeld = aggregation === 'sum' || aggregation === 'count';
  return fc.array(
    fc.oneof(
      { weight: 5, arbitrary: use },
      { weight: isHeld ? 7 : 0, arbitrary: reservations },
      { weight: 2, arbitrary: admit },
      { weight: 3, arbitrary: grant },
      { weight: 4, arbitrary: orders },
      fc.record({ kind: fc.constant('void' as const), which: fc.nat(20) }),
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: waits }) },
    ),
    { maxLength: 25, size: '+1' },
  );
}

function obey(world: World, command: Command): void {
  const member = (value: bigint): bigint | null =>
    world.meter.aggregation === 'unique' ? value : null;
  switch (command.kind) {
    case 'use': {
      const eventAt = command.ago === 0 ? null : world.now - command.ago;
      world.use(command.value, { eventAt, member: member(command.member) });
      return;
    }
    case 'reject':
    case 'consume':
      world.use(command.value, { admission: command.kind, member: member(command.member) });
      return;
    case 'grant': {
      const { amount, startsIn, lasts, priority, overageAllowed, every, rollover } = command;
      const effectiveAt = world.now + startsIn;
      world.grant({
        amount,
        effectiveAt,
        expiresAt: lasts === null ? null : effectiveAt + lasts,
        priority,
        overageAllowed,
        ...(every !== null && { every, ...(rollover !== null && { rollover }) }),
      });
      return;
    }
    case 'void': {
      const id = [...world.grants.keys()][command.which];
      if (id !== undefined) world.void(id);
      return;
    }
    case 'reserve':
      world.reserve(command.amount, command.seconds);
      return;
    case 'commit':
    case 'release':
    case 'extend': {
      const one = [...world.reservations.values()][command.which];
      if (one === undefined) return;
      if (command.kind === 'release') world.release(one.id);
      else if (command.kind === 'commit') world.commit(one.id, command.value);
      else {
        const { more, seconds } = command;
        world.extend(one.id, more === null ? null : one.amount + more, seconds);
      }
      return;
    }
    case 'plan':
      world.plan({ ...command.terms, subscriptionId: command.of });
      return;
    case 'replace':
      world.replacePlan({ ...command.terms });
      return;
    case 'withdraw':
      world.withdrawPlan(command.how, command.of);
      return;
    case 'expire':
      world.expirePlanAt(command.in === null ? null : world.now + command.in, command.of);
      return;
    case 'suspend':
      world.suspendPlan(command.why, command.of);
      return;
    case 'restart':
      world.restartPlan({ anchor: world.now, zone: command.zone }, command.of);
      return;
    case 'wait':
      world.now += command.ms;
      return;
    default:
      command satisfies never;
  }
}

/** The meter's readings, which must be consistent. */
function expectConsistent(world: World): void {
  const state = world.seen;
  const snapshot = snapshotOf(state);
  const rest = balance(snapshot);
  const parts = breakdown(state).map(({ remaining }) => remaining);
  // The period is that of the leading allowance.
  expect(state.current.end).toBe(leaderOf(state.grants)?.renewsAt ?? null);
  const usable = available(state, snapshot);
  if (usable !== null && rest !== null) {
    expect(usable <= rest && (usable >= 0n || rest < 0n)).toBe(true);
  }
  expect(snapshot.consumed >= 0n && snapshot.reserved >= 0n).toBe(true);
  if (rest === null) {
    expect(parts).toContain(null);
  } else {
    expect(rest).toBe((snapshot.limit ?? 0n) - snapshot.consumed - snapshot.reserved);
    const sum = parts.reduce((total: bigint, part) => total + (part ?? 0n), 0n);
    expect(sum).toBe(rest > 0n ? rest : 0n);
  }
}

/** The accounts, which must equal the fold of the transfers. */
function expectBooksToClose(world: World): void {
  const { state, accounts } = world;
  expect(Object.fromEntries(accounts)).toEqual({
    // A decision that moves nothing may open an account.
    ...Object.fromEntries([...accounts.keys()].map((id) => [id, NO_TOTALS])),
    ...Object.fromEntries(world.refold()),
  });
  let [debits, credits] = [0n, 0n];
  for (const totals of accounts.values()) {
    debits += totals.debitsPosted;
    credits += totals.creditsPosted;
  }
  expect(debits).toBe(credits);
  for (const period of [state.current, ...state.others]) {
    const totals = accounts.get(period.accountId) ?? NO_TOTALS;
    expect([period.granted, period.consumed, period.reserved]).toEqual([
      totals.creditsPosted,
      totals.debitsPosted,
      totals.debitsPending,
    ]);
    let held = 0n;
    for (const { accountId, amount, status } of world.reservations.values()) {
      if (status === 'open' && accountId === period.accountId) held += amount;
    }
    expect(period.reserved).toBe(held);
    expect(period.consumed).toBe(period.aggregate > 0n ? period.aggregate : 0n);
    let credited = 0n;
    for (const { kind, credit, amount } of world.transfers) {
      if (credit === period.accountId) credited += kind === 'reverse' ? -amount : amount;
    }
    expect(period.granted).toBe(credited);
  }
  for (const grant of world.grants.values()) {
    expect(grant.used >= 0n && (grant.amount === null || grant.used <= grant.amount)).toBe(true);
  }
  expect(world.events.map(({ sequence }) => Number(sequence))).toEqual(
    world.events.map((_, index) => index + 1),
  );
}

test.each(['sum', 'count', 'max', 'last', 'unique'] as const)(
  `%s: the balance, its parts and the books agree after any commands (${seeded('property')})`,
  (aggregation) => {
    holds(
      fc.property(commandsOf(aggregation), (commands) => {
        const world = new World(aggregation);
        for (const command of commands) {
          obey(world, command);
          expectConsistent(world);
          expectBooksToClose(world);
        }
      }),
      300,
    );
  },
);

/** The state without the times of writing, and without periods that have become useless since. */
function timeless(world: World): unknown {
  const period = (of: World['state']['current']) => ({ ...of, updatedAt: 0 });
  const { current, others, marks, ended, ...rest } = world.seen;
  const since = world.now - PERIODS_KEPT_MS;
  const kept = others.filter(({ end }) => end === null || end > since);
  return {
    ...rest,
    current: period(current),
    others: kept.map(period),
    marks: marks.filter(({ start }) => start > since),
    ended: ended.filter((grant) => (grant.ended?.at ?? 0) > since),
  };
}

/** An alarm does some of what is due, and is due again. */
function passAll(world: World, until: number): void {
  do world.tickAt(until);
  while (dueOf(world.state) <= until);
}

const told = (world: World) => world.events.map((event) => ({ ...event, id: '' }));

test(seeded('time passes with the same result in one jump, or in any steps'), () => {
  const runs = fc.tuple(
    commandsOf('sum'),
    fc.array(fc.integer({ min: 0, max: 100 * DAY }), { maxLength: 12 }),
  );
  holds(
    fc.property(runs, ([commands, steps]) => {
      const [jumping, stepping] = [new World(), new World()];
      for (const command of commands) {
        obey(jumping, command);
        obey(stepping, command);
        if (command.kind === 'wait') stepping.tickAt(stepping.now);
      }
      const end = jumping.now + 100 * DAY;
      const from = stepping.now;
      for (const step of steps.toSorted((a, b) => a - b)) stepping.tickAt(from + step);
      passAll(jumping, end);
      passAll(stepping, end);
      expect(timeless(stepping)).toEqual(timeless(jumping));
      expect(told(stepping)).toEqual(told(jumping));
      expect(stepping.refold()).toEqual(jumping.refold());
      expect(Object.fromEntries(stepping.grants)).toEqual(Object.fromEntries(jumping.grants));
    }),
    150,
  );
});
