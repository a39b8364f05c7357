// What a payout consists of: every transaction is in one sum, and the sums are the payout.
import { expect, test } from 'bun:test';
import { addItems, type PayoutItem, sumsInCoins } from '../../src/reconciliation/payout-sums.ts';
import { amountFromStripe } from '../../src/processors/stripe/amounts.ts';
import type { PayoutSums } from '../../src/records/payouts.ts';
import { type Random, withSeed } from '../support/random.ts';

const NONE: PayoutSums = {
  gross: 0n,
  fees: 0n,
  refunds: 0n,
  disputes: 0n,
  other: 0n,
  count: 0n,
};

const item = (category: string, amount: bigint, fee = 0n): PayoutItem => ({
  category,
  amount,
  fee,
});

test("a payout's sums have each category", () => {
  const items = [
    item('charge', 1000n, 59n),
    item('charge', 500n, 45n),
    item('charge_failure', -500n),
    item('refund', -200n),
    item('refund_failure', 50n),
    item('dispute', -1000n, 1500n),
    item('dispute_reversal', 1000n),
    item('fee', -70n),
    item('topup', 300n),
    item('a category of next year', -3n),
    item('payout', -997n),
  ];
  expect(addItems(NONE, items)).toEqual({
    gross: 1000n,
    fees: 59n + 45n + 1500n + 70n,
    refunds: 150n,
    disputes: 0n,
    other: 297n,
    count: 10n,
  });
});

test("a payout's sums are what it pays, whatever is in it, in whichever pages", () =>
  withSeed(async (random) => {
    const categories = ['charge', 'charge_failure', 'refund', 'dispute', 'fee', 'transfer', 'x'];
    const some = Array.from({ length: 200 }, () => {
      const amount = BigInt(random.integer(-10_000, 10_000));
      return item(random.pick(categories), amount, BigInt(random.integer(0, 99)));
    });
    const net = some.reduce((sum, { amount, fee }) => sum + amount - fee, 0n);
    const pages = pagesOf([...some, item('payout', -net)], random);
    const sums = pages.reduce(addItems, NONE);
    expect(sums.gross - sums.fees - sums.refunds - sums.disputes + sums.other).toBe(net);
    expect(sums.count).toBe(200n);
  }));

function pagesOf(items: readonly PayoutItem[], random: Random): PayoutItem[][] {
  const pages: PayoutItem[][] = [];
  for (let from = 0, size = 0; from < items.length; from += size) {
    size = random.integer(1, 50);
    pages.push(items.slice(from, from + size));
  }
  return pages;
}

test("a payout's sums are in coins: other decimals at Stripe, and what is no whole coin", () => {
  const sums = { ...NONE, gross: 1200n, fees: 100n, count: 3n };
  const inCoins = (currency: string, of: PayoutSums) =>
    sumsInCoins(of, (units) => amountFromStripe(units, currency));
  expect(inCoins('USD', sums)).toEqual(sums);
  expect(inCoins('JPY', sums)).toEqual(sums);
  expect(inCoins('ISK', sums)).toEqual({ ...NONE, gross: 12n, fees: 1n, count: 3n });
  expect(inCoins('MGA', sums)).toEqual({ ...NONE, gross: 120_000n, fees: 10_000n, count: 3n });
  expect(inCoins('ISK', { ...sums, fees: 150n })).toBeNull();
  expect(inCoins('USDC', sums)).toBeNull();
});
