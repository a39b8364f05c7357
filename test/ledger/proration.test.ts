// The cost of a change of plan: exact to the minor unit, for any order of changes.
import { amountOfLine } from '../../ledger/subscriptions/bills.ts';
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { totalOf } from '../../ledger/subscriptions/bills.ts';
import {
  changeLines,
  prorated,
  recurringLine,
  unusedOf,
} from '../../ledger/subscriptions/proration.ts';
import { type Plan, amountOf } from '../../ledger/subscriptions/subscription.ts';
import { holds, seeded } from './property.ts';
import { share } from './subscription-bill.ts';
import { CHEAPER, DEARER, MONTHLY, YEARLY } from './subscription-world.ts';

// prettier-ignore
const SHARES: [bigint, number, number, bigint][] = [
  // amount  part  whole  share, half up
  [3000n,    1,    2,     1500n],
  [1001n,    1,    2,     501n],
  [1000n,    1,    3,     333n],
  [1000n,    2,    3,     667n],
  [1n,       1,    3,     0n],
  [1n,       1,    2,     1n],
  [5n,       1,    10,    1n],
  [4n,       1,    10,    0n],
  [3000n,    0,    10,    0n],
  [3000n,    10,   10,    3000n],
  [0n,       5,    10,    0n],
  [999_999_999_999_999n, 1, 2_678_400_000, 373_357n],
];

test('a prorated share is rounded half up', () => {
  for (const [amount, part, whole, expected] of SHARES) {
    expect(prorated(amount, part, whole)).toBe(expected);
  }
});

const [START, END] = [Date.UTC(2026, 3, 1), Date.UTC(2026, 4, 1)];
const MIDDLE = START + (END - START) / 2;
/** Nothing of it was given back. */
const WHOLE = { givenBack: [], accounted: [] };

// prettier-ignore
const CHANGES: [string, Plan, Plan, number, bigint[]][] = [
  // what from to at what comes back, what it costs
  ['dearer, half way',             MONTHLY, DEARER,                      MIDDLE,     [-1500n, 4500n]],
  ['cheaper, half way',            MONTHLY, CHEAPER,                     MIDDLE,     [-1500n, 500n]],
  ['more of the same',             MONTHLY, { ...MONTHLY, quantity: 3 }, MIDDLE,     [-1500n, 4500n]],
  ['at once',                      MONTHLY, DEARER,                      START,      [-3000n, 9000n]],
  ['with a millisecond left',      MONTHLY, DEARER,                      END - 1,    [0n, 0n]],
  ['another interval costs it all', MONTHLY, YEARLY,                     MIDDLE,     [-1500n, 30_000n]],
  ['and back: a credit',           YEARLY,  MONTHLY,                     MIDDLE,     [-15_000n, 3000n]],
];

