// What went back of billed usage: how it is divided, and what it does to what is to be paid. A
// model that knows each coin of the price is compared with it.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { sharesOf } from '../../ledger/kernel/shares.ts';
import { dueOf } from '../../ledger/subscriptions/forgiven.ts';
import { backOfUsage, paidOf, wentBack } from '../../ledger/subscriptions/given-back.ts';
import type { BilledUsage } from '../../ledger/subscriptions/subscription.ts';
import { holds, seeded } from './property.ts';

const amount = (max: number) => fc.bigInt({ min: 0n, max: BigInt(max) });

test(seeded('shares add up, are within their weights and within a coin of the exact ones'), () => {
  const cases = fc.array(amount(50), { minLength: 1, maxLength: 5 }).chain((weights) => {
    const all = weights.reduce((sum, one) => sum + one, 0n);
    return fc.tuple(fc.constant(weights), fc.constant(all), amount(Number(all)));
  });
  const property = fc.property(cases, ([weights, all, whole]) => {
    const shares = sharesOf(whole, weights);
    expect(shares.reduce((sum, one) => sum + one, 0n)).toBe(whole);
    for (const [n, weight] of weights.entries()) {
      const share = shares[n]!;
      expect(share >= 0n && share <= weight).toBe(true);
      const off = share * all - whole * weight;
      expect(off < all || all === 0n).toBe(true);
      expect(off > -all || all === 0n).toBe(true);
    }
  });
  holds(property, 400);
});

// prettier-ignore
const INVOICES: readonly (readonly [string, bigint, bigint, bigint[], bigint[]])[] = [
  // what                                  back   time    usage               of each line
  ['usage alone',                          2000n, 0n,     [5000n],            [2000n]],
  ['a fee and two lines, to the cent',     1000n, 3000n,  [5000n, 1000n],     [556n, 111n]],
  ['the largest remainder has the coin',   100n,  0n,     [100n, 100n, 101n], [33n, 33n, 34n]],
  ['all of it',                            9000n, 3000n,  [5000n, 1000n],     [5000n, 1000n]],
  ['more unused time than new time',       2000n, -3000n, [5000n],            [2000n]],
  ['a line that gave back',                3000n, 0n,     [5000n, -2000n],    [3000n]],
  ['usage that gave back more than it was', 900n, 3000n,  [1000n, -2000n],    [0n]],
];

test.each(INVOICES)('what went back of an invoice: %s', (_what, back, time, usage, shares) => {
  const lines = usage.map((line, n) => ({ usageId: String(n), amount: line }));
  const found = backOfUsage({ invoiceId: 'i', amount: back, time, usage: lines });
  expect([...found.values()]).toEqual(shares);
});

type Step =
  | { readonly kind: 'bill'; readonly price: bigint }
  /** Of the invoices so far. */
  | { readonly kind: 'back'; readonly nth: number; readonly percent: bigint };

const STEPS = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('bill' as const), price: amount(40) }),
    fc.record({ kind: fc.constant('back' as const), nth: fc.nat(7), percent: amount(100) }),
  ),
  { maxLength: 16 },
);

const EMPTY: BilledUsage = {
  id: 'u',
  priceId: 'p',
  featureKey: 'f',
  periodStart: 0,
  periodEnd: 1,
  parts: [],
};

function bill(line: BilledUsage, price: bigint): BilledUsage {
  const owed = dueOf(price, line.forgiven) - paidOf(line);
  if (owed === 0n) return line;
  const part = { invoiceId: `i${line.parts.length}`, quantity: 0n, amount: owed };
  return { ...line, parts: [...line.parts, part] };
}

function giveBack(line: BilledUsage, { nth, percent }: Extract<Step, { kind: 'back' }>) {
  const billed = line.parts.filter((part) => part.amount > 0n);
  const part = billed[nth % Math.max(1, billed.length)];
  if (part === undefined) return line;
  const back = (part.amount * percent) / 100n;
  return wentBack(line, { invoiceId: part.invoiceId, amount: back });
}

const play = (steps: readonly Step[]): BilledUsage =>
  steps.reduce(
    (line, step) => (step.kind === 'bill' ? bill(line, step.price) : giveBack(line, step)),
    EMPTY,
  );

