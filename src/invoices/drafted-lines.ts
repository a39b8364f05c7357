// The lines that the ledger drafts for an invoice of a subscription, as the invoice keeps them:
// with names that a customer knows, and decimals in place of scaled integers.
import { decimal } from '../../ledger/kernel/decimal.ts';
import { exponentOf, formatMoney } from '../../ledger/kernel/money.ts';
import { UNIT_AMOUNT_DECIMALS } from '../../ledger/metering/usage-price.ts';
import { EXACT_DECIMALS } from '../../ledger/subscriptions/rating.ts';
import type {
  InvoiceDraft,
  InvoiceLineDraft,
  UsageLineDraft,
} from '../../ledger/subscriptions/subscription.ts';
import type { NewInvoiceLine, NewUsageLine } from './issue.ts';

export type LineNames = {
  readonly product: string;
  /** Of what is metered, by the id of its usage price. */
  readonly meters: ReadonlyMap<string, string>;
};

/** What `listMeterNames` is asked for. */
export function usagePricesOf(lines: readonly InvoiceLineDraft[]): string[] {
  return lines.flatMap((line) => ('amount' in line ? [line.usagePriceId] : []));
}

export function draftedLines(
  draft: Pick<InvoiceDraft, 'lines' | 'currency' | 'periodStart' | 'periodEnd'>,
  names: LineNames,
): NewInvoiceLine[] {
  const whole = { start: draft.periodStart, end: draft.periodEnd };
  return draft.lines.map((line) => {
    if ('amount' in line) {
      const name = names.meters.get(line.usagePriceId) ?? line.description;
      return { ...usageLine(line, draft.currency), description: name };
    }
    return {
      ...line,
      description: line.type === 'recurring' ? names.product : line.description,
      period: line.type === 'credit' ? null : dated(line.period ?? whole),
    };
  });
}

export function usageLine(line: UsageLineDraft, currency: string): NewUsageLine {
  const { scale, periodStart, periodEnd, ...rest } = line;
  const coins = exponentOf(currency);
  return {
    ...rest,
    quantity: decimal(line.quantity, scale),
    tiers: line.tiers.map(({ quantity, unitAmount, flatAmount, amount }) => ({
      quantity: decimal(quantity, scale),
      unitAmount: unitAmount === null ? null : decimal(unitAmount, UNIT_AMOUNT_DECIMALS, coins),
      flatAmount: flatAmount === null ? null : formatMoney(flatAmount, currency),
      amount: decimal(amount, EXACT_DECIMALS, coins),
    })),
    period: dated({ start: periodStart, end: periodEnd }),
  };
}

function dated({ start, end }: { readonly start: number; readonly end: number }) {
  return { start: new Date(start), end: new Date(end) };
}