describe('a proration of a plan change', () => {
  test.each(CHANGES)('%s', (_what, from, to, at, amounts) => {
    const restarts = from.interval !== to.interval;
    const lines = changeLines(
      { start: START, end: END, price: amountOf(from), ...WHOLE },
      { from, to, at, restarts },
    );
    expect(lines.map(amountOfLine)).toEqual(amounts);
    expect(lines[0]).toMatchObject({
      type: 'proration',
      description: `Unused time on ${from.planName}`,
    });
    expect(lines[1]).toMatchObject(
      restarts
        ? { type: 'recurring', description: to.planName }
        : { type: 'proration', description: `Remaining time on ${to.planName}` },
    );
    // What is given back is for the rest of the old period; a new one is that of the invoice.
    const rest = { start: at, end: END };
    const periods = lines.map((line) => ('period' in line ? line.period : undefined));
    expect(periods).toEqual(restarts ? [rest, undefined] : [rest, rest]);
  });

  const back = (amount: bigint, start = START) => ({ invoiceId: 'paid', amount, start, end: END });
  const QUARTER = START + (END - START) / 4;
  // prettier-ignore
  test.each([
    // what given back accounted unused half way
    ['nothing',                                   [],                          [],            1500n],
    ['all of it',                                 [back(3000n)],               [],            0n],
    ['a third',                                   [back(1000n)],               [],            1000n],
    ['twice a third',                             [back(1000n), back(1000n)],  [],            500n],
    ['what the last change took off',             [back(1000n)],               [back(1000n)], 1500n],
    ['more since the last change',                [back(3000n)],               [back(1000n)], 500n],
    ['less since: a refund has failed',           [],                          [back(1000n)], 2000n],
    // Two thirds of the time of its invoice are left.
    ['of an invoice for the last three quarters', [back(900n, QUARTER)],       [],            900n],
    ['more than there is',                        [back(4000n)],               [],            0n],
  ] as const)('is of what remains paid, where given back was %s', (_what, givenBack, accounted, unused) => {
    const period = { start: START, end: END, price: 3000n, givenBack, accounted };
    expect(unusedOf(period, MIDDLE)).toBe(unused);
    expect(unusedOf(period, END)).toBe(0n);
  });

  test('gives back what was paid, not what the plan usually costs', () => {
    const discounted = { start: START, end: END, price: 300n, ...WHOLE };
    const change = { from: MONTHLY, to: CHEAPER, at: MIDDLE, restarts: false };
    expect(changeLines(discounted, change).map(amountOfLine)[0]).toBe(-150n);
  });

  test('throws for a part that is more than the whole, or a negative price', () => {
    expect(() => prorated(1n, 2, 1)).toThrow();
    expect(() => prorated(1n, -1, 1)).toThrow();
    expect(() => prorated(1n, 0, 0)).toThrow();
    expect(() => prorated(-1n, 1, 1)).toThrow();
  });
});

const amounts = fc.bigInt({ min: 0n, max: 10n ** 15n });
const periods = fc.record({
  whole: fc.integer({ min: 1, max: 366 * 86_400_000 * 12 }),
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 8 }),
});

test(
  seeded('a prorated share is the nearest coin, and two parts are the whole but for one'),
  () => {
    const property = fc.property(amounts, periods, (amount, { whole, cuts }) => {
      for (const cut of cuts) {
        const part = Math.floor(cut * whole);
        const mine = prorated(amount, part, whole);
        expect(mine).toBe(share(amount, part, whole));
        const off = 2n * (mine * BigInt(whole) - amount * BigInt(part));
        expect(off <= BigInt(whole) && off > -BigInt(whole)).toBe(true);
        const both = mine + prorated(amount, whole - part, whole);
        expect(both === amount || both === amount + 1n).toBe(true);
      }
    });
    holds(property, 500);
  },
);

test(seeded('prorated plan changes to and fro cost nothing, but for a coin each time'), () => {
  const property = fc.property(amounts, amounts, periods, (a, b, { whole, cuts }) => {
    const plans = [a, b].map((unitAmount) => ({ ...MONTHLY, unitAmount }));
    const period = { start: START, end: START + whole, ...WHOLE };
    const costing = (plan: Plan) => ({ ...period, price: amountOf(plan) });
    const times = cuts.map((cut) => START + Math.floor(cut * whole)).toSorted((x, y) => x - y);
    // The total paid is what each plan costs for the time that it was active.
    let [from = MONTHLY, to = MONTHLY] = plans;
    let paid = totalOf([recurringLine(from)]);
    let exact = 0n;
    let since = START;
    for (const at of [...times, period.end]) {
      exact += from.unitAmount * BigInt(at - since);
      since = at;
      if (at === period.end) break;
      paid += totalOf(changeLines(costing(from), { from, to, at, restarts: false }));
      [from, to] = [to, from];
    }
    const off = paid * BigInt(whole) - exact;
    const coins = BigInt(times.length) * BigInt(whole);
    expect(off <= coins && off >= -coins).toBe(true);
  });
  holds(property, 500);
});