test(seeded('a customer keeps no less than nothing, and pays no coin of the price twice'), () => {
  const property = fc.property(STEPS, amount(40), (steps, price) => {
    const line = bill(play(steps), price);
    const { forgiven = [] } = line;
    const free = new Set(forgiven.flatMap(({ from, to }) => coinsOf(from, to)));
    const billed = line.parts.reduce((sum, part) => sum + part.amount, 0n);
    const back = line.parts.reduce((sum, part) => sum + (part.back ?? 0n), 0n);
    const stretches = forgiven.reduce((sum, { from, to }) => sum + to - from, 0n);
    // No stretch is counted twice, and none is more than went back.
    expect(BigInt(free.size)).toBe(stretches);
    expect(stretches <= back).toBe(true);
    // What is paid in the end: each coin of the price that is not forgiven, once.
    const due = coinsOf(0n, price).filter((coin) => !free.has(coin));
    expect(billed - stretches).toBe(BigInt(due.length));
    expect(paidOf(line) >= 0n && paidOf(line) <= price).toBe(true);
  });
  holds(property, 1000);
});

const coinsOf = (from: bigint, to: bigint): bigint[] =>
  Array.from({ length: Number(to > from ? to - from : 0n) }, (_, n) => from + BigInt(n));

test(seeded('an invoice more changes nothing of what is paid in the end'), () => {
  const property = fc.property(STEPS, amount(40), amount(40), (steps, between, price) => {
    const line = play(steps);
    const direct = paidOf(bill(line, price));
    expect(paidOf(bill(bill(line, between), price))).toBe(direct);
  });
  holds(property, 500);
});

test(seeded('a correction after a refund gives back only what is left of it'), () => {
  const property = fc.property(STEPS, amount(40), fc.nat(7), (steps, last, nth) => {
    const before = bill(play(steps), last);
    const after = giveBack(before, { kind: 'back', nth, percent: 100n });
    const left = paidOf(after);
    expect(left >= 0n && left <= paidOf(before)).toBe(true);
    for (let price = 0n; price <= last; price += 1n) {
      const due = dueOf(price, before.forgiven);
      expect(dueOf(price, after.forgiven)).toBe(due < left ? due : left);
    }
    // What is beyond all that was billed is due as if nothing had gone back.
    const more = dueOf(last + 10n, before.forgiven) - dueOf(last, before.forgiven);
    expect(dueOf(last + 10n, after.forgiven) - left).toBe(more);
  });
  holds(property, 500);
});

test(seeded('what comes again is paid again, and nothing of another invoice'), () => {
  const property = fc.property(STEPS, fc.nat(7), amount(100), (steps, nth, percent) => {
    const before = giveBack(play(steps), { kind: 'back', nth, percent: 100n });
    const after = giveBack(before, { kind: 'back', nth, percent });
    const billed = before.parts.filter((part) => part.amount > 0n);
    const part = billed[nth % Math.max(1, billed.length)];
    for (const { invoiceId } of billed) {
      const [had, has] = [lengthOf(before, invoiceId), lengthOf(after, invoiceId)];
      const most = part?.invoiceId === invoiceId ? (part.amount * percent) / 100n : had;
      expect(has).toBe(had < most ? had : most);
    }
  });
  holds(property, 500);
});

const lengthOf = ({ forgiven = [] }: BilledUsage, invoiceId: string): bigint =>
  forgiven
    .filter((one) => one.invoiceId === invoiceId)
    .reduce((sum, { from, to }) => sum + to - from, 0n);

test(seeded('what comes again is as if it had not gone back'), () => {
  const property = fc.property(amount(40), amount(40), amount(100), (first, price, percent) => {
    const line = bill(EMPTY, first);
    const back = giveBack(line, { kind: 'back', nth: 0, percent });
    const again = giveBack(back, { kind: 'back', nth: 0, percent: 0n });
    expect(again.forgiven ?? []).toEqual([]);
    expect(paidOf(bill(again, price))).toBe(price);
  });
  holds(property, 300);
});

test('to be told again changes nothing', () => {
  const line = bill(EMPTY, 50n);
  const back = wentBack(line, { invoiceId: 'i0', amount: 20n });
  expect(wentBack(back, { invoiceId: 'i0', amount: 20n })).toBe(back);
  expect(wentBack(back, { invoiceId: 'another', amount: 20n })).toBe(back);
});
