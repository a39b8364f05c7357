import { exponentOf, formatMoney } from '../../ledger/kernel/money.ts';

/** Of an amount before it is rounded. */
const DECIMALS_MAX = 21;

const DECIMALS = new Intl.NumberFormat('en', { maximumFractionDigits: DECIMALS_MAX });

/** Formats are dear to make: one for each currency and use. */
const FORMATS = new Map<string, Intl.NumberFormat>();

function formatOf(currency: string, decimalsMax: number): Intl.NumberFormat {
  const name = `${currency} ${decimalsMax}`;
  const made = FORMATS.get(name);
  if (made !== undefined) return made;
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    minimumFractionDigits: exponentOf(currency),
    maximumFractionDigits: decimalsMax,
  });
  FORMATS.set(name, format);
  return format;
}

/** An amount for a buyer: "$12.50", "¥1,000". Formatted from the exact digits, without a double. */
export function showAmount(amount: bigint, currency: string): string {
  const decimals = exponentOf(currency);
  const text = formatMoney(amount, currency) as Intl.StringNumericLiteral;
  return formatOf(currency, decimals).format(text);
}

/** A decimal of the major unit, with every digit that it has: "$0.000002". */
export function showExact(decimal: string, currency: string): string {
  return formatOf(currency, DECIMALS_MAX).format(decimal as Intl.StringNumericLiteral);
}

/** A quantity with every digit that it has: "1,500.5". */
export function showDecimal(decimal: string): string {
  return DECIMALS.format(decimal as Intl.StringNumericLiteral);
}
