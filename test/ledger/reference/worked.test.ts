// The worked cases of docs/spec/balance.md#worked, by the reference.
import { expect, test } from 'bun:test';
import {
  type Facts,
  NOTHING,
  type Plan,
  type Price,
  type Subscription,
  type Use,
} from './facts.ts';
import { lastOf, levelOf } from './gauge.ts';
import { totalOf } from './money.ts';
import { settlePool } from './pool.ts';
import { settle } from './walk.ts';

const DAY = 24;
/** Of thirty days; the unit of time is an hour. */
const MONTH = 30 * DAY;

const per = (amount: bigint): Price => ({ id: `per ${amount}`, model: 'per_unit', amount });
const PER_UNIT = per(100n);
const GRADUATED: Price = {
  id: 'graduated',
  model: 'graduated',
  tiers: [
    { upTo: 10n, amount: 1000n },
    { upTo: null, amount: 500n },
  ],
};

const plan = (limit: bigint | null, price?: Price, rollover?: Plan['rollover']): Plan => ({
  limit,
  ...(price !== undefined && { price }),
  ...(rollover !== undefined && { rollover }),
});
const LACKING = plan(0n);

function of(
  plans: readonly (readonly [at: number, plan: Plan])[],
  more: Partial<Subscription> = {},
): Subscription {
  const each = plans.map(([at, one]) => ({ at, plan: one }));
  return { id: 's', plans: each, every: MONTH, billedEvery: MONTH, ...more };
}

const use = (at: number, amount: bigint, told = at): Use => ({ at, told, amount });
const grant = (at: number, amount: bigint, more = {}) => ({
  id: `grant at ${at}`,
  told: at,
  effectiveAt: at,
  amount,
  ...more,
});

function facts(subscription: Subscription, uses: readonly Use[], more: Partial<Facts> = {}): Facts {
  return { ...NOTHING, subscriptions: [subscription], uses, ...more };
}

const balanceAt = (given: Facts, now: number) => settle(given, now).balance;

test('to a plan without the feature and back gives nothing anew', () => {
  const detour = of([
    [0, plan(100n)],
    [5, LACKING],
    [9, plan(100n)],
  ]);
  expect(balanceAt(facts(detour, [use(2, 90n)]), 10).balance).toBe(10n);
});

test('what a change has billed burns no later grant', () => {
  const quantity = of([
    [0, plan(0n, PER_UNIT)],
    [5, plan(0n, PER_UNIT)],
  ]);
  const given = facts(quantity, [use(2, 150n), use(8, 30n)], { grants: [grant(7, 200n)] });
  expect(balanceAt(given, MONTH + 1).balance).toBe(170n);
  expect(totalOf(given, quantity, 5)).toBe(15_000n);
  expect(totalOf(given, quantity, MONTH + 1)).toBe(15_000n);
});

test('what money paid is beside the limit', () => {
  const changed = of([
    [0, plan(100n, PER_UNIT)],
    [5, plan(100n, PER_UNIT)],
  ]);
  const given = facts(changed, [use(2, 150n), use(8, 30n)], { grants: [grant(7, 50n)] });
  expect(balanceAt(given, 10)).toMatchObject({
    limit: 150n,
    consumed: 180n,
    billed: 50n,
    balance: 20n,
  });
  expect(totalOf(given, changed, 5)).toBe(5000n);
  expect(totalOf(given, changed, MONTH)).toBe(5000n);
});

test('a larger plan and back covers no debt', () => {
  const detour = of([
    [0, plan(100n)],
    [5, plan(200n)],
    [9, plan(100n)],
  ]);
  const given = facts(detour, [use(2, 130n)], { grants: [grant(10, 50n)] });
  expect(balanceAt(given, 6).balance).toBe(70n);
  expect(balanceAt(given, 9).balance).toBe(-30n);
  expect(balanceAt(given, 11).balance).toBe(20n);
});

test('what was held before the end and is committed after it is billed once more', () => {
  const ended = of([[0, plan(0n, PER_UNIT)]], { end: 5 });
  const given = facts(ended, [], {
    holds: [{ at: 2, amount: 100n, end: { told: 9, used: 100n } }],
  });
  expect(totalOf(given, ended, 8)).toBe(0n);
  expect(totalOf(given, ended, 9)).toBe(10_000n);
});

test('a correction gives back to the grant that was used last', () => {
  const given: Facts = {
    ...NOTHING,
    grants: [
      grant(0, 100n),
      { ...grant(2, 100n), expiresAt: 10 * DAY },
      { ...grant(5, 1n), id: 'one' },
    ],
    uses: [use(1, 100n), use(3, 90n), use(6, -90n)],
  };
  expect(balanceAt(given, 7).balance).toBe(101n);
  expect(balanceAt(given, 11 * DAY).balance).toBe(1n);
});

test('a correction gives back to the allowance of its period, not to what was bought', () => {
  const given: Facts = {
    ...NOTHING,
    grants: [
      grant(0, 100n, { every: MONTH }),
      { ...grant(1, 50n), id: 'bought' },
      { ...grant(MONTH + 5, 1n), id: 'one' },
    ],
    uses: [use(2, 130n), use(MONTH + 2, 20n), use(MONTH + 6, -15n)],
  };
  const { left } = balanceAt(given, MONTH + 7);
  expect(Object.fromEntries(left)).toMatchObject({ bought: 20n, one: 1n });
  expect(balanceAt(given, 2 * MONTH).limit).toBe(121n);
});

