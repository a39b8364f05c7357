// What comes late may come beside anything else: nothing breaks, and a restart changes nothing.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { left } from '../../ledger/metering/grants.ts';
import { balance, breakdown, snapshotOf } from '../../ledger/metering/meter.ts';
import { histories, LateWorld, type Step } from './late-world.ts';
import { holds, seeded } from './property.ts';
import { DAY, HOUR, T0 } from './world.ts';

/** The account of the period has what its grants have left and have covered. */
function expectGranted({ state: { current, allocated, grants } }: LateWorld): void {
  let units = allocated;
  for (const grant of grants) if (grant.started) units += left(grant) ?? -grant.used;
  expect(current.granted).toBe(units);
}

function expectSound(world: LateWorld): void {
  const { state, accounts } = world;
  expect(Object.fromEntries(accounts)).toMatchObject(Object.fromEntries(world.refold()));
  for (const { accountId, granted, consumed, reserved, aggregate } of [
    state.current,
    ...state.others,
  ]) {
    const its = accounts.get(accountId);
    expect([granted, consumed, reserved]).toEqual([
      its?.creditsPosted ?? 0n,
      its?.debitsPosted ?? 0n,
      its?.debitsPending ?? 0n,
    ]);
    expect(granted >= 0n).toBe(true);
    expect(consumed).toBe(aggregate > 0n ? aggregate : 0n);
  }
  for (const { used, amount } of world.grants.values()) {
    expect(used >= 0n && (amount === null || used <= amount)).toBe(true);
  }
  const { seen } = world;
  const rest = balance(snapshotOf(seen));
  const parts = breakdown(seen).map(({ remaining }) => remaining);
  if (rest === null) expect(parts).toContain(null);
  else {
    const sum = parts.reduce((all: bigint, part) => all + (part ?? 0n), 0n);
    // While the aggregate is below 0 the parts may show more
    // (docs/spec/balance.md#settled-in-the-small).
    if (seen.current.aggregate >= 0n) expect(sum).toBe(rest > 0n ? rest : 0n);
  }
}

function expectSoundAfter(steps: readonly Step[], work = Infinity): void {
  const world = new LateWorld({ work });
  for (const step of steps) {
    world.obey(step);
    expectSound(world);
    if (work === Infinity) expectGranted(world);
  }
}

test(seeded('the books close whatever comes late'), () => {
  holds(
    fc.property(histories, (steps) => expectSoundAfter(steps)),
    300,
  );
});

test(seeded('the books close where nothing may be settled any more'), () => {
  holds(
    fc.property(histories, fc.constantFrom(0, 3, 8), (steps, work) =>
      expectSoundAfter(steps, work),
    ),
    300,
  );
});

function expectSameAfterRestarts(steps: readonly Step[]): void {
  const [knowing, forgetful] = [new LateWorld(), new LateWorld()];
  for (const step of steps) {
    knowing.obey(step);
    forgetful.obey(step, true);
    expect([forgetful.numbers, forgetful.parts]).toEqual([knowing.numbers, knowing.parts]);
  }
  expect(forgetful.marks).toEqual(knowing.marks);
  expect(Object.fromEntries(forgetful.refold())).toEqual(Object.fromEntries(knowing.refold()));
  expect(Object.fromEntries(forgetful.grants)).toEqual(Object.fromEntries(knowing.grants));
}

test(seeded('a restart changes nothing of it'), () => {
  holds(fc.property(histories, expectSameAfterRestarts), 300);
});

const topUp = (amount: bigint | null, lasts: number | null = null): Step => {
  return { kind: 'top up', amount, startsIn: 0, lasts, priority: 0 };
};
const allow = (every: 'hour' | 'day'): Step => {
  return { kind: 'allow', amount: 1n, every, from: 0, priority: 0, max: null };
};
const use = (value: bigint, ago = 1): Step => ({ kind: 'use', value, ago });
const hold: Step = { kind: 'reserve', amount: 1n, seconds: 60 };
const wait = (ms: number): Step => ({ kind: 'wait', ms, rings: false });
const terms = (limit: bigint | null, resetInterval: 'hour' | 'day' | 'never') => {
  return { limit, resetInterval, cycle: { anchor: T0, zone: 'UTC' }, priority: 0 };
};
const plan = (...of: Parameters<typeof terms>): Step => {
  return { kind: 'plan', of: 'plan', terms: terms(...of) };
};
const change = (...of: Parameters<typeof terms> | []): Step => {
  return { kind: 'change', of: 'plan', terms: of.length === 0 ? null : terms(...of) };
};
const forget: Step = { kind: 'forget' };
const commit: Step = { kind: 'commit', which: 0, value: 1n };

// What such histories have found.
test.each<readonly [string, readonly Step[]]>([
  [
    'what is held in the millisecond in which a period ends is of that period',
    [topUp(1n), wait(1), hold, plan(null, 'hour'), use(1n), change()],
  ],
  [
    'what is voided in the millisecond in which it began covers no more',
    [
      topUp(1n),
      topUp(2n),
      { kind: 'void', which: 1 },
      use(1n),
      allow('hour'),
      allow('day'),
      use(2n),
      wait(HOUR),
    ],
  ],
  [
    'what was used before is known where another boundary is in that millisecond',
    [use(1n, 0), topUp(2n), plan(1n, 'day'), use(1n, 0), wait(DAY), use(1n), change()],
  ],
  [
    'what is older covers first of what begins in one millisecond',
    [plan(1n, 'never'), use(7n), topUp(21n), use(15n)],
  ],
  [
    'what a grant pays for is used of it',
    [plan(1n, 'hour'), wait(1), { ...hold, amount: 2n }, topUp(null), use(1n), wait(60_000)],
  ],
  [
    'what was released is not paid for',
    [
      topUp(1n),
      hold,
      allow('hour'),
      wait(60_000),
      use(1n, 0),
      hold,
      plan(null, 'hour'),
      use(-1n, 0),
    ],
  ],
  [
    'what an unlimited grant covers is of its period',
    [topUp(null), use(1n, 0), plan(1n, 'hour'), use(1n), change()],
  ],
  [
    'what was used before a plan without a limit is beside it',
    [plan(1n, 'hour'), wait(1), change(null, 'day'), wait(HOUR), use(1n, HOUR + 1)],
  ],
  [
    'what is held of a period that is over is paid for by what covers it there',
    [plan(1n, 'never'), hold, change(), use(-1n, 0), allow('hour'), use(2n), wait(60_000)],
  ],
  ['a stretch that runs has no mark', [topUp(null, 1), hold, use(1n), forget, commit]],
  [
    'what is committed counts at the boundaries since',
    [
      topUp(5n),
      use(1n, 0),
      hold,
      wait(9),
      topUp(5n),
      use(1n, 0),
      wait(9),
      topUp(5n),
      forget,
      commit,
    ],
  ],
])('%s', (_, steps) => {
  expectSoundAfter(steps);
  expectSameAfterRestarts(steps);
});
