// What of an automatic top-up is told, kept and counted where two things meet.
import { expect, test } from 'bun:test';
import { GRANTS_KEPT_MAX } from '../../ledger/limits.ts';
import { decideTopUp, type TopUpCommand } from '../../ledger/metering/auto-topup-decisions.ts';
import { put, statusOf, topUpDue, type TopUpSettings } from '../../ledger/topups/auto-topup.ts';
import { capture, chargeOf, HEARD, refuse, SETTINGS, topped, topUpOf } from './auto-topup-steps.ts';
import { use, type Step } from './reservation-steps.ts';
import { DAY, HOUR, T0, World } from './world.ts';

const stored: Step = (world) => world.topUp({ kind: 'arm', methodId: 'method' });
const waits: Step = (world) => world.tickAt(world.now + DAY);

// prettier-ignore
const TOLD: [string, Step[], status: string, hasPayment: boolean, hours: number | null][] = [
  // what steps status payment again after
  ['that is for good',                     [(world) => refuse(world)],                                              'suspended', true,    null],
  ['that may pass',                        [(world) => refuse(world, { passes: true })],                            'charging',  true,    1],
  ['without a method has no payment',      [(world) => refuse(world, { why: 'no_payment_method' })],                'suspended', false,   null],
  ['after another method was stored',      [stored, (world) => refuse(world)],                                      'charging',  true,    null],
  ['that may pass, after another method',  [stored, (world) => refuse(world, { passes: true })],                    'charging',  true,    null],
];

test.each(TOLD)(
  "an auto top-up's decline %s is told with what is next",
  (_what, steps, ...told) => {
    const world = topped();
    world.use(20n);
    const paymentId = chargeOf(world);
    for (const step of steps) step(world);
    const [status, hasPayment, hours] = told;
    expect(world.events.at(-1)).toMatchObject({
      type: 'auto_topup.failed',
      data: {
        amount: 100,
        paymentId: hasPayment ? paymentId : null,
        status,
        nextAttemptAt: hours === null ? null : new Date(T0 + hours * HOUR).toISOString(),
      },
    });
  },
);

test.each([
  ['captured', 'succeeded'],
  ['refused', 'failed'],
] as const)("an auto top-up's %s charge is told only where an endpoint hears it", (kind, event) => {
  for (const isHeard of [true, false]) {
    const world = topped();
    world.use(20n);
    const paymentId = chargeOf(world);
    const answer =
      kind === 'captured'
        ? ({ kind, paymentId, at: world.now } as const)
        : ({ kind, paymentId, why: 'declined', passes: false } as const);
    world.topUp({ kind: 'settle', answer, isHeard: { ...HEARD, [event]: isHeard } });
    expect(world.told.filter((type) => type.startsWith('auto_topup.'))).toEqual(
      isHeard ? [`auto_topup.${event}`] : [],
    );
    expect(topUpOf(world).charge).toBeNull();
  }
});

test('a command on an auto top-up answers with what there is then, and writes only a change', () => {
  const world = topped();
  const decide = (command: TopUpCommand) => decideTopUp(world.context, world.state, command);
  expect(decide({ kind: 'put', settings: SETTINGS, zone: 'UTC' })).toEqual({
    outcome: topUpOf(world),
    effects: null,
  });
  expect(decide({ kind: 'switch', enabled: true }).effects).toBeNull();
  const off = decide({ kind: 'switch', enabled: false });
  expect(off.outcome?.settings).toEqual({ ...SETTINGS, enabled: false });
  expect(off.effects?.state.topUp).toBe(off.outcome);
  const removed = decide({ kind: 'remove' });
  expect([removed.outcome, removed.effects?.state.topUp?.settings]).toEqual([null, null]);
  expect(decideTopUp(new World().context, new World().state, { kind: 'remove' })).toEqual({
    outcome: null,
    effects: null,
  });
});

/** A method is stored that `begun` charges had begun before. */
const storedAfter =
  (begun: number): Step =>
  (world) =>
    world.topUp({ kind: 'arm', methodId: 'method', begun });
const decline: Step = (world) => refuse(world);
const pass: Step = (world) => refuse(world, { passes: true });
const ring: Step = (world) => world.tickAt(topUpDue(topUpOf(world)));

// prettier-ignore
const PASSED: [string, Step[], hours: number][] = [
  ['the second in a row',    [pass, ring, pass],                                            6],
  ['the third in a row',     [pass, ring, pass, ring, pass],                                24],
  ['the first after a grant', [(world) => capture(world), use(100n), pass],                 1],
  ['the first after a grant that others preceded', [pass, ring, (world) => capture(world), use(100n), pass], 1],
  ['the first after another method', [pass, ring, stored, (world) => refuse(world), pass],  1],
  ['the first of a method that the third charge takes', [pass, ring, pass, ring, storedAfter(2), pass], 1],
  ['the second of a method that the second charge took', [pass, ring, storedAfter(1), pass, ring, storedAfter(1), pass], 6],
];

test.each(PASSED)("an auto top-up's decline that may pass, %s, waits", (_what, steps, hours) => {
  const world = topped();
  world.use(20n);
  for (const step of steps) step(world);
  expect(topUpDue(topUpOf(world))).toBe(world.now + hours * HOUR);
});