test('what a larger plan had used counts, and is given back', () => {
  const given = facts(
    of([
      [0, plan(100n)],
      [4, plan(10n)],
      [9, plan(100n)],
    ]),
    [use(2, 90n), use(6, -30n)],
  );
  expect(balanceAt(given, 8).balance).toBe(0n);
  expect(balanceAt(given, 9).balance).toBe(40n);
});

const ROLLING = of([[0, plan(100n, PER_UNIT, { max: 100n, periods: 1 })]]);

test.each<[string, readonly Use[], bigint]>([
  ['late use', [use(1, 40n), use(2, 50n, MONTH + 2), use(MONTH + 5, 150n)], 4000n],
  ['a late correction', [use(1, 130n), use(2, -50n, MONTH + 2), use(MONTH + 5, 150n)], 3000n],
])('%s where units roll over costs as in time', (_name, uses, cents) => {
  expect(totalOf(facts(ROLLING, uses), ROLLING, 2 * MONTH)).toBe(cents);
});

test('a late correction gives back what was bought', () => {
  const monthly = of([[0, plan(100n, PER_UNIT)]]);
  const uses = [use(2, 140n), use(3, -40n, MONTH + 2), use(MONTH + 5, 140n)];
  const given = facts(monthly, uses, { grants: [grant(1, 50n)] });
  expect(balanceAt(given, MONTH + 4).balance).toBe(150n);
  expect(totalOf(given, monthly, 2 * MONTH)).toBe(0n);
});

test('late use of a member costs its pool what it costs in time', () => {
  const member = { ...NOTHING, uses: [use(2, 20n), use(3, 40n, MONTH + 2)] };
  const pool = facts(of([[0, plan(50n)]]), [], { grants: [grant(1, 100n)] });
  expect(settlePool(pool, [{ facts: member, rate: 2n }], MONTH + 3).balance.balance).toBe(80n);
});

test('what is released in the next period rolls over up to the maximum', () => {
  const hourly = of([[0, plan(100n, undefined, { max: 50n, periods: 1 })]], { every: 10 });
  const given = facts(hourly, [use(1, 23n), use(11, 9n)], {
    holds: [{ at: 2, amount: 66n, end: { told: 12, used: 0n } }],
  });
  expect(balanceAt(given, 13).limit).toBe(150n);
});

test('what rolled over belongs to its plan, and comes back with it', () => {
  const moved = of([
    [0, plan(100n, undefined, { max: 50n, periods: 1 })],
    [MONTH + 2, plan(100n, undefined, { max: 20n, periods: 1 })],
    [MONTH + 4, plan(100n)],
    [MONTH + 6, LACKING],
    [MONTH + 8, plan(100n, undefined, { max: 50n, periods: 1 })],
  ]);
  const given = facts(moved, [use(MONTH + 1, 5n)]);
  const balances = [1, 3, 5, 7, 9].map((after) => balanceAt(given, MONTH + after).balance);
  expect(balances).toEqual([145n, 115n, 100n, 0n, 145n]);
});

test('a minimum is billed once, however often the quantity changes', () => {
  const price: Price = { ...PER_UNIT, minimum: 3000n };
  const same = plan(0n, price);
  const changed = of([
    [0, same],
    [5, same],
    [6, same],
    [7, same],
  ]);
  expect(totalOf(facts(changed, []), changed, 8)).toBe(0n);
  expect(totalOf(facts(changed, []), changed, MONTH)).toBe(3000n);
});

test('a minimum is billed for the share of a period that ends early', () => {
  const ended = of([[0, plan(0n, { ...PER_UNIT, minimum: 3100n })]], { end: MONTH / 2 });
  expect(totalOf(facts(ended, []), ended, MONTH)).toBe(1550n);
});

test('tiers go on over a change of quantity', () => {
  const changed = of([
    [0, plan(0n, GRADUATED)],
    [5, plan(0n, GRADUATED)],
  ]);
  const given = facts(changed, [use(2, 12n), use(7, 10n)]);
  expect(totalOf(given, changed, 5)).toBe(11_000n);
  expect(totalOf(given, changed, MONTH)).toBe(16_000n);
});

test('tiers go on where a price comes back within the period', () => {
  const detour = of([
    [0, plan(0n, GRADUATED)],
    [5, plan(0n, PER_UNIT)],
    [6, plan(0n, GRADUATED)],
  ]);
  expect(totalOf(facts(detour, [use(2, 12n), use(7, 10n)]), detour, MONTH)).toBe(16_000n);
});

test('a level leaves with the grant, whole', () => {
  const given: Facts = {
    ...NOTHING,
    grants: [{ ...grant(0, 50n), id: 'a day', expiresAt: DAY }, grant(1, 100n)],
  };
  expect(levelOf(given, 15n, 3 * DAY)).toEqual({ limit: 100n, balance: 85n });
  expect(levelOf({ ...given, subscriptions: [of([[0, plan(null)]])] }, 15n, DAY / 2)).toEqual({
    limit: null,
    balance: null,
  });
});

test('a level that is carried, and one that comes late', () => {
  const seven: Use = { at: 1, told: 1, amount: 7n };
  const nine: Use = { at: DAY - 1, told: 2 * DAY + 1, amount: 9n };
  const known: Facts = { ...NOTHING, uses: [seven, nine] };
  const level = (now: number, carry: boolean): bigint =>
    lastOf(known, { start: 2 * DAY, now, carry }, { from: 0, every: DAY });
  expect([level(2 * DAY, true), level(2 * DAY + 1, true)]).toEqual([7n, 9n]);
  expect(level(2 * DAY + 1, false)).toBe(0n);
});
