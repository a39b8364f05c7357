import { exponentOf, formatMoney } from '../../ledger/kernel/money.ts';

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
