import { exponentOf, formatMoney } from '../../ledger/kernel/money.ts';

/** Of an amount before it is rounded. */
const DECIMALS_MAX = 21;

const DECIMALS = new Intl.NumberFormat('en', { maximumFractionDigits: DECIMALS_MAX });

/** An amount for a buyer: "$12.50", "¥1,000". Formatted from the exact digits, without a double. */
export function showAmount(amount: bigint, currency: string): string {
  const decimals = exponentOf(currency);
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  return format.format(formatMoney(amount, currency) as Intl.StringNumericLiteral);
}

/** A decimal of the major unit, with every digit that it has: "$0.000002". */
export function showExact(decimal: string, currency: string): string {
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    minimumFractionDigits: exponentOf(currency),
    maximumFractionDigits: DECIMALS_MAX,
  });
  return format.format(decimal as Intl.StringNumericLiteral);
}

/** A quantity with every digit that it has: "1,500.5". */
export function showDecimal(decimal: string): string {
  return DECIMALS.format(decimal as Intl.StringNumericLiteral);
}