// prettier-ignore
const TRIED: [string, Step[], charges: number, status: string][] = [
  // what steps charges status
  ['before its charge began is tried by that alone',            [storedAfter(0), decline],                            1, 'suspended'],
  ['before its charge began, which is told after its decline,', [decline, storedAfter(0)],                            1, 'suspended'],
  ['before its charge began, which is told twice,',             [storedAfter(0), decline, storedAfter(0)],            1, 'suspended'],
  ['before its charge began waits where its decline may pass',  [pass, storedAfter(0)],                               1, 'charging'],
  ['after its charge began is tried as that fails',             [storedAfter(1), decline],                            2, 'charging'],
  ['after its charge began, which is told after its decline,',  [decline, storedAfter(1)],                            2, 'charging'],
  ['after its charge began, and another before the next began', [storedAfter(1), decline, (world) => world.topUp({ kind: 'arm', methodId: 'other', begun: 1 }), decline], 2, 'suspended'],
];

test.each(TRIED)(
  'a method stored for an auto top-up %s makes its charges',
  (_what, steps, charges, status) => {
    const world = topped();
    world.use(20n);
    for (const step of steps) step(world);
    expect(world.orders).toHaveLength(charges);
    expect<string>(statusOf(topUpOf(world))).toBe(status);
  },
);

test("an auto top-up's grant makes room: top-ups that are used up are retired", () => {
  const world = topped({ enabled: false });
  world.use(20n);
  for (let n = 1; n < GRANTS_KEPT_MAX; n += 1) world.grant({ amount: 1n });
  world.use(BigInt(GRANTS_KEPT_MAX - 1));
  expect(world.state.grants).toHaveLength(GRANTS_KEPT_MAX);
  world.topUp({ kind: 'switch', enabled: true });
  capture(world);
  expect(world.state.grants.map(({ amount }) => amount)).toEqual([100n]);
  expect(world.numbers[2]).toBe(100n);
});

test('an auto top-up whose limit has room again charges when its window ends, not before', () => {
  const world = topped({ limit: { count: 1, interval: 'day' } });
  world.use(20n);
  capture(world);
  world.use(100n);
  const midnight = T0 + 12 * HOUR;
  expect(world.state.nextDue).toBe(midnight);
  world.tickAt(midnight - 1);
  expect([statusOf(topUpOf(world)), world.orders.length]).toEqual(['suspended', 1]);
  world.tickAt(midnight);
  expect([statusOf(topUpOf(world)), world.orders.length]).toEqual(['charging', 2]);
});

test.each([
  ['', []],
  [' after another method was stored', [stored]],
] as const)(
  'an auto top-up that is removed and put anew during its charge%s forgets all before',
  (_what, steps) => {
    const world = topped();
    world.use(20n);
    for (const step of steps) step(world);
    world.topUp({ kind: 'remove' });
    world.topUp({ kind: 'put', settings: SETTINGS, zone: 'UTC' });
    refuse(world);
    expect([statusOf(topUpOf(world)), world.orders.length]).toEqual(['suspended', 1]);
  },
);

test('an auto top-up whose limit has room again, but the meter has not, is armed', () => {
  const world = topped({ limit: { count: 1, interval: 'day' } });
  world.use(20n);
  capture(world);
  world.use(100n);
  expect(statusOf(topUpOf(world))).toBe('suspended');
  world.grant({ amount: 10n ** 15n - 200n, effectiveAt: world.now + 3 * DAY });
  waits(world);
  expect([statusOf(topUpOf(world)), world.orders.length]).toEqual(['armed', 1]);
  expect(world.state.nextDue).toBe(T0 + 3 * DAY);
});

const LIMITED: TopUpSettings = { ...SETTINGS, limit: { count: 2, interval: 'week' } };
// prettier-ignore
const PUT: [string, Partial<TopUpSettings>, zone: string, isSame: boolean][] = [
  ['the same again',      {},                                      'UTC',           true],
  ['in another zone',     {},                                      'Europe/Berlin', false],
  ['switched off',        { enabled: false },                      'UTC',           false],
  ['another threshold',   { threshold: 11n },                      'UTC',           false],
  ['another amount',      { amount: 101n },                        'UTC',           false],
  ['another price',       { priceId: 'other' },                    'UTC',           false],
  ['another count',       { limit: { count: 3, interval: 'week' } }, 'UTC',         false],
  ['another interval',    { limit: { count: 2, interval: 'day' } }, 'UTC',          false],
  ['without a limit',     { limit: null },                         'UTC',           false],
];

test.each(PUT)(
  'an auto top-up that is put %s changes only by what differs',
  (_what, fields, zone, isSame) => {
    const settings = { ...LIMITED, ...fields };
    const before = { ...put(null, { settings: LIMITED, zone: 'UTC', now: T0 }), limitedUntil: T0 };
    const after = put(before, { settings, zone, now: T0 + DAY });
    if (isSame) expect(after).toBe(before);
    else expect(after).toEqual({ ...before, settings, zone, limitedUntil: null });
  },
);
