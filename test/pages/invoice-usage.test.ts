// What an invoice says of usage, and that it adds up.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { scaled } from '../../ledger/kernel/decimal.ts';
import { exponentOf } from '../../ledger/kernel/money.ts';
import type { Tariff } from '../../ledger/metering/usage-price.ts';
import { rateAll, rounded } from '../../ledger/subscriptions/rating.ts';
import { usageLine } from '../../src/invoices/drafted-lines.ts';
import { invoicePage } from '../../src/pages/invoice.ts';
import { partsOf, type UsageLine } from '../../src/pages/usage-parts.ts';
import { holds, seeded } from '../ledger/property.ts';
import { PLAIN_INVOICE, sheet, usage } from './invoice-sheets.ts';

/** The rows of the lines, as a reader sees them. */
function readable(line: UsageLine): string {
  const page = invoicePage({ ...sheet(PLAIN_INVOICE), lines: [line] }).text;
  return /<tbody>([\s\S]*)<\/tbody>/
    .exec(page)![1]!
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

const tier = (
  quantity: string,
  unitAmount: string | null,
  flatAmount: string | null,
  amount: string,
) => ({
  quantity,
  unitAmount,
  flatAmount,
  amount,
});

const OCTOBER = '1 October 2026 to 1 November 2026';

// prettier-ignore
const LINES: [string, Partial<UsageLine>, string][] = [
  ['one price', {}, `API calls ${OCTOBER} 2,275 $0.002 $4.55`],
  ['what is rounded', { amount: 456n, tiers: [tier('2275', '0.0020022', null, '4.555005')] },
    `API calls ${OCTOBER} 2,275 $0.0020022 $4.56 2,275 at $0.0020022 each $4.555005 Rounding $0.004995`],
  ['tiers', { quantity: '12275', amount: 1655n, tiers: [tier('10000', '0.001', null, '10.00'), tier('2275', '0.002', '2.00', '6.55')] },
    `API calls ${OCTOBER} 12,275 $16.55 10,000 at $0.001 each $10.00 2,275 at $0.002 each, plus $2.00 $6.55`],
  ['what is free', { tiers: [tier('10', '0.00', null, '0.00'), tier('2275', '0.002', '0.00', '4.55')] },
    `API calls ${OCTOBER} 2,275 $4.55 10 at no charge $0.00 2,275 at $0.002 each $4.55`],
  ['packages', { amount: 1500n, tiers: [tier('2275', null, '5.00', '15.00')] },
    `API calls ${OCTOBER} 2,275 $15.00 2,275 for 3 × $5.00 $15.00`],
  ['a flat amount', { amount: 500n, tiers: [tier('2275', null, '5.00', '5.00')] },
    `API calls ${OCTOBER} 2,275 $5.00 2,275 for $5.00 $5.00`],
  ['a flat amount of each day', { amount: 1055n, tiers: [tier('2275', '0.002', '2.00', '10.55')] },
    `API calls ${OCTOBER} 2,275 $10.55 2,275 at $0.002 each, plus 3 × $2.00 $10.55`],
  ['a minimum', { amount: 1000n },
    `API calls ${OCTOBER} 2,275 $0.002 $10.00 2,275 at $0.002 each $4.55 Up to the minimum charge $5.45`],
  ['a minimum alone', { quantity: '0', amount: 1000n, tiers: [] },
    `API calls ${OCTOBER} 0 $10.00 Up to the minimum charge $10.00`],
  ['a maximum', { amount: 300n },
    `API calls ${OCTOBER} 2,275 $0.002 $3.00 2,275 at $0.002 each $4.55 Above the maximum charge -$1.55`],
  ['no usage', { quantity: '0', amount: 0n, tiers: [] }, `API calls ${OCTOBER} 0 $0.00`],
  ['more usage than was billed', { type: 'usage_adjustment', quantity: '25', amount: 5n, billed: 450n },
    `API calls Correction of usage that was billed before, ${OCTOBER} +25 $0.05 2,275 at $0.002 each $4.55 Billed before -$4.50`],
  ['less usage than was billed', { type: 'usage_adjustment', quantity: '-2.5', amount: -5n, billed: 460n },
    `API calls Correction of usage that was billed before, ${OCTOBER} -2.5 -$0.05 2,275 at $0.002 each $4.55 Billed before -$4.60`],
  ['a quantity that is long', { quantity: '27000000.000000001' }, `API calls ${OCTOBER} 27, 000, 000.000000001 $0.002 $4.55`],
];

test.each(LINES)('an invoice shows a line of usage: %s', (_what, fields, said) => {
  expect(readable(usage(fields))).toBe(said);
});

test('an invoice has its usage amounts for programs, with every digit', () => {
  const line = usage({ amount: 456n, tiers: [tier('2275', '0.0020022', null, '4.555005')] });
  const page = invoicePage({ ...sheet(PLAIN_INVOICE), lines: [line] }).text;
  for (const exact of ['0.0020022', '4.555005', '0.004995', '4.56']) {
    expect(page).toContain(`value="${exact}"`);
  }
});

const coins = fc.bigInt({ min: 0n, max: 10n ** 6n });
const unit = fc.bigInt({ min: 0n, max: 10n ** 13n });
const open = fc.option(coins, { nil: null });
const tiers = fc
  .array(fc.record({ unitAmount: fc.option(unit, { nil: null }), flatAmount: open }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((list) =>
    list.map((one, index) => {
      const upTo = index === list.length - 1 ? null : BigInt(index + 1) * 1000n;
      return { ...one, unitAmount: one.unitAmount ?? (one.flatAmount === null ? 1n : null), upTo };
    }),
  );
const tariff: fc.Arbitrary<Tariff> = fc.oneof(
  fc.record({ model: fc.constant('per_unit' as const), unitAmount: unit }),
  fc.record({ model: fc.constantFrom('graduated' as const, 'volume' as const), tiers }),
  fc.record({
    model: fc.constant('package' as const),
    packageSize: fc.bigInt({ min: 1n, max: 500n }),
    packageAmount: coins,
  }),
);
const sold = fc.record({
  tariff,
  currency: fc.constantFrom('USD', 'JPY', 'KWD', 'CLF'),
  scale: fc.integer({ min: 0, max: 9 }),
  spans: fc.array(fc.bigInt({ min: 0n, max: 5000n }), { minLength: 1, maxLength: 3 }),
  bounds: fc.tuple(open, open),
  billed: open,
});

test(seeded("an invoice's usage line is the sum of its parts to the last decimal"), () => {
  holds(
    fc.property(sold, ({ tariff: model, currency, scale, spans, bounds, billed }) => {
      const [minimum, maximum] = bounds;
      const price = { ...model, id: 'price', currency, minimum, maximum };
      const rated = rateAll(
        price,
        spans.map((quantity) => ({ quantity, minimum: minimum ?? 0n })),
        scale,
      );
      const amount = rounded(rated.amount, currency) - (billed ?? 0n);
      const type = billed === null ? 'usage' : 'usage_adjustment';
      const draft = {
        type,
        description: 'x',
        featureKey: 'x',
        usagePriceId: 'x',
        usageId: 'x',
      } as const;
      const quantity = spans.reduce((sum, each) => sum + each, 0n);
      const money = { amount, billed: billed ?? 0n, tiers: rated.tiers };
      const period = { periodStart: 0, periodEnd: 1 };
      const line = usageLine({ ...draft, ...money, ...period, quantity, scale }, currency);
      const parts = partsOf(line, currency);
      if (parts.length === 0 && line.tiers.length === 1) {
        // Said by its unit price alone.
        const [only] = line.tiers;
        const cost = scaled(only!.quantity, 9) * scaled(only!.unitAmount!, 12);
        expect(cost).toBe(amount * 10n ** BigInt(21 - exponentOf(currency)));
        return;
      }
      const sum = parts.reduce((all, part) => all + scaled(part.amount, 21), 0n);
      expect(sum).toBe(amount * 10n ** BigInt(21 - exponentOf(currency)));
    }),
    1000,
  );
});
